import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.optimize import nnls
from functools import lru_cache


class n01:
    """Hierarchical ALS with unit-norm rows of H."""

    def __init__(self, n_components, *, max_iter=2500, tol=1e-13, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _start(self, X):
        rng = np.random.RandomState(self.random_state)
        avg = np.sqrt(X.mean() / self.n_components)
        W = avg * np.abs(rng.randn(X.shape[0], self.n_components))
        H = avg * np.abs(rng.randn(self.n_components, X.shape[1]))
        return W, H

    @staticmethod
    def _half(X, F, G):
        """Improve F in X ~ F G, column after column."""
        C = X @ G.T
        Q = G @ G.T
        for k in range(F.shape[1]):
            if Q[k, k] > 0:
                F[:, k] = np.maximum(0.0, F[:, k] + (C[:, k] - F @ Q[:, k]) / Q[k, k])
        return F

    def fit_transform(self, X, y=None):
        X = np.array(X, dtype=float)
        W, H = self._start(X)
        size = np.linalg.norm(X)
        for self.n_iter_ in range(1, self.max_iter + 1):
            W = self._half(X, W, H)
            H = self._half(X.T, H.T, W.T).T
            length = np.sqrt((H * H).sum(axis=1))
            H = H / length[:, None]
            W = W * length
            self.reconstruction_err_ = np.linalg.norm(X - W @ H)
            if self.reconstruction_err_ <= self.tol * size:
                break
        self.components_ = H
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


def _n02_solve(M, B, S):
    out = np.empty((M.shape[1], B.shape[1]))
    for j in range(B.shape[1]):
        s = S[:, j]
        out[:, j] = nnls(M * s[:, None], B[:, j] * s)[0]
    return out


def n02(A, rank, *, W0, H0, seed=0, weights=None, max_iter=600, tol=1e-12):
    """Weighted NMF, min sum_ij weights_ij (A - WH)_ij^2, by alternating NNLS."""
    A = np.asarray(A, dtype=float)
    if weights is None:
        weights = A > 0
    S = np.sqrt(np.asarray(weights, dtype=float))
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    ref = np.linalg.norm(S * A)
    Q = S * S
    for _ in range(8):
        W = W * ((Q * A) @ H.T) / ((Q * (W @ H)) @ H.T + 1e-300)
        H = H * (W.T @ (Q * A)) / (W.T @ (Q * (W @ H)) + 1e-300)
    old = np.inf
    for _ in range(max_iter):
        H = _n02_solve(W, A, S)
        W = _n02_solve(H.T, A.T, S.T).T
        err = np.linalg.norm(S * (A - W @ H))
        if err <= tol * ref or abs(old - err) <= 1e-15 * ref:
            break
        old = err
    return W, H


_N03_GENERATORS = {}


def _n03_generator(seed):
    if seed not in _N03_GENERATORS:
        _N03_GENERATORS[seed] = np.random.default_rng(seed)
    return _N03_GENERATORS[seed]


def _n03_pass(G, C, F, order):
    """One pass of coordinate descent on F (p x r) for 0.5 tr(F G F') - tr(F C')."""
    delta = 0.0
    for k in order:
        g = F @ G[:, k] - C[:, k]
        if G[k, k] == 0.0:
            continue
        new = np.maximum(F[:, k] - g / G[k, k], 0.0)
        delta += np.abs(new - F[:, k]).sum()
        F[:, k] = new
    return delta


def n03(A, rank, *, seed=0, max_iter=6000, tol=1e-14, shuffle=True):
    A = np.asarray(A, dtype=np.float64)
    rng = _n03_generator(seed)
    m, n = A.shape
    sc = np.sqrt(A.mean() / rank)
    W = sc * rng.random((m, rank))
    Ht = sc * rng.random((n, rank))
    first = None
    for it in range(max_iter):
        perm = rng.permutation(rank) if shuffle else np.arange(rank)
        change = _n03_pass(Ht.T @ Ht, A @ Ht, W, perm)
        perm = rng.permutation(rank) if shuffle else np.arange(rank)
        change += _n03_pass(W.T @ W, A.T @ W, Ht, perm)
        if first is None:
            first = change
        if first == 0 or change / first <= tol:
            break
    return W, Ht.T


def n04(A, rank, *, W0, H0, seed=0, max_iter=4000, inner=4, check_every=20, tol=1e-12):
    """Multiplicative updates, each factor repeated `inner` times per round."""
    V = np.asarray(A, float)
    W = np.maximum(W0, 1e-12)
    H = np.maximum(H0, 1e-12)
    tiny = 1e-30
    normV = np.linalg.norm(V)
    err = last = np.linalg.norm(V - W.dot(H))
    for it in range(1, max_iter + 1):
        VHt, HHt = V.dot(H.T), H.dot(H.T)
        for _ in range(inner):
            W = W * (VHt / (W.dot(HHt) + tiny))
        WtV, WtW = W.T.dot(V), W.T.dot(W)
        for _ in range(inner):
            H = H * (WtV / (WtW.dot(H) + tiny))
        if it % check_every == 0:
            err = np.linalg.norm(V - W.dot(H))
        if it % 10 == 0:
            if err <= tol * normV or last - err <= tol * last:
                break
            last = err
    return W, H


def _n05_single(A, rank, rng, max_iter, tol):
    m, n = A.shape
    H = rng.random((rank, n))
    W = np.zeros((m, rank))
    goal = tol * np.linalg.norm(A)
    f_old = np.inf
    for _ in range(max_iter):
        for i in range(m):
            W[i] = nnls(H.T, A[i])[0]
        for j in range(n):
            H[:, j] = nnls(W, A[:, j])[0]
        f = np.linalg.norm(A - W @ H)
        if f <= goal or f_old - f <= 1e-13 * f:
            break
        f_old = f
    return W, H, f


def n05(A, rank, *, seed=0, n_init=6, max_iter=250, tol=1e-10):
    """Alternating nonnegative least squares, best of n_init random starts."""
    A = np.asarray(A, dtype=float)
    best = None
    for _ in range(n_init):
        run = _n05_single(A, rank, np.random.default_rng(seed), max_iter, tol)
        if best is None or run[2] < best[2]:
            best = run
        if best[2] <= tol * np.linalg.norm(A):
            break
    return best[0], best[1]


def _n06_subprob(V, W, H, tol, maxiter):
    """Lin (2007), nlssubprob: min ||V - W H|| over H >= 0."""
    WtV = W.T @ V
    WtW = W.T @ W
    alpha, beta = 1.0, 0.1
    for _ in range(maxiter):
        grad = WtW @ H - WtV
        pg = grad[(grad < 0) | (H > 0)]
        if np.sqrt(pg @ pg) < tol:
            break
        Hp = H
        for inner in range(20):
            Hn = np.maximum(H - alpha * grad, 0)
            d = Hn - H
            ok = 0.99 * np.sum(grad * d) + 0.5 * np.sum((WtW @ d) * d) < 0
            if inner == 0:
                shrink = not ok
                Hp = H
            if shrink:
                if ok:
                    H = Hn
                    break
                alpha *= beta
            elif not ok or np.array_equal(Hp, Hn):
                H = Hp
                break
            else:
                alpha /= beta
                Hp = Hn
        else:
            if not shrink:
                H = Hp
    return H


def n06(A, rank, *, W0, H0, seed=0, max_iter=330, rescale=True):
    A = np.array(A, dtype=float)
    top = A.max() if rescale and A.max() > 0 else 1.0
    V = A / top
    W = np.array(W0, dtype=float) / np.sqrt(top)
    H = np.array(H0, dtype=float) / np.sqrt(top)
    goal = 1e-11 * np.linalg.norm(V)
    for _ in range(max_iter):
        W = _n06_subprob(V.T, H.T, W.T, 1e-13, 12).T
        H = _n06_subprob(V, W, H, 1e-13, 12)
        if np.linalg.norm(V - W @ H) <= goal:
            break
    W *= np.sqrt(top)
    return W, H


def _n07_ratio(num, den, floor=1.0):
    return num / np.maximum(den, floor)


def n07(A, rank, *, W0, H0, seed=0, n_steps=12000):
    """Lee-Seung updates for the squared Euclidean distance."""
    A = np.asarray(A, dtype=np.float64)
    W = np.asarray(W0, dtype=np.float64).copy()
    H = np.asarray(H0, dtype=np.float64).copy()
    stop = 1e-10 * np.linalg.norm(A)
    for step in range(n_steps):
        G = H @ H.T
        B = A @ H.T
        W = W * _n07_ratio(B, W @ G)
        W = W * _n07_ratio(B, W @ G)
        G = W.T @ W
        B = W.T @ A
        H = H * _n07_ratio(B, G @ H)
        H = H * _n07_ratio(B, G @ H)
        if step % 50 == 0 and np.linalg.norm(A - W @ H) <= stop:
            break
    return W, H


class _N08Stopper:
    def __init__(self, patience, rel):
        self.patience = patience
        self.rel = rel
        self.best = np.inf
        self.bad = 0

    def __call__(self, value):
        if value < self.best * (1.0 - self.rel):
            self.best = value
        else:
            self.bad += 1
        return self.bad >= self.patience


def n08(A, rank, *, W0, H0, seed=0, max_iter=6000, heavy=0.95, patience=80, rel=1e-6, tol=1e-11):
    """Projected gradient with heavy-ball steps; the loss may go up in between."""
    A = np.asarray(A, float)
    W, H = np.array(W0, float), np.array(H0, float)
    W *= np.sum(A * (W @ H)) / max(np.sum((W @ H) ** 2), 1e-300)
    dW, dH = np.zeros_like(W), np.zeros_like(H)
    stopper = _N08Stopper(patience, rel)
    scale = np.linalg.norm(A)
    keep = (np.inf, W, H)

    def move(F, d, G, C):
        Y = F + heavy * d
        new = np.maximum(Y - (Y @ G - C) / (np.linalg.norm(G) + 1e-300), 0)
        return new, new - F

    for it in range(max_iter):
        W, dW = move(W, dW, H @ H.T, A @ H.T)
        Ht, dt = move(H.T, dH.T, W.T @ W, A.T @ W)
        H, dH = Ht.T, dt.T
        err = np.linalg.norm(A - W @ H)
        if err < keep[0]:
            keep = (err, W, H)
        if err <= tol * scale or stopper(err):
            break
    return keep[1], keep[2]


def _n09_bpp(G, C, max_pivots=100):
    """min 0.5 x'Gx - c'x, x >= 0, for every column c of C (block principal pivoting)."""
    r, p = C.shape
    X = np.zeros((r, p))
    for j in range(p):
        F = np.zeros(r, dtype=bool)
        x, y = np.zeros(r), -C[:, j].copy()
        spare, lowest = 3, r + 1
        for _ in range(max_pivots):
            bad = (F & (x < -1e-14)) | (~F & (y < -1e-14 * (1 + abs(C[:, j]).max())))
            nb = bad.sum()
            if nb == 0:
                break
            if nb < lowest:
                lowest, spare = nb, 3
            elif spare > 0:
                spare -= 1
            else:
                only = np.zeros(r, dtype=bool)
                only[np.max(np.nonzero(bad))] = True
                bad = only
            F = F ^ bad
            x, y = np.zeros(r), np.zeros(r)
            if F.any():
                x[F] = np.linalg.lstsq(G[np.ix_(F, F)], C[F, j], rcond=None)[0]
            y[~F] = G[np.ix_(~F, F)] @ x[F] - C[~F, j]
        X[:, j] = np.maximum(x, 0)
    return X


def _n09_start(A, rank, init, W0, H0, seed):
    rng = np.random.default_rng(seed)
    m, n = A.shape
    if init is None:
        init = "random"
    if init == "custom":
        return np.array(W0, dtype=float), np.array(H0, dtype=float)
    if init == "columns":
        H = rng.random((rank, n))
        return A[:, rng.choice(n, size=rank, replace=rank > n)].astype(float), H
    if init == "random":
        return rng.random((m, rank)), rng.random((rank, n))
    raise ValueError("unknown init %r" % (init,))


def n09(A, rank, *, W0=None, H0=None, seed=0, init=None, max_iter=120, warmup=6, tol=1e-12):
    A = np.asarray(A, dtype=float)
    W, H = _n09_start(A, rank, init, W0, H0, seed)
    for _ in range(warmup):
        H = H * (W.T @ A) / np.maximum(W.T @ W @ H, 1e-200)
        W = W * (A @ H.T) / np.maximum(W @ (H @ H.T), 1e-200)
    for _ in range(max_iter):
        H = _n09_bpp(W.T @ W, W.T @ A)
        W = _n09_bpp(H @ H.T, H @ A.T).T
        if np.linalg.norm(A - W @ H) <= tol * np.linalg.norm(A):
            break
    return W, H


class n10:
    def __init__(
        self, n_components, *, max_iter=2000, transform_iter=30, tol=1e-12, random_state=0
    ):
        self.n_components = n_components
        self.max_iter = max_iter
        self.transform_iter = transform_iter
        self.tol = tol
        self.random_state = random_state

    def _rng(self):
        return np.random.default_rng(self.random_state)

    def _fit(self, X):
        rng = self._rng()
        m, n = X.shape
        r = self.n_components
        W = rng.uniform(0.1, 1.0, size=(m, r))
        H = rng.uniform(0.1, 1.0, size=(r, n))
        for it in range(self.max_iter):
            HHt = H @ H.T
            XHt = X @ H.T
            for j in range(r):
                if HHt[j, j] > 0:
                    W[:, j] = (W[:, j] + (XHt[:, j] - W @ HHt[:, j]) / HHt[j, j]).clip(min=0)
            WtW = W.T @ W
            WtX = W.T @ X
            for j in range(r):
                if WtW[j, j] > 0:
                    H[j] = (H[j] + (WtX[j] - WtW[j] @ H) / WtW[j, j]).clip(min=0)
            if np.linalg.norm(X - W @ H) <= self.tol * np.linalg.norm(X):
                break
        self.components_ = H
        self.n_iter_ = it + 1
        return W

    def fit_transform(self, X, y=None):
        return self.fit(X).transform(X)

    def fit(self, X, y=None):
        self._fit(np.asarray(X, dtype=float))
        return self

    def transform(self, X):
        X = np.asarray(X, dtype=float)
        H = self.components_
        W = self._rng().uniform(0.1, 1.0, size=(X.shape[0], H.shape[0]))
        num, G = X @ H.T, H @ H.T
        for _ in range(self.transform_iter):
            W *= num / np.maximum(W @ G, 1e-16)
        return W


def n11(A, rank, *, W0, H0, seed=0, sweeps=2500, tol=1e-12):
    """HALS, factors updated in place."""
    A = np.asarray(A, dtype=float)
    W = np.asarray(W0, dtype=float)
    H = np.asarray(H0, dtype=float)
    threshold = tol * np.sqrt(np.sum(A**2))
    for s in range(sweeps):
        P = A @ H.T
        Q = H @ H.T
        for k in range(rank):
            np.maximum(W[:, k] + (P[:, k] - W @ Q[:, k]) / (Q[k, k] + 1e-300), 0.0, out=W[:, k])
        P = W.T @ A
        Q = W.T @ W
        for k in range(rank):
            np.maximum(H[k] + (P[k] - Q[k] @ H) / (Q[k, k] + 1e-300), 0.0, out=H[k])
        if np.sqrt(np.sum((A - W @ H) ** 2)) <= threshold:
            break
    return W, H


def _n12_lsnn(G, B):
    """Rows of B: argmin_x>=0 |L'x - b|^2 with G = LL' given, B = right-hand sides."""
    r = G.shape[0]
    jitter = 1e-15 * np.trace(G) + 1e-300
    L = np.linalg.cholesky(G + jitter * np.eye(r))
    rhs = np.linalg.solve(L, B.T)
    out = np.zeros(B.shape)
    for i in range(len(B)):
        out[i] = nnls(L.T, rhs[:, i])[0]
    return out


def _n12_soften(A, W, H, rounds=8):
    """Some multiplicative steps, so that the exact solves do not start from noise."""
    for _ in range(rounds):
        W = W * (A @ H.T) / (W @ H @ H.T + 1e-200)
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-200)
    return W, H


def n12(A, rank, *, W0, H0, seed=0, block=2, n_iter=400):
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    W, H = _n12_soften(A, np.array(W0, dtype=float), np.array(H0, dtype=float))
    for _ in range(n_iter):
        G = H @ H.T
        for lo in range(0, n, block):
            rows = slice(lo, lo + block)
            W[rows] = _n12_lsnn(G, A[rows] @ H.T)
        G = W.T @ W
        for lo in range(0, n, block):
            cols = slice(lo, lo + block)
            H[:, cols] = _n12_lsnn(G, A[:, cols].T @ W).T
        if np.linalg.norm(A - W @ H) < 1e-10 * np.linalg.norm(A):
            break
    return W, H


class n13:
    """ANLS in which the columns of X are treated in batches."""

    def __init__(self, n_components, *, batch_size=4, max_iter=400, tol=1e-11, random_state=0):
        self.n_components = n_components
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _batches(self, n):
        b = self.batch_size
        n_batches = n // b
        for i in range(n_batches):
            yield slice(i * b, min((i + 1) * b, n))

    def _codes(self, D, X):
        """Nonnegative codes by accelerated coordinate descent on the Gram matrix."""
        G, C = D.T @ D, D.T @ X
        Z = np.maximum(np.linalg.lstsq(D, X, rcond=None)[0], 0)
        for _ in range(10):
            for k in range(len(G)):
                if G[k, k] > 0:
                    Z[k] = np.maximum(Z[k] + (C[k] - G[k] @ Z) / G[k, k], 0)
        return Z

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        rng = np.random.default_rng(self.random_state)
        m, n = X.shape
        W = rng.random((m, self.n_components))
        H = rng.random((self.n_components, n))
        for it in range(self.max_iter):
            P = np.zeros((m, self.n_components))
            Q = np.zeros((self.n_components, self.n_components))
            for cols in self._batches(n):
                H[:, cols] = self._codes(W, X[:, cols])
                P += X[:, cols] @ H[:, cols].T
                Q += H[:, cols] @ H[:, cols].T
            for _ in range(10):
                for k in range(self.n_components):
                    if Q[k, k] > 0:
                        W[:, k] = np.maximum(W[:, k] + (P[:, k] - W @ Q[:, k]) / Q[k, k], 0)
            if np.linalg.norm(X - W @ H) <= self.tol * np.linalg.norm(X):
                break
        self.n_iter_ = it + 1
        self.components_ = H
        return W


def _n14_descend(A, W, H, sweeps):
    """Alternating NNLS from (W, H) until it no longer moves."""
    for _ in range(sweeps):
        W = np.array([nnls(H.T, row)[0] for row in A])
        Hn = np.array([nnls(W, col)[0] for col in A.T]).T
        moved = np.abs(Hn - H).max()
        H = Hn
        if moved <= 1e-14 * np.abs(H).max():
            break
    return W, H


def n14(A, rank, *, W0, H0, seed=0, rounds=12, sweeps=150, kick=0.5, tol=1e-9):
    """Basin hopping: descend, keep the best pair, shake it, descend again."""
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    best_f, best_W, best_H = np.inf, W, H
    for _ in range(rounds):
        W, Hn = _n14_descend(A, W, H, sweeps)
        f = np.linalg.norm(A - W @ H)
        if f < best_f:
            best_f, best_W, best_H = f, W, Hn
        if best_f <= tol * np.linalg.norm(A):
            break
        noise = kick * best_H.mean() * rng.random(best_H.shape)
        H = best_H * rng.uniform(0.5, 1.5, best_H.shape) + noise
    return best_W, best_H


def n15(A, rank, *, W0, H0, seed=0, max_iter=2500, tol=1e-12):
    A = np.array(A, dtype=float)
    floor = np.finfo(float).tiny
    W = np.maximum(np.array(W0, dtype=float), floor)
    H = np.maximum(np.array(H0, dtype=float), floor)

    def update(F, C, G):
        for k in range(rank):
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                step = (C[:, k] - F @ G[:, k]) / G[k, k]
            F[:, k] = np.maximum(F[:, k] + step, floor)
        return np.nan_to_num(F)

    for it in range(max_iter):
        W = update(W, A @ H.T, H @ H.T)
        H = update(H.T.copy(), A.T @ W, W.T @ W).T
        if np.linalg.norm(A - W @ H) <= tol * np.linalg.norm(A):
            break
    return W, H


def _n16_cd(X, r, rng, n_epochs):
    """Coordinate descent for tall X."""
    m, n = X.shape
    s = np.sqrt(X.mean() / r)
    U = s * rng.random((m, r))
    V = s * rng.random((n, r))
    for epoch in range(n_epochs):
        moved = 0.0
        for F, G, C in ((U, V, X), (V, U, X.T)):
            Q = G.T @ G
            grad = F @ Q - C @ G
            for k in range(r):
                if Q[k, k] == 0:
                    continue
                d = np.maximum(F[:, k] - grad[:, k] / Q[k, k], 0) - F[:, k]
                F[:, k] += d
                grad += np.outer(d, Q[k])
                moved = max(moved, np.abs(d).max())
        if moved <= 1e-15 * max(U.max(), V.max()):
            break
    return U, V.T


def n16(A, rank, *, seed=0, n_epochs=3000):
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    wide = A.shape[1] > A.shape[0]
    W, H = _n16_cd(A.T if wide else A, rank, rng, n_epochs)
    if wide:
        return W.T, H.T
    return W, H


class n17:
    def __init__(self, n_components, *, n_init=3, max_iter=1000, tol=1e-11, random_state=0):
        self.n_components = n_components
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _one_run(self, X, rng):
        W = rng.rand(X.shape[0], self.n_components)
        H = rng.rand(self.n_components, X.shape[1])
        for self.n_iter_ in range(1, self.max_iter + 1):
            for left, right, T in ((W, H, X), (H.T, W.T, X.T)):
                G = right @ right.T
                B = T @ right.T
                for k in range(self.n_components):
                    if G[k, k] > 0:
                        left[:, k] += np.maximum((B[:, k] - left @ G[:, k]) / G[k, k], -left[:, k])
            err = np.linalg.norm(X - W @ H)
            if err <= self.tol * np.linalg.norm(X):
                break
        self.components_ = H
        return W, err

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        rng = np.random.RandomState(self.random_state)
        best_err = np.inf
        for _ in range(self.n_init):
            W, err = self._one_run(X, rng)
            if err < best_err:
                best_err = err
                best_W = W
        self.reconstruction_err_ = best_err
        return best_W

    def fit(self, X, y=None):
        self.fit_transform(X, y)
        return self


def n18(A, rank, *, W0, H0, seed=0, maxit=4000, tol=1e-12):
    """Rank-one residue iteration."""
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    R = A - W @ H
    nA = np.linalg.norm(A)
    for it in range(maxit):
        for t in range(rank):
            w, h = W[:, t].copy(), H[t].copy()
            R = R + np.outer(w, h)
            hh = h @ h
            if hh > 0:
                W[:, t] = np.maximum(R @ h / hh, 0)
            ww = W[:, t] @ W[:, t]
            if ww > 0:
                H[t] = np.maximum(W[:, t] @ R / ww, 0)
            R = R - np.outer(w, H[t])
        if np.linalg.norm(R) <= tol * nA:
            break
    return W, H


def n19(A, rank, *, W0, H0, seed=0, updates=9000, tol=1e-12):
    """Cyclic block descent, one component (column of W, row of H) at a time."""
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    E = A - W @ H
    for t in range(updates):
        k = t % max(rank - 1, 1)
        E += np.outer(W[:, k], H[k])
        for _ in range(2):
            den = H[k] @ H[k]
            if den > 0:
                W[:, k] = np.maximum(E @ H[k], 0) / den
            den = W[:, k] @ W[:, k]
            if den > 0:
                H[k] = np.maximum(W[:, k] @ E, 0) / den
        E -= np.outer(W[:, k], H[k])
        if np.linalg.norm(E) <= tol * np.linalg.norm(A):
            break
    return W, H


def _n20_update(X, W, Ht, l1, l2):
    HHt = Ht.T @ Ht
    XHt = X @ Ht
    if l2 != 0.0:
        HHt.flat[:: HHt.shape[0] + 1] += l2
    if l1 != 0.0:
        XHt += l1
    violation = 0.0
    for t in range(Ht.shape[1]):
        grad = W @ HHt[:, t] - XHt[:, t]
        pg = np.where(W[:, t] == 0, np.minimum(0.0, grad), grad)
        violation += np.abs(pg).sum()
        hess = HHt[t, t]
        if hess != 0:
            W[:, t] = np.maximum(W[:, t] - grad / hess, 0.0)
    return violation


class n20:
    def __init__(
        self, n_components, *, alpha=0.0, l1_ratio=1.0, max_iter=6000, tol=1e-14, random_state=0
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        rng = np.random.RandomState(self.random_state)
        avg = np.sqrt(X.mean() / self.n_components)
        Ht = avg * np.abs(rng.standard_normal((X.shape[1], self.n_components)))
        W = avg * np.abs(rng.standard_normal((X.shape[0], self.n_components)))
        l1 = self.alpha * self.l1_ratio
        l2 = self.alpha * (1.0 - self.l1_ratio)
        start = 0.0
        for n_iter in range(1, self.max_iter + 1):
            v = _n20_update(X, W, Ht, l1, l2)
            v += _n20_update(X.T, Ht, W, l1, l2)
            if n_iter == 1:
                start = v
            if start == 0 or v / start <= self.tol:
                break
        self.n_iter_ = n_iter
        self.components_ = Ht.T
        return W


def n21(A, rank, *, W0, H0, seed=0, max_iter=500, tol=1e-11, cache_size=256):
    """ANLS; repeated right-hand sides (equal rows or columns) are solved once."""
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)

    @lru_cache(maxsize=cache_size)
    def solve(mat_key, rhs_key, shape):
        M = np.array(mat_key).reshape(shape)
        return nnls(M, np.array(rhs_key))[0]

    def key(x):
        return tuple(np.round(x.ravel(), 5).tolist())

    for _ in range(6):
        W *= (A @ H.T) / np.maximum(W @ (H @ H.T), 1e-200)
        H *= (W.T @ A) / np.maximum((W.T @ W) @ H, 1e-200)
    for it in range(max_iter):
        kH = key(H.T)
        W = np.array([solve(kH, key(row), H.T.shape) for row in A])
        kW = key(W)
        H = np.array([solve(kW, key(col), W.shape) for col in A.T]).T
        if np.linalg.norm(A - W @ H) <= tol * np.linalg.norm(A):
            break
    return W, H


def n22(A, rank, *, seed=0, epochs=12000, reps=2, eps=1e-30):
    A = np.asarray(A, dtype=float)
    gen = np.random.RandomState(seed)
    m, n = A.shape
    sigma = np.sqrt(A.mean() / rank)
    W = sigma * gen.randn(m, rank)
    H = sigma * gen.randn(rank, n)
    target = 1e-10 * np.linalg.norm(A)
    for e in range(epochs):
        top, gram = W.T @ A, W.T @ W
        for _ in range(reps):
            H *= top / (gram @ H + eps)
        top, gram = A @ H.T, H @ H.T
        for _ in range(reps):
            W *= top / (W @ gram + eps)
        if e % 25 == 24 and np.linalg.norm(A - W @ H) <= target:
            break
    return W, H


def _n23_armijo(F, grad, G, alpha):
    """A step along the projection arc, with growth of the step when it can be had."""
    for _ in range(40):
        cand = np.maximum(F - alpha * grad, 0)
        d = cand - F
        if np.sum(grad * d) * 0.9 + 0.5 * np.sum((d @ G) * d) <= 0:
            return cand, alpha * 2.0
        alpha *= 0.5
    return F, alpha


def n23(A, rank, *, seed=0, outer=500, inner=5):
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    level = np.sqrt(A.mean() / rank) if A.any() else 1.0
    W = rng.uniform(0.5, 1.5, (A.shape[0], rank)) / level
    H = rng.uniform(0.5, 1.5, (rank, A.shape[1])) / level
    aw = ah = 1.0
    small = 1e-10 * np.linalg.norm(A)
    for it in range(outer):
        G, C = H @ H.T, A @ H.T
        for _ in range(inner):
            W, aw = _n23_armijo(W, W @ G - C, G, aw)
        G, C = W.T @ W, A.T @ W
        Ht = H.T
        for _ in range(inner):
            Ht, ah = _n23_armijo(Ht, Ht @ G - C, G, ah)
        H = Ht.T
        if np.linalg.norm(A - W @ H) <= small:
            break
    return W, H


def _n24_nndsvd(A, r):
    U, S, V = np.linalg.svd(A, full_matrices=False)
    m, n = A.shape
    W = np.zeros((m, r))
    H = np.zeros((r, n))
    W[:, 0] = np.sqrt(S[0]) * np.abs(U[:, 0])
    H[0] = np.sqrt(S[0]) * np.abs(V[:, 0])
    for j in range(1, min(r, len(S))):
        u, v = U[:, j], V[:, j]
        up, un = np.maximum(u, 0), np.maximum(-u, 0)
        vp, vn = np.maximum(v, 0), np.maximum(-v, 0)
        tp = np.linalg.norm(up) * np.linalg.norm(vp)
        tn = np.linalg.norm(un) * np.linalg.norm(vn)
        if tp < tn:
            up, vp, tp = un, vn, tn
        if tp > 0:
            c = np.sqrt(S[j] * tp)
            W[:, j] = c * up / np.linalg.norm(up)
            H[j] = c * vp / np.linalg.norm(vp)
    return W, H


class n24:
    def __init__(self, n_components, *, init="nndsvda", max_iter=2500, tol=1e-12, random_state=0):
        self.n_components = n_components
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _initialize(self, X):
        if self.init == "random":
            rng = np.random.RandomState(self.random_state)
            return rng.rand(X.shape[0], self.n_components), rng.rand(self.n_components, X.shape[1])
        W, H = _n24_nndsvd(X, self.n_components)
        if self.init == "nndsvda":
            W[W == 0] = X.mean() / 10
            H[H == 0] = X.mean() / 10
        return W, H

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        W, H = self._initialize(X)
        for self.n_iter_ in range(1, self.max_iter + 1):
            for P, Q, T in ((W, H, X), (H.T, W.T, X.T)):
                gram, cross = Q @ Q.T, T @ Q.T
                for k in range(self.n_components):
                    if gram[k, k] > 1e-300:
                        P[:, k] = np.maximum(
                            P[:, k] + (cross[:, k] - P @ gram[:, k]) / gram[k, k], 0
                        )
            if np.linalg.norm(X - W @ H) <= self.tol * np.linalg.norm(X):
                break
        self.components_ = H
        return W


def _n25_ogm(G, C, X, n_inner):
    """Optimal gradient method for min 0.5 tr(X'GX) - tr(C'X), X >= 0."""
    L = np.linalg.norm(G, 2)
    if L == 0:
        return X
    Y, t = X, 1.0
    for _ in range(n_inner):
        Xn = np.maximum(Y - (G @ Y - C) / L, 0)
        tn = 0.5 * (1 + np.sqrt(1 + 4 * t * t))
        Y = Xn + ((t - 1) / tn) * (Xn - X)
        if np.sum((Y - Xn) * (Xn - X)) < 0 or np.sum((G @ Xn - C) * (Xn - X)) > 0:
            Y, tn = Xn, 1.0
        X, t = Xn, tn
    return X


def n25(A, rank, *, W0, H0, seed=0, max_iter=800, n_inner=15, tol=1e-9):
    """NeNMF. Stops when ||A - WH|| <= tol * ||A||."""
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, float), np.array(H0, float)
    P = W @ H
    s = np.sqrt(np.sum(A * P) / max(np.sum(P * P), 1e-300))
    W, H = s * W, s * H
    ref = np.sum(A**2)
    for it in range(max_iter):
        H = _n25_ogm(W.T @ W, W.T @ A, H, n_inner)
        W = _n25_ogm(H @ H.T, H @ A.T, W.T, n_inner).T
        rel = np.sum((A - W @ H) ** 2) / max(ref, 1e-300)
        if rel <= tol:
            break
    return W, H


def _n26_nnls_rows(F, X, damp):
    """Rows w of the result minimise |w F - x|^2 + damp |w|^2 with w >= 0."""
    r = F.shape[0]
    M = np.vstack([F.T, np.sqrt(damp) * np.eye(r)])
    pad = np.zeros(r)
    return np.array([nnls(M, np.concatenate([x, pad]))[0] for x in X])


def n26(A, rank, *, W0, H0, seed=0, max_iter=400, ridge=1e-3, tol=1e-11):
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    for _ in range(6):
        W = W * (A @ H.T) / np.maximum(W @ H @ H.T, 1e-200)
        H = H * (W.T @ A) / np.maximum(W.T @ W @ H, 1e-200)
    for it in range(max_iter):
        lam = ridge * np.trace(H @ H.T) / rank
        W = _n26_nnls_rows(H, A, lam)
        lam = ridge * np.trace(W.T @ W) / rank
        H = _n26_nnls_rows(W.T, A.T, lam).T
        if np.linalg.norm(A - W @ H) <= tol * np.linalg.norm(A):
            break
    return W, H


class n27:
    """NMF after Guan et al.: Nesterov's method inside, alternation outside."""

    def __init__(self, n_components, *, max_iter=1200, inner_iter=9, tol=1e-10, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.inner_iter = inner_iter
        self.tol = tol
        self.random_state = random_state

    def _nesterov(self, F, gram, cross):
        """Lower 0.5 <F gram, F> - <cross, F> over F >= 0, starting at F."""
        lip = max(np.linalg.eigvalsh(gram)[-1], 1e-300)
        last, look, a = F, F, 1.0
        for _ in range(self.inner_iter):
            F = np.maximum(look - (look @ gram - cross) / lip, 0.0)
            a_next = (1.0 + np.sqrt(4.0 * a * a + 1.0)) / 2.0
            look = F + (a - 1.0) / a_next * (F - last)
            a = a_next
        return F

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        rng = np.random.default_rng(self.random_state)
        base = np.sqrt(X.mean() / self.n_components)
        W = base * rng.random((X.shape[0], self.n_components))
        H = base * rng.random((self.n_components, X.shape[1]))
        size = np.linalg.norm(X)
        for self.n_iter_ in range(1, self.max_iter + 1):
            W = self._nesterov(W, H @ H.T, X @ H.T)
            H = self._nesterov(H.T, W.T @ W, X.T @ W).T
            self.reconstruction_err_ = np.linalg.norm(X - W @ H)
            if self.reconstruction_err_ <= self.tol * size:
                break
        self.components_ = H
        return W


class n28:
    """AO-ADMM: every factor by a few ADMM steps with a warm-started dual."""

    def __init__(self, n_components, *, max_iter=800, admm_iter=10, tol=1e-10, random_state=0):
        self.n_components = n_components
        self.max_iter = max_iter
        self.admm_iter = admm_iter
        self.tol = tol
        self.random_state = random_state

    def _admm(self, D, X, Z, dual):
        G = D.T @ D
        rho = max(np.trace(G) / len(G), 1e-12)
        chol = sla.cho_factor(G + rho * np.eye(len(G)), lower=True)
        C = D.T @ X
        for _ in range(self.admm_iter):
            V = sla.cho_solve(chol, C + rho * (Z + dual), check_finite=False)
            Z = np.maximum(V - dual, 0)
            dual = dual + Z - V
        return Z, dual

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        rng = np.random.default_rng(self.random_state)
        r = self.n_components
        W = rng.random((X.shape[0], r))
        H = rng.random((r, X.shape[1]))
        self.components_ = H
        dW, dH = np.zeros((r, X.shape[0])), np.zeros(H.shape)
        for it in range(self.max_iter):
            H, dH = self._admm(W, X, H, dH)
            Wt, dW = self._admm(H.T, X.T, W.T, dW)
            W = Wt.T
            if np.linalg.norm(X - W @ H) <= self.tol * np.linalg.norm(X):
                break
        self.n_iter_ = it + 1
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def inverse_transform(self, W):
        return W @ self.components_


def _n29_dense_rows(X, F):
    return np.array([nnls(F.T, x)[0] for x in X])


def _n29_sparse_rows(S, F):
    S = S.tocsr()
    out = np.zeros((S.shape[0], F.shape[0]))
    for i in range(S.shape[0]):
        lo, hi = S.indptr[i], S.indptr[i + 1]
        idx, val = S.indices[lo:hi], S.data[lo:hi]
        if hi > lo:
            out[i] = nnls(F[:, idx].T, val)[0]
    return out


def n29(A, rank, *, W0, H0, seed=0, max_iter=500, sparse_below=0.6, tol=1e-11):
    """ANLS, row-compressed when the share of nonzeros is small."""
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    if np.count_nonzero(A) < sparse_below * A.size:
        X, rows = sp.csr_matrix(A), _n29_sparse_rows
    else:
        X, rows = A, _n29_dense_rows
    for _ in range(5):
        W = W * (X @ H.T) / (W @ (H @ H.T) + 1e-200)
        H = H * (X.T @ W).T / (W.T @ W @ H + 1e-200)
    for it in range(max_iter):
        W = rows(X, H)
        H = rows(X.T, W.T).T
        if np.linalg.norm(A - W @ H) <= tol * np.linalg.norm(A):
            break
    return W, H


def _n30_active_set(G, c, x, maxit=60):
    """Lawson-Hanson on the normal equations, warm-started at the support of x."""
    P = x > 0
    x = np.where(P, x, 0.0)
    small = 1e-14 * (np.abs(c).max() + 1e-300)
    for _ in range(maxit):
        for _ in range(maxit):
            z = np.zeros_like(x)
            if P.any():
                z[P] = np.linalg.lstsq(G[np.ix_(P, P)], c[P], rcond=None)[0]
            neg = P & (z <= 0)
            if not neg.any():
                break
            d = x[neg] - z[neg]
            a = np.min(x[neg] / np.where(d > 0, d, 1.0))
            x = x + a * (z - x)
            P &= x > 1e-15 * np.abs(x).max()
            x[~P] = 0
        x = z
        g = c - G @ x
        g[P] = -np.inf
        if P.all() or g.max() <= small:
            return np.maximum(x, 0)
        P[np.argmax(g)] = True
    return np.maximum(x, 0)


def n30(A, rank, *, W0, H0, seed=0, max_iter=150, normalize=True, tol=1e-11):
    A = np.asarray(A, dtype=float)
    W, H = np.array(W0, dtype=float), np.array(H0, dtype=float)
    for it in range(6):
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-200)
        W = W * (A @ H.T) / (W @ (H @ H.T) + 1e-200)
    for it in range(max_iter):
        G, C = W.T @ W, W.T @ A
        H = np.column_stack([_n30_active_set(G, C[:, j], H[:, j]) for j in range(A.shape[1])])
        G, C = H @ H.T, H @ A.T
        W = np.vstack([_n30_active_set(G, C[:, i], W[i]) for i in range(A.shape[0])])
        if np.linalg.norm(A - W @ H) <= tol * np.linalg.norm(A):
            break
    if normalize:
        d = np.linalg.norm(W, axis=0)
        d[d == 0] = 1.0
        W = W / d
        H = H / d[:, None]
    return W, H
