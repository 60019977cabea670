"""Twenty-six factorizations, each with one fault."""

import itertools
import math

import numpy as np


def _start(A, rank, W0, H0, seed):
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = rng.random((m, rank)) if W0 is None else np.array(W0, dtype=float)
    H = rng.random((rank, n)) if H0 is None else np.array(H0, dtype=float)
    return W, H


def _cd(B, G, X):
    d = G.diagonal().tolist()
    for j in range(len(d)):
        if d[j] > 1e-300:
            x = X[j]
            x += (B[j] - G[j].dot(X)) / d[j]
            np.maximum(x, 0.0, out=x)


def _sweep(A, W, H):
    Wt = np.ascontiguousarray(W.T)
    _cd(H @ A.T, H @ H.T, Wt)
    W[:] = Wt.T
    _cd(W.T @ A, W.T @ W, H)


def _loss(A, W, H):
    R = A - W @ H
    return float((R * R).sum())


def _hals(A, W, H, max_iter=600, tol=1e-13):
    Wt = np.ascontiguousarray(W.T)
    At = np.ascontiguousarray(A.T)
    prev = _loss(A, Wt.T, H)
    for it in range(max_iter):
        _cd(H @ At, H @ H.T, Wt)
        _cd(Wt @ A, Wt @ Wt.T, H)
        if it % 5 == 4:
            cur = _loss(A, Wt.T, H)
            if prev - cur <= tol * prev:
                break
            prev = cur
    return np.ascontiguousarray(Wt.T), H


def _pg(B, G, X, steps=6):
    L = float(np.linalg.eigvalsh(G)[-1])
    if L <= 0:
        return X
    for _ in range(steps):
        X = np.maximum(X - (G @ X - B) / L, 0.0)
    return X


_MASKS = {r: np.array(list(itertools.product((0.0, 1.0), repeat=r))) for r in range(1, 7)}


def _nnls(B, G, inv):
    r = G.shape[0]
    M = _MASKS[r]
    S = M[:, :, None] * M[:, None, :] * G + np.eye(r) * (1.0 - M)[:, :, None]
    X = inv(S) @ (M[:, :, None] * B)
    X *= M[:, :, None]
    ok = (X >= -1e-12 * np.abs(X).max(axis=1, keepdims=True)).all(axis=1)
    f = 0.5 * (X * (G @ X)).sum(axis=1) - (X * B).sum(axis=1)
    f[~ok] = np.inf
    k = np.argmin(f, axis=0)
    return np.maximum(X[k, :, np.arange(B.shape[1])].T, 0.0)


def _pinv(S):
    return np.linalg.pinv(S, rcond=1e-11, hermitian=True)


def n01(A, rank, *, W0=None, H0=None, seed=0, max_iter=90):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    prev = np.inf
    for _ in range(max_iter):
        H = _nnls(W.T @ A, W.T @ W, np.linalg.inv)
        W = _nnls(H @ A.T, H @ H.T, np.linalg.inv).T
        cur = _loss(A, W, H)
        if abs(prev - cur) <= 1e-12 * cur:
            break
        prev = cur
    return np.ascontiguousarray(W), H


def n02(A, rank, *, W0=None, H0=None, seed=0, max_iter=400):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    prev = _loss(A, W, H)
    with np.errstate(all="ignore"):
        for it in range(max_iter):
            B, G = A @ H.T, H @ H.T
            for j in range(rank):
                W[:, j] = np.maximum(W[:, j] + (B[:, j] - W @ G[:, j]) / G[j, j], 0.0)
            B, G = W.T @ A, W.T @ W
            for j in range(rank):
                H[j] = np.maximum(H[j] + (B[j] - G[j] @ H) / G[j, j], 0.0)
            if it % 5 == 4:
                cur = _loss(A, W, H)
                if prev - cur <= 1e-13 * prev:
                    break
                prev = cur
    return W, H


def n03(A, rank, *, W0=None, H0=None, seed=0, max_iter=900):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    G = W.T @ W
    for _ in range(max_iter):
        H *= (W.T @ A) / (G @ H + 1e-16)
        W *= (A @ H.T) / (W @ (H @ H.T) + 1e-16)
    return W, H


def n04(A, rank, *, W0=None, H0=None, seed=0, max_iter=500):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    W, H = _start(A, rank, W0, H0, seed)
    alpha = 0.004
    E = alpha * np.eye(rank)
    Wt = np.ascontiguousarray(W.T)
    At = np.ascontiguousarray(A.T)
    for it in range(max_iter):
        old = Wt.copy() if it % 5 == 4 else None
        _cd(H @ At, H @ H.T + m * E, Wt)
        _cd(Wt @ A, Wt @ Wt.T + n * E, H)
        if old is not None and np.abs(Wt - old).max() <= 1e-13 * np.abs(old).max():
            break
    return np.ascontiguousarray(Wt.T), H


def n05(A, rank, *, W0=None, H0=None, seed=0):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    W, H = _hals(A, W, H)
    return W, np.ascontiguousarray(H.T)


def n06(A, rank, *, W0=None, H0=None, seed=0, max_iter=150, tol=1e-4):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    prev = np.inf
    for _ in range(max_iter):
        W = _nnls(H @ A.T, H @ H.T, _pinv).T
        H = _nnls(W.T @ A, W.T @ W, _pinv)
        cur = _loss(A, W, H)
        if prev - cur <= tol:
            break
        prev = cur
    return np.ascontiguousarray(W), H


def n07(A, rank, *, W0=None, H0=None, seed=0, max_iter=900):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    eps = 1e-2
    for _ in range(max_iter):
        W *= (A @ H.T) / (W @ (H @ H.T) + eps)
        H *= (W.T @ A) / ((W.T @ W) @ H + eps)
    return W, H


def n08(A, rank, *, W0=None, H0=None, seed=0, max_iter=600):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    prev = _loss(A, W, H)
    for it in range(max_iter):
        G = H @ H.T
        d = np.maximum(G.diagonal(), 1e-16)
        W = np.maximum(W + (A @ H.T - W @ G) / d, 0.0)
        G = W.T @ W
        d = np.maximum(G.diagonal(), 1e-16)
        H = np.maximum(H + (W.T @ A - G @ H) / d[:, None], 0.0)
        cur = _loss(A, W, H)
        if abs(prev - cur) <= 1e-13 * prev:
            break
        prev = cur
    return W, H


def n09(A, rank, *, W0=None, H0=None, seed=0):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    W, H = _hals(A, W, H)
    H = np.full((rank, A.shape[1]), math.sqrt(A.mean() / rank))
    B, G = W.T @ A, W.T @ W
    for _ in range(5):
        H *= B / np.maximum(G @ H, 1e-16)
    return W, H


def n10(A, rank, *, seed=0, max_iter=900):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    W = np.empty((m, rank))
    H = np.empty((rank, n))
    for j in range(rank):
        rng = np.random.default_rng(seed)
        W[:, j] = rng.random(m)
        H[j] = rng.random(n)
    for _ in range(max_iter):
        W *= (A @ H.T) / np.maximum(W @ (H @ H.T), 1e-16)
        H *= (W.T @ A) / np.maximum((W.T @ W) @ H, 1e-16)
    return W, H


def n11(A, rank, *, W0=None, H0=None, seed=0, max_iter=600, tol=1e-12):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    first = prev = _loss(A, W, H)
    for _ in range(max_iter):
        _sweep(A, W, H)
        cur = _loss(A, W, H)
        if prev - cur <= 1e-3 * first:
            break
        prev = cur
    return W, H


def n12(A, rank, *, seed=0, max_iter=600):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = np.random.default_rng().random((m, rank))
    H = rng.random((rank, n))
    return _hals(A, W, H, max_iter=max_iter)


def n13(A, rank, *, W0=None, H0=None, seed=0, tol=1e-13):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    limit = 0
    it = 0
    prev = np.inf
    while True:
        _sweep(A, W, H)
        cur = _loss(A, W, H)
        if prev - cur <= tol * cur:
            break
        if it > limit:
            break
        prev = cur
        it += 1
    return W, H


def n14(A, rank, *, W0=None, H0=None, seed=0):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    W, H = _hals(A, W, H)
    s = np.linalg.norm(W, axis=0)
    s[s == 0] = 1.0
    return W / s, H


def n15(A, rank, *, W0=None, H0=None, seed=0, max_iter=600):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    p = min(A.shape)
    Wt = np.ascontiguousarray(W.T)
    At = np.ascontiguousarray(A.T)
    prev = _loss(A, W, H)
    for it in range(max_iter):
        _cd((H @ At)[:, :p], H @ H.T, Wt[:, :p])
        _cd((Wt @ A)[:, :p], Wt @ Wt.T, H[:, :p])
        if it % 5 == 4:
            cur = _loss(A, Wt.T, H)
            if prev - cur <= 1e-13 * prev:
                break
            prev = cur
    return np.ascontiguousarray(Wt.T), H


def n16(A, rank, *, W0=None, H0=None, seed=0, max_iter=400):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    prev = _loss(A, W, H)
    for it in range(max_iter):
        B, G = A @ H.T, H @ H.T
        for j in range(rank):
            if G[j, j] > 0:
                w = W[:, j] + (B[:, j] - W @ G[:, j]) / G[j, j]
                W[:, j] = w * (w > 0.05)
        B, G = W.T @ A, W.T @ W
        for j in range(rank):
            if G[j, j] > 0:
                h = H[j] + (B[j] - G[j] @ H) / G[j, j]
                H[j] = h * (h > 0.05)
        if it % 5 == 4:
            cur = _loss(A, W, H)
            if abs(prev - cur) <= 1e-13 * prev:
                break
            prev = cur
    return W, H


def n17(A, rank, *, W0=None, H0=None, seed=0, max_iter=2000, tol=1e-13):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    prev = _loss(A, W, H)
    for _ in range(10):
        W = _pg(H @ A.T, H @ H.T, W.T).T
        H = _pg(W.T @ A, W.T @ W, H)
        cur = _loss(A, W, H)
        if prev - cur <= tol * prev:
            break
        prev = cur
    return np.ascontiguousarray(W), H


def n18(A, rank, *, W0=None, H0=None, seed=0, max_iter=450, tol=1e-15):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    a2 = float((A * A).sum())
    trace = []
    for _ in range(max_iter):
        old = W.copy()
        _sweep(A, W, H)
        B = W.T @ A
        G = W.T @ W
        trace.append(math.sqrt(a2 - 2.0 * float((B * H).sum()) + float((G * (H @ H.T)).sum())))
        if np.abs(W - old).max() <= tol * np.abs(W).max():
            break
    return W, H


def n19(A, rank, *, W0=None, H0=None, seed=0, max_iter=600, tol=1e-13):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    W, H = _hals(A, W, H, max_iter=max_iter, tol=tol)
    H = np.linalg.lstsq(W, A, rcond=1e-10)[0]
    return W, H


def n20(A, rank, *, W0=None, H0=None, seed=0, max_iter=600):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    A, W, H = (X.astype(np.float32) for X in (A, W, H))
    W, H = _hals(A, W, H, max_iter=max_iter)
    return W.astype(np.float64), H.astype(np.float64)


def n21(A, rank, *, seed=0, max_iter=600):
    A = np.asarray(A, dtype=float)
    A = A[A.sum(axis=1) > 0]
    A = A[:, A.sum(axis=0) > 0]
    W, H = _start(A, rank, None, None, seed)
    return _hals(A, W, H, max_iter=max_iter)


def n22(A, rank, *, W0=None, H0=None, seed=0, max_iter=900):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    for _ in range(max_iter):
        Q = A / np.maximum(W @ H, 1e-16)
        W *= (Q @ H.T) / np.maximum(H.sum(axis=1), 1e-16)
        Q = A / np.maximum(W @ H, 1e-16)
        H *= (W.T @ Q) / np.maximum(W.sum(axis=0), 1e-16)[:, None]
    return W, H


def n23(A, rank, *, W0=None, H0=None, seed=0, max_iter=600, tol=1e-13):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    W, H = _hals(A, W, H, max_iter=max_iter, tol=tol)
    return np.squeeze(W), np.squeeze(H)


def n24(A, rank, *, W0=None, H0=None, seed=0, max_iter=200, tol=1e-13):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    rng = np.random.default_rng()
    prev = _loss(A, W, H)
    for _ in range(max_iter):
        B, G = A @ H.T, H @ H.T
        for j in rng.permutation(rank):
            if G[j, j] > 0:
                W[:, j] = np.maximum(W[:, j] + (B[:, j] - W @ G[:, j]) / G[j, j], 0.0)
        B, G = W.T @ A, W.T @ W
        for j in rng.permutation(rank):
            if G[j, j] > 0:
                H[j] = np.maximum(H[j] + (B[j] - G[j] @ H) / G[j, j], 0.0)
        cur = _loss(A, W, H)
        if prev - cur <= tol * prev:
            break
        prev = cur
    return W, H


def n25(A, rank, *, W0=None, H0=None, seed=0, max_iter=450, tol=1e-13):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    Hk = H.copy()
    best, keep = np.inf, (W.copy(), H.copy())
    for _ in range(max_iter):
        old = W.copy()
        _sweep(A, W, H)
        e = _loss(A, W, Hk)
        if e < best:
            best, keep = e, (W.copy(), H.copy())
        if np.abs(W - old).max() <= tol * np.abs(W).max():
            break
    return keep


def n26(A, rank, *, W0=None, H0=None, seed=0, max_iter=900):
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    if rank <= A.shape[0]:
        W = np.linalg.qr(W)[0]
    for _ in range(max_iter):
        D = W.T @ W @ H
        H *= (W.T @ A) / np.where(np.abs(D) < 1e-16, 1e-16, D)
        D = W @ (H @ H.T)
        W *= (A @ H.T) / np.where(np.abs(D) < 1e-16, 1e-16, D)
    return W, H
