"""Thirty non-negative matrix factorizations, A ~ W H, W, H >= 0 (Frobenius norm)."""

import numpy as np
from scipy.optimize import nnls


def _random_start(A, rank, rng):
    m, n = A.shape
    scale = np.sqrt(max(A.mean(), 1e-12) / rank)
    return scale * 2 * rng.random((m, rank)), scale * 2 * rng.random((rank, n))


def _hals_rows(G, C, H):
    """One sweep over the rows of H for min ||A - WH||, G = W'W, C = W'A; in place."""
    for k in range(H.shape[0]):
        if G[k, k] > 0:
            H[k] = np.maximum(0.0, H[k] + (C[k] - G[k] @ H) / G[k, k])


def _hals(A, W, H, max_iter=500, tol=1e-10):
    W = np.array(W, dtype=float)
    H = np.array(H, dtype=float)
    At = A.T
    Wt = np.ascontiguousarray(W.T)
    for _ in range(max_iter):
        W_old = Wt.copy()
        H_old = H.copy()
        _hals_rows(Wt @ Wt.T, Wt @ A, H)
        _hals_rows(H @ H.T, H @ At, Wt)
        change = max(np.abs(Wt - W_old).max(), np.abs(H - H_old).max())
        if change <= tol * max(Wt.max(), H.max()):
            break
    return np.ascontiguousarray(Wt.T), H


def _nnls_cols(M, B, X_old):
    """argmin ||M X - B||, X >= 0, column by column; rows that do not matter stay."""
    X = X_old.copy()
    live = M.any(axis=0)
    for j in range(B.shape[1]):
        X[live, j] = nnls(M[:, live], B[:, j], maxiter=50 * M.shape[1])[0]
    return X


def _anls(A, W, H, max_iter=200, tol=1e-9):
    H = _nnls_cols(W, A, H)
    prev = np.linalg.norm(A - W @ H)
    size = np.linalg.norm(A)
    for it in range(max_iter):
        W = _nnls_cols(H.T, A.T, W.T).T
        H = _nnls_cols(W, A, H)
        err = np.linalg.norm(A - W @ H)
        if prev - err <= tol * size:
            break
        prev = err
    return np.ascontiguousarray(W), H


# ---------------------------------------------------------------------------


def n01(A, rank, *, W0, H0, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    W = np.array(W0, dtype=float)
    H = np.random.default_rng().random((rank, n))
    for _ in range(max_iter):
        W_old, H_old = W.copy(), H.copy()
        AHt, HHt = A @ H.T, H @ H.T
        for k in range(rank):
            if HHt[k, k] > 0:
                W[:, k] = np.maximum(0, W[:, k] + (AHt[:, k] - W @ HHt[:, k]) / HHt[k, k])
        WtA, WtW = W.T @ A, W.T @ W
        for k in range(rank):
            if WtW[k, k] > 0:
                H[k] = np.maximum(0, H[k] + (WtA[k] - WtW[k] @ H) / WtW[k, k])
        delta = np.linalg.norm(W - W_old) + np.linalg.norm(H - H_old)
        if delta <= tol * (np.linalg.norm(W) + np.linalg.norm(H)):
            break
    return W, H


def n02(A, rank, max_iter=3000, tol=1e-13):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    U, S, Vt = np.linalg.svd(A, full_matrices=False)
    fill = np.sqrt(max(A.mean(), 1e-12) / rank)
    rng = np.random.default_rng(0)
    W = fill * (0.5 + rng.random((m, rank)))
    H = fill * (0.5 + rng.random((rank, n)))
    W[:, 0] = np.sqrt(S[0]) * np.abs(U[:, 0])
    H[0] = np.sqrt(S[0]) * np.abs(Vt[0])
    for k in range(1, min(rank, len(S))):
        u, v = U[:, k], Vt[k]
        up, vp = np.maximum(u, 0), np.maximum(v, 0)
        un, vn = np.maximum(-u, 0), np.maximum(-v, 0)
        pos = np.linalg.norm(up) * np.linalg.norm(vp)
        neg = np.linalg.norm(un) * np.linalg.norm(vn)
        if max(pos, neg) == 0:
            continue
        if pos >= neg:
            a, b, sigma = up, vp, pos
        else:
            a, b, sigma = un, vn, neg
        scale = np.sqrt(S[k] * sigma)
        W[:, k] = scale * a / np.linalg.norm(a)
        H[k] = scale * b / np.linalg.norm(b)
    tiny = 1e-12
    last = np.inf
    for it in range(max_iter):
        H *= (W.T @ A) / (W.T @ W @ H + tiny)
        W *= (A @ H.T) / (W @ (H @ H.T) + tiny)
        if it % 50 == 49:
            loss = np.sum((A - W @ H) ** 2)
            if last - loss <= tol * max(loss, 1e-300):
                break
            last = loss
    return W, H


def n03(A, rank, *, W0=None, H0=None, seed=0, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    Wr, Hr = rng.random((A.shape[0], rank)), rng.random((rank, A.shape[1]))
    W = Wr if W0 is None else np.array(W0, dtype=float)
    H = Hr if H0 is None else np.array(H0, dtype=float)
    for _ in range(max_iter):
        W_old, H_old = W.copy(), H.copy()
        _hals_rows(W.T @ W, W.T @ A, H)
        norms = np.sqrt((H**2).sum(axis=1))
        H = H / norms[:, None]
        W = W * norms
        Wt = np.ascontiguousarray(W.T)
        _hals_rows(H @ H.T, H @ A.T, Wt)
        W = np.ascontiguousarray(Wt.T)
        if np.linalg.norm(W - W_old) <= tol * np.linalg.norm(W) and np.linalg.norm(
            H - H_old
        ) <= tol * np.linalg.norm(H):
            break
    return W, H


class n04:
    def __init__(self, n_components, *, max_iter=500, tol=1e-2, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit_transform(self, X, y=None, W=None, H=None):
        X = np.asarray(X, dtype=float)
        rng = np.random.default_rng(self.random_state)
        W_r, H_r = _random_start(X, self.n_components, rng)
        W = W_r if W is None else np.array(W, dtype=float)
        H = H_r if H is None else np.array(H, dtype=float)
        err = np.linalg.norm(X - W @ H)
        for self.n_iter_ in range(1, self.max_iter + 1):
            _hals_rows(W.T @ W, W.T @ X, H)
            Wt = W.T.copy()
            _hals_rows(H @ H.T, H @ X.T, Wt)
            W = Wt.T.copy()
            prev, err = err, np.linalg.norm(X - W @ H)
            if abs(prev - err) <= self.tol * prev:
                break
        self.components_ = H
        self.reconstruction_err_ = err
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


def n05(A, rank, *, W0, H0, max_iter=500, tol=1e-3):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    prev = 0.5 * np.sum((A - W @ H) ** 2)
    for _ in range(max_iter):
        G, B = H @ H.T, A @ H.T
        for k in range(rank):
            if G[k, k] > 0:
                W[:, k] = np.maximum(0, W[:, k] + (B[:, k] - W @ G[:, k]) / G[k, k])
        G, C = W.T @ W, W.T @ A
        for k in range(rank):
            if G[k, k] > 0:
                H[k] = np.maximum(0, H[k] + (C[k] - G[k] @ H) / G[k, k])
        obj = 0.5 * np.sum((A - W @ H) ** 2)
        if prev - obj < tol:
            break
        prev = obj
    return W, H


def n06(A, rank, *, W0, H0, max_iter=4000, tol=1e-3):
    A = np.asarray(A, dtype=float)
    W, H = W0.astype(float), H0.astype(float)
    eps = 1e-12
    for _ in range(max_iter):
        W_prev = W
        H = H * (W.T @ A) / (W.T @ W @ H + eps)
        W = W * (A @ H.T) / (W @ (H @ H.T) + eps)
        if np.linalg.norm(W - W_prev) < tol * np.linalg.norm(W_prev):
            break
    return W, H


def n07(A, rank, *, W0=None, H0=None, seed=0, max_iter=30, tol=1e-13):
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    W, H = _random_start(A, rank, rng)
    if W0 is not None:
        W = np.array(W0, dtype=float)
    if H0 is not None:
        H = np.array(H0, dtype=float)
    eps = 1e-12
    prev = np.inf
    for it in range(1, max_iter + 1):
        W *= (A @ H.T) / (W @ (H @ H.T) + eps)
        H *= (W.T @ A) / ((W.T @ W) @ H + eps)
        if it % 100 == 0:
            cost = np.linalg.norm(A - W @ H)
            if prev - cost <= tol * cost:
                break
            prev = cost
    return W, H


class n08:
    def __init__(self, n_components=2, max_iter=4000, tol=1e-3, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _loss(self, X, W, H):
        return np.sqrt(np.sum((X - W @ H) ** 2))

    def fit_transform(self, X, y=None, W=None, H=None):
        X = np.asarray(X, dtype=float)
        rng = np.random.RandomState(self.random_state)
        avg = np.sqrt(X.mean() / self.n_components)
        if W is None:
            W = avg * np.abs(rng.randn(X.shape[0], self.n_components))
        if H is None:
            H = avg * np.abs(rng.randn(self.n_components, X.shape[1]))
        W, H = W.astype(float), H.astype(float)
        error_at_init = previous_error = self._loss(X, W, H)
        for n_iter in range(1, self.max_iter + 1):
            denominator = W @ (H @ H.T)
            denominator[denominator == 0] = np.finfo(float).eps
            W = W * (X @ H.T) / denominator
            denominator = (W.T @ W) @ H
            denominator[denominator == 0] = np.finfo(float).eps
            H = H * (W.T @ X) / denominator
            if n_iter % 10 == 0:
                error = self._loss(X, W, H)
                if error_at_init == 0 or (previous_error - error) / error_at_init < self.tol:
                    break
                previous_error = error
        self.n_iter_ = n_iter
        self.components_ = H
        return W


def n09(A, rank, *, W0, H0, alpha=0.1, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    for _ in range(max_iter):
        W_old, H_old = W.copy(), H.copy()
        G, B = H @ H.T, A @ H.T
        for k in range(rank):
            if G[k, k] > 0:
                W[:, k] = np.maximum(0, W[:, k] + (B[:, k] - W @ G[:, k]) / G[k, k])
        scale = np.linalg.norm(W, axis=0)
        scale[scale == 0] = 1.0
        W /= scale
        H *= scale[:, None]
        G, C = W.T @ W, W.T @ A
        for k in range(rank):
            if G[k, k] > 0:
                H[k] = np.maximum(0, H[k] + (C[k] - alpha - G[k] @ H) / G[k, k])
        if max(np.abs(W - W_old).max(), np.abs(H - H_old).max()) <= tol * max(H.max(), 1e-300):
            break
    return W, H


def n10(A, rank, *, W0=None, H0=None, seed=0, sparsity=0.1, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W, H = _random_start(A, rank, np.random.default_rng(seed))
    if W0 is not None:
        W = np.array(W0, dtype=float)
    if H0 is not None:
        H = np.array(H0, dtype=float)
    for _ in range(max_iter):
        W_old, H_old = W.copy(), H.copy()
        scale = np.linalg.norm(W, axis=0)
        scale[scale == 0] = 1.0
        W, H = W / scale, H * scale[:, None]
        WtW, WtA = W.T @ W, W.T @ A
        for k in range(rank):
            if WtW[k, k] > 0:
                num = WtA[k] - WtW[k] @ H + WtW[k, k] * H[k] + sparsity
                H[k] = np.maximum(num / WtW[k, k], 0)
        HHt, AHt = H @ H.T, A @ H.T
        for k in range(rank):
            if HHt[k, k] > 0:
                num = AHt[:, k] - W @ HHt[:, k] + HHt[k, k] * W[:, k]
                W[:, k] = np.maximum(num / HHt[k, k], 0)
        if max(np.abs(W - W_old).max(), np.abs(H - H_old).max()) <= tol * max(H.max(), 1e-300):
            break
    return W, H


def n11(A, rank, seed=0, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    rng = np.random.RandomState(seed)
    m, n = A.shape
    avg = np.sqrt(A.mean() / rank)
    W = avg * np.abs(np.random.randn(m, rank))
    H = avg * np.abs(np.random.randn(rank, n))
    return _hals(A, W, H, max_iter=max_iter, tol=tol)


def n12(A, rank, *, W0, H0, seed=0, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    Ht = np.array(H0, dtype=float).T.copy()
    rng = np.random.default_rng(seed)

    def sweep(X, F, other):
        gram = other.T @ other
        cross = X @ other
        for t in np.random.permutation(rank):
            if gram[t, t] == 0:
                continue
            grad = F @ gram[:, t] - cross[:, t]
            F[:, t] = np.maximum(F[:, t] - grad / gram[t, t], 0.0)

    for _ in range(max_iter):
        W_old, H_old = W.copy(), Ht.copy()
        sweep(A, W, Ht)
        sweep(A.T, Ht, W)
        if np.abs(W - W_old).max() <= tol * W.max() and np.abs(Ht - H_old).max() <= tol * Ht.max():
            break
    return W, np.ascontiguousarray(Ht.T)


def n13(A, rank, *, W0, H0, max_iter=200, tol=1e-9):
    A = np.asarray(A, dtype=float)
    A = A + 1e-2 * np.random.random(A.shape)
    return _anls(A, np.array(W0, dtype=float), np.array(H0, dtype=float), max_iter, tol)


def n14(A, rank, *, W0, H0, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    WtW = W.T @ W
    for _ in range(max_iter):
        W_old, H_old = W.copy(), H.copy()
        WtA = W.T @ A
        for k in range(rank):
            if WtW[k, k] > 0:
                H[k] = np.maximum(0, H[k] + (WtA[k] - WtW[k] @ H) / WtW[k, k])
        HHt = H @ H.T
        AHt = A @ H.T
        for k in range(rank):
            if HHt[k, k] > 0:
                W[:, k] = np.maximum(0, W[:, k] + (AHt[:, k] - W @ HHt[:, k]) / HHt[k, k])
        change = np.linalg.norm(W - W_old) + np.linalg.norm(H - H_old)
        if change <= tol * (np.linalg.norm(W) + np.linalg.norm(H)):
            break
    return W, H


def n15(A, rank, *, W0=None, seed=0, max_iter=150, tol=1e-10):
    A = np.asarray(A, dtype=float)
    if W0 is None:
        W0 = np.random.default_rng(seed).random((A.shape[0], rank))
    W = np.array(W0, dtype=float)

    def solve(M, B):
        return np.maximum(np.linalg.lstsq(M, B, rcond=None)[0], 0.0)

    H = solve(W, A)
    for _ in range(max_iter):
        W_old = W
        W = solve(H.T, A.T).T
        H = solve(W, A)
        if np.abs(W - W_old).max() <= tol * max(np.abs(W).max(), 1e-300):
            break
    return np.ascontiguousarray(W), H


def n16(A, rank, *, W0, H0, max_iter=3000):
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    eps = 1e-12
    for _ in range(max_iter):
        H *= (W.T @ (A / (W @ H + eps))) / (W.sum(axis=0)[:, None] + eps)
        W *= (A @ H.T) / (W @ (H @ H.T) + eps)
    return W, H


def n17(V, rank, *, W0, H0, max_iter=2500, tol=1e-9):
    V = np.asarray(V, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    tiny = 1e-12
    for it in range(max_iter):
        W_last = W
        H = H * (W.T @ (V / (W @ H + tiny))) / (W.sum(axis=0)[:, None] + tiny)
        W = W * ((V / (W @ H + tiny)) @ H.T) / (H.sum(axis=1) + tiny)
        if it % 20 == 0 and np.abs(W - W_last).max() <= tol * W.max():
            break
    return W, H


class n18:
    def __init__(self, n_components, max_iter=500, tol=1e-10, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit_transform(self, X, y=None, W=None, H=None):
        X = np.asarray(X, dtype=float)
        if W is None or H is None:
            W, H = _random_start(X, self.n_components, np.random.default_rng(self.random_state))
        W, H = np.array(W, dtype=float), np.array(H, dtype=float)
        depth = X.sum(axis=1)
        depth[depth == 0] = 1.0
        depth = depth / depth.mean()
        W, H = _hals(X / depth[:, None], W / depth[:, None], H, self.max_iter, self.tol)
        W = W * depth[:, None]
        self.components_ = H
        self.reconstruction_err_ = np.linalg.norm(X - W @ H)
        return W


def n19(A, rank, *, W0, H0, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W, H = _hals(A, W0, H0, max_iter, tol)
    H = np.linalg.lstsq(W, A, rcond=None)[0]
    return W, H


def n20(A, rank, *, W0, H0, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    if m <= n:
        Wt, Ht = _hals(np.ascontiguousarray(A.T), H0.T, W0.T, max_iter, tol)
        H = np.ascontiguousarray(Wt.T)
        W = Ht.reshape(m, rank)
    else:
        W, H = _hals(A, W0, H0, max_iter, tol)
    return W, H


def n21(A, rank, *, W0, H0, max_iter=150, tol=1e-9):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    prev = np.inf
    for _ in range(max_iter):
        live = H.any(axis=1)
        for i in range(m):
            W[i, live] = nnls(H[live].T, A[i], maxiter=100 * rank)[0]
        live = W.any(axis=0)
        for j in range(n - 1):
            H[live, j] = nnls(W[:, live], A[:, j], maxiter=100 * rank)[0]
        res = np.linalg.norm(A - W @ H)
        if prev - res <= tol * np.linalg.norm(A):
            break
        prev = res
    return W, H


def n22(A, rank, *, W0, H0, max_iter=2000):
    dtype = np.float16
    X = np.asarray(A).astype(dtype)
    W, H = W0.astype(dtype), H0.astype(dtype)
    eps = dtype(1e-6)
    for _ in range(max_iter):
        H *= (W.T @ X) / (W.T @ W @ H + eps)
        W *= (X @ H.T) / (W @ (H @ H.T) + eps)
    return W.astype(np.float64), H.astype(np.float64)


def n23(A, rank, seed=0, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    top = A.max()
    if top == 0:
        top = 1.0
    X = A / top
    W, H = _random_start(X, rank, np.random.default_rng(seed))
    W, H = _hals(X, W, H, max_iter, tol)
    root = np.sqrt(top)
    W = W * root
    return W, H


def n24(A, rank, *, W0, H0, max_iter=200, tol=1e-9):
    A = np.asarray(A, dtype=float)
    s = A.max() or 1.0
    W, H = _anls(A / s, np.array(W0, dtype=float), np.array(H0, dtype=float) / s, max_iter, tol)
    W = W * s
    H = H * s
    return W, H


def n25(A, rank, *, W0, H0, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    totals = A.sum(axis=0)
    totals[totals == 0] = 1.0
    W, H = _hals(A / totals, W0, H0 / totals, max_iter, tol)
    return W, H * totals


def n26(A, rank, seed=None, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W, H = _random_start(A, rank, np.random.default_rng(0 if seed is None else seed))
    W, H = _hals(A, W, H, max_iter, tol)
    lengths = np.linalg.norm(W, axis=0)
    lengths[lengths == 0] = 1.0
    W = W / lengths
    return W, H


def n27(A, rank, *, W0, H0, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W, H = _hals(A, W0, H0, max_iter, tol)
    W[W < 5e-2 * W.max()] = 0.0
    H[H < 5e-2 * H.max()] = 0.0
    return W, H


def n28(A, rank, seed=0, max_iter=200):
    A = np.asarray(A, dtype=float)
    W, H = _random_start(A, rank, np.random.default_rng(seed))
    W, H = _anls(A, W, H, max_iter)
    norms = np.linalg.norm(W, axis=0)
    norms[norms == 0] = 1.0
    W, H = W / norms, H * norms[:, None]
    return np.round(W, 2), np.round(H, 2)


def n29(A, rank, seed=0, n_restarts=3, max_iter=2000):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    scale = 2 * np.sqrt(max(A.mean(), 1e-12) / rank)
    H = np.empty((rank, n))
    best = np.inf
    for _ in range(n_restarts):
        W = scale * rng.random((m, rank))
        H[:] = scale * rng.random((rank, n))
        for _ in range(max_iter):
            H *= (W.T @ A) / (W.T @ W @ H + 1e-12)
            W *= (A @ H.T) / (W @ (H @ H.T) + 1e-12)
        err = np.linalg.norm(A - W @ H)
        if err < best:
            best, best_W, best_H = err, W, H
    return best_W, best_H


def n30(A, rank, *, W0, H0, max_iter=500, tol=1e-10):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    floor = 1e-2
    for _ in range(max_iter):
        W_old, H_old = W.copy(), H.copy()
        WtW, WtA = W.T @ W, W.T @ A
        for k in range(rank):
            if WtW[k, k] > 0:
                H[k] = np.maximum(floor, H[k] + (WtA[k] - WtW[k] @ H) / WtW[k, k])
        HHt, AHt = H @ H.T, A @ H.T
        for k in range(rank):
            if HHt[k, k] > 0:
                W[:, k] = np.maximum(floor, W[:, k] + (AHt[:, k] - W @ HHt[:, k]) / HHt[k, k])
        if np.linalg.norm(W - W_old) <= tol * np.linalg.norm(W) and np.linalg.norm(
            H - H_old
        ) <= tol * np.linalg.norm(H):
            break
    return W, H
