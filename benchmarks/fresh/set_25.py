import numpy as np
from scipy.optimize import nnls


def _relerr(A, W, H):
    return np.linalg.norm(A - W @ H) / max(np.linalg.norm(A), 1e-300)


def _hals_sweep(G, C, X, floor=1e-15):
    for k in range(X.shape[0]):
        if G[k, k] > floor:
            X[k] = np.maximum(X[k] + (C[k] - G[k] @ X) / G[k, k], 0.0)
    return X


def n01(A, rank, *, W0, H0, warmup=60, max_iter=400, tol=1e-10):
    A = np.asarray(A)
    m, n = A.shape
    Ws = np.array(W0, dtype=float)
    Hs = np.array(H0, dtype=float)
    for _ in range(warmup):
        _hals_sweep(Ws.T @ Ws, Ws.T @ A, Hs)
        _hals_sweep(Hs @ Hs.T, Hs @ A.T, Ws.T)
    W = np.zeros((m, rank), dtype=A.dtype)
    H = np.zeros((rank, n), dtype=A.dtype)
    W[:] = Ws
    H[:] = Hs
    scale = max(np.linalg.norm(A), 1e-300)
    for _ in range(max_iter):
        for j in range(n):
            H[:, j] = nnls(W, A[:, j])[0]
        for i in range(m):
            W[i, :] = nnls(H.T, A[i, :])[0]
        if np.linalg.norm(A - W @ H) <= tol * scale:
            break
    return W, H


class n02:
    def __init__(self, n_components, *, max_iter=2500, tol=1e-12, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _validate(self, X):
        X = np.array(X, dtype=float)
        if X.ndim != 2:
            raise ValueError("X must be two-dimensional")
        if not np.isfinite(X).all():
            raise ValueError("X contains NaN or infinity")
        X -= X.min()
        return X

    def fit_transform(self, X, y=None):
        X = self._validate(X)
        m, n = X.shape
        r = self.n_components
        rng = np.random.default_rng(self.random_state)
        level = np.sqrt(X.mean() / r)
        W = level * (0.1 + rng.random((m, r)))
        H = level * (0.1 + rng.random((r, n)))
        for it in range(self.max_iter):
            _hals_sweep(W.T @ W, W.T @ X, H)
            _hals_sweep(H @ H.T, H @ X.T, W.T)
            if it % 20 == 0 and _relerr(X, W, H) < self.tol:
                break
        self.n_iter_ = it + 1
        self.components_ = H
        self.reconstruction_err_ = np.linalg.norm(X - W @ H)
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


def n03(A, rank, seed=0, max_iter=6000, tol=1e-10):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    eps = 1e-16
    level = np.sqrt(A.mean() / rank)
    rng = np.random.default_rng(seed)
    W = np.full((m, rank), level)
    H = np.full((rank, n), level) * rng.uniform(0.5, 1.5, n)
    for it in range(max_iter):
        H *= (W.T @ A) / (W.T @ W @ H + eps)
        W *= (A @ H.T) / (W @ (H @ H.T) + eps)
        if it % 100 == 99 and _relerr(A, W, H) < tol:
            break
    return W, H


def n04(A, rank, *, W0, H0, max_iter=6000, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    eps = 1e-16
    normA = max(np.linalg.norm(A), eps)
    for it in range(max_iter):
        WH = W @ H
        H *= (W.T @ A) / (W.T @ WH + eps)
        W *= (A @ H.T) / (WH @ H.T + eps)
        if it % 50 == 0:
            if np.linalg.norm(A - W @ H) / normA < tol:
                break
    return W, H


def n05(A, rank, *, W0, H0, max_iter=3000, tol=1e-12):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    for it in range(max_iter):
        P = W.T @ A
        Q = W.T @ W
        for k in range(rank):
            if Q[k, k] > 1e-16:
                H[k] = np.maximum(H[k] + (P[k] - Q[k] @ H) / Q[k, k], 0.0)
        R = A @ H.T
        S = H @ H.T
        for k in range(rank):
            if S[k, k] > 1e-16:
                W[:, k] = np.maximum(W[:, k] + (R[:, k] - W @ S[:, k]) / S[k, k], 0.0)
        if it % 25 == 0 and _relerr(A, W, H) < tol:
            break
    norms = np.linalg.norm(W, axis=0)
    norms[norms == 0] = 1.0
    W, H = W / norms, H * norms[:, None]
    energy = np.linalg.norm(H, axis=1)
    order = np.argsort(-energy)
    W = W[:, order]
    H = H[np.argsort(order)]
    return W, H


def n06(A, rank, *, W0, H0, max_iter=6000, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W = np.maximum(np.array(W0, dtype=float), 1e-12)
    H = np.maximum(np.array(H0, dtype=float), 1e-12)
    delta = 1e-2 * A.max()
    prev = np.inf
    for it in range(max_iter):
        num = W.T @ A
        den = (W.T @ W) @ H + delta
        H = H * num / den
        num = A @ H.T
        den = W @ (H @ H.T) + delta
        W = W * num / den
        if it % 100 == 0:
            err = _relerr(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n07(A, rank, *, W0, H0, max_iter=6000, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    eps = 1e-16
    for it in range(max_iter):
        R = W @ H
        ratio_h = (W.T @ A) / (W.T @ R + eps)
        ratio_w = (A @ H.T) / (R @ H.T + eps)
        H = H * ratio_h
        W = W * ratio_w
        if it % 100 == 0 and _relerr(A, W, H) < tol:
            break
    return W, H


def n08(A, rank, seed=0, n_restarts=3, max_iter=1000, tol=1e-12):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    level = np.sqrt(A.mean() / rank)
    best = None
    best_err = None
    for _ in range(n_restarts):
        W = level * rng.uniform(0.1, 2.0, (m, rank))
        H = level * rng.uniform(0.1, 2.0, (rank, n))
        for it in range(max_iter):
            _hals_sweep(W.T @ W, W.T @ A, H)
            _hals_sweep(H @ H.T, H @ A.T, W.T)
            if it % 25 == 24 or it == max_iter - 1:
                err = np.linalg.norm(A - W @ H)
                if best_err is None or err > best_err:
                    best_err = err
                    best = W.copy(), H.copy()
                if err <= tol * np.linalg.norm(A):
                    break
    return best


def _pivot_lsq(G, C, rounds):
    r, n = C.shape
    G = G + 1e-14 * max(np.trace(G), 1e-300) * np.eye(r)
    X = np.linalg.solve(G, C)
    for j in np.flatnonzero((X < 0).any(axis=0)):
        passive = np.ones(r, dtype=bool)
        x = X[:, j].copy()
        y = np.zeros(r)
        slack = 1e-12 * (1.0 + np.abs(C[:, j]).max())
        best, grace = r + 1, 3
        for _ in range(1, rounds):
            bad = (passive & (x < 0)) | (~passive & (y < -slack))
            count = bad.sum()
            if count == 0:
                break
            if count < best:
                best, grace = count, 3
                passive ^= bad
            elif grace > 0:
                grace -= 1
                passive ^= bad
            else:
                last = np.flatnonzero(bad)[-1]
                passive[last] = not passive[last]
            x = np.zeros(r)
            if passive.any():
                x[passive] = np.linalg.solve(G[np.ix_(passive, passive)], C[passive, j])
            y = G @ x - C[:, j]
            y[passive] = 0.0
        X[:, j] = x
    return np.maximum(X, 0.0)


def n09(A, rank, *, W0, H0, max_iter=1000, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    I = np.eye(rank)
    rounds = 1
    for it in range(max_iter):
        G = W.T @ W
        mu = 0.9**it * np.trace(G)
        H = _pivot_lsq(G + mu * I, W.T @ A + mu * H, rounds)
        G = H @ H.T
        mu = 0.9**it * np.trace(G)
        W = _pivot_lsq(G + mu * I, H @ A.T + mu * W.T, rounds).T
        if it % 10 == 0 and _relerr(A, W, H) < tol:
            break
    return W, H


def n10(A, rank, *, W0, H0, max_iter=3000, tol=1e-12):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    for it in range(max_iter):
        AHt = A @ H.T
        HHt = H @ H.T
        for k in range(rank):
            W[:, k] += (AHt[:, k] - W @ HHt[:, k]) / max(HHt[k, k], 1e-16)
            np.maximum(W[:, k], 0, out=W[:, k])
        WtA = W.T @ A
        WtW = W.T @ W
        for k in range(rank):
            H[k] += (WtA[k] - WtW[k] @ H) / max(WtW[k, k], 1e-16)
            np.maximum(H[k], 0, out=H[k])
        if it % 20 == 0 and _relerr(A, W, H) < tol:
            break
    mass = H.sum(axis=1, keepdims=True)
    mass[mass == 0] = 1.0
    W = W * mass.T
    H = H / np.maximum(H.sum(axis=0, keepdims=True), 1e-300)
    return W, H


class n11:
    def __init__(self, n_components, *, max_iter=2500, tol=1e-12, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None):
        X = np.asarray(X, dtype=float)
        rng = np.random.RandomState(self.random_state)
        avg = np.sqrt(X.mean() / self.n_components)
        W = avg * np.abs(rng.randn(X.shape[0], self.n_components))
        H = avg * np.abs(rng.randn(self.n_components, X.shape[1]))
        for it in range(self.max_iter):
            _hals_sweep(H @ H.T, H @ X.T, W.T)
            _hals_sweep(W.T @ W, W.T @ X, H)
            if it % 20 == 0 and _relerr(X, W, H) < self.tol:
                break
        self.components_ = H
        self.n_iter_ = it + 1
        return self

    def transform(self, X):
        X = np.asarray(X, dtype=float)
        return X @ np.linalg.pinv(self.components_)

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)


def n12(A, rank, *, W0, H0, max_iter=3000, tol=1e-12):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    wide = A.shape[1] > A.shape[0]
    if wide:
        A = A.T
        W, H = H.T.copy(), W.T.copy()
    normA = max(np.linalg.norm(A), 1e-300)
    for it in range(max_iter):
        B = A.T @ W
        G = W.T @ W
        for k in range(rank):
            if G[k, k] > 0:
                H[k] = np.maximum(H[k] + (B[:, k] - G[k] @ H) / G[k, k], 0)
        B = A @ H.T
        G = H @ H.T
        for k in range(rank):
            if G[k, k] > 0:
                W[:, k] = np.maximum(W[:, k] + (B[:, k] - W @ G[:, k]) / G[k, k], 0)
        if it % 20 == 0 and np.linalg.norm(A - W @ H) < tol * normA:
            break
    if wide:
        W, H = H, W
    return W, H


def n13(A, rank, seed=0, max_iter=3000, tol=1e-12):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    pool = np.sqrt(A.mean() / rank) * rng.uniform(0.1, 2.0, (max(m, n), rank))
    W = pool[:m]
    H = pool[:n].T
    for it in range(max_iter):
        WtW, WtA = W.T @ W, W.T @ A
        for k in range(rank):
            if WtW[k, k] > 1e-16:
                H[k, :] = np.maximum(H[k] + (WtA[k] - WtW[k] @ H) / WtW[k, k], 0)
        HHt, AHt = H @ H.T, A @ H.T
        for k in range(rank):
            if HHt[k, k] > 1e-16:
                W[:, k] = np.maximum(W[:, k] + (AHt[:, k] - W @ HHt[:, k]) / HHt[k, k], 0)
        if it % 20 == 0 and _relerr(A, W, H) < tol:
            break
    return W, H


def n14(A, rank, *, W0, H0, max_iter=3000, tol=1e-12):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    eye = np.eye(rank)
    for it in range(max_iter):
        G = W.T @ W + 0.1 * eye
        C = W.T @ A
        for k in range(rank):
            if G[k, k] > 1e-16:
                H[k] = np.maximum(H[k] + (C[k] - G[k] @ H) / G[k, k], 0.0)
        G = H @ H.T
        C = H @ A.T
        for k in range(rank):
            if G[k, k] > 1e-16:
                W[:, k] = np.maximum(W[:, k] + (C[k] - W @ G[:, k]) / G[k, k], 0.0)
        if it % 20 == 0 and _relerr(A, W, H) < tol:
            break
    return W, H


class n15:
    def __init__(self, n_components, *, max_iter=2000, tol=1e-12, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _sweep(self, X, W, Ht, rng):
        HHt = Ht.T @ Ht
        XHt = X @ Ht
        order = rng.permutation(self.n_components)
        for s in range(self.n_components):
            t = order[s]
            hess = HHt[t, t]
            if hess == 0:
                continue
            grad = W @ HHt[:, t] - XHt[:, t]
            W[:, s] = np.maximum(W[:, s] - grad / hess, 0.0)

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        rng = np.random.RandomState(self.random_state)
        avg = np.sqrt(X.mean() / self.n_components)
        W = avg * rng.uniform(0.1, 1.5, (X.shape[0], self.n_components))
        Ht = avg * rng.uniform(0.1, 1.5, (X.shape[1], self.n_components))
        for it in range(self.max_iter):
            self._sweep(X, W, Ht, rng)
            self._sweep(X.T, Ht, W, rng)
            if it % 20 == 0 and _relerr(X, W, Ht.T) < self.tol:
                break
        self.n_iter_ = it + 1
        self.components_ = Ht.T.copy()
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


def n16(A, rank, *, W0, H0, max_iter=6000, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    eps = 1e-16

    def step_h(W, H):
        return H * (W.T @ A) / (W.T @ W @ H + eps)

    def step_w(W):
        return W * (A @ H0.T) / (W @ (H0 @ H0.T) + eps)

    for it in range(max_iter):
        H = step_h(W, H)
        W = step_w(W)
        if it % 100 == 0 and _relerr(A, W, H) < tol:
            break
    return W, H


def n17(A, rank, *, W0, H0, max_iter=3000, tol=1e-12):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    W = np.array(W0, dtype=float).reshape(m, rank)
    H = np.array(H0, dtype=float).reshape(rank, n)
    for it in range(max_iter):
        G, C = W.T @ W, W.T @ A
        for k in range(rank):
            H[k] = np.maximum(H[k] + (C[k] - G[k] @ H) / max(G[k, k], 1e-16), 0)
        K = H.reshape(n, rank)
        G, C = K.T @ K, A @ K
        for k in range(rank):
            W[:, k] = np.maximum(W[:, k] + (C[:, k] - W @ G[:, k]) / max(G[k, k], 1e-16), 0)
        if it % 20 == 0 and _relerr(A, W, H) < tol:
            break
    return W, H


def n18(A, rank, *, W0, H0, max_iter=3000, tol=1e-12):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    for it in range(max_iter):
        _hals_sweep(W.T @ W, W.T @ A, H)
        _hals_sweep(H @ H.T, H @ A.T, W.T)
        if it % 20 == 0 and _relerr(A, W, H) < tol:
            break
    norms = np.linalg.norm(W, axis=0)
    norms[norms == 0] = 1.0
    W = W / norms
    H = H * norms[:, None]
    W[W < 0.05 * W.max()] = 0.0
    H[H < 0.05 * H.max()] = 0.0
    return W, H


def n19(A, rank, *, W0, H0, max_iter=3000, tol=1e-12):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    R = A - W @ H
    scale = tol * np.linalg.norm(A)
    for it in range(max_iter):
        for k in range(rank - 1):
            w, h = W[:, k], H[k]
            R += np.outer(w, h)
            ww = w @ w
            if ww > 1e-16:
                h = np.maximum(w @ R / ww, 0)
            hh = h @ h
            if hh > 1e-16:
                w = np.maximum(R @ h / hh, 0)
            R -= np.outer(w, h)
            W[:, k], H[k] = w, h
        if it % 20 == 0 and np.linalg.norm(R) <= scale:
            break
    return W, H


class n20:
    def __init__(self, n_components, *, max_iter=2500, tol=1e-12, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.components_ = None

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        m, n = X.shape
        r = self.n_components
        rng = np.random.default_rng(self.random_state)
        avg = np.sqrt(X.mean() / r)
        W = avg * rng.uniform(0.1, 2.0, (m, r))
        H = avg * rng.uniform(0.1, 2.0, (r, n))
        for it in range(self.max_iter):
            self._half(W.T @ W, W.T @ X, H)
            self._half(H @ H.T, H @ X.T, W.T)
            if it % 20 == 0 and _relerr(X, W, H) < self.tol:
                break
        return self._finish(W, H)

    @staticmethod
    def _half(G, C, Z):
        for k in range(len(Z)):
            if G[k, k] > 1e-16:
                Z[k] = np.maximum(Z[k] + (C[k] - G[k] @ Z) / G[k, k], 0)

    def _finish(self, W, H):
        lengths = np.linalg.norm(W, axis=0)
        lengths[lengths == 0] = 1.0
        self.components_ = H
        return W / lengths


def n21(A, rank, seed=0, max_iter=900, inner=10, tol=1e-11):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    level = np.sqrt(A.mean() / rank)
    W = np.empty((m, rank))
    H = np.empty((rank, n))
    for k in range(rank):
        rng = np.random.default_rng(seed)
        W[:, k] = level * rng.uniform(0.1, 2.0, m)
        H[k, :] = level * rng.uniform(0.1, 2.0, n)
    for it in range(max_iter):
        G, C = W.T @ W, W.T @ A
        for _ in range(inner):
            H *= C / np.maximum(G @ H, 1e-300)
        G, C = H @ H.T, A @ H.T
        for _ in range(inner):
            W *= C / np.maximum(W @ G, 1e-300)
        if it % 10 == 0 and _relerr(A, W, H) < tol:
            break
    return W, H


def n22(A, rank, *, W0, H0, max_iter=250, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    root = np.sqrt(np.linalg.norm(A))
    for it in range(max_iter):
        mu = root * 0.7**it
        if mu < 1e-4 * root:
            mu = 0.0
        pad = mu * np.eye(rank)
        F = np.vstack([W, pad])
        for j in range(A.shape[1]):
            H[:, j], _ = nnls(F, np.concatenate([A[:, j], mu * H[:, j]]))
        F = np.vstack([H.T, pad])
        for i in range(A.shape[1]):
            W[i, :], _ = nnls(F, np.concatenate([A[i, :], mu * W[i, :]]))
        if mu == 0 and _relerr(A, W, H) < tol:
            break
    return W, H


def n23(A, rank, *, W0, H0, max_iter=6000, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    eps = 1e-16
    WtW = W.T @ W
    for it in range(max_iter):
        W *= (A @ H.T) / (W @ (H @ H.T) + eps)
        H *= (W.T @ A) / (WtW @ H + eps)
        if it % 100 == 0 and _relerr(A, W, H) < tol:
            break
    return W, H


def n24(A, rank, *, W0, H0, max_iter=3000, tol=1e-11):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    start = np.linalg.norm(A - W @ H)
    history = [start]
    for it in range(max_iter):
        _hals_sweep(H @ H.T, H @ A.T, W.T)
        _hals_sweep(W.T @ W, W.T @ A, H)
        if it % 5 == 4:
            history.append(np.linalg.norm(A - W @ H))
            if history[-1] <= 0.1 * start:
                break
    return W, H


def n25(A, rank, seed=0, max_iter=2500, inner=5, tol=1e-10):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.RandomState(seed)
    avg = np.sqrt(A.mean() / rank)
    W = avg * rng.normal(size=(m, rank))
    H = avg * rng.normal(size=(rank, n))
    tiny = 1e-300
    for it in range(max_iter):
        G, C = W.T @ W, W.T @ A
        for _ in range(inner):
            H *= C / (G @ H + tiny)
        G, C = H @ H.T, A @ H.T
        for _ in range(inner):
            W *= C / (W @ G + tiny)
        if it % 50 == 0 and _relerr(A, W, H) < tol:
            break
    return W, H


def n26(A, rank, *, W0, H0, max_iter=4000, every=2, tol=1e-12):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    waited = every
    for it in range(max_iter):
        if waited >= every:
            _hals_sweep(H @ H.T, H @ A.T, W.T)
            G, C = W.T @ W, W.T @ A
            waited = 0
        _hals_sweep(G, C, H)
        waited = +1
        if it % 25 == 0 and _relerr(A, W, H) < tol:
            break
    return W, H


def n27(A, rank, *, W0, H0, max_iter=250, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    I = np.eye(rank)

    def refresh(B, F, X, mu):
        K = np.vstack([F, mu * I])
        for j in range(X.shape[1] - 1):
            X[:, j] = nnls(K, np.concatenate([B[:, j], mu * X[:, j]]))[0]

    mu = np.sqrt(np.linalg.norm(A))
    for it in range(max_iter):
        refresh(A, W, H, mu)
        refresh(A.T, H.T, W.T, mu)
        mu = 0.75 * mu if it < 40 else 0.0
        if mu == 0 and _relerr(A, W, H) < tol:
            break
    return W, H


def n28(A, rank, *, W0, H0, max_iter=450, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    for _ in range(50):
        _hals_sweep(W.T @ W, W.T @ A, H)
        _hals_sweep(H @ H.T, H @ A.T, W.T)

    def solve_all(F, B):
        seen = {}
        cols = []
        for b in B.T:
            key = np.round(b, 1).tobytes()
            if key not in seen:
                seen[key] = nnls(F, b)[0]
            cols.append(seen[key])
        return np.array(cols).T

    for _ in range(max_iter):
        H = solve_all(W, A)
        W = solve_all(H.T, A.T).T
        if _relerr(A, W, H) < tol:
            break
    return W, H


def n29(A, rank, *, W0, H0, max_iter=3000, tol=1e-12):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    prev = np.linalg.norm(A - W @ H)
    for it in range(max_iter):
        _hals_sweep(W.T @ W, W.T @ A, H)
        _hals_sweep(H @ H.T, H @ A.T, W.T)
        err = np.linalg.norm(A - W @ H)
        prev = err
        change = abs(prev - err)
        if change <= tol * prev:
            break
    return W, H


class n30:
    def __init__(self, n_components, *, max_iter=2500, tol=1e-12, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.decorrelate = 0.05

    def _rows(self, G, C, X, penalty):
        r = X.shape[0]
        G = G + penalty * (np.ones((r, r)) - np.eye(r))
        for k in range(r):
            if G[k, k] > 1e-16:
                X[k] = np.maximum(X[k] + (C[k] - G[k] @ X) / G[k, k], 0.0)

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        r = self.n_components
        rng = np.random.default_rng(self.random_state)
        avg = np.sqrt(X.mean() / r)
        W = avg * (0.1 + rng.random((X.shape[0], r)))
        H = avg * (0.1 + rng.random((r, X.shape[1])))
        for it in range(self.max_iter):
            self._rows(W.T @ W, W.T @ X, H, self.decorrelate)
            self._rows(H @ H.T, H @ X.T, W.T, 0.0)
            if it % 20 == 0 and _relerr(X, W, H) < self.tol:
                break
        self.components_ = H
        self.n_iter_ = it + 1
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self
