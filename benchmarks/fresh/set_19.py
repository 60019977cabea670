"""Twenty-four factorizations, each with one fault."""

import numpy as np
from scipy.optimize import nnls


def _start(A, rank, seed):
    rng = np.random.default_rng(seed)
    W = rng.random((A.shape[0], rank))
    H = rng.random((rank, A.shape[1]))
    return _scale(A, W, H)


def _scale(A, W, H):
    P = W @ H
    d = np.vdot(P, P)
    c = np.vdot(P, A) / d if d > 0 else 0.0
    if c > 0:
        W = W * np.sqrt(c)
        H = H * np.sqrt(c)
    return W, H


def _rows_h(B, G, H):
    for j in range(H.shape[0]):
        g = G[j, j]
        if g > 0:
            H[j] = np.maximum(H[j] + (B[j] - G[j] @ H) / g, 0.0)


def _rows_w(B, G, Wt):
    for j in range(Wt.shape[0]):
        g = G[j, j]
        if g > 0:
            r = np.maximum(Wt[j] + (B[j] - G[j] @ Wt) / g, 0.0)
            if r.any():
                Wt[j] = r


def _loss(A, W, H):
    R = A - W @ H
    return float(np.vdot(R, R))


def _cd(A, W, H, max_iter, tol):
    W = np.array(W, float)
    H = np.array(H, float)
    Wt = np.ascontiguousarray(W.T)
    nA = max(float(np.vdot(A, A)), 1e-300)
    prev = np.inf
    for it in range(max_iter):
        _rows_w(H @ A.T, H @ H.T, Wt)
        _rows_h(Wt @ A, Wt @ Wt.T, H)
        if it % 10 == 9:
            e = _loss(A, Wt.T, H)
            if e <= 1e-26 * nA or prev - e <= tol * e:
                break
            prev = e
    return np.ascontiguousarray(Wt.T), H


def n01(A, rank, *, W0, H0, max_iter=300, tol=1e-12):
    A = np.asarray(A, float)
    Wt = np.array(W0, float).T.copy()
    H = np.array(H0, float)
    prev = np.inf
    for it in range(max_iter):
        _rows_w(H @ A.T, H @ H.T, Wt)
        B, G = Wt @ A, Wt @ Wt.T
        for j in range(rank):
            if G[j, j] > 0:
                H[j] = np.maximum((B[j] - G[j] @ H) / G[j, j], 0.0)
        u = np.linalg.norm(Wt, axis=1)[:, None]
        v = np.linalg.norm(H, axis=1)[:, None]
        q = np.where((u > 0) & (v > 0), np.sqrt(np.maximum(v, 1e-300) / np.maximum(u, 1e-300)), 1.0)
        Wt = Wt * q
        H = H / q
        e = _loss(A, Wt.T, H)
        if abs(prev - e) <= tol * e:
            break
        prev = e
    return Wt.T.copy(), H


def n02(A, rank, *, W0=None, H0=None, max_iter=400, tol=1e-12):
    A = np.asarray(A, float)
    rng = np.random.default_rng()
    W = rng.random((A.shape[0], rank))
    if H0 is None:
        H = rng.random((rank, A.shape[1]))
    else:
        H = np.array(H0, float)
    return _cd(A, W, H, max_iter, tol)


def n03(A, rank, *, seed=0, max_iter=400, tol=1e-12):
    A = np.asarray(A, float)
    m, n = A.shape
    val, row, ptr = [], [], [0]
    for c in range(n):
        r = np.nonzero(A[:, c])[0]
        row.extend(r)
        val.extend(A[r, c])
        ptr.append(len(row))
    X = np.zeros((m, n))
    for c in range(len(ptr) - 2):
        s = slice(ptr[c], ptr[c + 1])
        X[row[s], c] = val[s]
    W, H = _start(A, rank, seed)
    return _cd(X, W, H, max_iter, tol)


def n04(A, rank, *, W0, H0, max_iter=200, tol=1e-12):
    A = np.asarray(A, float)
    Wt = np.array(W0, float).T.copy()
    H = np.array(H0, float)
    rng = np.random.default_rng()
    prev = np.inf
    for it in range(max_iter):
        p = rng.permutation(rank)
        X = Wt[p]
        Y = H[p]
        _rows_w(Y @ A.T, Y @ Y.T, X)
        _rows_h(X @ A, X @ X.T, Y)
        Wt[p] = X
        H[p] = Y
        e = _loss(A, Wt.T, H)
        if prev - e <= tol * e:
            break
        prev = e
    return Wt.T.copy(), H


def n05(A, rank, *, seed=0, max_iter=400, tol=1e-12):
    A = np.asarray(A, float)
    W = np.random.default_rng(seed).random((A.shape[0], rank))
    H = np.random.default_rng().random((rank, A.shape[1]))
    W, H = _scale(A, W, H)
    return _cd(A, W, H, max_iter, tol)


def _solve_nn(G, B, X):
    k = G.shape[0]
    if np.linalg.matrix_rank(G) < k:
        return X
    L = np.linalg.cholesky(G)
    Y = np.linalg.solve(L, B)
    out = np.empty_like(X)
    for c in range(B.shape[1]):
        out[:, c] = nnls(L.T, Y[:, c])[0]
    return out


def n06(A, rank, *, W0, H0, max_iter=80, tol=1e-12):
    A = np.asarray(A, float)
    Wt = np.array(W0, float).T.copy()
    H = np.array(H0, float)
    prev = np.inf
    for it in range(max_iter):
        try:
            Wt = _solve_nn(H @ H.T, H @ A.T, Wt)
            H = _solve_nn(Wt @ Wt.T, Wt @ A, H)
        except np.linalg.LinAlgError:
            pass
        e = _loss(A, Wt.T, H)
        if abs(prev - e) <= tol * e:
            break
        prev = e
    return Wt.T.copy(), H


def n07(A, rank, *, W0, H0, max_iter=400, tol=1e-12):
    A = np.asarray(A, float)
    return _cd(A, W0, H0, 8, tol)


def n08(A, rank, *, W0, H0, max_iter=400, tol=1e-12):
    A = np.asarray(A, float)
    W, H = _cd(A, W0, H0, max_iter, tol)
    buf = np.asfortranarray(H).ravel(order="K")
    return W, buf.reshape(rank, A.shape[1])


def n09(A, rank, *, seed=0, max_iter=400, tol=1e-12):
    A = np.asarray(A, float)
    rng = np.random.default_rng(seed)
    runs = []
    for _ in range(4):
        W = rng.random((A.shape[0], rank))
        H = rng.random((rank, A.shape[1]))
        W, H = _scale(A, W, H)
        W, H = _cd(A, W, H, 5, tol)
        runs.append((-_loss(A, W, H), W, H))
    s = max(runs, key=lambda t: t[0])
    W, H = _cd(A, s[1], s[2], max_iter, tol)
    runs.append((-_loss(A, W, H), W, H))
    _, W, H = min(runs, key=lambda t: t[0])
    return W, H


def n10(A, rank, *, W0, H0, max_iter=400, tol=1e-12):
    A = np.asarray(A, float)
    Wt = np.array(W0, float).T.copy()
    H = np.array(H0, float)
    prev = np.inf
    with np.errstate(all="ignore"):
        for it in range(max_iter):
            _rows_h(Wt @ A, Wt @ Wt.T, H)
            s = np.sqrt((H * H).sum(axis=1))[:, None]
            H = H / s
            Wt = Wt * s
            _rows_w(H @ A.T, H @ H.T, Wt)
            if it % 10 == 9:
                e = _loss(A, Wt.T, H)
                if prev - e <= tol * e:
                    break
                prev = e
    return Wt.T.copy(), H


def n11(A, rank, *, seed=0, max_iter=400, tol=1e-13):
    A = np.asarray(A, float)
    W, H = _start(A, rank, seed)
    Wt = W.T.copy()
    prev = np.inf
    for it in range(max_iter):
        _rows_w(H @ A.T, H @ H.T, Wt)
        Q = A / np.maximum(Wt.T @ H, 1e-300)
        s = np.maximum(Wt.sum(axis=1), 1e-300)[:, None]
        H = H * (Wt @ Q) / s
        e = _loss(A, Wt.T, H)
        if abs(prev - e) <= tol * e:
            break
        prev = e
    return Wt.T.copy(), H


def n12(A, rank, *, W0, H0, max_iter=400):
    A = np.asarray(A, float)
    Wt = np.array(W0, float).T.copy()
    H = np.array(H0, float)
    prev = np.inf
    for it in range(max_iter):
        _rows_w(H @ A.T, H @ H.T, Wt)
        _rows_h(Wt @ A, Wt @ Wt.T, H)
        e = np.sqrt(_loss(A, Wt.T, H))
        if prev - e < 1e-3:
            break
        prev = e
    return Wt.T.copy(), H


def n13(A, rank, *, seed=0, max_iter=1500, tol=1e-14):
    A = np.asarray(A, float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = np.repeat(rng.random((m, 1)), rank, axis=1)
    H = np.repeat(rng.random((1, n)), rank, axis=0)
    W, H = _scale(A, W, H)
    prev = np.inf
    for it in range(max_iter):
        H = H * (W.T @ A) / np.maximum(W.T @ W @ H, 1e-300)
        W = W * (A @ H.T) / np.maximum(W @ (H @ H.T), 1e-300)
        if it % 10 == 9:
            e = _loss(A, W, H)
            if prev - e <= tol * e:
                break
            prev = e
    return W, H


def n14(A, rank, *, W0, H0, max_iter=200, tol=1e-12):
    A = np.asarray(A, float)
    Wt = np.array(W0, float).T.copy()
    H = np.array(H0, float)
    prev = np.inf
    for it in range(max_iter):
        G, B = H @ H.T, H @ A.T
        a = 1.0 / max(G.diagonal().mean(), 1e-300)
        for _ in range(8):
            Wt = np.maximum(Wt - a * (G @ Wt - B), 0.0)
        G, B = Wt @ Wt.T, Wt @ A
        a = 1.0 / max(G.diagonal().mean(), 1e-300)
        for _ in range(8):
            H = np.maximum(H - a * (G @ H - B), 0.0)
        e = _loss(A, Wt.T, H)
        if abs(prev - e) <= tol * e:
            break
        prev = e
    return Wt.T.copy(), H


def n15(A, rank, *, W0, H0, max_iter=200, tol=1e-10):
    A = np.asarray(A, float)
    Wt = np.array(W0, float).T.copy()
    H = np.array(H0, float)

    def pg(X, G, B):
        D = G @ X - B
        D = np.where(X > 0, D, np.minimum(D, 0.0))
        return float(np.vdot(D, D))

    ref = np.sqrt(pg(Wt, H @ H.T, H @ A.T) + pg(H, Wt @ Wt.T, Wt @ A))
    for it in range(max_iter):
        G, B = H @ H.T, H @ A.T
        a = 1.0 / max(np.linalg.norm(G, 2), 1e-300)
        for _ in range(8):
            Wt = np.maximum(Wt - a * (G @ Wt - B), 0.0)
        G, B = Wt @ Wt.T, Wt @ A
        a = 1.0 / max(np.linalg.norm(G, 2), 1e-300)
        for _ in range(8):
            H = np.maximum(H - a * (G @ H - B), 0.0)
        cur = np.sqrt(pg(Wt, H @ H.T, H @ A.T) + pg(H, Wt @ Wt.T, Wt @ A))
        if cur >= tol * ref:
            break
    return Wt.T.copy(), H


def n16(A, rank, *, W0, H0, max_iter=400):
    A = np.asarray(A, float)
    Wt = np.array(W0, float).T.copy()
    H = np.array(H0, float)
    Y = H.copy()
    X = Wt.copy()
    b = 0.2
    prev = np.inf
    for it in range(max_iter):
        Wn = X.copy()
        _rows_w(Y @ A.T, Y @ Y.T, Wn)
        X = np.maximum(Wn + b * (Wn - Wt), 0.0)
        Hn = Y.copy()
        _rows_h(X @ A, X @ X.T, Hn)
        Y = np.maximum(Hn + b * (Hn - H), 0.0)
        Wt, H = Wn, Hn
        b = min(0.9, 1.04 * b)
        e = _loss(A, Wt.T, H)
        if e >= prev:
            break
        prev = e
    return Wt.T.copy(), H


def n17(A, rank, *, seed=0, max_iter=400, tol=1e-12):
    A = np.asarray(A, float)
    W, H = _start(A, rank, seed)
    W, H = _cd(A, W, H, max_iter, tol)
    if rank > 1:
        c = (W > 1e-9 * max(W.max(), 1e-300)).sum(axis=1)
        W[c == 1] = 0.0
    return W, H


def n18(A, rank, *, W0, H0, max_iter=800, tol=1e-14):
    A = np.asarray(A, float)
    W = np.array(W0, float)
    H = np.array(H0, float)
    prev = np.inf
    for it in range(max_iter):
        U = (W.T @ A) / np.maximum(W.T @ W @ H, 1e-300)
        V = (A @ H.T) / np.maximum(W @ (H @ H.T), 1e-300)
        H = H * U
        W = W * V
        e = _loss(A, W, H)
        if abs(prev - e) <= tol * e:
            break
        prev = e
    return W, H


def n19(A, rank, *, seed=0, max_iter=0, tol=1e-12):
    A = np.asarray(A, float)
    W, H = _start(A, rank, seed)
    it = 0
    Wt = W.T.copy()
    prev = np.inf
    while True:
        _rows_w(H @ A.T, H @ H.T, Wt)
        _rows_h(Wt @ A, Wt @ Wt.T, H)
        it += 1
        e = _loss(A, Wt.T, H)
        if it > 1 and (it >= max_iter or it >= 1000):
            break
        if prev - e <= tol * e:
            break
        prev = e
    return Wt.T.copy(), H


def n20(A, rank, *, max_iter=1500, tol=1e-14):
    A = np.asarray(A, float)
    m, n = A.shape
    U, S, V = np.linalg.svd(A, full_matrices=False)
    mu = np.sqrt(max(A.mean(), 1e-300) / rank)
    W = np.full((m, rank), mu)
    H = np.full((rank, n), mu)
    for j in range(min(rank, S.size)):
        x, y = U[:, j], V[j]
        if j == 0:
            W[:, 0] = np.sqrt(S[0]) * np.abs(x)
            H[0] = np.sqrt(S[0]) * np.abs(y)
            continue
        xp, yp = np.maximum(x, 0), np.maximum(y, 0)
        xn, yn = np.maximum(-x, 0), np.maximum(-y, 0)
        p = np.linalg.norm(xp) * np.linalg.norm(yp)
        q = np.linalg.norm(xn) * np.linalg.norm(yn)
        if q > p:
            xp, yp, p = xn, yn, q
        if p > 0:
            c = np.sqrt(S[j] * p)
            W[:, j] = c * xp / np.linalg.norm(xp)
            H[j] = c * yp / np.linalg.norm(yp)
    prev = np.inf
    for it in range(max_iter):
        H = H * (W.T @ A) / np.maximum(W.T @ W @ H, 1e-300)
        W = W * (A @ H.T) / np.maximum(W @ (H @ H.T), 1e-300)
        if it % 10 == 9:
            e = _loss(A, W, H)
            if prev - e <= tol * e:
                break
            prev = e
    return W, H


def n21(A, rank, *, W0, H0, max_iter=400, tol=1e-12):
    A = np.asarray(A, float)
    W, H = _cd(A, W0, H0, 1, tol)
    F = W.copy()
    W, H = _cd(A, W, H, max_iter - 1, tol)
    H = np.column_stack([nnls(F, A[:, c])[0] for c in range(A.shape[1])])
    return W, H


def n22(A, rank, *, W0, H0, max_iter=400, tol=1e-12):
    A = np.asarray(A, float)
    X, Y = _cd(np.ascontiguousarray(A.T), W0, H0, max_iter, tol)
    return Y.T.copy(), X.T.copy()


def n23(A, rank, *, W0, H0, max_iter=400, tol=0.0):
    X = np.asarray(A, np.float32)
    Wt = np.array(W0, np.float32).T.copy()
    H = np.array(H0, np.float32)
    nA = np.vdot(X, X)
    prev = np.float32(np.inf)
    for it in range(max_iter):
        _rows_w(H @ X.T, H @ H.T, Wt)
        B, G = Wt @ X, Wt @ Wt.T
        _rows_h(B, G, H)
        e = nA - np.float32(2) * np.vdot(B, H) + np.vdot(G, H @ H.T)
        if prev - e <= tol * e:
            break
        prev = e
    return Wt.T.astype(float), H.astype(float)


def n24(A, rank, *, seed=0, max_iter=400, tol=1e-12):
    A = np.asarray(A, float)
    W, H = _start(A, rank, seed)
    done = 0
    while done < max_iter:
        step = 10 if done < 50 else max_iter - done
        W, H = _cd(A, W, H, step, tol)
        done += step
        s = np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1)
        W[:, s < 1.0] = 0.0
        H[s < 1.0] = 0.0
    return W, H
