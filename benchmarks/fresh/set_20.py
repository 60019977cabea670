"""NMF subjects: W, H = nXX(A, rank, ...)."""

import numpy as np
from scipy.optimize import nnls

_E = 1e-300


def _arr(A):
    return np.array(A, dtype=np.float64)


def _draw(A, rank, seed):
    rng = np.random.default_rng(seed)
    return rng.random((A.shape[0], rank)), rng.random((rank, A.shape[1]))


def _start(A, rank, W0, H0, seed):
    W, H = _draw(A, rank, seed)
    if W0 is not None:
        W = np.array(W0, dtype=np.float64)
    if H0 is not None:
        H = np.array(H0, dtype=np.float64)
    return W, H


def _half(G, B, X):
    for j in range(X.shape[0]):
        g = G[j, j]
        if g > _E:
            X[j] = np.maximum(0.0, X[j] + (B[j] - G[j] @ X) / g)


def _count(max_iter, rank):
    return max(1, 1500 // max(rank, 1)) if max_iter is None else max_iter


def _hals(A, W, H, max_iter=None, tol=1e-14):
    n = _count(max_iter, W.shape[1])
    V = np.ascontiguousarray(W.T)
    At = A.T
    for it in range(n):
        chk = it % 10 == 9
        if chk:
            Vo, Ho = V.copy(), H.copy()
        _half(V @ V.T, V @ A, H)
        _half(H @ H.T, H @ At, V)
        if chk and (
            np.abs(V - Vo).max() <= tol * V.max() and np.abs(H - Ho).max() <= tol * H.max()
        ):
            break
    return V.T.copy(), H


def _svd_start(A, k):
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    W = np.zeros((A.shape[0], k))
    H = np.zeros((k, A.shape[1]))
    W[:, 0] = np.sqrt(s[0]) * np.abs(U[:, 0])
    H[0] = np.sqrt(s[0]) * np.abs(Vt[0])
    for j in range(1, k):
        u, v = U[:, j], Vt[j]
        up, un = np.maximum(u, 0), np.maximum(-u, 0)
        vp, vn = np.maximum(v, 0), np.maximum(-v, 0)
        a, b = np.linalg.norm(up), np.linalg.norm(vp)
        c, d = np.linalg.norm(un), np.linalg.norm(vn)
        if a * b < c * d:
            up, vp, a, b = un, vn, c, d
        if a * b > 0:
            q = np.sqrt(s[j] * a * b)
            W[:, j] = q * up / a
            H[j] = q * vp / b
    return W, H


def n01(A, rank, *, W0=None, H0=None, seed=0, max_iter=None):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    M = (A > 0).astype(float)
    n = max(1, 600 // rank) if max_iter is None else max_iter
    for it in range(n):
        Wo, Ho = W.copy(), H.copy()
        R = M * (A - W @ H)
        for j in range(rank):
            w = W[:, j]
            d = (w * w) @ M
            h = np.where(d > _E, np.maximum(0.0, H[j] + (w @ R) / np.maximum(d, _E)), H[j])
            R -= M * np.outer(w, h - H[j])
            H[j] = h
            d = M @ (h * h)
            w = np.where(d > _E, np.maximum(0.0, w + (R @ h) / np.maximum(d, _E)), w)
            R -= M * np.outer(w - W[:, j], h)
            W[:, j] = w
        if np.abs(W - Wo).max() <= 1e-14 * W.max() and np.abs(H - Ho).max() <= 1e-14 * H.max():
            break
    return W, H


def n02(A, rank, *, seed=0, max_iter=None, tol=1e-14):
    A = _arr(A)
    if A.shape[0] < A.shape[1]:
        A = A.T.copy()
    W, H = _draw(A, rank, seed)
    return _hals(A, W, H, max_iter, tol)


def n03(A, rank, *, W0=None, H0=None, seed=0, max_iter=None):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    W, H = _hals(A, W, H, max_iter)
    if rank == 1:
        return W, H
    out = np.zeros_like(W)
    G = H @ H.T
    for i in range(A.shape[0]):
        x, _ = nnls(H.T, A[i])
        p = np.flatnonzero(x > 1e-9 * max(x.max(), _E))
        if p.size > 1:
            out[i, p] = np.maximum(np.linalg.lstsq(G[np.ix_(p, p)], H[p] @ A[i], rcond=None)[0], 0)
    return out, H


def n04(A, rank, *, W0=None, H0=None, seed=0, max_iter=1000):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    if rank <= A.shape[0]:
        W = np.linalg.qr(W)[0]
    e = 1e-16
    for _ in range(max_iter):
        H = H * (W.T @ A) / (W.T @ W @ H + e)
        W = W * (A @ H.T) / (W @ (H @ H.T) + e)
    return W, H


def n05(A, rank, *, seed=0, max_iter=None, tol=1e-14):
    A = _arr(A)
    W, H = _draw(A, rank, seed)
    W, H = _hals(A, W, H, max_iter, tol)
    return W, np.linalg.lstsq(W, A, rcond=None)[0]


def n06(A, rank, *, seed=0, max_iter=None, tol=1e-14):
    A = _arr(A)
    W, H = _draw(A, rank, seed)
    if rank > 1:
        with np.errstate(all="ignore"):
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                sd = W.std(axis=1, ddof=2, keepdims=True)
                W = W + 0.1 * sd
    return _hals(A, W, H, max_iter, tol)


def _n07_half(G, B, X):
    try:
        L = np.linalg.cholesky(G)
        d = np.diag(L) ** 2
        if d.min() < 1e-2 * d.max():
            raise np.linalg.LinAlgError
        Y = np.linalg.solve(G, B)
    except np.linalg.LinAlgError:
        return X
    if (Y >= 0).all():
        return Y
    X = X.copy()
    _half(G, B, X)
    _half(G, B, X)
    return X


def n07(A, rank, *, W0=None, H0=None, seed=0, max_iter=None):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    n = max(1, 600 // rank) if max_iter is None else max_iter
    V = W.T.copy()
    for _ in range(n):
        Vo, Ho = V, H
        H = _n07_half(V @ V.T, V @ A, H)
        V = _n07_half(H @ H.T, H @ A.T, V)
        if np.abs(V - Vo).max() <= 1e-14 * V.max() and np.abs(H - Ho).max() <= 1e-14 * H.max():
            break
    return V.T.copy(), H


def n08(A, rank, *, W0=None, H0=None, seed=0, max_iter=None):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    W, H = _hals(A, W, H, max_iter)
    s = A.sum(axis=0)
    X = A / np.where(s > 0, s, 1.0)
    H = np.column_stack([nnls(W, X[:, i])[0] for i in range(A.shape[1])])
    return W, H


def n09(A, rank, *, W0=None, H0=None, seed=0, max_iter=800):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    e = 1e-16
    for _ in range(max_iter):
        W = W * np.sqrt(A @ H.T) / (W @ (H @ H.T) + e)
        s = W.sum(axis=0)
        s[s == 0] = 1.0
        W = W / s
        H = H * s[:, None]
        H = H * (W.T @ A) / (W.T @ W @ H + e)
    return W, H


def n10(A, rank, *, W0=None, H0=None, seed=0, max_iter=1000):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    V = W.T.copy()
    old = np.inf
    for _ in range(max_iter):
        _half(V @ V.T, V @ A, H)
        _half(H @ H.T, H @ A.T, V)
        R = A - V.T @ H
        new = 0.5 * (R * R).sum()
        if old - new < 1e-4:
            break
        old = new
    return V.T.copy(), H


def n11(A, rank, *, W0=None, H0=None, seed=0, max_iter=None):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    V = W.T.copy()
    with np.errstate(all="ignore"):
        for it in range(_count(max_iter, rank)):
            chk = it % 10 == 9
            if chk:
                Vo, Ho = V.copy(), H.copy()
            G, B = V @ V.T, V @ A
            for j in range(rank):
                H[j] = np.maximum(0.0, H[j] + (B[j] - G[j] @ H) / G[j, j])
            G, B = H @ H.T, H @ A.T
            for j in range(rank):
                V[j] = np.maximum(0.0, V[j] + (B[j] - G[j] @ V) / G[j, j])
            if chk and (
                np.abs(V - Vo).max() <= 1e-14 * V.max() and np.abs(H - Ho).max() <= 1e-14 * H.max()
            ):
                break
    return V.T.copy(), H


def n12(A, rank, *, seed=0, max_iter=1000):
    A = _arr(A)
    k = min(rank, *A.shape)
    W, H = _draw(A, rank, seed)
    W[:, :k], H[:k] = _svd_start(A, k)
    e = 1e-16
    for _ in range(max_iter):
        H = H * (W.T @ A) / (W.T @ W @ H + e)
        W = W * (A @ H.T) / (W @ (H @ H.T) + e)
    return W, H


def n13(A, rank, *, W0=None, H0=None, seed=0, max_iter=None):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    V = W.T.copy()
    n = max(1, 1000 // rank) if max_iter is None else max_iter
    D = 0.05 * np.eye(rank)
    for it in range(n):
        s = np.sqrt((V * V).sum(axis=1, keepdims=True))
        s[s == 0] = 1.0
        V /= s
        H *= s
        Vo, Ho = V.copy(), H.copy()
        _half(V @ V.T + D, V @ A, H)
        _half(H @ H.T, H @ A.T, V)
        if np.abs(V - Vo).max() <= 1e-14 and np.abs(H - Ho).max() <= 1e-14 * H.max():
            break
    return V.T.copy(), H


def n14(A, rank, *, W0=None, H0=None, seed=0, max_iter=None, tol=1e-14):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    W, H = _hals(A, W, H, max_iter, tol)
    return np.squeeze(W), np.squeeze(H)


def n15(A, rank, *, seed=0, max_iter=None, tol=1e-14):
    A = _arr(A)
    W, H = _draw(A, rank, seed)
    if rank <= A.shape[1]:
        Ws, Hs = _svd_start(A, rank)
        a = 0.01 * A.mean()
        W, H = Ws + a * W, Hs + a * H
    return _hals(A, W, H, max_iter, tol)


def n16(A, rank, *, W0=None, H0=None, seed=0, max_iter=None):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    V = W.T.copy()
    lo = 1e-2
    for it in range(_count(max_iter, rank)):
        chk = it % 10 == 9
        if chk:
            Vo, Ho = V.copy(), H.copy()
        G, B = V @ V.T, V @ A
        for j in range(rank):
            H[j] = np.maximum(lo, H[j] + (B[j] - G[j] @ H) / G[j, j])
        G, B = H @ H.T, H @ A.T
        for j in range(rank):
            V[j] = np.maximum(lo, V[j] + (B[j] - G[j] @ V) / G[j, j])
        if chk and (
            np.abs(V - Vo).max() <= 1e-14 * V.max() and np.abs(H - Ho).max() <= 1e-14 * H.max()
        ):
            break
    return V.T.copy(), H


def n17(A, rank, *, seed=0, max_iter=None, tol=1e-14):
    A = _arr(A)
    k = min(rank, *A.shape)
    W, H = _draw(A, rank, seed)
    Ws, Hs = _svd_start(A, k)
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    a = 0.01 * A.mean()
    W[:, :k], H[:k] = Ws + a * W[:, :k], Hs + a * H[:k]
    W[:, 0] = np.maximum(np.sqrt(s[0]) * U[:, 0], 0)
    H[0] = np.maximum(np.sqrt(s[0]) * Vt[0], 0)
    return _hals(A, W, H, max_iter, tol)


def n18(A, rank, *, W0=None, H0=None, seed=0, max_iter=300):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    for _ in range(max_iter):
        G, B = W.T @ W, W.T @ A
        t = 1.0 / max(G.sum(axis=0).max(), 1e-300)
        for _ in range(4):
            H = np.maximum(H - t * (G @ H - B), 0.0)
        G, B = H @ H.T, A @ H.T
        t = 1.0 / max(G.sum(axis=0).max(), 1e-300)
        for _ in range(4):
            W = np.maximum(W - t * (W @ G - B), 0.0)
    s = np.sqrt((W * W).sum(axis=0))
    return W / np.where(s > 0, s, 1.0), H


def n19(A, rank, *, W0=None, H0=None, seed=0, max_iter=None):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    V = W.T.copy()
    n = max(1, 1000 // rank) if max_iter is None else max_iter
    P = 0.2 * (np.ones((rank, rank)) - np.eye(rank))
    for it in range(n):
        s = np.sqrt((V * V).sum(axis=1, keepdims=True))
        s[s == 0] = 1.0
        V /= s
        H *= s
        Vo, Ho = V.copy(), H.copy()
        _half(V @ V.T, V @ A, H)
        _half(H @ H.T + P, H @ A.T, V)
        if np.abs(V - Vo).max() <= 1e-14 and np.abs(H - Ho).max() <= 1e-14 * H.max():
            break
    return V.T.copy(), H


def n20(A, rank, *, W0=None, H0=None, seed=0, max_iter=None, tol=1e-14):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    W, H = _hals(A, W, H, max_iter, tol)
    return W, np.maximum(np.linalg.lstsq(W, A, rcond=None)[0], 0.0)


def n21(A, rank, *, W0=None, H0=None, seed=0, max_iter=None):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    V = W.T.copy()
    n = max(1, 1000 // rank) if max_iter is None else max_iter
    for it in range(n):
        Vo, Ho = V.copy(), H.copy()
        _half(V @ V.T, H @ A.T, V)
        s = np.sqrt((V * V).sum(axis=1, keepdims=True))
        s[s == 0] = 1.0
        V /= s
        H *= s
        _half(V @ V.T, V @ A, H)
        if np.abs(V - Vo).max() <= 1e-14 and np.abs(H - Ho).max() <= 1e-14 * H.max():
            break
    return V.T.copy(), H


def _n22_half(G, B, X):
    for j in range(X.shape[0]):
        if G[j, j] > _E:
            y = np.maximum(0.0, X[j] + (B[j] - G[j] @ X) / G[j, j])
            y = X[j] * (y / X[j])
            X[j] = y if np.isfinite(y).all() else 0.0


def n22(A, rank, *, W0=None, H0=None, seed=0, max_iter=None):
    A = _arr(A)
    W, H = _start(A, rank, W0, H0, seed)
    V = W.T.copy()
    with np.errstate(all="ignore"):
        for it in range(_count(max_iter, rank)):
            chk = it % 10 == 9
            if chk:
                Vo, Ho = V.copy(), H.copy()
            _n22_half(V @ V.T, V @ A, H)
            _n22_half(H @ H.T, H @ A.T, V)
            if chk and (
                np.abs(V - Vo).max() <= 1e-14 * V.max() and np.abs(H - Ho).max() <= 1e-14 * H.max()
            ):
                break
    return V.T.copy(), H
