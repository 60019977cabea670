"""Twenty-four non-negative matrix factorizations: minimise ||A - W H||_F^2, W, H >= 0."""

import numpy as np
from scipy.optimize import nnls


# ---------------------------------------------------------------- helpers


def _start(A, rank, W0=None, H0=None, seed=0):
    m, n = A.shape
    rng = np.random.default_rng(seed)
    c = np.sqrt(max(A.mean(), 1e-12) / rank)
    W = c * (0.1 + rng.random((m, rank))) if W0 is None else np.array(W0, dtype=float)
    H = c * (0.1 + rng.random((rank, n))) if H0 is None else np.array(H0, dtype=float)
    return W, H


def _hals_sweep(W, AHt, HHt):
    """One pass over the columns of W, in place; returns the largest change."""
    big = 0.0
    for k in range(W.shape[1]):
        d = HHt[k, k]
        if d <= 1e-30:
            continue
        new = np.maximum(0.0, W[:, k] + (AHt[:, k] - W @ HHt[:, k]) / d)
        big = max(big, np.abs(new - W[:, k]).max())
        W[:, k] = new
    return big


def _mu_step(A, W, H, eps=1e-12):
    W = W * (A @ H.T) / (W @ (H @ H.T) + eps)
    H = H * (W.T @ A) / ((W.T @ W) @ H + eps)
    return W, H


def _nnls_columns(M, B):
    return np.column_stack([nnls(M, B[:, j])[0] for j in range(B.shape[1])])


def _loss(A, W, H):
    R = A - W @ H
    return float(np.sum(R * R))


# ---------------------------------------------------------------- subjects


def n01(A, rank, *, W0=None, H0=None, seed=0, max_iter=500, tol=1e-9, alpha=0.05):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    for _ in range(max_iter):
        change = 0.0
        AHt, HHt = A @ H.T, H @ H.T
        for k in range(rank):
            if HHt[k, k] > 1e-30:
                g = W @ HHt[:, k] - AHt[:, k]
                new = np.maximum(0.0, W[:, k] - g / HHt[k, k])
                change = max(change, np.abs(new - W[:, k]).max())
                W[:, k] = new
        WtA, WtW = W.T @ A, W.T @ W
        for k in range(rank):
            if WtW[k, k] > 1e-30:
                g = WtW[k] @ H - WtA[k] - alpha
                new = np.maximum(0.0, H[k] - g / WtW[k, k])
                change = max(change, np.abs(new - H[k]).max())
                H[k] = new
        if change < tol:
            break
    return W, H


def n02(A, rank, *, W0, H0, max_iter=2000):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.array(H0, dtype=float)
    for _ in range(max_iter):
        W *= (A @ H.T) / (W @ (H @ H.T))
        H *= (W.T @ A) / ((W.T @ W) @ H)
    return W, H


def n03(A, rank, *, W0=None, H0=None, seed=0, max_iter=500, tol=1e-9):
    A = np.asarray(A, dtype=float)
    X = np.where(A > 0.1 * A.max(), A, 0.0)
    W, H = _start(A, rank, W0, H0, seed)
    for _ in range(max_iter):
        dw = _hals_sweep(W, X @ H.T, H @ H.T)
        dh = _hals_sweep(H.T, X.T @ W, W.T @ W)
        if max(dw, dh) < tol:
            break
    return W, H


def n04(A, rank, *, W0, H0, max_iter=3000, tol=1e-3):
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    for _ in range(max_iter):
        W_old = W
        W, H = _mu_step(A, W, H)
        if np.abs(W - W_old).max() < tol:
            break
    return W, H


def n05(A, rank, *, W0=None, H0=None, seed=0, max_iter=500, tol=1e-12):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    scale = np.sum(A * A)
    previous = 0.0
    for _ in range(max_iter):
        _hals_sweep(W, A @ H.T, H @ H.T)
        _hals_sweep(H.T, A.T @ W, W.T @ W)
        current = _loss(A, W, H)
        if previous - current < tol * scale:
            break
        previous = current
    return W, H


def n06(A, rank, *, W0, H0, max_iter=500, tol=1e-9):
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    for _ in range(max_iter):
        W_old = W.copy()
        _hals_sweep(W, A @ H.T, H @ H.T)
        _hals_sweep(H.T, A.T @ W, W.T @ W)
        s = H.sum(axis=0)
        H /= np.where(s > 0, s, 1.0)
        if np.abs(W - W_old).max() < tol:
            break
    return W, H


def n07(A, rank, *, W0=None, H0=None, seed=0, max_iter=500, tol=1e-9):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    for _ in range(max_iter):
        Wp, Hp = W.copy(), H.copy()
        G, P = H @ H.T, A @ H.T
        for k in range(rank):
            if G[k, k] > 1e-30:
                W[:, k] = np.maximum(W[:, k] + (P[:, k] - W @ G[:, k]) / G[k, k], 1e-2)
        G, P = W.T @ W, W.T @ A
        for k in range(rank):
            if G[k, k] > 1e-30:
                H[k] = np.maximum(H[k] + (P[k] - G[k] @ H) / G[k, k], 1e-2)
        if max(np.abs(W - Wp).max(), np.abs(H - Hp).max()) < tol:
            break
    return W, H


def n08(A, rank, max_iter=2500):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    U, S, Vt = np.linalg.svd(A, full_matrices=False)
    r = min(rank, len(S))
    W, H = np.zeros((m, rank)), np.zeros((rank, n))
    W[:, 0] = np.sqrt(S[0]) * np.abs(U[:, 0])
    H[0] = np.sqrt(S[0]) * np.abs(Vt[0])
    for k in range(1, r):
        u, v = U[:, k], Vt[k]
        up, vp, un, vn = np.maximum(u, 0), np.maximum(v, 0), np.maximum(-u, 0), np.maximum(-v, 0)
        a, b = np.linalg.norm(up) * np.linalg.norm(vp), np.linalg.norm(un) * np.linalg.norm(vn)
        x, y, s = (up, vp, a) if a >= b else (un, vn, b)
        if s > 0:
            W[:, k] = np.sqrt(S[k] * s) * x / np.linalg.norm(x)
            H[k] = np.sqrt(S[k] * s) * y / np.linalg.norm(y)
    if rank > r:
        rng = np.random.default_rng(0)
        W[:, r:] = 0.1 * np.sqrt(A.mean()) * rng.random((m, rank - r))
        H[r:] = 0.1 * np.sqrt(A.mean()) * rng.random((rank - r, n))
    for _ in range(max_iter):
        W, H = _mu_step(A, W, H)
    return W, H


def n09(A, rank, *, W0=None, H0=None, seed=0, max_iter=500, tol=0.1):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    norm2 = np.sum(A * A)
    for _ in range(max_iter):
        Ht = _nnls_columns(W, A)
        Wt = _nnls_columns(Ht.T, A.T)
        done = max(np.abs(Wt.T - W).max(), np.abs(Ht - H).max()) < 1e-9
        W, H = Wt.T.copy(), Ht
        if done or _loss(A, W, H) < tol * norm2:
            break
    return W, H


def n10(A, rank, *, W0, H0, max_iter=10):
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    for _ in range(1, max_iter + 1):
        W, H = _mu_step(A, W, H)
    return W, H


def n11(A, rank, *, W0, H0, max_iter=300, inner=10, tol=1e-9):
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    it = 0
    while it < max_iter:
        W_old, H_old = W, H
        Q, P = H @ H.T, A @ H.T
        L = max(np.linalg.norm(Q, 2), 1e-30)
        for _ in range(inner):
            W = np.maximum(0.0, W - (W @ Q - P) / L)
            it += 1
        Q, P = W.T @ W, W.T @ A
        L = max(np.linalg.norm(Q, 2), 1e-30)
        for _ in range(inner):
            H = np.maximum(0.0, H - (Q @ H - P) / L)
            it += 1
        if max(np.abs(W - W_old).max(), np.abs(H - H_old).max()) < tol:
            break
    return W, H


def n12(A, rank, *, W0, H0, max_iter=500, tol=1e-9):
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    for _ in range(max_iter):
        W_old, H_old = W.copy(), H.copy()
        AHt, HHt = A @ H.T, H @ H.T
        for k in range(rank):
            if HHt[k, k] > 1e-30:
                W[:, k] = np.maximum(0.0, AHt[:, k] - W @ HHt[:, k]) / HHt[k, k]
        WtA, WtW = W.T @ A, W.T @ W
        for k in range(rank):
            if WtW[k, k] > 1e-30:
                r = WtA[k] - WtW[k] @ H + WtW[k, k] * H[k]
                H[k] = np.maximum(0.0, r) / WtW[k, k]
        if max(np.abs(W - W_old).max(), np.abs(H - H_old).max()) < tol:
            break
    return W, H


def n13(A, rank, seed=0, max_iter=2000, _starts={}):
    A = np.asarray(A, dtype=float)
    key = A.shape + (rank, seed)
    if key not in _starts:
        rng = np.random.default_rng(seed)
        _starts[key] = (0.1 + rng.random((A.shape[0], rank)), 0.1 + rng.random((rank, A.shape[1])))
    W, H = _starts[key]
    for _ in range(max_iter):
        W *= (A @ H.T) / (W @ (H @ H.T) + 1e-12)
        H *= (W.T @ A) / ((W.T @ W) @ H + 1e-12)
    return W.copy(), H.copy()


def n14(A, rank, *, W0=None, H0=None, seed=0, max_iter=500, tol=1e-9):
    A = np.asarray(A).astype(int)
    W, H = _start(A, rank, W0, H0, seed)
    for _ in range(max_iter):
        dw = _hals_sweep(W, A @ H.T, H @ H.T)
        dh = _hals_sweep(H.T, A.T @ W, W.T @ W)
        if max(dw, dh) < tol:
            break
    return W, H


class n15:
    def __init__(self, n_components=2, alpha=0.01, max_iter=500, tol=1e-9, random_state=0):
        self.n_components = n_components
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit_transform(self, X, y=None, W=None, H=None):
        X = np.asarray(X, dtype=float)
        m, n = X.shape
        W, H = _start(X, self.n_components, W, H, self.random_state)
        l1_W, l1_H = self.alpha * n, self.alpha * m
        for self.n_iter_ in range(1, self.max_iter + 1):
            dw = _hals_sweep(W, X @ H.T - l1_W, H @ H.T)
            dh = _hals_sweep(H.T, X.T @ W - l1_H, W.T @ W)
            if max(dw, dh) < self.tol:
                break
        self.components_ = H
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


def n16(A, rank, *, W0, H0, max_iter=2500, eps=1e-12):
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    for _ in range(max_iter):
        W = W * (A @ H.T) / (W @ (H @ H.T) + eps)
        H = H * (W.T @ (A / (W @ H + eps))) / (W.sum(axis=0)[:, None] + eps)
    return W, H


def n17(A, rank, *, W0=None, H0=None, seed=0, max_iter=3000, tol=1e-10):
    A = np.asarray(A, dtype=float)
    A = np.where(A == 0, A.mean(), A)
    W, H = _start(A, rank, W0, H0, seed)
    for _ in range(max_iter):
        W_old, H_old = W, H
        HHt = H @ H.T
        W = np.maximum(0.0, W - (W @ HHt - A @ H.T) / max(np.trace(HHt), 1e-30))
        WtW = W.T @ W
        H = np.maximum(0.0, H - (WtW @ H - W.T @ A) / max(np.trace(WtW), 1e-30))
        if max(np.abs(W - W_old).max(), np.abs(H - H_old).max()) < tol:
            break
    return W, H


def n18(A, rank, *, W0=None, H0=None, seed=0, max_iter=500, tol=1e-9):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    for _ in range(max_iter):
        dw = _hals_sweep(W, A @ H.T, H @ H.T)
        dh = _hals_sweep(H.T, A.T @ W, W.T @ W)
        if max(dw, dh) < tol:
            break
    s = W.sum(axis=0)
    s[s == 0] = 1.0
    W = W / s
    return W, H


def n19(A, rank, seed=0, max_iter=500, tol=1e-9):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    c = np.sqrt(A.mean() / rank)
    W = c * (0.1 + np.random.rand(m, rank))
    H = c * (0.1 + np.random.rand(rank, n))
    for _ in range(max_iter):
        dw = _hals_sweep(W, A @ H.T, H @ H.T)
        dh = _hals_sweep(H.T, A.T @ W, W.T @ W)
        if max(dw, dh) < tol:
            break
    return W, H


def n20(A, rank, *, W0=None, H0=None, seed=0, max_iter=2000):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    best = None
    for _ in range(max_iter):
        W, H = _mu_step(A, W, H)
        err = _loss(A, W, H)
        if best is None or err > best[0]:
            best = (err, W, H)
    return best[1], best[2]


def n21(A, rank, *, W0, H0, max_iter=2500):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=int)
    H = np.array(H0, dtype=int)
    for _ in range(max_iter):
        W, H = _mu_step(A, W, H)
    return np.asarray(W, dtype=float), np.asarray(H, dtype=float)


class n22:
    def __init__(self, n_components=2, max_iter=500, tol=1e-10, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit_transform(self, X, y=None, W=None, H=None):
        X = np.asarray(X, dtype=float)
        norm = np.linalg.norm(X)
        if norm == 0:
            norm = 1.0
        Xs = X / norm
        root = np.sqrt(norm)
        W0 = None if W is None else np.asarray(W, dtype=float) / root
        H0 = None if H is None else np.asarray(H, dtype=float) / root
        W, H = _start(Xs, self.n_components, W0, H0, self.random_state)
        for _ in range(self.max_iter):
            dw = _hals_sweep(W, Xs @ H.T, H @ H.T)
            dh = _hals_sweep(H.T, Xs.T @ W, W.T @ W)
            if max(dw, dh) < self.tol:
                break
        self.components_ = H
        return W * root

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


def n23(A, rank, seed=0, max_iter=2000, eps=1e-12):
    A = np.asarray(A, dtype=float)
    M = (A > 0).astype(float)
    W, H = _start(A, rank, seed=seed)
    for _ in range(max_iter):
        W *= ((M * A) @ H.T) / ((M * (W @ H)) @ H.T + eps)
        H *= (W.T @ (M * A)) / (W.T @ (M * (W @ H)) + eps)
    return W, H


def n24(A, rank, *, W0, max_iter=100, tol=1e-9):
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    H = np.zeros((rank, A.shape[1]))
    for _ in range(max_iter):
        H_old = H
        H = np.maximum(0.0, np.linalg.lstsq(W, A, rcond=None)[0])
        W = _nnls_columns(H.T, A.T).T.copy()
        if np.abs(H - H_old).max() < tol:
            break
    return W, H
