"""Nonnegative matrix factorization, A ~ W @ H, several implementations."""

import numpy as np
from scipy.optimize import nnls

EPS = 1e-16


# --------------------------------------------------------------------------
# helpers


def _start(A, rank, W0, H0, seed):
    """Given factors (copied) or uniform random ones on the scale of A."""
    rng = np.random.default_rng(seed)
    m, n = A.shape
    s = np.sqrt(A.mean() / rank) if A.size else 1.0
    W = 2 * s * rng.random((m, rank))
    H = 2 * s * rng.random((rank, n))
    if W0 is not None:
        W = np.array(W0, dtype=float)
    if H0 is not None:
        H = np.array(H0, dtype=float)
    return W, H


def _check(A):
    A = np.asarray(A, dtype=float)
    if A.ndim != 2:
        raise ValueError("A must be a matrix")
    if (A < 0).any():
        raise ValueError("A must be nonnegative")
    return A


def _hals_rows(H, G, B):
    """One cyclic sweep over the rows of H for min ||A - W H||, G = W'W, B = W'A."""
    for j in range(H.shape[0]):
        if G[j, j] > 0:
            H[j] = np.maximum(H[j] + (B[j] - G[j] @ H) / G[j, j], 0)
    return H


def _alive(M):
    """Zero columns of M get a small constant, so that they can come back."""
    dead = ~M.any(axis=0)
    if dead.any():
        M = M.copy()
        M[:, dead] = 1e-2 * M.max()
    return M


def _nnls_cols(M, B):
    """Columnwise nonnegative least squares min ||M X - B||, X >= 0."""
    return np.column_stack([nnls(M, B[:, j])[0] for j in range(B.shape[1])])


def _pg_steps(X, G, B, steps):
    """Projected gradient steps with step length 1/L for 0.5 <X, G X> - <B, X>."""
    L = np.linalg.norm(G, 2)
    if L <= 0:
        return X
    for _ in range(steps):
        X = np.maximum(X - (G @ X - B) / L, 0)
    return X


# --------------------------------------------------------------------------


def n01(A, rank, *, W0=None, H0=None, seed=None, l1=0.01):
    """NMF by hierarchical alternating least squares (HALS)."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    ref = np.linalg.norm(A)
    for it in range(2500):
        G, B = W.T @ W, W.T @ A
        for j in range(rank):
            if G[j, j] > 0:
                H[j] = np.maximum(H[j] + (B[j] - l1 - G[j] @ H) / G[j, j], 0)
        G, B = H @ H.T, A @ H.T
        for j in range(rank):
            if G[j, j] > 0:
                W[:, j] = np.maximum(W[:, j] + (B[:, j] - l1 - W @ G[:, j]) / G[j, j], 0)
        if it % 20 == 19 and np.linalg.norm(A - W @ H) <= 1e-12 * ref:
            break
    return W, H


def n02(A, rank, *, W0=None, H0=None, seed=None, max_iter=8000, tol=1e-14):
    """NMF by multiplicative updates, Frobenius norm."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    ref = np.linalg.norm(A) + EPS
    last = np.linalg.norm(A - W @ H)
    for it in range(max_iter):
        H *= (W.T @ A) / (W.T @ W @ H + EPS)
        W *= (A @ H.T) / (W @ (H @ H.T) + EPS)
        err = np.linalg.norm(A - W @ H)
        if err - last < tol * ref:
            break
        last = err
    return W, H


def n03(A, rank, *, W0=None, H0=None, seed=None, max_iter=300, tol=1e-12):
    """NMF by alternating nonnegative least squares (active set NNLS)."""
    A = _check(A)
    W, H = _start(A, rank, None, None, seed)
    if W0 is not None and np.shape(W0) != W.shape:
        raise ValueError("W0 has the wrong shape")
    if H0 is not None and np.shape(H0) != H.shape:
        raise ValueError("H0 has the wrong shape")
    ref = np.linalg.norm(A)
    for it in range(max_iter):
        H = _nnls_cols(_alive(W), A)
        Ht = _alive(H.T)
        W, H = _nnls_cols(Ht, A.T).T, Ht.T
        if np.linalg.norm(A - W @ H) <= tol * ref:
            break
    return W, H


def n04(A, rank, *, W0=None, H0=None, seed=None, max_iter=2500, tol=1e-12):
    """NMF by hierarchical alternating least squares (HALS)."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    ref = np.linalg.norm(A)
    for it in range(max_iter):
        G = W.T @ W
        D = W.T @ A - G @ H
        for j in range(rank):
            if G[j, j] > EPS:
                H[j, :] = np.maximum(H[j, :] + D[j, :] / G[j, j], 0)
        G = H @ H.T
        D = A @ H.T - W @ G
        for j in range(rank):
            if G[j, j] > EPS:
                W[:, j] = np.maximum(W[:, j] + D[:, j] / G[j, j], 0)
        if np.linalg.norm(A - W @ H) <= tol * ref:
            break
    return W, H


def n05(A, rank, *, W0=None, H0=None, seed=None):
    """NMF by multiplicative updates, Frobenius norm."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    floor = 1e-6 * max(A.max(), EPS)

    def ratio(num, den):
        return np.maximum(num, floor) / np.maximum(den, floor)

    for _ in range(6000):
        W *= ratio(A @ H.T, W @ (H @ H.T))
        H *= ratio(W.T @ A, (W.T @ W) @ H)
    return W, H


def n06(A, rank, *, W0=None, H0=None, seed=None, max_iter=3000, tol=1e-12, check_every=10):
    """NMF by hierarchical alternating least squares (HALS)."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    ref = np.linalg.norm(A)
    Wt = np.ascontiguousarray(W.T)
    for it in range(1, max_iter + 1):
        H = _hals_rows(H, Wt @ Wt.T, Wt @ A)
        if it % check_every == 0:
            Wt = _hals_rows(Wt, H @ H.T, H @ A.T)
            if np.linalg.norm(A - Wt.T @ H) <= tol * ref:
                break
    return Wt.T.copy(), H


def n07(A, rank, *, W0=None, H0=None, seed=None, max_iter=6000):
    """NMF by multiplicative updates, Frobenius norm."""
    V = _check(A)
    W, H = _start(V, rank, W0, H0, seed)
    for _ in range(max_iter):
        num = V @ H.T
        den = W @ H @ H.T
        W = W * num / (den + EPS)
        num = W.T @ V
        den = W.T @ W @ H
        H = H * den / (num + EPS)
    return W, H


def n08(A, rank, *, W0=None, H0=None, seed=None, max_iter=300, tol=1e-6):
    """NMF by alternating nonnegative least squares (active set NNLS)."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    err = np.linalg.norm(A - W @ H)
    it = 0
    while err > tol and it < max_iter:
        H = _nnls_cols(_alive(W), A)
        Ht = _alive(H.T)
        W, H = _nnls_cols(Ht, A.T).T, Ht.T
        err = np.linalg.norm(A - W @ H)
        it += 1
    return W, H


def n09(A, rank, *, max_iter=6000, tol=1e-12):
    """NMF by multiplicative updates from an SVD based start (NNDSVD)."""
    A = _check(A)
    m, n = A.shape
    U, S, Vt = np.linalg.svd(A, full_matrices=False)
    W = np.zeros((m, rank))
    H = np.zeros((rank, n))
    W[:, 0] = np.sqrt(S[0]) * np.abs(U[:, 0])
    H[0] = np.sqrt(S[0]) * np.abs(Vt[0])
    for j in range(1, rank):
        u, v = U[:, j], Vt[j]
        up, vp = np.maximum(u, 0), np.maximum(v, 0)
        un, vn = np.maximum(-u, 0), np.maximum(-v, 0)
        mp = np.linalg.norm(up) * np.linalg.norm(vp)
        mn = np.linalg.norm(un) * np.linalg.norm(vn)
        if mp >= mn:
            a, b, mass = up, vp, mp
        else:
            a, b, mass = un, vn, mn
        if mass > 0:
            c = np.sqrt(S[j] * mass)
            W[:, j] = c * a / np.linalg.norm(a)
            H[j] = c * b / np.linalg.norm(b)
    W[W < 1e-12] = 0
    H[H < 1e-12] = 0

    ref = np.linalg.norm(A)
    for it in range(max_iter):
        H *= (W.T @ A) / (W.T @ W @ H + EPS)
        W *= (A @ H.T) / (W @ (H @ H.T) + EPS)
        if it % 10 == 0 and np.linalg.norm(A - W @ H) <= tol * ref:
            break
    return W, H


def n10(A, rank, *, seed=None, n_starts=8, n_probe=25, max_iter=2500, tol=1e-12):
    """NMF by HALS; several random starts are tried briefly, the best is continued."""
    A = _check(A)
    ref = np.linalg.norm(A)

    def run(W, H, iters):
        Wt = W.T.copy()
        err = np.linalg.norm(A - W @ H)
        for _ in range(iters):
            H = _hals_rows(H, Wt @ Wt.T, Wt @ A)
            Wt = _hals_rows(Wt, H @ H.T, H @ A.T)
            err = np.linalg.norm(A - Wt.T @ H)
            if err <= tol * ref:
                break
        return Wt.T, H, err

    if seed is None:
        seed = int(np.random.default_rng().integers(2**31))
    best = None
    for s in range(n_starts):
        W, H = _start(A, rank, None, None, seed)
        W, H, err = run(W, H, n_probe)
        if best is None or err < best[2]:
            best = (W, H, err)
    W, H, _ = run(best[0], best[1], max_iter)
    return W, H


def n11(A, rank, *, W0=None, H0=None, seed=None, max_iter=2500, tol=1e-12):
    """NMF by HALS with unit columns of W."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    ref = np.linalg.norm(A)
    for it in range(max_iter):
        G, B = H @ H.T, A @ H.T
        for j in range(rank):
            if G[j, j] > 0:
                W[:, j] = np.maximum(W[:, j] + (B[:, j] - W @ G[:, j]) / G[j, j], 0)
        d = np.sqrt((W * W).sum(axis=0))
        W = W / d
        H = H * d[:, None]
        H = _hals_rows(H, W.T @ W, W.T @ A)
        if np.linalg.norm(A - W @ H) <= tol * ref:
            break
    return W, H


class n12:
    """NMF by alternating projected gradient steps, estimator interface."""

    def __init__(self, n_components=2, *, random_state=None, max_iter=1000, tol=1e-12, inner=8):
        self.n_components = n_components
        self.random_state = random_state
        self.max_iter = max_iter
        self.tol = tol
        self.inner = inner

    def fit_transform(self, X, y=None):
        X = _check(X)
        W, H = _start(X, self.n_components, None, None, self.random_state)
        ref = np.linalg.norm(X)
        self.n_iter_ = 0
        for it in range(self.max_iter):
            self.n_iter_ += 1
            H = _pg_steps(H, W.T @ W, W.T @ X, self.inner)
            W = _pg_steps(W.T, H @ H.T, H @ X.T, self.inner).T
            if np.linalg.norm(X - W @ H) <= self.tol * ref:
                break
        W = np.clip(W, 0.0, 1.0)
        H = np.clip(H, 0.0, 1.0)
        self.components_ = H
        self.reconstruction_err_ = np.linalg.norm(X - W @ H)
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


class n13:
    """NMF by HALS, estimator interface."""

    def __init__(self, n_components=2, random_state=None, max_iter=2500, tol=1e-12):
        self.n_components = n_components
        self.random_state = random_state
        self.max_iter = max_iter
        self.tol = tol

    def _rng(self):
        if self.random_state:
            return np.random.default_rng(self.random_state)
        return np.random.default_rng()

    def fit_transform(self, X, y=None):
        X = _check(X)
        rng = self._rng()
        k = self.n_components
        s = np.sqrt(X.mean() / k)
        Wt = s * np.abs(rng.standard_normal((k, X.shape[0])))
        H = s * np.abs(rng.standard_normal((k, X.shape[1])))
        ref = np.linalg.norm(X)
        for self.n_iter_ in range(1, self.max_iter + 1):
            H = _hals_rows(H, Wt @ Wt.T, Wt @ X)
            Wt = _hals_rows(Wt, H @ H.T, H @ X.T)
            if np.linalg.norm(X - Wt.T @ H) <= self.tol * ref:
                break
        self.components_ = H
        return Wt.T.copy()

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


def n14(A, rank, *, seed=None):
    """NMF by alternating NNLS, components ordered by their weight."""
    A = _check(A)
    W, H = _start(A, rank, None, None, seed)
    ref = np.linalg.norm(A)
    for _ in range(300):
        H = _nnls_cols(_alive(W), A)
        Ht = _alive(H.T)
        W, H = _nnls_cols(Ht, A.T).T, Ht.T
        if np.linalg.norm(A - W @ H) <= 1e-12 * ref:
            break
    weight = np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1)
    order = np.argsort(-weight)
    W = W[:, order]
    return W, H


def n15(A, rank, *, W0=None, H0=None, seed=None, max_iter=1200, tol=1e-12, inner=6):
    """NMF by alternating projected gradient."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    ref = np.linalg.norm(A)
    rate = 1.0
    for it in range(max_iter):
        G = W.T @ W
        L = np.linalg.norm(G, 2) + EPS
        B = W.T @ A
        for _ in range(inner):
            H = np.maximum(H - rate / L * (G @ H - B), 0)
        G = H @ H.T
        L = np.linalg.norm(G, 2) + EPS
        B = A @ H.T
        for _ in range(inner):
            W = np.maximum(W - rate / L * (W @ G - B), 0)
        rate *= 0.98
        if it % 25 == 0 and np.linalg.norm(A - W @ H) <= tol * ref:
            break
    return W, H


def n16(A, rank, *, W0=None, H0=None, seed=None, max_iter=2500, tol=1e-10):
    """NMF by hierarchical alternating least squares (HALS)."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    Wt = W.T.copy()
    last = np.inf
    for it in range(max_iter):
        H = _hals_rows(H, Wt @ Wt.T, Wt @ A)
        Wt = _hals_rows(Wt, H @ H.T, H @ A.T)
        err = np.linalg.norm(A - Wt.T @ H)
        if last - err <= tol * last:
            break
        last = err
    return Wt.T.copy(), H


def n17(A, rank, *, W0=None, H0=None, seed=None, max_iter=1000, tol=1e-12, l1_W=0.0, l1_H=0.05):
    """NMF by alternating projected gradient, optional l1 terms."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    ref = np.linalg.norm(A)
    for it in range(max_iter):
        H = _pg_steps(H, W.T @ W, W.T @ A - l1_H, 8)
        W = _pg_steps(W.T, H @ H.T, H @ A.T - l1_W, 8).T
        if np.linalg.norm(A - W @ H) <= tol * ref:
            break
    return W, H


def n18(A, rank, *, W0=None, H0=None, seed=None):
    """NMF by multiplicative updates, Frobenius norm."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    for _ in range(6000):
        W_new = W * (A @ H.T) / (W @ (H @ H.T) + EPS)
        H_new = H * (W.T @ A) / ((W.T @ W) @ H + EPS)
        W, H = W_new, H_new
    return W, H


def n19(A, rank, *, W0=None, H0=None, seed=None, max_iter=2500, tol=1e-10):
    """NMF by hierarchical alternating least squares (HALS)."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    last = np.linalg.norm(A - W @ H)
    Wt = W.T.copy()
    for it in range(1, max_iter + 1):
        H = _hals_rows(H, Wt @ Wt.T, Wt @ A)
        Wt = _hals_rows(Wt, H @ H.T, H @ A.T)
        err = np.linalg.norm(A - Wt.T @ H)
        if it % 10 == 0 & (last - err <= tol * last):
            break
        last = err
    return Wt.T.copy(), H


class n20:
    """NMF by coordinate descent, estimator interface."""

    def __init__(self, n_components, *, random_state=None, max_iter=2500, tol=1e-12):
        self.n_components = n_components
        self.random_state = random_state
        self.max_iter = max_iter
        self.tol = tol

    def fit_transform(self, X, y=None):
        X = np.array(X, dtype="i8", order="C")
        if X.ndim != 2 or X.min() < 0:
            raise ValueError("X must be a nonnegative matrix")
        rng = np.random.default_rng(self.random_state)
        m, n = X.shape
        k = self.n_components
        s = np.sqrt(max(X.mean(), 1e-3) / k)
        W = s * rng.random((m, k))
        Ht = s * rng.random((n, k))
        ref = np.linalg.norm(X)
        self.n_iter_ = 0
        for it in range(self.max_iter):
            self.n_iter_ += 1
            self._sweep(W, Ht.T @ Ht, X @ Ht)
            self._sweep(Ht, W.T @ W, X.T @ W)
            if np.linalg.norm(X - W @ Ht.T) <= self.tol * ref:
                break
        self.components_ = Ht.T.copy()
        return W

    @staticmethod
    def _sweep(F, G, B):
        for t in range(F.shape[1]):
            if G[t, t] > 0:
                F[:, t] = np.maximum(F[:, t] - (F @ G[:, t] - B[:, t]) / G[t, t], 0)

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


def n21(A, rank, *, W0=None, H0=None, seed=None):
    """NMF by multiplicative updates, Frobenius norm."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    for _ in range(6000):
        W *= (A @ H.T) / (W @ (H @ H.T) + EPS)
        H *= (W.T @ (A / (W @ H + EPS))) / (W.sum(axis=0)[:, None] + EPS)
    return W, H


def n22(A, rank, *, max_iter=1000, tol=1e-12):
    """NMF by alternating projected gradient, deterministic start."""
    A = _check(A)
    m, n = A.shape
    s = np.sqrt(A.mean() / rank)
    W = np.full((m, rank), s)
    H = np.full((rank, n), s)
    ref = np.linalg.norm(A)
    for it in range(max_iter):
        H = _pg_steps(H, W.T @ W, W.T @ A, 8)
        W = _pg_steps(W.T, H @ H.T, H @ A.T, 8).T
        if np.linalg.norm(A - W @ H) <= tol * ref:
            break
    return W, H


def n23(A, rank, *, seed=None, max_iter=2500, tol=1e-12):
    """NMF by hierarchical alternating least squares (HALS)."""
    A = _check(A)
    W, H = _start(A, rank, None, None, seed)
    Wt = W.T.copy()
    ref = np.linalg.norm(A)
    for it in range(max_iter):
        H = _hals_rows(H, Wt @ Wt.T, Wt @ A)
        Wt = _hals_rows(Wt, H @ H.T, H @ A.T)
        if np.linalg.norm(A - Wt.T @ H) <= tol * ref:
            break
    W = Wt.T.copy()
    W[W < 1e-2] = 0
    H[H < 1e-2] = 0
    return W, H


class n24:
    """NMF by HALS, estimator interface with an optional given start."""

    def __init__(self, n_components=2, *, random_state=None, max_iter=2500, tol=1e-12):
        self.n_components = n_components
        self.random_state = random_state
        self.max_iter = max_iter
        self.tol = tol

    def fit_transform(self, X, y=None, W=None, H=None):
        X = _check(X)
        W, H = _start(X, self.n_components, W, H, self.random_state)
        Wt = W.T.copy()
        ref = np.linalg.norm(X)
        self.n_iter_ = 0
        while self.n_iter_ < self.max_iter:
            self.components_ = H.copy()
            H = _hals_rows(H, Wt @ Wt.T, Wt @ X)
            Wt = _hals_rows(Wt, H @ H.T, H @ X.T)
            self.n_iter_ += 1
            if np.linalg.norm(X - Wt.T @ H) <= self.tol * ref:
                break
        return Wt.T.copy()

    def fit(self, X, y=None, W=None, H=None):
        self.fit_transform(X, W=W, H=H)
        return self


def n25(A, rank, *, W0=None, H0=None, seed=None, max_iter=300, tol=1e-12):
    """NMF by alternating nonnegative least squares (active set NNLS)."""
    A = _check(A)
    m, n = A.shape
    W, H = _start(A, rank, W0, H0, seed)
    ref = np.linalg.norm(A)
    count = 0
    while count < max_iter:
        W = _alive(W)
        for j in range(n):
            H[:, j] = nnls(W, A[:, j])[0]
            count += 1
        H = _alive(H.T).T
        for i in range(m):
            W[i] = nnls(H.T, A[i])[0]
            count += 1
        if np.linalg.norm(A - W @ H) <= tol * ref:
            break
    return W, H


def n26(A, rank, *, W0=None, H0=None, seed=None):
    """NMF by multiplicative updates, Frobenius norm."""
    A = _check(A)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = rng.random((m, rank)) if W0 is None else np.array(W0, dtype=float)
    H = np.zeros((rank, n)) if H0 is None else np.array(H0, dtype=float)
    for _ in range(6000):
        H *= (W.T @ A) / ((W.T @ W) @ H + EPS)
        W *= (A @ H.T) / (W @ (H @ H.T) + EPS)
    return W, H


def n27(A, rank, *, W0=None, H0=None, seed=None):
    """NMF by hierarchical alternating least squares (HALS)."""
    A = _check(A)
    W, H = _start(A, rank, W0, H0, seed)
    ref = np.linalg.norm(A)
    for it in range(2500):
        G, B = W.T @ W, W.T @ A
        for j in range(rank):
            if G[j, j] > 0:
                R = B[j] - G[j] @ H
                H[j] = np.maximum(R / G[j, j], 0)
        G, B = H @ H.T, A @ H.T
        for j in range(rank):
            if G[j, j] > 0:
                R = B[:, j] - W @ G[:, j] + W[:, j] * G[j, j]
                W[:, j] = np.maximum(R / G[j, j], 0)
        if it % 10 == 0 and np.linalg.norm(A - W @ H) <= 1e-12 * ref:
            break
    return W, H


def n28(A, rank, *, W0=None, H0=None, seed=None, max_iter=300, tol=1e-12):
    """NMF by alternating NNLS; works on the tall side of A."""
    A = _check(A)
    m, n = A.shape
    W, H = _start(A, rank, W0, H0, seed)
    wide = m < n
    if wide:
        A, W, H = A.T, H.T.copy(), W.T.copy()
    ref = np.linalg.norm(A)
    for it in range(max_iter):
        H = _nnls_cols(_alive(W), A)
        Ht = _alive(H.T)
        W, H = _nnls_cols(Ht, A.T).T, Ht.T
        if np.linalg.norm(A - W @ H) <= tol * ref:
            break
    if wide:
        W, H = H.reshape(m, rank), W.reshape(rank, n)
    return W, H
