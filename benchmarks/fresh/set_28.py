"""Fifteen small nonnegative matrix factorisation routines, A ~ W H."""

import numpy as np
from scipy.optimize import nnls


# ---------------------------------------------------------------- n01
def _n01_admm_step(G, F, Z, U, inner):
    """Approximately minimise ||Y - B X||_F^2 over X >= 0 by scaled ADMM.

    G = B^T B, F = B^T Y; Z is the nonnegative variable, U the scaled dual.
    Returns the unconstrained variable, the nonnegative one and the dual.
    """
    r = G.shape[0]
    rho = max(0.3 * np.trace(G) / r, 1e-12)
    inv = np.linalg.inv(G + rho * np.eye(r))
    base = inv @ F
    rinv = rho * inv
    X = Z
    for _ in range(inner):
        X = base + rinv @ (Z - U)
        Z = X + U
        np.maximum(Z, 0.0, out=Z)
        U = U + X - Z
    return X, Z, U


def n01(A, rank, *, W0=None, H0=None, seed=0, max_iter=4000, inner=6, tol=1e-14):
    """NMF by alternating optimisation with ADMM inner solves (AO-ADMM)."""
    A = np.asarray(A, dtype=float)
    if np.any(~np.isfinite(A)) or np.any(A < 0):
        raise ValueError("nonnegative finite data expected")
    m, n = A.shape
    rng = np.random.default_rng(seed)
    Wt = (rng.random((m, rank)) if W0 is None else np.array(W0, float)).T
    H = rng.random((rank, n)) if H0 is None else np.array(H0, float)
    Uw = np.zeros_like(Wt)
    Uh = np.zeros_like(H)
    At = A.T
    norm = np.linalg.norm(A) or 1.0
    last = np.inf
    for it in range(max_iter):
        Xw, Wt, Uw = _n01_admm_step(H @ H.T, H @ At, Wt, Uw, inner)
        Xh, H, Uh = _n01_admm_step(Wt @ Wt.T, Wt @ A, H, Uh, inner)
        if it % 10 == 9:
            err = np.linalg.norm(A - Wt.T @ H) / norm
            if err < 1e-13 or abs(last - err) < tol:
                break
            last = err
    return Xw.T.copy(), Xh


# ---------------------------------------------------------------- n02
def _n02_nndsvda(X, k):
    """NNDSVD start, zeros replaced by a small share of the mean."""
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    W = np.zeros((X.shape[0], k))
    H = np.zeros((k, X.shape[1]))
    W[:, 0] = np.sqrt(s[0]) * np.abs(U[:, 0])
    H[0] = np.sqrt(s[0]) * np.abs(Vt[0])
    for j in range(1, min(k, len(s))):
        u, v = U[:, j], Vt[j]
        up, vp = np.maximum(u, 0), np.maximum(v, 0)
        un, vn = np.maximum(-u, 0), np.maximum(-v, 0)
        tp = np.linalg.norm(up) * np.linalg.norm(vp)
        tn = np.linalg.norm(un) * np.linalg.norm(vn)
        if tn > tp:
            up, vp, tp = un, vn, tn
        if tp > 0:
            W[:, j] = np.sqrt(s[j] * tp) * up / np.linalg.norm(up)
            H[j] = np.sqrt(s[j] * tp) * vp / np.linalg.norm(vp)
    fill = np.sqrt(X.mean() / k)
    return W, H, fill


class n02:
    """HALS from an NNDSVDa start followed by a least-squares polish of W.

    Parameters
    ----------
    n_components : int
    max_iter : int, number of HALS sweeps
    tol : float, relative size of the residual change at which to stop
    random_state : int, seed for the values that fill the zeros of the start
    """

    def __init__(self, n_components=2, max_iter=6000, tol=1e-13, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _sweep(self, F, C, G):
        for k in range(F.shape[0]):
            if G[k, k] > 0:
                F[k] = np.maximum(F[k] + (C[k] - G[k] @ F) / G[k, k], 0.0)

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        if not (np.all(X >= 0) and np.all(X < np.inf)):
            raise ValueError("input has negative or non-finite entries")
        rng = np.random.default_rng(self.random_state)
        W, H, fill = _n02_nndsvda(X, self.n_components)
        W[W == 0] = fill * rng.random(np.count_nonzero(W == 0))
        H[H == 0] = fill * rng.random(np.count_nonzero(H == 0))
        Wt = W.T.copy()
        scale = np.linalg.norm(X) or 1.0
        before = np.inf
        for it in range(self.max_iter):
            self._sweep(Wt, H @ X.T, H @ H.T)
            self._sweep(H, Wt @ X, Wt @ Wt.T)
            if it % 20 == 0:
                err = np.linalg.norm(X - Wt.T @ H) / scale
                if err < 1e-12 or before - err < self.tol * err:
                    break
                before = err
        W = Wt.T.copy()
        P = np.linalg.lstsq(H.T, X.T, rcond=None)[0].T
        if np.linalg.norm(X - P @ H) < np.linalg.norm(X - W @ H):
            W = P
        self.components_ = H
        self.reconstruction_err_ = np.linalg.norm(X - W @ H)
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


# ---------------------------------------------------------------- n03
_N03_RIDGE = 1e-3


def _n03_bpp(G, F, passive, limit=60):
    """min ||B X - Y||, X >= 0 for all columns by block principal pivoting.

    G = B^T B (r x r), F = B^T Y (r x n); passive is the starting guess
    of the support.  All columns are solved at once with masked systems.
    """
    r, n = F.shape
    G = G + (_N03_RIDGE * np.trace(G) + 1e-200) * np.eye(r)
    P = passive.copy()
    best = np.full(n, r + 1)
    grace = np.full(n, 3)
    eye = np.eye(r, dtype=bool)
    tiny = 1e-13 * max(np.abs(F).max(), 1e-300)
    for _ in range(limit):
        Pt = P.T
        M = np.where(Pt[:, :, None] & Pt[:, None, :], G, 0.0)
        M[(~Pt)[:, :, None] & eye] = 1.0
        X = np.linalg.solve(M, np.where(P, F, 0.0).T[:, :, None])[:, :, 0].T
        Y = G @ X - F
        bad = (P & (X < 0)) | (~P & (Y < -tiny))
        count = bad.sum(axis=0)
        if not count.any():
            break
        for j in np.flatnonzero(count):
            if count[j] < best[j]:
                best[j], grace[j] = count[j], 3
                P[bad[:, j], j] ^= True
            elif grace[j] > 0:
                grace[j] -= 1
                P[bad[:, j], j] ^= True
            else:
                i = np.flatnonzero(bad[:, j])[-1]
                P[i, j] ^= True
    return np.maximum(np.where(P, X, 0.0), 0.0), P


def n03(A, rank, *, W0=None, H0=None, seed=None, max_iter=1500, rough=40, tol=1e-11):
    """Alternating nonnegative least squares with block pivoting.

    ``rough`` multiplicative sweeps place the components beforehand.
    """
    A = np.asarray(A, dtype=float)
    if not np.isfinite(A).all() or (A < 0).any():
        raise ValueError("A must be finite and nonnegative")
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = rng.random((m, rank)) if W0 is None else np.array(W0, float)
    H = rng.random((rank, n)) if H0 is None else np.array(H0, float)
    for _ in range(rough):
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-300)
        W = W * (A @ H.T) / (W @ (H @ H.T) + 1e-300)
    Pw = np.ones((rank, m), dtype=bool)
    Ph = np.ones((rank, n), dtype=bool)
    size = np.linalg.norm(A) or 1.0
    old = np.inf
    for it in range(max_iter):
        Wt, Pw = _n03_bpp(H @ H.T, H @ A.T, Pw)
        scale = np.linalg.norm(Wt, axis=1)
        scale[scale == 0] = 1.0
        Wt /= scale[:, None]
        H, Ph = _n03_bpp(Wt @ Wt.T, Wt @ A, Ph)
        err = np.linalg.norm(A - Wt.T @ H) / size
        if err < 1e-13:
            break
        if it % 25 == 0:
            if old - err < tol * err:
                break
            old = err
    return Wt.T.copy(), H


# ---------------------------------------------------------------- n04
class n04:
    """NMF by the alternating direction method of multipliers.

    Splits W = X, H = Y with X, Y free in the quadratic and W, H >= 0:

        min 1/2 ||A - X Y||^2   s.t.  X = W, Y = H, W >= 0, H >= 0.
    """

    def __init__(self, n_components=2, rho=0.02, max_iter=6000, tol=1e-13, random_state=None):
        self.n_components = n_components
        self.rho = rho
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _solve(self, gram, rhs, target, rho):
        """Quadratic step: (gram + rho I) Z = rhs + rho target."""
        k = gram.shape[0]
        return np.linalg.solve(gram + rho * np.eye(k), rhs + rho * target)

    def fit_transform(self, X, y=None):
        A = np.asarray(X, dtype=float)
        if np.any(~np.isfinite(A)) or np.any(A < 0):
            raise ValueError("nonnegative finite data expected")
        level = np.linalg.norm(A) / np.sqrt(A.size)
        if level == 0:
            self.components_ = np.zeros((self.n_components, A.shape[1]))
            return np.zeros((A.shape[0], self.n_components))
        A = A / level
        k = self.n_components
        rng = np.random.RandomState(self.random_state)
        Wt = rng.rand(k, A.shape[0])
        H = rng.rand(k, A.shape[1])
        Dw = np.zeros_like(Wt)
        Dh = np.zeros_like(H)
        last = np.inf
        for self.n_iter_ in range(1, self.max_iter + 1):
            rho = self.rho * np.sqrt(A.size) / k
            P = self._solve(H @ H.T, H @ A.T, Wt - Dw, rho)
            Wt = np.maximum(P + Dw, 0)
            Dw += P - Wt
            Q = self._solve(Wt @ Wt.T, Wt @ A, H - Dh, rho)
            H = np.maximum(Q, 0)
            Dh += Q - H
            if self.n_iter_ % 20 == 0:
                gap = np.linalg.norm(A - Wt.T @ H)
                if gap < self.tol or abs(last - gap) < 1e-11 * gap:
                    break
                last = gap
        self.components_ = level * H
        return Wt.T.copy()

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


# ---------------------------------------------------------------- n05
class n05:
    """HALS with unit-norm columns of W kept throughout.

    After each sweep over W the columns are brought to unit length and the
    rows of H take up the lengths, so that the two factors stay balanced.
    """

    def __init__(self, n_components=3, max_iter=8000, tol=1e-13, random_state=0, inner=2):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.inner = inner

    @staticmethod
    def _cycle(F, num, gram, times):
        diag = gram.diagonal().tolist()
        for _ in range(times):
            for k, d in enumerate(diag):
                if d > 1e-300:
                    F[k] += (num[k] - gram[k] @ F) / d
                    np.maximum(F[k], 0.0, out=F[k])

    def _unit_columns(self, Wt, H):
        length = np.sqrt((Wt * Wt).sum(axis=1))
        Wt /= length[:, None]
        H *= length[:, None]

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        if not (np.all(X >= 0) and np.all(X < np.inf)):
            raise ValueError("input has negative or non-finite entries")
        rng = np.random.default_rng(self.random_state)
        m, n = X.shape
        amp = np.sqrt(X.mean() / self.n_components)
        Wt = amp * rng.random((self.n_components, m))
        H = amp * rng.random((self.n_components, n))
        xx = np.linalg.norm(X)
        mark = np.inf
        for it in range(self.max_iter):
            self._cycle(Wt, H @ X.T, H @ H.T, self.inner)
            self._unit_columns(Wt, H)
            self._cycle(H, Wt @ X, Wt @ Wt.T, self.inner)
            if it % 25 == 24:
                err = np.linalg.norm(X - Wt.T @ H)
                if err <= 1e-13 * xx or mark * (1.0 - self.tol) <= err:
                    break
                mark = err
        self.components_ = H
        self.n_iter_ = it + 1
        return Wt.T.copy()

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def transform(self, X):
        H = self.components_
        return np.array([nnls(H.T, row)[0] for row in np.asarray(X, float)])


# ---------------------------------------------------------------- n06
def _n06_update(F, gram, cross):
    """One pass of coordinate descent over the columns of F (in place).

    Returns the sum of the projected-gradient violations met on the way.
    """
    violation = 0.0
    rank = gram.shape[0]
    for t in range(rank - 1):
        grad = F @ gram[:, t] - cross[:, t]
        pg = np.where(F[:, t] == 0.0, np.minimum(grad, 0.0), grad)
        violation += np.abs(pg).sum()
        if gram[t, t] != 0.0:
            F[:, t] = np.maximum(F[:, t] - grad / gram[t, t], 0.0)
    return violation


def n06(A, rank, *, W0=None, H0=None, seed=None, max_iter=6000, tol=1e-14):
    """Coordinate descent NMF, stopped on the projected gradient."""
    A = np.asarray(A, dtype=float)
    if not np.isfinite(A).all() or A.min() < 0:
        raise ValueError("A must be finite and nonnegative")
    rng = np.random.default_rng(seed)
    W = rng.random((A.shape[0], rank)) if W0 is None else np.array(W0, dtype=float)
    Ht = (rng.random((rank, A.shape[1])) if H0 is None else np.array(H0, dtype=float)).T.copy()
    first = None
    for _ in range(max_iter):
        v = _n06_update(W, Ht.T @ Ht, A @ Ht)
        v += _n06_update(Ht, W.T @ W, A.T @ W)
        if first is None:
            first = v
        if v <= tol * first:
            break
    return W, Ht.T.copy()


# ---------------------------------------------------------------- n07
class n07:
    """Consensus ADMM with over-relaxation for both factors.

    Every outer step solves the two nonnegative least squares problems
    approximately, with multipliers carried over from step to step.
    """

    def __init__(
        self, n_components=2, *, sweeps=3000, steps=5, relax=1.5, eps=1e-13, random_state=0
    ):
        self.n_components = n_components
        self.sweeps = sweeps
        self.steps = steps
        self.relax = relax
        self.eps = eps
        self.random_state = random_state

    def _nonneg_ls(self, B, Y, V, M):
        """Improve V >= 0 in min ||Y - B V||; M holds the scaled multipliers."""
        gram = B.T @ B
        w, Q = np.linalg.eigh(gram)
        rho = max(0.25 * w.mean(), 1e-12)
        inv = (Q / (w + rho)) @ Q.T
        lin = inv @ (B.T @ Y)
        inv *= rho
        a = self.relax
        for _ in range(self.steps):
            free = lin + inv @ (V - M)
            free = a * free + (1 - a) * V
            V = np.maximum(free + M, 0.0)
            M = M - (free - V)
        return V, M

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        if np.any(~np.isfinite(X)) or np.any(X < 0):
            raise ValueError("nonnegative finite data expected")
        m, n = X.shape
        gen = np.random.RandomState(self.random_state)
        W = np.abs(gen.randn(m, self.n_components))
        H = np.abs(gen.randn(self.n_components, n))
        MW = np.zeros((self.n_components, m))
        MH = np.zeros((self.n_components, n))
        ref, old = np.linalg.norm(X), np.inf
        for it in range(self.sweeps):
            Wt, MW = self._nonneg_ls(H.T, X.T, W.T, MW)
            W = Wt.T
            H, MH = self._nonneg_ls(W, X, H, MH)
            if it % 10 == 0:
                err = np.linalg.norm(X - W @ H)
                if err <= self.eps * ref or abs(old - err) <= 1e-11 * err:
                    break
                old = err
        self.components_ = H
        self.n_iter_ = it + 1
        return W.copy()


# ---------------------------------------------------------------- n08
def n08(V, rank, *, W0=None, H0=None, seed=None, sweeps=5000, tol=1e-13):
    """Rank-one residue iteration.

    The residual matrix R = V - W H is kept; each component is taken out,
    refitted as a nonnegative rank-one term and subtracted again.
    """
    V = np.asarray(V, dtype=np.float64)
    if not (np.all(V >= 0) and np.all(V < np.inf)):
        raise ValueError("input has negative or non-finite entries")
    m, n = V.shape
    gen = np.random.default_rng(seed)
    if W0 is None:
        W0 = gen.random((m, rank))
    if H0 is None:
        H0 = gen.random((rank, n))
    W = np.asarray(W0, dtype=np.float64)
    H = np.asarray(H0, dtype=np.float64)
    vnorm = np.linalg.norm(V)
    previous = np.inf
    for sweep in range(sweeps):
        R = V - W @ H
        size = np.linalg.norm(R)
        if size <= tol * vnorm:
            break
        if sweep % 50 == 0:
            if previous - size <= 1e-12 * size:
                break
            previous = size
        for k in range(rank):
            w, h = W[:, k], H[k]
            R += np.outer(w, h)
            hh = h @ h
            if hh > 0:
                w[:] = np.maximum(R @ h, 0) / hh
            ww = w @ w
            if ww > 0:
                h[:] = np.maximum(w @ R, 0) / ww
            R -= np.outer(w, h)
    return W, H


# ---------------------------------------------------------------- n09
def _n09_hals(F, C, G, reps):
    F = F.copy()
    for _ in range(reps):
        for k in range(len(F)):
            d = G[k, k]
            if d > 1e-300:
                F[k] = np.maximum(F[k] + (C[k] - G[k] @ F) / d, 0.0)
    return F


def n09(A, rank, *, W0=None, H0=None, seed=0, max_iter=2500, beta=0.6, reps=2, tol=1e-13):
    """HALS with extrapolation between the alternations.

    After each pair of updates both factors are moved on along their last
    change; if the error has risen the pair is taken back and the
    extrapolation weight is cut.
    """
    A = np.asarray(A, dtype=float)
    if not np.isfinite(A).all() or A.min() < 0:
        raise ValueError("A must be finite and nonnegative")
    m, n = A.shape
    rng = np.random.default_rng(seed)
    Wt = (rng.random((m, rank)) if W0 is None else np.array(W0, float)).T
    H = rng.random((rank, n)) if H0 is None else np.array(H0, float)
    total = np.linalg.norm(A) or 1.0
    We, He = Wt, H
    limit, mark = 1.0, np.inf
    err = np.linalg.norm(A - Wt.T @ H)
    for it in range(max_iter):
        Wt_old, H_old = Wt, H
        Wt = _n09_hals(We, He @ A.T, He @ He.T, reps)
        We = np.maximum(Wt + beta * (Wt - Wt_old), 0.0)
        H = _n09_hals(He, We @ A, We @ We.T, reps)
        He = np.maximum(H + beta * (H - H_old), 0.0)
        new = np.linalg.norm(A - Wt.T @ H)
        if new > err * (1 + 1e-14):
            Wt, We = Wt_old, Wt_old
            limit = beta
            beta /= 1.5
        else:
            err = new
            limit = min(1.0, 1.02 * limit)
            beta = min(limit, 1.05 * beta)
        if err <= tol * total:
            break
        if it % 50 == 49:
            if mark - err <= 1e-12 * err:
                break
            mark = err
    return Wt.T.copy(), H


# ---------------------------------------------------------------- n10
class n10:
    """Accelerated HALS (several inner passes per factor), best of restarts.

    ``n_init`` short runs are made from random starts and the best of them
    is run to the end.
    """

    floor = 1e-3

    def __init__(
        self,
        n_components,
        n_init=4,
        warmup=30,
        max_iter=4000,
        inner=4,
        tol=1e-13,
        random_state=None,
    ):
        self.n_components = n_components
        self.n_init = n_init
        self.warmup = warmup
        self.max_iter = max_iter
        self.inner = inner
        self.tol = tol
        self.random_state = random_state

    def _passes(self, F, B, C):
        first = None
        for _ in range(self.inner):
            move = 0.0
            for k in range(F.shape[1]):
                if C[k, k] <= 0:
                    continue
                col = F[:, k] + (B[:, k] - F @ C[:, k]) / C[k, k]
                col = np.maximum(col, self.floor)
                d = col - F[:, k]
                move += d @ d
                F[:, k] = col
            if first is None:
                first = move
            if move <= 0.01 * first:
                break

    def _run(self, X, W, Ht, iters):
        goal, last = self.tol * np.linalg.norm(X), np.inf
        for it in range(iters):
            self._passes(W, X @ Ht, Ht.T @ Ht)
            self._passes(Ht, X.T @ W, W.T @ W)
            if it % 20 == 19:
                err = np.linalg.norm(X - W @ Ht.T)
                if err <= goal or last - err < 1e-11 * err:
                    break
                last = err
        return np.linalg.norm(X - W @ Ht.T)

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        if np.any(~np.isfinite(X)) or np.any(X < 0):
            raise ValueError("nonnegative finite data expected")
        rng = np.random.default_rng(self.random_state)
        best = None
        for _ in range(self.n_init):
            W = rng.random((X.shape[0], self.n_components))
            Ht = rng.random((X.shape[1], self.n_components))
            err = self._run(X, W, Ht, self.warmup)
            if best is None or err < best[0]:
                best = (err, W, Ht)
        err, W, Ht = best
        self.reconstruction_err_ = self._run(X, W, Ht, self.max_iter)
        self.components_ = Ht.T.copy()
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


# ---------------------------------------------------------------- n11
def _n11_residual(A, x, rank):
    m, n = A.shape
    W = x[: m * rank].reshape(m, rank)
    H = x[m * rank :].reshape(rank, n)
    return W, H, W @ H - A


def n11(A, rank, *, W0=None, H0=None, seed=None, max_iter=200, tol=1e-14):
    """Levenberg-Marquardt on both factors under x >= 0, with an Armijo search.

    Each step solves the damped linearised problem with its bounds (nnls)
    and goes along the segment to its solution until the decrease of the
    objective is sufficient.
    """
    A = np.asarray(A, dtype=float)
    if not (np.all(A >= 0) and np.all(A < np.inf)):
        raise ValueError("input has negative or non-finite entries")
    m, n = A.shape
    gen = np.random.default_rng(seed)
    W = gen.random((m, rank)) if W0 is None else np.asarray(W0, float)
    H = gen.random((rank, n)) if H0 is None else np.asarray(H0, float)
    x = np.concatenate([W.ravel(), H.ravel()])
    size = np.linalg.norm(A) or 1.0
    eye_m, eye_n, eye = np.eye(m), np.eye(n), np.eye(x.size)
    for _ in range(max_iter):
        W, H, R = _n11_residual(A, x, rank)
        r = R.ravel()
        f = 0.5 * (r @ r)
        if np.sqrt(2 * f) <= tol * size:
            break
        J = np.hstack([np.kron(eye_m, H.T), np.kron(W, eye_n)])
        mu = 0.03 * min(np.sqrt(2 * f), 2 * f / size) + 1e-12 * size
        root = np.sqrt(mu)
        z, _ = nnls(
            np.vstack([J, root * eye]), np.concatenate([J @ x - r, root * x]), maxiter=20 * x.size
        )
        d = z - x
        slope = (J.T @ r) @ d
        t = 1.0
        while t > 1e-10:
            trial = np.maximum(x + t * d, 0.0)
            ft = 0.5 * np.sum(_n11_residual(A, trial, rank)[2] ** 2)
            if ft >= f + 1e-4 * t * slope:
                break
            t *= 0.5
        else:
            break
        x = trial
        if f - ft <= 1e-15 * f:
            break
    W, H, _ = _n11_residual(A, x, rank)
    return W.copy(), H.copy()


# ---------------------------------------------------------------- n12
def _n12_active_set(B, y, x, max_steps=80):
    """Lawson-Hanson for min ||B x - y||, x >= 0, started on the support of x."""
    P = x > 0
    x = x.copy()
    eps = 1e-13 * (np.linalg.norm(y) + 1e-300)
    for _ in range(max_steps):
        while P.any():
            idx = np.flatnonzero(P)
            s = np.linalg.lstsq(B[:, idx], y, rcond=None)[0]
            neg = s <= 0
            if not neg.any():
                x[:] = 0.0
                x[idx] = s
                break
            xi = x[idx]
            ratio = xi[neg] / (xi[neg] - s[neg] + 1e-300)
            step = ratio.min()
            out = np.flatnonzero(neg)[ratio <= step * (1 + 1e-12)]
            x[idx] = np.maximum(xi + step * (s - xi), 0.0)
            x[idx[out]] = 0.0
            P[idx[out]] = False
        if not P.any():
            x[:] = 0.0
        dual = B.T @ (y - B @ x)
        dual[P] = -np.inf
        j = int(np.argmax(dual))
        if not dual[j] > eps:
            break
        P[j] = True
    return x


class n12:
    """Alternating nonnegative least squares, active set method.

    With ``warm_start=True`` a further call of ``fit`` goes on from the
    components of the call before.
    """

    def __init__(self, n_components=2, max_iter=400, tol=1e-13, warm_start=False, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state

    def _start(self, X):
        shape = (self.n_components, X.shape[1])
        old = getattr(self, "components_", None)
        if old is not None and old.shape == shape:
            return old.copy()
        return np.random.default_rng(self.random_state).random(shape)

    def _nnls(self, B, Y, X0):
        d = np.linalg.norm(B, axis=0)
        d[d == 0] = 1.0
        B = B / d
        full = np.linalg.lstsq(B, Y, rcond=None)[0]
        for j in np.flatnonzero((full < 0).any(axis=0)):
            full[:, j] = _n12_active_set(B, Y[:, j], X0[:, j] * d)
        return full / d[:, None]

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        if not np.isfinite(X).all() or X.min() < 0:
            raise ValueError("X must be finite and nonnegative")
        H = self._start(X)
        Wt = np.full((self.n_components, X.shape[0]), 0.5)
        for _ in range(20):
            Wt = Wt * (H @ X.T) / (H @ H.T @ Wt + 1e-300)
            H = H * (Wt @ X) / (Wt @ Wt.T @ H + 1e-300)
        bound, last = self.tol * np.linalg.norm(X), np.inf
        for self.n_iter_ in range(1, self.max_iter + 1):
            Wt = self._nnls(H.T, X.T, Wt)
            H = self._nnls(Wt.T, X, H)
            err = np.linalg.norm(X - Wt.T @ H)
            if err <= bound or last - err <= 1e-10 * err:
                break
            last = err
        self.components_ = H
        return Wt.T.copy()

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


# ---------------------------------------------------------------- n13
def _n13_columns(B, Y):
    """Nonnegative least squares for every column of Y."""
    return np.stack([nnls(B, Y[:, j])[0] for j in range(Y.shape[1])], axis=1)


def n13(A, rank, *, W0=None, seed=None, max_iter=1000, tol=1e-8):
    """Alternating nonnegative least squares with scipy's nnls.

    Stops when the error goes down by less than the share ``tol`` in a sweep.
    """
    A = np.asarray(A, dtype=float)
    if np.any(~np.isfinite(A)) or np.any(A < 0):
        raise ValueError("nonnegative finite data expected")
    if W0 is None:
        W0 = np.random.default_rng(seed).random((A.shape[0], rank))
    W = np.array(W0, dtype=float)
    size = np.linalg.norm(A)
    prev = np.inf
    for sweep in range(max_iter):
        H = _n13_columns(W, A)
        W = _n13_columns(H.T, A.T).T
        err = np.linalg.norm(A - W @ H)
        if err <= 1e-14 * size:
            break
        prev = err
        if sweep > 0 and abs(prev - err) <= tol * prev:
            break
    return W, H


# ---------------------------------------------------------------- n14
class n14:
    """Multiplicative updates for the rough part, HALS for the fine part.

    Parameters: n_components, mu_iter (multiplicative sweeps),
    hals_iter (sweeps of HALS after them), random_state (int or None).
    """

    def __init__(self, n_components=2, mu_iter=50, hals_iter=6000, random_state=None):
        self.n_components = n_components
        self.mu_iter = mu_iter
        self.hals_iter = hals_iter
        self.random_state = random_state

    def _init_factors(self, X):
        rng = np.random
        avg = np.sqrt(X.mean() / self.n_components)
        W = avg * (0.1 + rng.rand(X.shape[0], self.n_components))
        H = avg * (0.1 + rng.rand(self.n_components, X.shape[1]))
        return W, H

    def _multiplicative(self, X, W, H):
        eps = np.finfo(float).tiny
        for _ in range(self.mu_iter):
            H *= (W.T @ X) / (W.T @ W @ H + eps)
            W *= (X @ H.T) / (W @ (H @ H.T) + eps)
        return W, H

    def _hals(self, X, W, H):
        stop = 1e-13 * np.linalg.norm(X)
        last = np.inf
        for it in range(self.hals_iter):
            S, T = X @ H.T, H @ H.T
            for k in np.flatnonzero(T.diagonal() > 0):
                W[:, k] = np.maximum(W[:, k] + (S[:, k] - W @ T[:, k]) / T[k, k], 0.0)
            S, T = W.T @ X, W.T @ W
            for k in np.flatnonzero(T.diagonal() > 0):
                H[k] = np.maximum(H[k] + (S[k] - T[k] @ H) / T[k, k], 0.0)
            if it % 20 == 0:
                err = np.linalg.norm(X - W @ H)
                if err <= stop or last - err <= 1e-11 * err:
                    break
                last = err
        return W, H

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        if not (np.all(X >= 0) and np.all(X < np.inf)):
            raise ValueError("input has negative or non-finite entries")
        W, H = self._init_factors(X)
        W, H = self._multiplicative(X, W, H)
        W, self.components_ = self._hals(X, W, H)
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


# ---------------------------------------------------------------- n15
def _n15_nesterov(G, F, X, steps):
    """Nesterov's method for min 1/2 <X, G X> - <F, X>, X >= 0."""
    L = np.linalg.norm(G, 2)
    if L == 0:
        return X
    a, Y = 1.0, X
    for _ in range(steps):
        Xn = np.maximum(Y - (G @ Y - F) / L, 0.0)
        an = 0.5 * (1.0 + np.sqrt(4.0 * a * a + 1.0))
        Y = Xn - (a - 1.0) / an * (Xn - X)
        X, a = Xn, an
    return X


def n15(A, rank, *, W0=None, H0=None, seed=0, max_iter=800, steps=15, tol=1e-13):
    """Alternating optimal-gradient NMF (NeNMF style)."""
    A = np.asarray(A, dtype=float)
    if not np.isfinite(A).all() or A.min() < 0:
        raise ValueError("A must be finite and nonnegative")
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = rng.random((m, rank)) if W0 is None else np.array(W0, float)
    H = rng.random((rank, n)) if H0 is None else np.array(H0, float)
    nA, last = np.linalg.norm(A), np.inf
    for it in range(max_iter):
        H = _n15_nesterov(W.T @ W, W.T @ A, H, steps)
        W = _n15_nesterov(H @ H.T, H @ A.T, W.T, steps).T
        err = np.linalg.norm(A - W @ H)
        if err <= tol * nA or abs(last - err) <= 1e-12 * err:
            break
        last = err
        bal = np.sqrt(np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1))
        nw = np.linalg.norm(W, axis=0)
        ok = (bal > 0) & (nw > 0)
        q = np.ones(rank)
        q[ok] = bal[ok] / nw[ok]
        W = W * q
        H = H / q[:, None]
    return W, H
