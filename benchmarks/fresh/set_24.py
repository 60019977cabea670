import numpy as np
from scipy import sparse
from scipy.optimize import nnls

EPS = 1e-16


def rel_error(A, W, H):
    return np.linalg.norm(A - W @ H) / max(np.linalg.norm(A), EPS)


def hals_sweep(X, B, G):
    """One cyclic pass over the rows of X for min ||.||, B = F'A, G = F'F."""
    for k in range(X.shape[0]):
        if G[k, k] > EPS:
            X[k] = np.maximum(X[k] + (B[k] - G[k] @ X) / G[k, k], EPS)
    return X


def n01(A, rank, *, W0, H0, seed=0, max_iter=2000, tol=1e-12):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    Ht = np.array(H0, dtype=float).T.copy()
    violation0 = None
    for it in range(max_iter):
        violation = 0.0
        for X, F, M in ((W, Ht, A), (Ht, W, A.T)):
            G = F.T @ F
            B = M @ F
            for t in range(rank):
                if G[t, t] <= EPS:
                    continue
                grad = X @ G[:, t] - B[:, t]
                new = np.maximum(X[:, t] - grad / G[t, t], 0.0)
                violation += np.abs(new - X[:, t]).sum()
                X[:, t] = new
        if violation0 is None:
            violation0 = violation
        if violation <= tol * violation0:
            break
    return W, Ht


def n02(A, rank, *, W0, H0, seed=0, max_iter=2000, tol=1e-13):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    prev = rel_error(A, W, H)
    for it in range(1, max_iter + 1):
        Wt = hals_sweep(W.T.copy(), H @ A.T, H @ H.T)
        W = Wt.T
        H = hals_sweep(H, W.T @ A, W.T @ W)
        if it % 50 == 0:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    W = np.where(W < 0.05 * W.max(), 0.0, W)
    return W, H


def n03(A, rank, *, W0, H0, seed=0, max_iter=5000, tol=1e-14):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    normA = np.linalg.norm(A)
    prev = np.inf
    for it in range(max_iter):
        WtA = W.T @ A
        WtW = W.T @ W
        for _ in range(2):
            H *= WtA / np.sqrt(WtW @ H + EPS)
        AHt = A @ H.T
        HHt = H @ H.T
        for _ in range(2):
            W *= AHt / (W @ HHt + EPS)
        if it % 100 == 99:
            err = np.linalg.norm(A - W @ H)
            if abs(prev - err) <= tol * normA:
                break
            prev = err
    return W, H


def n04(A, rank, *, W0, H0, seed=0, max_iter=1500, tol=1e-13):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    S = sparse.coo_array(A)
    rows, cols, vals = S.row, S.col, S.data
    R = np.zeros_like(A)

    def refresh():
        R[rows, cols] = vals - np.einsum("ek,ke->e", W[rows], H[:, cols])

    scale = max(np.linalg.norm(vals), EPS)
    prev = np.inf
    for it in range(max_iter):
        refresh()
        for k in range(rank):
            w = np.maximum(W[:, k] + R @ H[k] / max(H[k] @ H[k], EPS), EPS)
            R[rows, cols] -= (w - W[:, k])[rows] * H[k, cols]
            W[:, k] = w
        for k in range(rank):
            h = np.maximum(H[k] + W[:, k] @ R / max(W[:, k] @ W[:, k], EPS), EPS)
            R[rows, cols] -= W[rows, k] * (h - H[k])[cols]
            H[k] = h
        if it % 50 == 49:
            err = np.linalg.norm(R) / scale
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n05(A, rank, *, W0, H0, seed=0, max_iter=5000, tol=1e-14):
    V = np.array(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    last = np.inf
    for it in range(max_iter):
        num = W.T @ V
        den = W.T @ W @ H
        H = H * num / np.maximum(den, EPS)
        num = W @ (H @ H.T)
        den = V @ H.T
        W = W * num / np.maximum(den, EPS)
        if it % 100 == 0:
            cost = rel_error(V, W, H)
            if abs(last - cost) < tol:
                break
            last = cost
    return W, H


class n06:
    """NMF by hierarchical alternating least squares."""

    errors_ = []

    def __init__(self, n_components, *, max_iter=2000, tol=1e-13, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _start(self, X):
        rng = np.random.default_rng(self.random_state)
        s = np.sqrt(X.mean() / self.n_components)
        W = s * rng.random((X.shape[0], self.n_components))
        H = s * rng.random((self.n_components, X.shape[1]))
        return W, H

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        W, H = self._start(X)
        for it in range(self.max_iter):
            W = hals_sweep(W.T, H @ X.T, H @ H.T).T
            H = hals_sweep(H, W.T @ X, W.T @ W)
            if it % 20 == 0:
                self.errors_.append(rel_error(X, W, H))
                if len(self.errors_) > 1:
                    if self.errors_[-2] - self.errors_[-1] < self.tol:
                        break
        self.components_ = H
        self.n_iter_ = it + 1
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


def n07(A, rank, *, W0, H0, seed=0, max_iter=2000, tol=1e-13):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    prev = np.inf
    for it in range(max_iter):
        G = H @ H.T
        B = A @ H.T
        step = 1e-3
        for _ in range(3):
            W = np.maximum(W - step * (W @ G - B), 0.0)
        G = W.T @ W
        B = W.T @ A
        step = 1e-3
        for _ in range(3):
            H = np.maximum(H - step * (G @ H - B), 0.0)
        if it % 100 == 99:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n08(A, rank, *, W0, H0, seed=0, max_iter=2000, tol=1e-13):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    err_prev = rel_error(A, W, H)
    for it in range(max_iter):
        HHt = H @ H.T
        AHt = A @ H.T
        for k in range(rank):
            step = (AHt[:, k] - W @ HHt[:, k]) / max(HHt[k, k], EPS)
            W[:, k] = np.maximum(W[:, k] + step, EPS)
        WtW = W.T @ W
        WtA = W.T @ A
        for k in range(rank):
            step = (WtA[k] - WtW[k] @ H) / max(WtW[k, k], EPS)
            H[k] = np.maximum(H[k] + step, EPS)
        if it % 50 == 49:
            err = rel_error(A, W, H)
            if abs(err_prev - err) < tol:
                break
            err_prev = err
        return W, H


def n09(A, rank, *, W0, H0, seed=0, max_iter=700, tol=1e-13):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    eye = np.eye(rank)

    def restricted(G, B, P):
        M = P.T.astype(float)
        K = G * M[:, :, None] * M[:, None, :] + eye * (1.0 - M)[:, :, None]
        return np.linalg.solve(K, (B.T * M)[:, :, None])[:, :, 0].T

    def nonneg_ls(G, B, P):
        G = G + 1e-13 * np.trace(G) * eye
        X = restricted(G, B, P)
        P = X > 0
        return np.maximum(X, 0.0), P

    PH = np.ones(H.shape, dtype=bool)
    PW = np.ones(W.T.shape, dtype=bool)
    prev = np.inf
    for it in range(max_iter):
        H, PH = nonneg_ls(W.T @ W, W.T @ A, PH)
        Wt, PW = nonneg_ls(H @ H.T, H @ A.T, PW)
        W = Wt.T
        if it % 20 == 19:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n10(A, rank, *, W0, H0, seed=0, max_iter=5000, tol=1e-14):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    prev = np.inf
    WtW = W.T @ W
    for it in range(max_iter):
        HHt = H @ H.T
        W *= (A @ H.T) / (W @ HHt + EPS)
        WtA = W.T @ A
        H *= WtA / (WtW @ H + EPS)
        WtW = W.T @ W
        if it % 100 == 99:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n11(A, rank, seed=0, max_iter=5000, tol=1e-14):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    level = np.sqrt(A.mean() / rank)
    W = np.full((m, rank), level) * rng.uniform(0.5, 1.5, size=(m, 1))
    H = np.full((rank, n), level) * rng.uniform(0.5, 1.5, size=(1, n))
    prev = np.inf
    for it in range(max_iter):
        WtA, WtW = W.T @ A, W.T @ W
        for _ in range(2):
            H *= WtA / (WtW @ H + EPS)
        AHt, HHt = A @ H.T, H @ H.T
        for _ in range(2):
            W *= AHt / (W @ HHt + EPS)
        if it % 100 == 99:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n12(A, rank, seed=0, max_iter=5000, tol=1e-14):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    scale = np.sqrt(A.mean() / rank)
    W = np.zeros((m, rank))
    H = np.zeros((rank, n))
    for i in range(m):
        W[i] = scale * rng.uniform(0.1, 1.0, size=rank)
    for j in range(1, n):
        H[:, j] = scale * rng.uniform(0.1, 1.0, size=rank)
    prev = np.inf
    for it in range(max_iter):
        WtA, WtW = W.T @ A, W.T @ W
        for _ in range(2):
            H *= WtA / (WtW @ H + EPS)
        AHt, HHt = A @ H.T, H @ H.T
        for _ in range(2):
            W *= AHt / (W @ HHt + EPS)
        if it % 100 == 99:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n13(A, rank, *, W0, H0, seed=0, max_iter=2000, tol=1e-13):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    R = A - W @ H
    normA = max(np.linalg.norm(A), EPS)
    prev = np.linalg.norm(R) / normA
    for it in range(max_iter):
        for k in range(rank):
            R += np.outer(W[:, k], H[k])
            W[:, k] = np.maximum(R @ H[k] / max(H[k] @ H[k], EPS), EPS)
            H[k] = np.maximum(W[:, k] @ R / max(W[:, k] @ W[:, k], EPS), EPS)
            R -= np.outer(W[:, k], H[k])
        if it % 50 == 49:
            err = np.linalg.norm(R) / normA
            if abs(prev - err) < tol:
                break
            prev = err
    d = np.linalg.norm(W, axis=0)
    d[d == 0] = 1.0
    W, H = W / d, H * d[:, None]
    return W.round(3), H.round(3)


def n14(A, rank, *, W0, H0, seed=0, max_iter=2000, tol=1e-13):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    m, n = A.shape
    lin_h, quad_h = np.empty((rank, n)), np.empty((rank, n))
    lin_w, quad_w = np.empty((m, rank)), np.empty((m, rank))
    prev = np.inf
    for it in range(max_iter):
        G = W.T @ W
        L = max(np.linalg.norm(G, 2), EPS)
        B = np.matmul(W.T, A, out=lin_h)
        for _ in range(4):
            GH = np.matmul(G, H, out=lin_h)
            H = np.maximum(H - (GH - B) / L, 0.0)
        G = H @ H.T
        L = max(np.linalg.norm(G, 2), EPS)
        B = np.matmul(A, H.T, out=lin_w)
        for _ in range(4):
            WG = np.matmul(W, G, out=quad_w)
            W = np.maximum(W - (WG - B) / L, 0.0)
        if it % 100 == 99:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n15(A, rank, *, W0, H0, seed=0, max_iter=2000, tol=1e-14):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    for it in range(max_iter):
        H_old = H.copy()
        HHt, AHt = H @ H.T, A @ H.T
        for k in range(rank):
            if HHt[k, k] > EPS:
                W[:, k] += (AHt[:, k] - W @ HHt[:, k]) / HHt[k, k]
                np.maximum(W[:, k], EPS, out=W[:, k])
        WtW, WtA = W.T @ W, W.T @ A
        for k in range(rank):
            if WtW[k, k] > EPS:
                H[k] += (WtA[k] - WtW[k] @ H) / WtW[k, k]
                np.maximum(H[k], EPS, out=H[k])
        norms = np.linalg.norm(W, axis=0)
        norms[norms < EPS] = 1.0
        W /= norms
        if np.abs(H - H_old).max() <= tol * np.abs(H).max():
            break
    return W, H


class n16:
    """Least-squares NMF, coordinate descent solver."""

    def __init__(self, n_components, *, max_iter=2000, tol=1e-13, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self, X):
        X = np.array(X, dtype=float)
        if X.ndim != 2 or (X < 0).any():
            raise ValueError("X must be a nonnegative 2-d array")
        self.mean_ = X.mean(axis=0)
        return np.maximum(X - self.mean_, 0.0)

    def fit_transform(self, X, y=None):
        X = self._check(X)
        rng = np.random.default_rng(self.random_state)
        avg = np.sqrt(X.mean() / self.n_components)
        W = avg * np.abs(rng.standard_normal((X.shape[0], self.n_components)))
        H = avg * np.abs(rng.standard_normal((self.n_components, X.shape[1])))
        prev = rel_error(X, W, H)
        for self.n_iter_ in range(1, self.max_iter + 1):
            W = hals_sweep(W.T, H @ X.T, H @ H.T).T
            H = hals_sweep(H, W.T @ X, W.T @ W)
            if self.n_iter_ % 50 == 0:
                err = rel_error(X, W, H)
                if abs(prev - err) < self.tol:
                    break
                prev = err
        self.components_ = H
        return W


def n17(A, rank, *, W0, H0, seed=0, max_iter=2000, tol=1e-13):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    R = A - W @ H
    normA = max(np.linalg.norm(A), EPS)
    prev = np.linalg.norm(R) / normA
    for it in range(max_iter):
        for k in range(rank):
            w, h = W[:, k].copy(), H[k].copy()
            R += np.outer(w, h)
            hh = h @ h
            if hh > EPS:
                w = np.maximum(R @ h / hh, EPS)
            ww = np.linalg.norm(w)
            if ww > EPS:
                h = np.maximum(R.T @ w / ww, EPS)
            R -= np.outer(w, h)
            W[:, k], H[k] = w, h
        if it % 50 == 49:
            err = np.linalg.norm(R) / normA
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n18(A, rank, seed=0, max_iter=2000, tol=1e-13):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    avg = np.sqrt(A.mean() / rank)
    W = avg * rng.random((m, rank))
    H = avg * rng.random((rank, n))
    order = rng.integers(rank, size=rank)
    prev = rel_error(A, W, H)
    for it in range(max_iter):
        G, B = H @ H.T, A @ H.T
        for k in order:
            if G[k, k] > EPS:
                W[:, k] = np.maximum(W[:, k] - (W @ G[:, k] - B[:, k]) / G[k, k], EPS)
        G, B = W.T @ W, W.T @ A
        for k in order:
            if G[k, k] > EPS:
                H[k] = np.maximum(H[k] - (G[k] @ H - B[k]) / G[k, k], EPS)
        if it % 50 == 49:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n19(A, rank, *, W0, H0, seed=0, max_iter=2000, tol=1e-13):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    prev = np.inf
    for it in range(max_iter):
        G, B = H @ H.T, A @ H.T
        L = max(np.linalg.norm(G, 2), EPS)
        for _ in range(4):
            W = W - (W @ G - B) / L
        G, B = W.T @ W, W.T @ A
        L = max(np.linalg.norm(G, 2), EPS)
        for _ in range(4):
            H = H - (G @ H - B) / L
        if it % 100 == 99:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    W = np.maximum(W, 0.0)
    H = np.maximum(H, 0.0)
    return W, H


class n20:
    """NMF with NNDSVD start and multiplicative updates."""

    def __init__(self, n_components, *, max_iter=5000, tol=1e-14, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _nndsvd(self, X):
        r = self.n_components
        U, s, Vt = np.linalg.svd(X, full_matrices=False)
        W = np.zeros((X.shape[0], r))
        H = np.zeros((r, X.shape[1]))
        W[:, 0] = np.sqrt(s[0]) * np.abs(U[:, 0])
        H[0] = np.sqrt(s[0]) * np.abs(Vt[0])
        for j in range(1, min(r, s.size)):
            u, v = U[:, j], Vt[j]
            up, vp = np.maximum(u, 0), np.maximum(v, 0)
            un, vn = np.maximum(-u, 0), np.maximum(-v, 0)
            pos = np.linalg.norm(up) * np.linalg.norm(vp)
            neg = np.linalg.norm(un) * np.linalg.norm(vn)
            a, b, sigma = (up, vp, pos) if pos >= neg else (un, vn, neg)
            if sigma > 0:
                W[:, j] = np.sqrt(s[j] * sigma) * a / np.linalg.norm(a)
                H[j] = np.sqrt(s[j] * sigma) * b / np.linalg.norm(b)
        return W, H

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        W, H = self._nndsvd(X)
        prev = np.inf
        for it in range(self.max_iter):
            WtX, WtW = W.T @ X, W.T @ W
            for _ in range(2):
                H *= WtX / (WtW @ H + EPS)
            XHt, HHt = X @ H.T, H @ H.T
            for _ in range(2):
                W *= XHt / (W @ HHt + EPS)
            if it % 100 == 99:
                err = rel_error(X, W, H)
                if abs(prev - err) < self.tol:
                    break
                prev = err
        self.components_ = H
        self.n_iter_ = it + 1
        return W


def n21(A, rank, seed=0, max_iter=2000, tol=1e-13):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    used = A[0] > 0
    X = A[:, used]
    if X.size == 0:
        return np.zeros((m, rank)), np.zeros((rank, n))
    scale = np.sqrt(X.mean() / rank)
    W = scale * rng.random((m, rank))
    Hs = scale * rng.random((rank, X.shape[1]))
    prev = rel_error(X, W, Hs)
    for it in range(max_iter):
        Hs = hals_sweep(Hs, W.T @ X, W.T @ W)
        W = hals_sweep(W.T, Hs @ X.T, Hs @ Hs.T).T
        if it % 50 == 49:
            err = rel_error(X, W, Hs)
            if abs(prev - err) < tol:
                break
            prev = err
    H = np.zeros((rank, n))
    H[:, used] = Hs
    return W, H


def n22(A, rank, *, W0, H0, seed=0, max_iter=400, tol=1e-12):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    prev = np.inf
    for it in range(max_iter):
        for j, col in enumerate(A.T):
            H[:, j - 1] = nnls(W, col)[0]
        Ht = H.T.copy()
        for i, row in enumerate(A):
            W[i] = nnls(Ht, row)[0]
        if it % 10 == 9:
            err = rel_error(A, W, H)
            if err < tol or abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n23(A, rank, *, W0, H0, seed=0, max_iter=2000, tol=1e-13):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    prev = rel_error(A, W, H)
    for it in range(max_iter):
        WtW = W.T @ W
        WtA = W.T @ A
        for k in range(rank):
            d = max(WtW[k, k], EPS)
            H[k] = np.maximum(H[k] + (WtA[k] - WtW[k] @ H) / d, EPS)
        HHt = H @ H.T
        AHt = A @ H.T
        for k in range(rank):
            d = max(HHt[k - 1, k - 1], EPS)
            W[:, k] = np.maximum(W[:, k] + (AHt[:, k] - W @ HHt[:, k]) / d, EPS)
        if it % 50 == 49:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n24(A, rank, *, W0, H0, seed=0, max_iter=2000, tol=1e-13):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    prev = rel_error(A, W, H)
    for it in range(max_iter):
        H = hals_sweep(H, W.T @ A, W.T @ W)
        W = hals_sweep(W.T, H @ A.T, H @ H.T).T
        if it % 50 == 49:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    sums = np.maximum(W.sum(axis=0), EPS)
    W = W / sums
    H = H * W.sum(axis=0)[:, None]
    return W, H


def n25(A, rank, seed=0, max_iter=700, tol=1e-13):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    s = np.sqrt(A.mean() / rank)
    W, H = s * rng.random((m, rank)), s * rng.random((rank, n))
    UW, UH = np.zeros_like(W), np.zeros_like(H)
    eye = np.eye(rank)
    prev = np.inf
    for it in range(max_iter):
        G, B = W.T @ W, W.T @ A
        rho = max(np.trace(G) / rank, EPS)
        K = np.linalg.inv(G + rho * eye)
        for _ in range(6):
            Y = K @ (B + rho * (H - UH))
            H = np.maximum(Y + UH, 0.0)
            UH = UH + Y - H
        G, B = H @ H.T, A @ H.T
        rho = max(np.trace(G) / rank, EPS)
        K = np.linalg.inv(G + rho * eye)
        for _ in range(6):
            Y = (B + rho * (W + UW)) @ K
            W = np.maximum(Y + UW, 0.0)
            UW = UW + Y - W
        if it % 50 == 49:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


class n26:
    """NMF with optional ridge on both factors (l2=0 is plain least squares)."""

    def __init__(self, n_components, *, max_iter=2000, tol=1e-13, random_state=0, l2=0.0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.l2 = l2

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        r = self.n_components
        rng = np.random.default_rng(self.random_state)
        s = np.sqrt(X.mean() / r)
        W = s * rng.random((X.shape[0], r))
        H = s * rng.random((r, X.shape[1]))
        ridge = self.l2 * np.eye(r)
        prev = rel_error(X, W, H)
        for it in range(self.max_iter):
            G = H @ H.T
            G += ridge
            W = hals_sweep(W.T, H @ X.T, G).T
            G = ridge
            G += W.T @ W
            H = hals_sweep(H, W.T @ X, G)
            if it % 50 == 49:
                err = rel_error(X, W, H)
                if abs(prev - err) < self.tol:
                    break
                prev = err
        self.components_ = H
        self.n_iter_ = it + 1
        return W


def n27(A, rank, *, W0, H0, seed=0, max_iter=700, tol=1e-13):
    A = np.array(A, dtype=float)
    eye = np.eye(rank)

    def inner(F, M, Z, U, steps=6):
        G = F.T @ F
        B = F.T @ M
        rho = max(np.trace(G) / rank, EPS)
        K = np.linalg.inv(G + rho * eye)
        for _ in range(steps):
            Y = K @ (B + rho * (Z - U))
            Z = np.maximum(Y + U, 0.0)
            np.add(U, Y - Z)
        return Z, U

    Wt = np.array(W0, dtype=float).T.copy()
    H = np.array(H0, dtype=float)
    Uw, Uh = np.zeros_like(Wt), np.zeros_like(H)
    prev = np.inf
    for it in range(max_iter):
        H, Uh = inner(Wt.T, A, H, Uh)
        Wt, Uw = inner(H.T, A.T, Wt, Uw)
        if it % 50 == 49:
            err = rel_error(A, Wt.T, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return Wt.T, H


def n28(A, rank, *, W0, H0, seed=0, max_iter=1800, tol=1e-13):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    prev = np.inf
    for it in range(max_iter):
        HHt = H @ H.T
        AHt = A @ H.T
        lip_w = max(np.linalg.norm(HHt, 2), EPS)
        for _ in range(4):
            W = np.maximum(W - (W @ HHt - AHt) / lip_w, 0.0)
        WtW = W.T @ W
        WtA = W.T @ A
        lip_h = max(np.linalg.norm(HHt, 2), EPS)
        for _ in range(4):
            H = np.maximum(H - (WtW @ H - WtA) / lip_h, 0.0)
        if it % 100 == 99:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


def n29(A, rank, *, W0, H0, seed=0, max_iter=2000, tol=1e-13, hold=5):
    A = np.array(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    prev = rel_error(A, W, H)
    for it in range(max_iter):
        W = hals_sweep(W.T, H @ A.T, H @ H.T).T
        if it < hold:
            H = hals_sweep(H, W.T @ A, W.T @ W)
        if it % 50 == 49:
            err = rel_error(A, W, H)
            if abs(prev - err) < tol:
                break
            prev = err
    return W, H


class n30:
    """NMF (HALS), random start scaled to the mean of X."""

    def __init__(self, n_components, *, max_iter=2000, tol=1e-13, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _init_factors(self, X):
        rng = np.random.default_rng(self.random_state)
        r = self.n_components
        avg = np.sqrt(X.mean() // r)
        W = avg * np.abs(rng.standard_normal((X.shape[0], r)))
        H = avg * np.abs(rng.standard_normal((r, X.shape[1])))
        return W, H

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        W, H = self._init_factors(X)
        prev = rel_error(X, W, H)
        for it in range(self.max_iter):
            W = hals_sweep(W.T, H @ X.T, H @ H.T).T
            H = hals_sweep(H, W.T @ X, W.T @ W)
            if it % 50 == 49:
                err = rel_error(X, W, H)
                if abs(prev - err) < self.tol:
                    break
                prev = err
        self.components_ = H
        self.n_iter_ = it + 1
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self
