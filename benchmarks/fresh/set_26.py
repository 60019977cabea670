"""Nonnegative matrix factorization, Frobenius loss: a collection of solvers."""

from functools import cache

import numpy as np
import scipy.linalg as sla
from scipy.optimize import nnls


# ---------------------------------------------------------------------------
def n01(
    A, rank, *, W0=None, H0=None, seed=0, l1_w=0.0, l1_h=0.0, max_iter=3000, inner=3, tol=1e-10
):
    """Sparse NMF by hierarchical alternating least squares (L1 on both factors)."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = rng.random((m, rank)) if W0 is None else np.array(W0, dtype=float)
    H = rng.random((rank, n)) if H0 is None else np.array(H0, dtype=float)

    def sweep(F, C, G, lam):
        for _ in range(inner):
            for j in range(rank):
                num = C[:, j] - F @ G[:, j] + F[:, j] * G[j, j] - lam
                den = G[j, j] + lam
                F[:, j] = np.maximum(num / den, 0.0) if den > 0 else 0.0
        return F

    scale = np.linalg.norm(A)
    for it in range(max_iter):
        W = sweep(W, A @ H.T, H @ H.T, l1_w)
        H = sweep(H.T, A.T @ W, W.T @ W, l1_h).T
        if it % 10 == 9 and np.linalg.norm(A - W @ H) <= tol * scale:
            break
    return W, H


# ---------------------------------------------------------------------------
def n02(A, rank, *, W0=None, H0=None, seed=0, maxit=6000, tol=1e-9):
    V = np.asarray(A, float)
    gen = np.random.RandomState(seed)
    W = gen.rand(V.shape[0], rank) if W0 is None else W0.astype(float).copy()
    H = gen.rand(rank, V.shape[1]) if H0 is None else H0.astype(float).copy()
    # start at the best scale
    WH = W @ H
    nrm = np.vdot(WH, WH)
    if nrm > 0:
        W *= np.vdot(V, WH) / nrm
    vnorm = np.linalg.norm(V)
    for t in range(maxit):
        P, Q = V @ H.T, H @ H.T
        for r in range(rank):
            if Q[r, r] > 1e-300:
                delta = P[:, r] - W @ Q[:, r]
                W[:, r] = np.maximum(delta / Q[r, r], 0)
        P, Q = W.T @ V, W.T @ W
        for r in range(rank):
            if Q[r, r] > 1e-300:
                delta = P[r] - Q[r] @ H
                H[r] = np.maximum(H[r] + delta / Q[r, r], 0)
        if t % 20 == 0 and np.linalg.norm(V - W @ H) < tol * vnorm:
            break
    return W, H


# ---------------------------------------------------------------------------
def _restore_columns(W, H, s):
    for F in (W, H):
        if F.shape[1] == s.size:
            F *= s
            break
    return W, H


def n03(A, rank, *, W0, H0, seed=0, max_iter=1500):
    """ANLS on the column-normalised matrix; the column sums are put back at the end."""
    A = np.asarray(A, dtype=np.float64)
    s = A.sum(axis=0)
    s = np.where(s > 0, s, 1.0)
    X = A / s
    W = np.array(W0, dtype=np.float64)
    H = np.array(H0, dtype=np.float64) / s
    target = 1e-11 * np.linalg.norm(X)
    for it in range(30):
        W *= (X @ H.T) / (W @ (H @ H.T) + 1e-12)
        H *= (W.T @ X) / (W.T @ W @ H + 1e-12)
    for it in range(max_iter):
        for j in range(X.shape[1]):
            H[:, j], _ = nnls(W, X[:, j])
        res = 0.0
        for i in range(X.shape[0]):
            W[i], r = nnls(H.T, X[i])
            res += r * r
        if np.sqrt(res) <= target:
            break
        d = np.maximum(np.linalg.norm(W, axis=0), 1e-30)
        W /= d
        H *= d[:, None]
    return _restore_columns(W, H, s)


# ---------------------------------------------------------------------------
class n04:
    """Coordinate-descent NMF with unit-norm components.

    After fitting, every row of ``components_`` has Euclidean norm one.
    """

    def __init__(self, n_components, *, max_iter=4000, tol=1e-10, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @staticmethod
    def _update(X, W, Ht):
        G = Ht.T @ Ht
        C = X @ Ht
        moved = 0.0
        for t in range(W.shape[1]):
            if G[t, t] == 0:
                continue
            g = W @ G[:, t] - C[:, t]
            new = np.maximum(W[:, t] - g / G[t, t], 0)
            moved += np.abs(new - W[:, t]).sum()
            W[:, t] = new
        return moved

    def fit_transform(self, X, y=None):
        X = np.asarray(X, float)
        rng = np.random.RandomState(self.random_state)
        k = self.n_components
        avg = np.sqrt(X.mean() / k)
        W = avg * np.abs(rng.standard_normal((X.shape[0], k)))
        Ht = avg * np.abs(rng.standard_normal((X.shape[1], k)))
        first = None
        for self.n_iter_ in range(1, self.max_iter + 1):
            v = self._update(X, W, Ht) + self._update(X.T, Ht, W)
            first = v if first is None else first
            if v <= self.tol * first:
                break
        norms = np.linalg.norm(Ht, axis=0)
        norms[norms == 0] = 1.0
        self.components_ = (Ht / norms).T
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def transform(self, X):
        return np.array([nnls(self.components_.T, x)[0] for x in np.asarray(X, float)])

    def inverse_transform(self, W):
        return W @ self.components_


# ---------------------------------------------------------------------------
def _ahals(M, F, G, n_inner):
    """n_inner passes over the columns of F for min ||. - F .||, M and G the products."""
    for _ in range(n_inner):
        for p in range(F.shape[1]):
            gpp = G[p, p]
            if gpp <= 0:
                continue
            F[:, p] = np.maximum(0, F[:, p] + (M[:, p] - F @ G[:, p]) / gpp)
    return F


def n05(A, rank, *, W0=None, H0=None, seed=0, n_iter=1500, n_inner=4, normalize=True):
    A = np.array(A, dtype=float)
    rs = np.random.default_rng(seed)
    W = rs.uniform(0.1, 1, (A.shape[0], rank)) if W0 is None else np.array(W0, float)
    Ht = rs.uniform(0.1, 1, (A.shape[1], rank)) if H0 is None else np.array(H0, float).T
    ref = np.linalg.norm(A)
    for i in range(n_iter):
        W = _ahals(A @ Ht, W, Ht.T @ Ht, n_inner)
        Ht = _ahals(A.T @ W, Ht, W.T @ W, n_inner)
        if i % 5 == 4 and np.linalg.norm(A - W @ Ht.T) < 1e-11 * ref:
            break
    if normalize:
        # columns of W are distributions, the mass goes to H
        mass = W.sum(axis=0)
        mass[mass == 0] = 1.0
        Ht = Ht * np.linalg.norm(W, axis=0)
        W = W / mass
    return W, Ht.T


# ---------------------------------------------------------------------------
def _clipped_ls(B, Y, X, mu):
    """X = max(0, argmin ||B X - Y||^2 + mu ||X - X_old||^2)."""
    if Y.shape[0] != B.shape[0]:
        Y = Y.T
    G = B.T @ B
    mu = max(mu * np.trace(G), 1e-200)
    G[np.diag_indices_from(G)] += mu
    return np.maximum(np.linalg.solve(G, B.T @ Y + mu * X), 0.0)


def n06(A, rank, *, W0, H0, seed=0, max_iter=5000, tol=1e-9):
    """Alternating least squares with projection, as in the first NMF toolboxes."""
    A = np.asarray(A, dtype=float)
    W = np.array(W0, dtype=float)
    best, keep = np.inf, (W, np.array(H0, dtype=float))
    anorm = np.linalg.norm(A) or 1.0
    H, mu = keep[1], 0.3
    for it in range(max_iter):
        H = _clipped_ls(W, A, H, mu)
        dead = ~H.any(axis=1)
        if dead.any():
            H[dead] = A.mean() * 1e-3
        W = _clipped_ls(H.T, A, W.T, mu).T
        dead = ~W.any(axis=0)
        if dead.any():
            W[:, dead] = A.mean() * 1e-3
        mu = max(0.9 * mu, 1e-13)
        err = np.linalg.norm(A - W @ H) / anorm
        if err < best:
            best, keep = err, (W, H)
        if err < tol:
            break
    return keep


# ---------------------------------------------------------------------------
def n07(A, rank, *, W0, H0, seed=0, outer=2500, inner=8, eps=1e-30):
    """Accelerated multiplicative updates: products are formed once per outer step."""
    A = np.asarray(A, float)
    W, H = np.array(W0, float), np.array(H0, float)
    goal = 1e-10 * np.linalg.norm(A)
    for it in range(outer):
        AHt, HHt = A @ H.T, H @ H.T
        WtA = W.T @ A
        for _ in range(inner):
            W *= AHt / (W @ HHt + eps)
        WtW = W.T @ W
        for _ in range(inner):
            H *= WtA / (WtW @ H + eps)
        if it % 25 == 0 and np.linalg.norm(A - W @ H) <= goal:
            break
    return W, H


# ---------------------------------------------------------------------------
@cache
def _generator(seed):
    return np.random.default_rng(seed)


def _anls(A, W, sweeps, tol):
    W = W.copy()
    for _ in range(sweeps):
        H = np.column_stack([nnls(W, a)[0] for a in A.T])
        W = np.vstack([nnls(H.T, a)[0] for a in A])
        err = np.linalg.norm(A - W @ H)
        if err <= tol:
            break
    return err, W, H


def n08(A, rank, *, seed=0, n_init=4, probe=20, sweeps=1000, rtol=1e-11):
    """ANLS, the best of a few short runs is run to the end."""
    A = np.asarray(A, dtype=float)
    rng = _generator(seed)
    tol = rtol * np.linalg.norm(A)
    trials = []
    for _ in range(n_init):
        start = rng.random((A.shape[0], rank)) + 1e-3
        trials.append(_anls(A, start, probe, tol))
    trials.sort(key=lambda t: t[0])
    err, W, H = trials[0]
    if err > tol:
        err, W, H = _anls(A, W, sweeps, tol)
    return W, H


# ---------------------------------------------------------------------------
def n09(A, rank, *, W0, H0, seed=0, iters=2500, rtol=1e-10):
    """HALS with extrapolation; components come out by decreasing weight."""
    A = np.asarray(A, float)
    W, H = np.array(W0, float), np.array(H0, float)
    Wy, Hy = W.copy(), H.copy()
    nA = np.linalg.norm(A)
    beta, prev = 0.5, np.inf
    for it in range(iters):
        Wn = _ahals(A @ Hy.T, Wy.copy(), Hy @ Hy.T, 2)
        Wy = np.maximum(Wn + beta * (Wn - W), 0)
        Hn = _ahals(A.T @ Wy, Hy.T.copy(), Wy.T @ Wy, 2).T
        Hy = np.maximum(Hn + beta * (Hn - H), 0)
        err = np.linalg.norm(A - Wn @ Hn)
        if err > prev:
            beta = max(0.1, beta / 1.5)
            Wy, Hy = Wn.copy(), Hn.copy()
        else:
            beta = min(0.98, beta * 1.03)
        W, H, prev = Wn, Hn, err
        if err <= rtol * nA:
            break
    weight = np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1)
    order = np.argsort(-weight, kind="stable")
    return W[:, order], H[np.argsort(order)]


# ---------------------------------------------------------------------------
class n10:
    """NMF with columns brought to comparable spread before the fit."""

    def __init__(self, n_components, *, max_iter=2500, tol=1e-10, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _standardize(self, X):
        X = np.asarray(X, dtype=float)
        self.scale_ = X.std(axis=0)
        self.scale_[self.scale_ <= 1e-12 * np.abs(X).max(initial=0)] = 1.0
        return (X - X.mean(axis=0)) / self.scale_

    def fit_transform(self, X, y=None):
        Z = self._standardize(X)
        rng = np.random.default_rng(self.random_state)
        U = rng.random((Z.shape[0], self.n_components))
        V = rng.random((Z.shape[1], self.n_components))
        it = 0
        for it in range(1, self.max_iter + 1):
            U = _ahals(Z @ V, U, V.T @ V, 3)
            V = _ahals(Z.T @ U, V, U.T @ U, 3)
            if it % 10 == 0 and np.linalg.norm(Z - U @ V.T) <= self.tol * np.linalg.norm(Z):
                break
        self.n_iter_ = it
        self.components_ = V.T * self.scale_
        return U

    def fit(self, X, y=None):
        self.fit_transform(X, y)
        return self


# ---------------------------------------------------------------------------
def _pg_subproblem(G, R, X, step, n_steps, sigma=0.01, beta=0.4):
    """min 1/2 <X, G X> - <R, X>, X >= 0, projected gradient with line search."""
    for _ in range(n_steps):
        grad = G @ X - R
        for _try in range(15):
            D = np.maximum(X - step * grad, 0) - X
            slope = np.vdot(grad, D)
            curv = np.vdot(D, G @ D)
            if (1 - sigma) * slope - 0.5 * curv <= 0:
                break
            step *= beta
        X = X + D
        if slope > -1e-30:
            break
        step = min(step / beta, 1e3) if _try == 0 else step
    return X, step


def n11(A, rank, *, W0, H0, seed=0, max_iter=350, n_steps=12, tol=1e-9):
    A = np.asarray(A, dtype=float)
    top = np.linalg.norm(A) or 1.0
    unit = np.sqrt(top)
    B = A / top
    W, H = np.array(W0, float) / unit, np.array(H0, float) / unit
    start = W @ H
    fit = np.sqrt(np.vdot(B, start) / np.vdot(start, start))
    W, H = W * fit, H * fit
    sw = sh = 1.0
    for it in range(max_iter):
        Wt, sw = _pg_subproblem(H @ H.T, H @ B.T, W.T, sw, n_steps)
        W = Wt.T
        H, sh = _pg_subproblem(W.T @ W, W.T @ B, H, sh, n_steps)
        if np.linalg.norm(B - W @ H) <= tol:
            break
    return W * unit, H * unit


# ---------------------------------------------------------------------------
def _svd_start(A, k, fill):
    U, S, Vt = np.linalg.svd(A, full_matrices=False)
    W = np.zeros((A.shape[0], k))
    H = np.zeros((k, A.shape[1]))
    W[:, 0] = np.sqrt(S[0]) * np.abs(U[:, 0])
    H[0] = np.sqrt(S[0]) * np.abs(Vt[0])
    for j in range(1, min(k, S.size)):
        u, v = U[:, j], Vt[j]
        parts = []
        for sgn in (1, -1):
            a, b = np.maximum(sgn * u, 0), np.maximum(sgn * v, 0)
            parts.append((np.linalg.norm(a) * np.linalg.norm(b), a, b))
        w, a, b = max(parts, key=lambda p: p[0])
        if w > 0:
            W[:, j] = np.sqrt(S[j] * w) * a / np.linalg.norm(a)
            H[j] = np.sqrt(S[j] * w) * b / np.linalg.norm(b)
    if fill == "mean":
        W[W < 1e-10 * W.max()] = W.mean()
        H[H < 1e-10 * H.max()] = H.mean()
    return W, H


def n12(A, rank, *, seed=0, fill="zero", max_iter=2500, repeats=10, eps=1e-30):
    """Multiplicative updates from an SVD start (deterministic, seed is not needed)."""
    A = np.asarray(A, float)
    W, H = _svd_start(A, rank, fill)
    size = np.linalg.norm(A)
    for it in range(max_iter):
        num, gram = A @ H.T, H @ H.T
        for _ in range(repeats):
            W *= num / np.maximum(W @ gram, eps)
        num, gram = W.T @ A, W.T @ W
        for _ in range(repeats):
            H *= num / np.maximum(gram @ H, eps)
        if it % 20 == 0 and np.linalg.norm(A - W @ H) < 1e-10 * size:
            break
    return W, H


# ---------------------------------------------------------------------------
class n13:
    """Rank-one residue iteration."""

    def __init__(self, n_components, *, max_iter=5000, tol=1e-10, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self._rng = np.random.default_rng(random_state)

    def _start(self, shape):
        rng = self._rng
        k = self.n_components
        return rng.random((shape[0], k)), rng.random((k, shape[1]))

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        W, H = self._start(X.shape)
        R = X - W @ H
        scale = np.linalg.norm(X)
        it = 0
        for it in range(1, self.max_iter + 1):
            for k in range(self.n_components):
                R += np.outer(W[:, k], H[k])
                hh = H[k] @ H[k]
                if hh > 0:
                    W[:, k] = np.maximum(R @ H[k], 0) / hh
                ww = W[:, k] @ W[:, k]
                if ww > 0:
                    H[k] = np.maximum(W[:, k] @ R, 0) / ww
                R -= np.outer(W[:, k], H[k])
            if it % 50 == 0:
                R = X - W @ H
            if np.sqrt(np.vdot(R, R)) <= self.tol * scale:
                break
        self.n_iter_ = it
        self.components_ = H
        self.reconstruction_err_ = np.linalg.norm(X - W @ H)
        return W


# ---------------------------------------------------------------------------
def _fnnls(G, c, tol):
    """Lawson & Hanson on the normal equations: min 1/2 x'Gx - c'x, x >= 0."""
    k = c.size
    P = np.zeros(k, dtype=bool)
    x = np.zeros(k)
    for _ in range(5 * k):
        w = np.where(P, -np.inf, c - G @ x)
        j = int(np.argmax(w))
        if w[j] <= tol:
            break
        P[j] = True
        while True:
            s = np.zeros(k)
            s[P] = np.linalg.solve(G[np.ix_(P, P)], c[P])
            bad = P & (s <= 0)
            if not bad.any():
                break
            alpha = np.min(x[bad] / (x[bad] - s[bad] + 1e-300))
            x = x + alpha * (s - x)
            P &= x > 1e-14 * x.max()
            x[~P] = 0
        x = s
    return x


def n14(A, rank, *, W0, H0, seed=0, max_iter=400, nnls_tol=1e-3):
    """Proximal alternating NNLS with an active-set solver."""
    A = np.asarray(A, float)
    W, H = np.array(W0, float), np.array(H0, float)
    c = np.sqrt(A.sum() / (W @ H).sum())
    W, H = c * W, c * H
    scale = np.linalg.norm(A)
    damping = 0.3
    for it in range(max_iter):
        for X, B, Y in ((H, W, A), (W.T, H.T, A.T)):
            G, C = B.T @ B, B.T @ Y
            mu = damping * np.trace(G) / rank + 1e-300
            G[np.diag_indices(rank)] += mu
            C = C + mu * X
            dual = nnls_tol
            for j in range(C.shape[1]):
                X[:, j] = _fnnls(G, C[:, j], dual)
        damping = max(0.6 * damping, 1e-10)
        if np.linalg.norm(A - W @ H) <= 1e-9 * scale:
            break
    return W, H


# ---------------------------------------------------------------------------
def _bpp_single(G, c, max_exchange):
    """Block principal pivoting for one right-hand side."""
    k = c.size
    F = np.zeros(k, bool)
    x, y = np.zeros(k), -c
    alpha, beta = 3, k + 1
    eps = 1e-13 * (np.abs(c).max() + 1e-300)
    for _ in range(max_exchange):
        V = (F & (x < 0)) | (~F & (y < -eps))
        nv = int(V.sum())
        if nv == 0:
            break
        if nv < beta:
            beta, alpha = nv, 3
            F ^= V
        elif alpha > 0:
            alpha -= 1
            F ^= V
        else:
            last = np.flatnonzero(V)[-1]
            F[last] = not F[last]
        x, y = np.zeros(k), np.zeros(k)
        if F.any():
            x[F] = np.linalg.lstsq(G[F][:, F], c[F], rcond=None)[0]
        y[~F] = G[~F][:, F] @ x[F] - c[~F]
    return np.maximum(x, 0)


def n15(A, rank, *, W0, H0, seed=0, n_sweeps=250, max_exchange=2):
    A = np.asarray(A, float)
    W, H = np.array(W0, float), np.array(H0, float)
    best = (np.inf, W, H)
    stop = 1e-10 * np.linalg.norm(A)
    W = _ahals(A @ H.T, W, H @ H.T, 2)
    for _ in range(20):
        H = _ahals(A.T @ W, H.T, W.T @ W, 2).T
        W = _ahals(A @ H.T, W, H @ H.T, 2)
    Wx = W
    momentum = 0.4
    for sweep in range(n_sweeps):
        G, C = Wx.T @ Wx, Wx.T @ A
        H = np.array([_bpp_single(G, c, max_exchange) for c in C.T]).T
        G, C = H @ H.T, H @ A.T
        Wn = np.array([_bpp_single(G, c, max_exchange) for c in C.T])
        err = np.linalg.norm(A - Wn @ H)
        if err < best[0]:
            best = (err, Wn, H)
            momentum = min(0.97, momentum * 1.06)
            Wx = np.maximum(Wn + momentum * (Wn - W), 0)
        else:
            momentum *= 0.6
            Wx = Wn
        W = Wn
        if err <= stop:
            break
    return best[1], best[2]


# ---------------------------------------------------------------------------
def n16(A, rank, *, W0=None, H0=None, seed=0, max_iter=5000, tol=1e-9):
    """HALS; stops when ||A - WH|| <= tol * ||A||."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = np.copy(W0) if W0 is not None else rng.gamma(2.0, 1.0, (m, rank))
    H = np.copy(H0) if H0 is not None else rng.gamma(2.0, 1.0, (rank, n))
    W, H = W.astype(float), H.astype(float)
    normA2 = float((A * A).sum())

    def residual2():
        D = A - W @ H
        return float((D * D).sum())

    for it in range(max_iter):
        HHt = H @ H.T
        AHt = A @ H.T
        for l in range(rank):
            W[:, l] += (AHt[:, l] - W @ HHt[:, l]) / max(HHt[l, l], 1e-200)
            W[W[:, l] < 0, l] = 0
        WtW = W.T @ W
        WtA = W.T @ A
        for l in range(rank):
            H[l] += (WtA[l] - WtW[l] @ H) / max(WtW[l, l], 1e-200)
            H[l, H[l] < 0] = 0
        if residual2() <= tol * normA2:
            break
    return W, H


# ---------------------------------------------------------------------------
def _solve_grouped(G, C, passive):
    """Solve G[P, P] X[P, j] = C[P, j] for each column j, like columns together."""
    X = np.zeros_like(C)
    keys = passive.sum(axis=0)
    for key in np.unique(keys):
        cols = np.flatnonzero(keys == key)
        P = np.flatnonzero(passive[:, cols[0]])
        if P.size:
            X[np.ix_(P, cols)] = np.linalg.lstsq(G[np.ix_(P, P)], C[np.ix_(P, cols)], rcond=None)[0]
    return X


def _bpp_grouped(G, C, start):
    k, q = C.shape
    P = start > 0
    thr = 1e-13 * (np.abs(C).max() + 1e-300)
    X = _solve_grouped(G, C, P)
    Y = G @ X - C
    alpha, beta = np.full(q, 3), np.full(q, k + 1)
    for _ in range(60):
        bad = (P & (X < 0)) | (~P & (Y < -thr))
        count = bad.sum(axis=0)
        todo = np.flatnonzero(count)
        if todo.size == 0:
            break
        for j in todo:
            if count[j] < beta[j]:
                beta[j], alpha[j] = count[j], 3
                P[bad[:, j], j] ^= True
            elif alpha[j] > 0:
                alpha[j] -= 1
                P[bad[:, j], j] ^= True
            else:
                P[np.flatnonzero(bad[:, j]).max(), j] ^= True
        X = _solve_grouped(G, C, P)
        Y = G @ X - C
    return np.maximum(X, 0)


def n17(A, rank, *, W0, H0, seed=0, max_iter=800, rtol=1e-10):
    """ANLS with block principal pivoting (Kim & Park)."""
    A = np.asarray(A, float)
    W, H = np.array(W0, float), np.array(H0, float)
    bound = rtol * np.linalg.norm(A)
    E = np.eye(rank)
    for it in range(max_iter):
        mu = bound * 1e7 * 0.8**it + 1e-300
        H = _bpp_grouped(W.T @ W + mu * E, W.T @ A + mu * H, H)
        W = _bpp_grouped(H @ H.T + mu * E, H @ A.T + mu * W.T, W.T).T
        if np.linalg.norm(A - W @ H) <= bound:
            break
    return W, H


# ---------------------------------------------------------------------------
class n18:
    def __init__(self, n_components, *, max_iter=1500, tol=1e-11, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _run(self, X, W, H, update_H=True):
        ref = np.linalg.norm(X)
        old = np.inf
        for it in range(self.max_iter):
            W = _ahals(X @ H.T, W, H @ H.T, 5)
            if update_H:
                H = _ahals(X.T @ W, H.T, W.T @ W, 5).T
            if it % 5 == 0:
                err = np.linalg.norm(X - W @ H)
                if err <= self.tol * ref or old - err <= 1e-13 * err:
                    break
                old = err
        return W, H

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        rng = np.random.RandomState(self.random_state)
        W = rng.uniform(size=(X.shape[0], self.n_components))
        H = rng.uniform(size=(self.n_components, X.shape[1]))
        W, self.components_ = self._run(X, W, H)
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def transform(self, X):
        X = np.asarray(X, dtype=float)
        W = np.full((X.shape[0], self.n_components), np.sqrt(X.mean() / self.n_components))
        W, self.components_ = self._run(X, W, self.components_)
        return W

    def inverse_transform(self, W):
        return np.asarray(W) @ self.components_


# ---------------------------------------------------------------------------
def _nndsvd(A, k):
    """Boutsidis & Gallopoulos."""
    U, s, Vt = sla.svd(A, full_matrices=False)
    W, H = np.zeros((A.shape[0], k)), np.zeros((k, A.shape[1]))
    for j in range(min(k, len(s))):
        x, y = U[:, j], Vt[j]
        if j == 0:
            W[:, 0], H[0] = np.sqrt(s[0]) * abs(x), np.sqrt(s[0]) * abs(y)
            continue
        xp, yp = np.clip(x, 0, None), np.clip(y, 0, None)
        xn, yn = np.clip(-x, 0, None), np.clip(-y, 0, None)
        nxp, nyp = sla.norm(xp), sla.norm(yp)
        nxn, nyn = sla.norm(xn), sla.norm(yn)
        if nxp >= nxn:
            u, v, sigma = xp, yp, nxp * nyp
        else:
            u, v, sigma = xn, yn, nxn * nyn
        if sigma == 0:
            continue
        W[:, j] = np.sqrt(s[j] * sigma) * u / sla.norm(u)
        H[j] = np.sqrt(s[j] * sigma) * v / sla.norm(v)
    return W, H


def n19(A, rank, *, seed=0, max_iter=3000, tol=1e-10):
    """HALS from NNDSVD; components the SVD cannot give (rank > min(m, n)) are random."""
    A = np.asarray(A, float)
    W, H = _nndsvd(A, rank)
    extra = min(A.shape)
    if rank > extra:
        rng = np.random.default_rng(seed)
        W[:, extra:] = 0.1 * A.max() * rng.random((A.shape[0], rank - extra))
        H[extra:] = 0.1 * rng.random((rank - extra, A.shape[1]))
    Ht = H.T.copy()
    nrm = sla.norm(A)
    for it in range(max_iter):
        W = _ahals(A @ Ht, W, Ht.T @ Ht, 3)
        Ht = _ahals(A.T @ W, Ht, W.T @ W, 3)
        if it % 10 == 0 and sla.norm(A - W @ Ht.T) <= tol * nrm:
            break
    return W, Ht.T


# ---------------------------------------------------------------------------
def _initialize(A, k, W0, H0, init, seed):
    m, n = A.shape
    if init == "custom":
        return np.array(W0, dtype=float), np.array(H0, dtype=float)
    if init == "random":
        rng = np.random.default_rng(seed)
        level = np.sqrt(A.mean() / k)
        return level * rng.random((m, k)) * 2, level * rng.random((k, n)) * 2
    if init == "columns":
        rng = np.random.default_rng(seed)
        W = A[:, rng.integers(0, n, size=k)] + 0.01 * A.mean() * rng.random((m, k))
        return W, rng.random((k, n))
    raise ValueError(f"unknown init {init!r}")


def n20(A, rank, *, W0=None, H0=None, seed=0, init="random", max_iter=3000, tol=1e-9):
    """Projected gradient with extrapolation, steps from the spectral norms."""
    A = np.asarray(A, dtype=float)
    W, H = _initialize(A, rank, W0, H0, init, seed)
    ref = np.linalg.norm(A)
    c = np.sqrt(A.sum() / max((W @ H).sum(), 1e-300))
    W, H = c * W, c * H
    for it in range(max_iter):
        for which in (0, 1):
            X, B, Y = (W.T, H.T, A.T) if which == 0 else (H, W, A)
            G, C = B.T @ B, B.T @ Y
            L = np.linalg.norm(G, 2)
            if L == 0:
                continue
            Z, t = X, 1.0
            for _ in range(6):
                Xn = np.maximum(Z - (G @ Z - C) / L, 0)
                tn = 0.5 * (1 + np.sqrt(1 + 4 * t * t))
                Z = Xn + (t - 1) / tn * (Xn - X)
                X, t = Xn, tn
            if which == 0:
                W = X.T
            else:
                H = X
        if it % 10 == 0 and np.linalg.norm(A - W @ H) <= tol * ref:
            break
    return W, H


# ---------------------------------------------------------------------------
def _hals_half(target, fixed, factor):
    """One pass over the rows of factor, ||target - fixed @ factor||."""
    gram = fixed.T @ fixed
    cross = fixed.T @ target
    rank = factor.shape[0]
    for k in range(rank - 1):
        if gram[k, k] < 1e-300:
            continue
        row = factor[k] + (cross[k] - gram[k] @ factor) / gram[k, k]
        factor[k] = np.where(row > 0, row, 0.0)
    return factor


def n21(A, rank, *, W0=None, H0=None, seed=0, iterations=5000, rel=1e-10, check=25):
    A = np.asarray(A, float)
    rng = np.random.default_rng(seed)
    Wt = np.array(W0, float).T.copy() if W0 is not None else rng.random((rank, A.shape[0]))
    H = np.array(H0, float).copy() if H0 is not None else rng.random((rank, A.shape[1]))
    for it in range(1, iterations + 1):
        H = _hals_half(A, Wt.T, H)
        Wt = _hals_half(A.T, H.T, Wt)
        if it % check == 0:
            if np.linalg.norm(A - Wt.T @ H) <= rel * np.linalg.norm(A):
                break
    return Wt.T, H


# ---------------------------------------------------------------------------
def _value_and_gradient(A, W, H):
    """Gradients of ||A - WH||^2 with respect to W and H, and their curvatures."""
    HHt, WtW = H @ H.T, W.T @ W
    gW = 2 * W @ HHt - 2 * A @ H.T
    gH = 2 * WtW @ H - W.T @ A
    return gW, gH, 2 * np.linalg.eigvalsh(HHt)[-1], 2 * np.linalg.eigvalsh(WtW)[-1]


def n22(A, rank, *, W0, H0, seed=0, max_iter=8000, tol=1e-9):
    """Alternating projected gradient with inertia (PALM/iPALM)."""
    A = np.asarray(A, float)
    W, H = np.array(W0, float), np.array(H0, float)
    Wp, Hp = W, H
    norm = np.linalg.norm(A)
    err = np.inf
    theta = 0.5
    for it in range(max_iter):
        Wz = np.maximum(W + theta * (W - Wp), 0)
        gW, _, LW, _ = _value_and_gradient(A, Wz, H)
        Wp, W = W, np.maximum(Wz - gW / max(LW, 1e-300), 0)
        Hz = np.maximum(H + theta * (H - Hp), 0)
        _, gH, _, LH = _value_and_gradient(A, W, Hz)
        Hp, H = H, np.maximum(Hz - gH / max(LH, 1e-300), 0)
        new = np.linalg.norm(A - W @ H)
        if new <= tol * norm:
            break
        if new > err:
            theta, Wp, Hp = 0.5 * theta, W, H
        else:
            theta = min(0.99, theta * 1.02 + 1e-3)
        err = new
    return W, H


# ---------------------------------------------------------------------------
def n23(A, rank, *, W0, H0, seed=0, block=4, epochs=2000, inner=3, tol=1e-10):
    """HALS in blocks of rows of A; the statistics for H are summed over the blocks."""
    A = np.asarray(A, dtype=float)
    W, Ht = np.array(W0, dtype=float), np.array(H0, dtype=float).T.copy()
    m = A.shape[0]
    edges = list(range(1, m, block)) + [m]
    scale = np.linalg.norm(A)
    for epoch in range(epochs):
        HHt = Ht.T @ Ht
        AHt = A @ Ht
        for lo, hi in zip(edges[:-1], edges[1:]):
            W[lo:hi] = _ahals(AHt[lo:hi], W[lo:hi], HHt, inner)
        Ht = _ahals(A.T @ W, Ht, W.T @ W, inner)
        if epoch % 10 == 0 and np.linalg.norm(A - W @ Ht.T) <= tol * scale:
            break
    return W, Ht.T


# ---------------------------------------------------------------------------
def n24(A, rank, *, W0=None, H0=None, seed=0, max_iter=4000, tol=1e-10):
    """HALS, columns of W kept at unit length."""
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    W = rng.random((A.shape[0], rank)) if W0 is None else np.array(W0, dtype=float)
    H = rng.random((rank, A.shape[1])) if H0 is None else np.array(H0, dtype=float)
    for it in range(max_iter):
        HHt, AHt = H @ H.T, A @ H.T
        for j in range(rank):
            if HHt[j, j] > 0:
                W[:, j] = np.maximum(W[:, j] + (AHt[:, j] - W @ HHt[:, j]) / HHt[j, j], 0)
        lengths = np.sqrt((W * W).sum(axis=0))
        W /= lengths
        H *= lengths[:, None]
        WtW, WtA = W.T @ W, W.T @ A
        for j in range(rank):
            if WtW[j, j] > 0:
                H[j] = np.maximum(H[j] + (WtA[j] - WtW[j] @ H) / WtW[j, j], 0)
        if it % 20 == 0 and np.linalg.norm(A - W @ H) <= tol * np.linalg.norm(A):
            break
    return W, H


# ---------------------------------------------------------------------------
class _State:
    """Factors together with the products that the sweeps need."""

    def __init__(self, A, W, H):
        self.A, self.W, self.H = A, W, H

    def refresh(self):
        self.WtW, self.HHt = self.W.T @ self.W, self.H @ self.H.T

    def sweep_H(self):
        R, G, H = self.W.T @ self.A, self.WtW, self.H
        for k in range(H.shape[0]):
            if G[k, k] > 0:
                H[k] = np.maximum(H[k] + (R[k] - G[k] @ H) / G[k, k], 0)

    def sweep_W(self):
        R, G, W = self.A @ self.H.T, self.HHt, self.W
        for k in range(W.shape[1]):
            if G[k, k] > 0:
                W[:, k] = np.maximum(W[:, k] + (R[:, k] - W @ G[:, k]) / G[k, k], 0)

    def error(self):
        return np.linalg.norm(self.A - self.W @ self.H)


def n25(A, rank, *, W0, H0, seed=0, max_sweeps=6000, tol=1e-10):
    A = np.asarray(A, float)
    st = _State(A, np.array(W0, float), np.array(H0, float))
    limit = tol * np.linalg.norm(A)
    for s in range(max_sweeps):
        st.refresh()
        st.sweep_H()
        st.sweep_W()
        if s % 20 == 0 and st.error() <= limit:
            break
    return st.W, st.H


# ---------------------------------------------------------------------------
def _tall_anls(A, W, H, sweeps, rtol):
    size = np.linalg.norm(A)
    damp, E = 0.3 * np.sqrt(size), np.eye(H.shape[0])
    for _ in range(sweeps):
        B = np.vstack([H.T, damp * E])
        for i, a in enumerate(A):
            W[i] = nnls(B, np.concatenate([a, damp * W[i]]))[0]
        B = np.vstack([W, damp * E])
        for j, a in enumerate(A.T):
            H[:, j] = nnls(B, np.concatenate([a, damp * H[:, j]]))[0]
        damp *= 0.9
        if np.linalg.norm(A - W @ H) <= rtol * size:
            break
    return W, H


def n26(A, rank, *, W0=None, H0=None, seed=0, sweeps=1500, rtol=1e-10):
    """ANLS; wide matrices are handled through their transpose."""
    A = np.asarray(A, float)
    rng = np.random.default_rng(seed)
    W = rng.random((A.shape[0], rank)) if W0 is None else np.array(W0, float)
    H = rng.random((rank, A.shape[1])) if H0 is None else np.array(H0, float)
    if A.shape[0] < A.shape[1]:
        Ht, Wt = _tall_anls(A.T, H.T.copy(), W.T.copy(), sweeps, rtol)
        return Wt.T, Ht
    return _tall_anls(A, W, H, sweeps, rtol)


# ---------------------------------------------------------------------------
def _pivot(G, C, maxit=20):
    """min ||.|| subject to X >= 0, all columns at once, by exchanging blocks."""
    k, q = C.shape
    passive = np.zeros((k, q), bool)
    X, Y = np.zeros((k, q)), -C
    slack = 1e-13 * np.abs(C).max() if C.size else 0.0
    chances, fewest = np.full(q, 3), np.full(q, k + 1)
    for _ in range(maxit):
        wrong = np.where(passive, X < 0, Y < -slack)
        n_wrong = wrong.sum(axis=0)
        if not n_wrong.any():
            break
        better = n_wrong < fewest
        chances = np.where(better, 3, chances - 1)
        fewest = np.minimum(fewest, n_wrong)
        for j in np.flatnonzero(n_wrong):
            if chances[j] >= 0:
                passive[wrong[:, j], j] ^= True
            else:
                passive[np.flatnonzero(wrong[:, j])[-1], j] ^= True
            P = passive[:, j]
            X[:, j] = 0.0
            if P.any():
                X[P, j] = np.linalg.pinv(G[np.ix_(P, P)], hermitian=True) @ C[P, j]
    return np.maximum(X, 0)


class n27:
    """NMF by alternating exact nonnegative least squares."""

    def __init__(self, n_components, *, max_iter=300, tol=1e-9, random_state=0):
        self.n_components, self.max_iter = n_components, max_iter
        self.tol, self.random_state = tol, random_state

    def _half(self, X, B, old):
        G = B.T @ B
        mu = self._damping * np.trace(G) / len(G)
        self._damping *= 0.8
        return _pivot(G + mu * np.eye(len(G)), B.T @ X + mu * old)

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        rng = np.random.default_rng(self.random_state)
        W = rng.random((X.shape[0], self.n_components))
        H = rng.random((self.n_components, X.shape[1]))
        Wx, beta, best = W, 0.5, np.inf
        self._damping = 0.3
        self.components_, out = H, W
        for self.n_iter_ in range(1, self.max_iter + 1):
            H = self._half(X, Wx, H)
            Wn = self._half(X.T, H.T, Wx.T).T
            err = np.linalg.norm(X - Wn @ H)
            if err < best:
                best, self.components_, out = err, H, Wn
                beta = min(0.95, beta * 1.05)
                Wx = np.maximum(Wn + beta * (Wn - W), 0)
            else:
                beta *= 0.6
                Wx = Wn
            W = Wn
            if err <= self.tol * np.linalg.norm(X):
                break
        return out

    def transform(self, X):
        H = self.components_
        return _pivot(H @ H.T, H @ np.asarray(X, float).T).T


# ---------------------------------------------------------------------------
def _optimal_gradient(G, C, X, steps, tol):
    """Nesterov's method for min 1/2 <X, GX> - <C, X> over X >= 0."""
    L = np.linalg.norm(G, 2)
    if L == 0:
        return X
    Y, a = X, 1.0
    for _ in range(steps):
        Xn = np.maximum(Y - (G @ Y - C) / L, 0)
        an = (1 + np.sqrt(1 + 4 * a)) / 2
        Y = Xn + (a - 1) / an * (Xn - X)
        moved = np.abs(Xn - X).max()
        X, a = Xn, an
        if moved <= tol:
            break
    return X


def n28(A, rank, *, W0, H0, seed=0, max_iter=500, steps=40, tol=1e-9):
    """NeNMF (Guan, Tao, Luo, Yuan)."""
    A = np.asarray(A, float)
    W, H = np.array(W0, float), np.array(H0, float)
    size = np.linalg.norm(A)
    for it in range(max_iter):
        H = _optimal_gradient(W.T @ W, W.T @ A, H, steps, 1e-14 * np.abs(H).max())
        W = _optimal_gradient(H @ H.T, H @ A.T, W.T, steps, 1e-14 * np.abs(W).max()).T
        if np.linalg.norm(A - W @ H) <= tol * size:
            break
    return W, H


# ---------------------------------------------------------------------------
class n29:
    """NMF by block coordinate descent, stops when the error hardly falls.

    Parameters
    ----------
    tol : float
        Stop when ten sweeps lower the error by less than tol times the norm of X.
    """

    def __init__(self, n_components, *, max_iter=3000, tol=1e-11, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check(self, X):
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2:
            raise ValueError("X must be a matrix")
        if (X < 0).any():
            raise ValueError("negative values in X")
        return X, min(max(self.tol, 1e-4), 1.0)

    def fit_transform(self, X, y=None):
        X, tol = self._check(X)
        rng = np.random.RandomState(self.random_state)
        W = rng.rand(X.shape[0], self.n_components)
        Ht = rng.rand(X.shape[1], self.n_components)
        xnorm = np.linalg.norm(X)
        previous = np.linalg.norm(X - W @ Ht.T)
        it = 0
        for it in range(1, self.max_iter + 1):
            W = _ahals(X @ Ht, W, Ht.T @ Ht, 2)
            Ht = _ahals(X.T @ W, Ht, W.T @ W, 2)
            if it % 10 == 0:
                current = np.linalg.norm(X - W @ Ht.T)
                if previous - current <= tol * xnorm:
                    break
                previous = current
        self.n_iter_ = it
        self.components_ = Ht.T
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


# ---------------------------------------------------------------------------
def n30(A, rank, *, W0=None, H0=None, seed=0, max_iter=6000, tol=1e-5, every=10):
    """Cyclic coordinate descent; every few sweeps the fall of the loss is looked at."""
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    W = rng.random((A.shape[0], rank)) if W0 is None else np.array(W0, dtype=float)
    H = rng.random((rank, A.shape[1])) if H0 is None else np.array(H0, dtype=float)
    floor = 1e-22 * float((A * A).sum())

    def loss():
        return 0.5 * float(((A - W @ H) ** 2).sum())

    start = last = loss()
    for it in range(1, max_iter + 1):
        for X, B, Y in ((W.T, H.T, A.T), (H, W, A)):
            G, C = B.T @ B, B.T @ Y
            for k in range(rank):
                if G[k, k] > 0:
                    X[k] = np.maximum(X[k] - (G[k] @ X - C[k]) / G[k, k], 0)
        if it % every == 0:
            now = loss()
            if now <= floor or (last - now) / start < tol:
                break
            last = now
    return W, H
