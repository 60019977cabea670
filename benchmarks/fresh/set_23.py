"""Thirty small non-negative matrix factorizations, A ~ W H, Frobenius norm."""

import numpy as np
from scipy.optimize import nnls

TINY = 1e-200


# ------------------------------------------------------------------ helpers


def _start(A, rank, W0=None, H0=None, seed=None):
    """Float copies of the given starts; what is missing is drawn at random."""
    m, n = A.shape
    rng = np.random.default_rng(seed)
    level = np.sqrt(A.mean() / rank) or 1.0
    W = level * (0.1 + rng.random((m, rank)))
    H = level * (0.1 + rng.random((rank, n)))
    if W0 is not None:
        W = np.array(W0, dtype=float)
    if H0 is not None:
        H = np.array(H0, dtype=float)
    return W, H


def _sweep(G, B, X):
    """One cyclic coordinate pass, in place, for min ||F X - A||, G = F'F, B = F'A."""
    for k in range(X.shape[0]):
        d = G[k, k]
        if d > 0:
            X[k] = np.maximum(X[k] + (B[k] - G[k] @ X) / d, 0.0)


def _nnls_columns(F, B):
    """Columns x_j >= 0 with the least ||F x_j - b_j||."""
    return np.column_stack([nnls(F, b)[0] for b in B.T])


def _nesterov(G, B, X, steps=12):
    """Accelerated projected gradient for min ||F X - A||, X >= 0."""
    L = np.linalg.norm(G, 2)
    if L == 0:
        return X
    Y, t = X, 1.0
    for _ in range(steps):
        Z = np.maximum(Y - (G @ Y - B) / L, 0.0)
        t1 = 0.5 * (1 + np.sqrt(1 + 4 * t * t))
        Y = Z + ((t - 1) / t1) * (Z - X)
        X, t = Z, t1
    return X


# ----------------------------------------------------------------- subjects


def n01(A, rank, *, W0=None, H0=None, seed=None, max_iter=350, tol=1e-12):
    """HALS with columns of W kept at unit length."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    prev = np.linalg.norm(A - W @ H)
    for _ in range(max_iter):
        HHt = H @ H.T
        AHt = A @ H.T
        for k in range(rank):
            if HHt[k, k] > 0:
                W[:, k] = np.maximum(0, W[:, k] + (AHt[:, k] - W @ HHt[:, k]) / HHt[k, k])
        WtW = W.T @ W
        WtA = W.T @ A
        for k in range(rank):
            if WtW[k, k] > 0:
                H[k] = np.maximum(0, H[k] + (WtA[k] - WtW[k] @ H) / WtW[k, k])
        length = np.sqrt((W * W).sum(axis=0))
        length[length == 0] = 1.0
        W /= length
        err = np.linalg.norm(A - W @ H)
        if abs(prev - err) <= tol * prev:
            break
        prev = err
    return W, H


def n02(A, rank, *, W0=None, H0=None, seed=None, max_iter=400, tol=1e-12):
    """Alternating projected gradient, a few steps per factor."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)

    def descend(F, V, X, steps=8):
        G, B = F.T @ F, F.T @ V
        step = 1e-3
        for _ in range(steps):
            X = np.maximum(X - step * (G @ X - B), 0.0)
        return X

    prev = np.inf
    for it in range(max_iter):
        H = descend(W, A, H)
        W = descend(H.T, A.T, W.T).T
        if it % 10 == 9:
            err = np.linalg.norm(A - W @ H)
            if prev - err <= tol * err:
                break
            prev = err
    return np.ascontiguousarray(W), H


def n03(A, rank, *, W0=None, H0=None, seed=None, max_iter=2000, tol=1e-12):
    """Lee and Seung's multiplicative updates."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    eps = 1e-2
    last = np.linalg.norm(A - W @ H)
    for it in range(1, max_iter + 1):
        H *= (W.T @ A) / (W.T @ W @ H + eps)
        W *= (A @ H.T) / (W @ (H @ H.T) + eps)
        if it % 20 == 0:
            now = np.linalg.norm(A - W @ H)
            if last - now < tol * last:
                break
            last = now
    return W, H


def n04(A, rank, *, W0=None, H0=None, seed=None, max_iter=100, tol=1e-12):
    """Alternating NNLS; rows of H have length one in the result."""
    V = np.asarray(A, dtype=float)
    W, H = _start(V, rank, W0, H0, seed)
    old = np.inf
    for _ in range(max_iter):
        for j, v in enumerate(V.T):
            H[:, j], _r = nnls(W, v)
        for i, v in enumerate(V):
            W[i], _r = nnls(H.T, v)
        new = np.linalg.norm(V - W @ H)
        if old - new <= tol * new:
            break
        old = new
    size = np.linalg.norm(H, axis=1)
    H = H / size[:, None]
    W = W * size
    return W, H


def _pseudo_inverse(G, cut):
    """Pseudo-inverse of a symmetric matrix; eigenvalues under cut * largest count as zero."""
    val, vec = np.linalg.eigh(G)
    use = val > cut * val[-1]
    return (vec[:, use] / val[use]) @ vec[:, use].T


def _fit_nonneg(F, V, cut=1e-2):
    """Least squares for F X ~ V with X >= 0, support found by single exchanges."""
    G, B = F.T @ F, F.T @ V
    X = _pseudo_inverse(G, cut) @ B
    for j in np.flatnonzero((X < 0).any(axis=0)):
        b = B[:, j]
        keep = X[:, j] >= 0
        for _ in range(40):
            x = np.zeros(len(b))
            if keep.any():
                x[keep] = _pseudo_inverse(G[keep][:, keep], cut) @ b[keep]
            wrong = np.where(keep, x < 0, G @ x - b < -1e-12 * b.max())
            if not wrong.any():
                break
            i = wrong.argmax()
            keep[i] = not keep[i]
        X[:, j] = x
    return np.maximum(X, 0)


def n05(A, rank, *, W0=None, H0=None, seed=None, max_iter=80, tol=1e-12):
    """Alternating least squares with the normal equations and a pseudo-inverse."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    prev = None
    for _ in range(max_iter):
        H = _fit_nonneg(W, A)
        W = _fit_nonneg(H.T, A.T).T
        err = np.linalg.norm(A - W @ H)
        if prev is not None and abs(prev - err) <= tol * prev:
            break
        prev = err
    return W.copy(), H


def n06(A, rank, *, W0=None, H0=None, seed=None, max_iter=300, tol=1e-12, batch=4):
    """HALS that walks through the columns of A in blocks and gathers the sums for W."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    W, H = _start(A, rank, W0, H0, seed)
    blocks = [slice(b * batch, (b + 1) * batch) for b in range(n // batch)]
    prev = np.linalg.norm(A - W @ H)
    for _ in range(max_iter):
        WtW = W.T @ W
        P = np.zeros((rank, m))
        Q = np.zeros((rank, rank))
        for s in blocks:
            part = H[:, s]
            _sweep(WtW, W.T @ A[:, s], part)
            P += part @ A[:, s].T
            Q += part @ part.T
        _sweep(Q, P, W.T)
        err = np.linalg.norm(A - W @ H)
        if abs(prev - err) <= tol * prev:
            break
        prev = err
    return W, H


class n07:
    """Coordinate-descent NMF as an estimator."""

    def __init__(self, n_components, *, max_iter=400, tol=1e-12, random_state=None):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None, W=None, H=None):
        self.fit_transform(X, y, W=W, H=H)
        return self

    def fit_transform(self, X, y=None, W=None, H=None):
        X = np.asarray(X, dtype=float)
        W, H = _start(X, self.n_components, W, H, self.random_state)
        W, Ht = np.ascontiguousarray(W.T), np.ascontiguousarray(H)
        before = np.linalg.norm(X - W.T @ Ht)
        self.n_iter_ = 0
        for _ in range(self.max_iter):
            _sweep(W @ W.T, W @ X, Ht)
            _sweep(Ht @ Ht.T, Ht @ X.T, W)
            self.n_iter_ += 1
            after = np.linalg.norm(X - W.T @ Ht)
            if before - after <= self.tol * before:
                break
            before = after
        W, Ht = W.T.copy(), Ht.T.copy()
        self.reconstruction_err_ = np.linalg.norm(X - W @ Ht.T)
        self.components_ = Ht
        return W


def n08(A, rank, *, W0=None, H0=None, seed=None, max_iter=120, tol=1e-12):
    """Alternating non-negative least squares by scipy's nnls."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    history = [np.inf]
    while len(history) <= max_iter:
        H = _nnls_columns(W, A)
        W = _nnls_columns(H.T, A.T).T
        history.append(np.linalg.norm(A - W @ H))
        if history[-2] - history[-1] <= tol * history[-1]:
            break
    W = np.where(W == W.max(axis=1, keepdims=True), W, 0.0)
    return W, H


def n09(A, rank, *, W0=None, H0=None, seed=None, max_iter=350, tol=1e-12):
    """Block coordinate descent over the two factors."""
    A = np.asarray(A, dtype=float)
    factors = list(_start(A, rank, W0, H0, seed))
    factors[0] = factors[0].T.copy()

    def renew(which):
        fixed = factors[1 - which]
        data = A if which == 1 else A.T
        _sweep(fixed @ fixed.T, fixed @ data, factors[which])

    err = np.linalg.norm(A - factors[0].T @ factors[1])
    for _ in range(max_iter):
        for which in (1, 1):
            renew(which)
        new = np.linalg.norm(A - factors[0].T @ factors[1])
        if abs(err - new) <= tol * err:
            break
        err = new
    return factors[0].T.copy(), factors[1]


class n10:
    """HALS estimator; ends when the error levels out."""

    def __init__(self, n_components, *, max_iter=400, tol=1e-12, random_state=None):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @staticmethod
    def _error(X, W, H):
        return np.sqrt(((X - W @ H) ** 2).sum())

    def _flat(self, old, new):
        rel = (old - new) / self._first
        return rel**2 <= np.sqrt(self.tol)

    def fit_transform(self, X, y=None, W=None, H=None):
        X = np.asarray(X, dtype=float)
        W, H = _start(X, self.n_components, W, H, self.random_state)
        old = self._error(X, W, H)
        self._first = old or 1.0
        for self.n_iter_ in range(1, self.max_iter + 1):
            _sweep(W.T @ W, W.T @ X, H)
            _sweep(H @ H.T, H @ X.T, W.T)
            new = self._error(X, W, H)
            if self._flat(old, new):
                break
            old = new
        self.components_ = H
        return W


def n11(A, rank, *, W0=None, H0=None, seed=None, max_iter=400, tol=1e-12, l1=0.05):
    """Cyclic coordinate descent with an optional lasso term on H."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)

    def cost():
        return 0.5 * ((A - W @ H) ** 2).sum() + l1 * H.sum()

    prev = cost()
    for _ in range(max_iter):
        G = W.T @ W
        B = W.T @ A - l1
        for k in range(rank):
            if G[k, k] > 0:
                H[k] += (B[k] - G[k].dot(H)) / G[k, k]
                np.maximum(H[k], 0, out=H[k])
        G = H @ H.T
        B = A @ H.T
        for k in range(rank):
            if G[k, k] > 0:
                W[:, k] += (B[:, k] - W.dot(G[:, k])) / G[k, k]
                np.maximum(W[:, k], 0, out=W[:, k])
        now = cost()
        if prev - now <= tol * prev:
            break
        prev = now
    return W, H


def n12(A, rank, *, W0=None, H0=None, seed=None, max_iter=120, tol=1e-12):
    """NMF by accelerated projected gradient steps."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    if seed is not None:
        np.random.seed(seed)
    level = 2 * np.sqrt(A.mean() / rank)
    W = level * np.random.rand(m, rank) if W0 is None else np.array(W0, dtype=float)
    H = level * np.random.rand(rank, n) if H0 is None else np.array(H0, dtype=float)
    prev = np.inf
    for _ in range(max_iter):
        H = _nesterov(W.T @ W, W.T @ A, H)
        W = _nesterov(H @ H.T, H @ A.T, W.T).T
        err = np.linalg.norm(A - W @ H)
        if abs(prev - err) <= tol * err:
            break
        prev = err
    return W.copy(), H


def n13(A, rank, *, W0=None, H0=None, seed=None, max_iter=2000, tol=1e-12):
    """Multiplicative update rules."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    e0 = np.linalg.norm(A - W @ H)
    for it in range(max_iter):
        W *= ((A / np.maximum(W @ H, TINY)) @ H.T) / np.maximum(H.sum(axis=1), TINY)
        H *= (W.T @ (A / np.maximum(W @ H, TINY))) / np.maximum(W.sum(axis=0), TINY)[:, None]
        if it % 25 == 24:
            e1 = np.linalg.norm(A - W @ H)
            if abs(e0 - e1) < tol * e0:
                break
            e0 = e1
    return W, H


def n14(A, rank, *, seed=None, max_iter=2000, tol=1e-12):
    """Multiplicative updates from a random start, drawn vector by vector."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape

    def draw(size):
        rng = np.random.default_rng(seed)
        return 0.05 + rng.random(size)

    W = np.column_stack([draw(m) for _ in range(rank)])
    H = np.vstack([draw(n) for _ in range(rank)])
    H *= A.sum() / (W @ H).sum()
    err = np.linalg.norm(A - W @ H)
    for it in range(max_iter):
        W = W * (A @ H.T) / (W @ (H @ H.T) + TINY)
        H = H * (W.T @ A) / ((W.T @ W) @ H + TINY)
        if it % 20 == 0:
            new = np.linalg.norm(A - W @ H)
            if it and err - new < tol * err:
                break
            err = new
    return W, H


def n15(A, rank, *, W0=None, H0=None, seed=None, max_iter=350, tol=1e-12):
    """HALS with small random kicks to W."""
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    W, H = _start(A, rank, W0, H0, rng)
    kick = 5e-3
    prev = np.linalg.norm(A - W @ H)
    for it in range(max_iter):
        _sweep(W.T @ W, W.T @ A, H)
        _sweep(H @ H.T, H @ A.T, W.T)
        W += kick * W.mean() * rng.random(W.shape)
        err = np.linalg.norm(A - W @ H)
        if it > 100 and abs(prev - err) <= tol * prev:
            break
        prev = err
    return W, H


def n16(A, rank, *, W0=None, H0=None, seed=None, max_iter=2000, tol=1e-12):
    """Multiplicative updates."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    loss = np.linalg.norm(A - W @ H)
    for it in range(max_iter):
        W_new = W * (A @ H.T) / (W @ (H @ H.T) + TINY)
        H_new = H * (W.T @ A) / ((W.T @ W) @ H + TINY)
        W, H = W_new, H_new
        if it % 25 == 24:
            now = np.linalg.norm(A - W @ H)
            if abs(loss - now) <= tol * loss:
                break
            loss = now
    return W, H


def _on_support(G, b, P):
    x = np.zeros(len(b))
    if P.any():
        x[P] = np.linalg.solve(G[np.ix_(P, P)], b[P])
    y = G @ x - b
    slack = 1e-12 * np.abs(b).max()
    return x, (P & (x < 0)) | (~P & (y < -slack))


def _pivoting(G, B):
    """Principal pivoting for min ||F x - a||, x >= 0, column by column."""
    k = len(G)
    top = np.trace(G)
    if top == 0:
        return np.zeros_like(B)
    G = G + 1e-14 * top * np.eye(k)
    X = np.linalg.solve(G, B)
    for j in np.flatnonzero((X < 0).any(axis=0)):
        P = np.ones(k, dtype=bool)
        bad = X[:, j] < 0
        if bad.any():
            i = bad.argmax()
            P[i] = not P[i]
            X[:, j], bad = _on_support(G, B[:, j], P)
    return np.maximum(X, 0.0)


def n17(A, rank, *, W0=None, H0=None, seed=None, max_iter=80, tol=1e-12):
    """Alternating least squares under x >= 0 by principal pivoting."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    prev = np.inf
    for _ in range(max_iter):
        H = _pivoting(W.T @ W, W.T @ A)
        W = _pivoting(H @ H.T, H @ A.T).T
        err = np.linalg.norm(A - W @ H)
        if abs(prev - err) <= tol * err:
            break
        prev = err
    return W.copy(), H


class n18:
    """NMF estimator that works on data of mean one inside."""

    def __init__(self, n_components, *, max_iter=400, tol=1e-12, random_state=None):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit_transform(self, X, y=None, W=None, H=None):
        X = np.asarray(X, dtype=float)
        self.scale_ = X.mean() or 1.0
        V = X / self.scale_
        if H is not None:
            H = np.asarray(H, dtype=float) / self.scale_
        W, H = _start(V, self.n_components, W, H, self.random_state)
        prev = np.linalg.norm(V - W @ H)
        for _ in range(self.max_iter):
            _sweep(W.T @ W, W.T @ V, H)
            _sweep(H @ H.T, H @ V.T, W.T)
            err = np.linalg.norm(V - W @ H)
            if abs(prev - err) <= self.tol * prev:
                break
            prev = err
        self.basis_ = H
        self.components_ = H * self.scale_
        self.reconstruction_err_ = np.linalg.norm(X - W @ self.components_)
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def transform(self, X):
        X = np.asarray(X, dtype=float)
        return _nnls_columns(self.components_.T, X.T).T

    def inverse_transform(self, W):
        return W @ self.basis_


def n19(A, rank, *, W0=None, H0=None, seed=None, max_iter=120, tol=1e-12):
    """NeNMF: Nesterov's method for each factor in turn."""
    A = np.asarray(A, dtype=float)
    if A.ndim != 2:
        raise ValueError("A must be a matrix")
    if not 0 < rank < min(A.shape):
        raise ValueError(f"rank {rank} is out of range for shape {A.shape}")
    W, H = _start(A, rank, W0, H0, seed)
    Wt = W.T
    errors = []
    for it in range(max_iter):
        H = _nesterov(Wt @ Wt.T, Wt @ A, H)
        Wt = _nesterov(H @ H.T, H @ A.T, Wt)
        errors.append(np.linalg.norm(A - Wt.T @ H))
        if it and abs(errors[-2] - errors[-1]) <= tol * errors[-1]:
            break
    return Wt.T.copy(), H


def n20(A, rank, *, seed=None, max_iter=2000, tol=1e-12):
    """Multiplicative updates, own start."""
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    W = rng.uniform(0.1, 1.0, size=(A.shape[0], rank))
    H = np.zeros((rank, A.shape[1]))
    before = np.linalg.norm(A)
    for it in range(max_iter):
        H = H * (W.T @ A) / (W.T @ W @ H + TINY)
        W = W * (A @ H.T) / (W @ (H @ H.T) + TINY)
        if (it + 1) % 25 == 0:
            after = np.linalg.norm(A - W @ H)
            if abs(before - after) <= tol * before:
                break
            before = after
    return W, H


class _Multiplicative:
    def __init__(self, A, W, H):
        self.A, self.W, self.H = A, W, H

    def step_h(self):
        W, H = self.W, self.H
        self.H = H * (W.T @ self.A) / ((W.T @ W) @ H + TINY)

    def step_w(self):
        W, H = self.W, self.H
        self.W = W * ((self.A / (W @ H + TINY)) @ H.T) / (H.sum(axis=1) + TINY)

    def error(self):
        return np.linalg.norm(self.A - self.W @ self.H)


def n21(A, rank, *, W0=None, H0=None, seed=None, max_iter=2000, tol=1e-12):
    """Multiplicative NMF, written as a small stepping object."""
    A = np.asarray(A, dtype=float)
    model = _Multiplicative(A, *_start(A, rank, W0, H0, seed))
    old = model.error()
    for it in range(max_iter):
        model.step_h()
        model.step_w()
        if it % 25 == 24:
            new = model.error()
            if abs(old - new) <= tol * old:
                break
            old = new
    return model.W, model.H


def n22(A, rank, *, seed=None, max_iter=120, tol=1e-12):
    """Alternating NNLS that begins with columns of A."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    size = A.sum(axis=0)
    pool = np.flatnonzero(size)
    shapes = np.round(A[:, pool] / size[pool], 8)
    pool = pool[np.unique(shapes, axis=1, return_index=True)[1]]
    W, H = rng.random((m, rank)), rng.random((rank, n))
    r = min(rank, len(pool))
    if r:
        W[:, :r] = A[:, rng.choice(pool, size=r)]
    prev = np.inf
    for _ in range(max_iter):
        H = _nnls_columns(W, A)
        W = _nnls_columns(H.T, A.T).T
        err = np.linalg.norm(A - W @ H)
        if prev - err <= tol * err:
            break
        prev = err
    return W.copy(), H


def n23(A, rank, *, W0=None, H0=None, seed=None, max_iter=120, tol=1e-12):
    """Accelerated projected gradient on A divided by its largest entry."""
    A = np.asarray(A, dtype=float)
    top = A.max()
    if top == 0:
        top = 1.0
    root = np.sqrt(top)
    V = A / top
    W, H = _start(A, rank, W0, H0, seed)
    W, H = W / root, H / root
    prev = np.inf
    for _ in range(max_iter):
        W = _nesterov(H @ H.T, H @ V.T, W.T).T
        H = _nesterov(W.T @ W, W.T @ V, H)
        err = np.linalg.norm(V - W @ H)
        if abs(prev - err) <= tol * err:
            break
        prev = err
    return W * root, H


def n24(A, rank, *, W0=None, H0=None, seed=None, max_iter=350, tol=1e-12):
    """Rank-one residue iteration."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    R = A
    R -= W @ H
    prev = np.linalg.norm(R)
    for _ in range(max_iter):
        for k in range(rank):
            w, h = W[:, k], H[k]
            R += np.outer(w, h)
            ww = w @ w
            if ww > 0:
                H[k] = h = np.maximum(w @ R, 0.0) / ww
            hh = h @ h
            if hh > 0:
                W[:, k] = w = np.maximum(R @ h, 0.0) / hh
            R -= np.outer(w, h)
        err = np.linalg.norm(R)
        if abs(prev - err) <= tol * prev:
            break
        prev = err
    return W, H


class n25:
    """Multiplicative-update estimator."""

    def __init__(self, n_components, *, max_iter=2000, tol=1e-12, random_state=None):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _initialize(self, X):
        rng = np.random.RandomState(self.random_state)
        avg = np.sqrt(X.mean() / self.n_components)
        W = avg * rng.standard_normal((X.shape[0], self.n_components))
        H = avg * rng.standard_normal((self.n_components, X.shape[1]))
        return W, H

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        W, H = self._initialize(X)
        it = 0
        prev = np.linalg.norm(X - W @ H)
        for it in range(1, self.max_iter + 1):
            W *= (X @ H.T) / (W @ (H @ H.T) + TINY)
            H *= (W.T @ X) / (W.T @ W @ H + TINY)
            if it % 20 == 0:
                err = np.linalg.norm(X - W @ H)
                if abs(prev - err) < self.tol * prev:
                    break
                prev = err
        self.n_iter_ = it
        self.components_ = H
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


def n26(A, rank, *, W0=None, H0=None, seed=None, max_iter=400, tol=1e-12):
    """HALS, two passes for each factor per round."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)
    prev = np.linalg.norm(A - W @ H)
    for _ in range(max_iter):
        G, B = W.T @ W, W.T @ A
        _sweep(G, B, H)
        _sweep(G, B, H)
        G, B = H @ H.T, H @ A.T
        _sweep(G, B, W.T)
        _sweep(G, B, W.T)
        err = np.linalg.norm(A - W @ H)
        if err - prev < tol * prev:
            break
        prev = err
    return W, H


def n27(A, rank, *, W0=None, H0=None, seed=None, max_iter=400, tol=1e-12):
    """Coordinate descent on a private flat copy of the data."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    data = np.empty(m * n)
    data[:] = A.ravel(order="K")
    V = data.reshape(m, n)
    W, H = _start(V, rank, W0, H0, seed)
    prev = np.linalg.norm(V - W @ H)
    for _ in range(max_iter):
        _sweep(W.T @ W, W.T @ V, H)
        _sweep(H @ H.T, H @ V.T, W.T)
        err = np.linalg.norm(V - W @ H)
        if abs(prev - err) <= tol * prev:
            break
        prev = err
    return W, H


def n28(A, rank, *, W0=None, H0=None, seed=None, max_iter=400, tol=1e-12):
    """Hierarchical alternating least squares."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)

    def row(k, gram, cross, X):
        if gram[k, k] <= 0:
            return X[k]
        free = cross[k] - gram[k] @ X
        return np.where(free > 0, free, 0.0) / gram[k, k]

    prev = np.linalg.norm(A - W @ H)
    for _ in range(max_iter):
        gram, cross = W.T @ W, W.T @ A
        for k in range(rank):
            H[k] = row(k, gram, cross, H)
        gram, cross = H @ H.T, H @ A.T
        for k in range(rank):
            W[:, k] = row(k, gram, cross, W.T)
        err = np.linalg.norm(A - W @ H)
        if abs(prev - err) <= tol * prev:
            break
        prev = err
    return W, H


def n29(A, rank, *, W0=None, H0=None, seed=None, max_iter=900, tol=1e-12):
    """Multiplicative updates, three per factor and round, one routine for both."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, seed)

    def half(X, F, Y):
        num, gram = F.T @ X, F.T @ F
        for _ in range(3):
            Y = Y * num / (gram @ Y + TINY)
        return Y

    prev = np.inf
    for it in range(max_iter):
        H = half(A, W, H)
        W = half(A, H.T, W.T).T
        if it % 10 == 9:
            err = np.linalg.norm(A - W @ H)
            if abs(prev - err) <= tol * err:
                break
            prev = err
    return W.copy(), H


class n30:
    """NMF estimator on top of scipy's nnls."""

    def __init__(self, n_components, *, max_iter=120, tol=1e-12, random_state=None):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _prepare(self, X):
        X = np.array(X, dtype=float)
        if X.ndim != 2 or (X < 0).any():
            raise ValueError("X must be a matrix without negative entries")
        return np.log1p(X)

    def fit_transform(self, X, y=None, W=None, H=None):
        X = self._prepare(X)
        W, H = _start(X, self.n_components, W, H, self.random_state)
        prev, err = np.inf, np.linalg.norm(X - W @ H)
        for _ in range(self.max_iter):
            H = _nnls_columns(W, X)
            W = _nnls_columns(H.T, X.T).T
            err = np.linalg.norm(X - W @ H)
            if abs(prev - err) <= self.tol * err:
                break
            prev = err
        self.components_ = H
        self.reconstruction_err_ = err
        return W.copy()
