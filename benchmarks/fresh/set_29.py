"""Fifteen small nonnegative matrix factorizations, A ~ W H with all entries >= 0."""

import numpy as np
from scipy.optimize import nnls


# ---------------------------------------------------------------- n01
def _n01_pass(G, C, X):
    """One cyclic pass over the rows of X for min ||C - G X|| type normal equations."""
    for j in range(G.shape[0]):
        d = G[j, j]
        if d > 0.0:
            X[j] = np.maximum(X[j] + (C[j] - G[j] @ X) / d, 0.0)


def n01(A, rank, *, W0=None, H0=None, seed=0, max_iter=4000, inner=2, tol=1e-14):
    """Hierarchical alternating least squares with a few inner passes per block."""
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    m, n = A.shape
    if W0 is None:
        W0 = rng.random((m, rank))
    if H0 is None:
        H0 = rng.random((rank, n))
    W = np.asarray(W0, dtype=float)
    H = np.asarray(H0, dtype=float)
    norm_a = np.linalg.norm(A)
    if norm_a == 0.0:
        return np.zeros((m, rank)), np.zeros((rank, n))
    # bring the start to the size of the data
    s = np.linalg.norm(W @ H)
    if s > 0.0:
        W *= np.sqrt(norm_a / s)
        H *= np.sqrt(norm_a / s)
    err = norm_a
    for it in range(max_iter):
        G, C = H @ H.T, H @ A.T
        for _ in range(inner):
            _n01_pass(G, C, W.T)
        G, C = W.T @ W, W.T @ A
        for _ in range(inner):
            _n01_pass(G, C, H)
        if it % 10 == 9:
            last, err = err, np.linalg.norm(A - W @ H)
            if err <= tol * norm_a or last - err <= 1e-13 * last:
                break
    return W, H


# ---------------------------------------------------------------- n02
def _n02_nnls(G, C, X, passes):
    """Coordinate passes on the normal equations G X = C, X >= 0, changing X in place."""
    d = np.diag(G)
    for _ in range(passes):
        for r in np.flatnonzero(d > 0):
            X[r] += (C[r] - G[r] @ X) / d[r]
            np.maximum(X[r], 0, out=X[r])
    return X


class n02:
    """Mini-batch NMF: codes per batch of columns, dictionary from the summed statistics."""

    def __init__(
        self, n_components=2, batch_size=6, max_epochs=3000, passes=2, tol=1e-13, random_state=None
    ):
        self.n_components = n_components
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.passes = passes
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        m, n = X.shape
        k = self.n_components
        rng = np.random.default_rng(self.random_state)
        scale = np.sqrt(X.mean() / k)
        W = rng.random((m, k)) * scale
        H = rng.random((k, n)) * scale
        norm_x = np.linalg.norm(X)
        err = np.inf
        edges = list(range(0, n, self.batch_size)) + [n]
        stat_xh = np.zeros((m, k))
        stat_hh = np.zeros((k, k))
        for epoch in range(self.max_epochs):
            gram = W.T @ W
            for lo, hi in zip(edges[:-1], edges[1:]):
                Xb = X[:, lo:hi]
                Hb = _n02_nnls(gram, W.T @ Xb, H[:, lo:hi], self.passes)
                stat_xh += Xb @ Hb.T
                stat_hh += Hb @ Hb.T
            _n02_nnls(stat_hh, stat_xh.T, W.T, self.passes)
            if epoch % 10 == 0:
                last, err = err, np.linalg.norm(X - W @ H)
                if err <= self.tol * norm_x or abs(last - err) <= 1e-11 * err:
                    break
        self.n_epochs_ = epoch + 1
        self.components_ = H
        return W


# ---------------------------------------------------------------- n03
def n03(A, rank, *, W0=None, H0=None, seed=None, sweeps=6000, tol=5e-15):
    """Rank-one residue iteration: each component is refitted to its own residue."""
    A = np.array(A, dtype=float)
    gen = np.random.RandomState(seed)
    W = gen.rand(A.shape[0], rank) if W0 is None else np.array(W0, dtype=float)
    H = gen.rand(rank, A.shape[1]) if H0 is None else np.array(H0, dtype=float)
    total = np.sqrt((A * A).sum())
    wh = W @ H
    W *= (A * wh).sum() / max((wh * wh).sum(), 1e-300)
    R = A - W @ H
    for sweep in range(sweeps):
        for p in range(rank):
            w, h = W[:, p], H[p]
            R += w[:, None] * h
            hh = h @ h
            w_new = np.maximum(R @ h / hh, 0.0) if hh > 0 else w.copy()
            ww = w_new @ w_new
            h_new = np.maximum(w_new @ R / ww, 0.0) if ww > 0 else np.zeros_like(h)
            R -= w[:, None] * h_new
            W[:, p] = w_new
            H[p] = h_new
        if sweep % 8 == 0 and np.sqrt((R * R).sum()) <= tol * total:
            break
    return W, H


# ---------------------------------------------------------------- n04
def _n04_ogm(G, C, Z, n_inner):
    """Optimal gradient method for min 1/2 tr(Z'GZ) - tr(C'Z), Z >= 0."""
    L = np.linalg.norm(G, 2)
    if L <= 0.0:
        return Z
    X = Y = Z
    t = 1.0
    for _ in range(n_inner):
        X_new = np.maximum(Y - (G @ Y - C) / L, 0.0)
        t_new = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        Y = X_new + ((t - 1.0) / t_new) * (X_new - X)
        X, t = X_new, t_new
    return X


class n04:
    """NeNMF: alternating nonnegative least squares by Nesterov's method."""

    def __init__(self, n_components=2, max_iter=1000, n_inner=12, tol=1e-13, random_state=None):
        self.n_components = n_components
        self.max_iter = max_iter
        self.n_inner = n_inner
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        A = np.asarray(X, dtype=float)
        rng = np.random.default_rng(self.random_state)
        level = np.sqrt(A.mean() / self.n_components)
        W = level * rng.random((A.shape[0], self.n_components))
        H = level * rng.random((self.n_components, A.shape[1]))
        ref = np.linalg.norm(A)
        err = np.inf
        for self.n_iter_ in range(1, self.max_iter + 1):
            gram_w, gram_h = W.T @ W, H @ H.T
            W = _n04_ogm(gram_h, H @ A.T, W.T, self.n_inner).T
            H = _n04_ogm(gram_w, W.T @ A, H, self.n_inner)
            last, err = err, np.linalg.norm(A - W @ H)
            if err <= self.tol * ref or err > last * (1.0 + 1e-10):
                break
        self.components_ = H
        return W


# ---------------------------------------------------------------- n05
def _n05_nnls(B, Y):
    """Nonnegative least squares for every column of Y."""
    X = np.empty((B.shape[1], Y.shape[1]))
    for j in range(Y.shape[1]):
        X[:, j], _ = nnls(B, Y[:, j], maxiter=100 * B.shape[1])
    return X


def n05(A, rank, *, W0=None, H0=None, seed=0, n_warm=60, max_iter=300, tol=1e-13):
    """Alternating NNLS with normalised W, after a few HALS sweeps."""
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    W = rng.random((A.shape[0], rank)) if W0 is None else np.array(W0, dtype=float)
    H = rng.random((rank, A.shape[1])) if H0 is None else np.array(H0, dtype=float)
    for _ in range(n_warm):
        for X, B, Y in ((H, W, A), (W.T, H.T, A.T)):
            G, C = B.T @ B, B.T @ Y
            for p in range(rank):
                if G[p, p] > 0:
                    X[p] = np.maximum(X[p] + (C[p] - G[p] @ X) / G[p, p], 0.0)
    goal = tol * np.linalg.norm(A)
    err = np.inf
    for _ in range(max_iter):
        W = _n05_nnls(H.T, A.T).T
        norms = np.linalg.norm(W, axis=1, keepdims=True)
        W = W / np.where(norms > 0, norms, 1.0)
        H = _n05_nnls(W, A)
        last, err = err, np.linalg.norm(A - W @ H)
        if err <= goal or abs(last - err) <= 1e-12 * err:
            break
    return W, H


# ---------------------------------------------------------------- n06
def _n06_sweep(A, W, H):
    """One HALS sweep over both factors, in place."""
    for X, G, C in ((W.T, H @ H.T, H @ A.T), (H, None, None)):
        if G is None:
            G, C = W.T @ W, W.T @ A
        for _ in range(2):
            for j in range(G.shape[0]):
                if G[j, j] > 0:
                    X[j] = np.maximum(X[j] + (C[j] - G[j] @ X) / G[j, j], 0)


class n06:
    """Iterated local search: HALS sweeps with a random kick at every stall."""

    def __init__(
        self, n_components=2, max_iter=2500, patience=40, n_kicks=2, kick=0.5, random_state=None
    ):
        self.n_components = n_components
        self.max_iter = max_iter
        self.patience = patience
        self.n_kicks = n_kicks
        self.kick = kick
        self.random_state = random_state

    def fit(self, X, y=None):
        A = np.array(X, dtype=float)
        rng = np.random.default_rng(self.random_state)
        k = self.n_components
        level = np.sqrt(A.mean() / k)
        W = level * rng.random((A.shape[0], k))
        H = level * rng.random((k, A.shape[1]))
        best_err, best_W, best_H = np.inf, W, H
        stall = kicks = 0
        for self.n_iter_ in range(1, self.max_iter + 1):
            _n06_sweep(A, W, H)
            err = np.linalg.norm(A - W @ H)
            stall = 0 if err < best_err * (1 - 1e-9) else stall + 1
            if err <= best_err:
                best_err = err
                best_W, best_H = W, H
            if stall >= self.patience or err <= 1e-14 * np.linalg.norm(A):
                if kicks == self.n_kicks:
                    break
                W *= 1 + self.kick * rng.uniform(-1, 1, W.shape)
                H *= 1 + self.kick * rng.uniform(-1, 1, H.shape)
                kicks, stall = kicks + 1, 0
        self.reconstruction_err_ = best_err
        self.W_, self.components_ = best_W, best_H
        return self

    def fit_transform(self, X, y=None):
        return self.fit(X).W_


# ---------------------------------------------------------------- n07
def _n07_admm(G, C, Z, U, n_admm):
    """ADMM for min 1/2 tr(Z'GZ) - tr(C'Z), Z >= 0, with warm scaled dual U."""
    k = G.shape[0]
    rho = max(np.trace(G) / k, 1e-300)
    inv = np.linalg.inv(G + rho * np.eye(k))
    for _ in range(n_admm):
        V = inv @ (C + rho * (Z - U))
        Z = np.maximum(V + U, 0.0)
        U = U + V - Z
    return V, U


def n07(A, rank, *, W0=None, H0=None, seed=0, max_iter=2500, n_admm=6, tol=1e-14):
    """AO-ADMM: alternating optimisation with a few ADMM steps per factor."""
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    m, n = A.shape
    Wt = (rng.random((m, rank)) if W0 is None else np.asarray(W0, dtype=float)).T.copy()
    H = rng.random((rank, n)) if H0 is None else np.array(H0, dtype=float)
    Uw, Uh = np.zeros_like(Wt), np.zeros_like(H)
    ref = np.linalg.norm(A)
    if ref == 0:
        return 0.0 * Wt.T, 0.0 * H
    c = ref / max(np.linalg.norm(Wt.T @ H), 1e-300)
    Wt, H = Wt * np.sqrt(c), H * np.sqrt(c)
    last = np.inf
    for it in range(max_iter):
        H, Uh = _n07_admm(Wt @ Wt.T, Wt @ A, H, Uh, n_admm)
        Wt, Uw = _n07_admm(H @ H.T, H @ A.T, Wt, Uw, n_admm)
        if it % 20 == 19:
            err = np.linalg.norm(A - Wt.T @ H) / ref
            if err <= tol or abs(last - err) <= 1e-13 * err:
                break
            last = err
    return Wt.T, H


# ---------------------------------------------------------------- n08
def _n08_block(G, C, X):
    """Two cyclic passes over the rows of X; returns a new array."""
    X = X.copy()
    for _ in range(2):
        for j in range(len(G)):
            if G[j, j] > 1e-200:
                X[j] = np.maximum(0.0, X[j] + (C[j] - G[j] @ X) / G[j, j])
    return X


def n08(A, rank, *, W0=None, H0=None, seed=0, max_iter=3000, tol=1e-14):
    """HALS with an extrapolation of both factors after every sweep.

    The step is the cube root of the sweep number, at most 2, as is usual for line
    searches in alternating least squares.
    """
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    W = rng.random((A.shape[0], rank)) if W0 is None else np.array(W0, dtype=float)
    H = rng.random((rank, A.shape[1])) if H0 is None else np.array(H0, dtype=float)
    W *= (A * (W @ H)).sum() / max(((W @ H) ** 2).sum(), 1e-300)
    ref = np.linalg.norm(A)
    W_old, H_old = W, H
    last = np.inf
    for it in range(1, max_iter + 1):
        H = _n08_block(W.T @ W, W.T @ A, H)
        W = _n08_block(H @ H.T, H @ A.T, W.T).T
        err = np.linalg.norm(A - W @ H)
        if err <= tol * ref or (it > 50 and abs(last - err) <= 1e-12 * err):
            break
        last = err
        step = min(2.0, (it + 1) ** (1 / 3))
        W_acc, H_acc = W, H
        W = np.maximum(W_old + step * (W - W_old), 0.0)
        H = np.maximum(H_old + step * (H - H_old), 0.0)
        W_old, H_old = W_acc, H_acc
    return W, H


# ---------------------------------------------------------------- n09
def _n09_prox(G, C, Y, n_steps):
    """Projected gradient steps of length 1/L from Y."""
    L = max(np.linalg.norm(G, 2), 1e-300)
    for _ in range(n_steps):
        Y = np.maximum(Y - (G @ Y - C) / L, 0.0)
    return Y


class n09:
    """Inertial proximal alternating linearised minimisation (iPALM)."""

    def __init__(
        self,
        n_components=2,
        max_iter=3000,
        inertia=0.98,
        n_steps=2,
        patience=60,
        tol=1e-14,
        random_state=None,
    ):
        self.n_components = n_components
        self.max_iter = max_iter
        self.inertia = inertia
        self.n_steps = n_steps
        self.patience = patience
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        A = np.asarray(X, dtype=float)
        k = self.n_components
        rng = np.random.default_rng(self.random_state)
        level = np.sqrt(A.mean() / k)
        Wt = level * rng.random((k, A.shape[0]))
        H = level * rng.random((k, A.shape[1]))
        Wt_old, H_old = Wt, H
        size = np.linalg.norm(A)
        best, n_stalled = np.inf, 0
        for it in range(self.max_iter):
            beta = self.inertia * it / (it + 3.0)
            Y = H + beta * (H - H_old)
            H_old, H = H, _n09_prox(Wt @ Wt.T, Wt @ A, Y, self.n_steps)
            Y = Wt + beta * (Wt - Wt_old)
            Wt_old, Wt = Wt, _n09_prox(H @ H.T, H @ A.T, Y, self.n_steps)
            err = np.linalg.norm(A - Wt.T @ H)
            if err <= self.tol * size:
                break
            if err < best * (1.0 - 1e-12):
                best = err
            else:
                n_stalled += 1
                if n_stalled >= self.patience:
                    break
        self.n_iter_ = it + 1
        self.components_ = H
        return Wt.T


# ---------------------------------------------------------------- n10
def _n10_cd(X, B, C):
    """Gauss-Seidel over the columns of X for ||A - X B'||, C = A B; sum of |changes|."""
    G = B.T @ B
    moved = 0.0
    for t in range(X.shape[1]):
        if G[t, t] == 0.0:
            continue
        step = (X @ G[:, t] - C[:, t]) / G[t, t]
        new = np.maximum(X[:, t] - step, 0.0)
        moved += np.abs(new - X[:, t]).sum()
        X[:, t] = new
    return moved


class n10:
    """Coordinate descent; the rows of components_ are distributions (sum one)."""

    def __init__(self, n_components=2, max_iter=5000, tol=1e-15, random_state=None):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        if (X < 0).any():
            raise ValueError("Negative values in data passed to NMF")
        rng = np.random.RandomState(self.random_state)
        avg = np.sqrt(X.mean() / self.n_components)
        H = avg * np.abs(rng.standard_normal((self.n_components, X.shape[1])))
        W = avg * np.abs(rng.standard_normal((X.shape[0], self.n_components)))
        Ht = np.ascontiguousarray(H.T)
        for n_iter in range(1, self.max_iter + 1):
            W_old = W.copy()
            _n10_cd(W, Ht, X @ Ht)
            _n10_cd(Ht, W, X.T @ W)
            if np.abs(W - W_old).max() <= self.tol * W.max():
                break
        total = Ht.sum(axis=0)
        total[total == 0] = 1.0
        W = W * total
        self.components_ = (Ht / total).T
        self.n_iter_ = n_iter
        return W_old


# ---------------------------------------------------------------- n11
def _n11_run(A, W, H, bar, max_sweeps, tol):
    """HALS from the contents of W and H (in place); given up early if hopeless."""
    err = np.linalg.norm(A - W @ H)
    for s in range(1, max_sweeps + 1):
        for F, N, D in ((W.T, A @ H.T, H @ H.T), (H, None, None)):
            if N is None:
                N, D = A.T @ W, W.T @ W
            for _ in range(2):
                for j in np.flatnonzero(np.diag(D)):
                    F[j] += (N[:, j] - D[j] @ F) / D[j, j]
                    F[j].clip(0.0, None, out=F[j])
        if s % 25 == 0:
            prev, err = err, np.linalg.norm(A - W @ H)
            if err <= tol or prev - err <= 1e-5 * err or (s >= 100 and err > 100 * bar):
                break
    return np.linalg.norm(A - W @ H)


def n11(A, rank, *, W0=None, H0=None, seed=0, n_restarts=3, max_sweeps=3000, tol=1e-14):
    """Best of several HALS runs, the first of them from the given start."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W, H = np.empty((m, rank)), np.empty((rank, n))
    size = np.linalg.norm(A)
    best, best_err = None, np.inf
    for run in range(n_restarts):
        W[...] = W0 if run == 0 and W0 is not None else rng.random((m, rank))
        H[...] = H0 if run == 0 and H0 is not None else rng.random((rank, n))
        c = np.sqrt(size / np.linalg.norm(W @ H))
        W *= c
        H *= c
        err = _n11_run(A, W, H, max(best_err, tol * size), max_sweeps, tol * size)
        if err < best_err:
            best_err = err
            best = W, H
    return best


# ---------------------------------------------------------------- n12
def _n12_active_set(G, c):
    """Lawson-Hanson on the normal equations: min 1/2 x'Gx - c'x, x >= 0."""
    k = len(c)
    x = np.zeros(k)
    P = np.zeros(k, dtype=bool)
    eps = 1e-14 * max(np.abs(c).max(), 1e-300)
    for _ in range(5 * k + 5):
        g = c - G @ x
        g[P] = -np.inf
        j = int(np.argmax(g))
        if P.all() or g[j] <= eps:
            break
        P[j] = True
        while True:
            idx = np.flatnonzero(P)
            z = np.zeros(k)
            z[idx] = np.linalg.lstsq(G[np.ix_(idx, idx)], c[idx], rcond=1e-15)[0]
            bad = idx[z[idx] <= 0]
            if bad.size == 0:
                x = z
                break
            a = np.min(x[bad] / np.maximum(x[bad] - z[bad], 1e-300))
            x = x + a * (z - x)
            P &= x > 1e-300
            P[bad[np.argmin(x[bad])]] = False
            x[~P] = 0.0
            if not P.any():
                break
    return x


def _n12_lsq(B, Y, X):
    """Nonnegative solution of B X ~ Y: unconstrained where feasible, else active set."""
    G, C = B.T @ B, B.T @ Y
    if np.linalg.cond(G) < 1e12:
        X = np.linalg.solve(G, C)
    else:
        X = np.full_like(C, -1.0)
    for j in np.flatnonzero((X < 0).any(axis=0)):
        X[:, j] = _n12_active_set(G, C[:, j])
    return X


def n12(A, rank, *, W0=None, H0=None, seed=0, warmup=100, max_iter=150, tol=1e-14):
    """HALS warm-up, then alternating active-set NNLS; components by falling energy."""
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    W = rng.random((A.shape[0], rank)) if W0 is None else np.array(W0, dtype=float)
    H = rng.random((rank, A.shape[1])) if H0 is None else np.array(H0, dtype=float)
    nrm = np.linalg.norm(A)
    for _ in range(warmup):
        for X, B, Y in ((H, W, A), (W.T, H.T, A.T)):
            G, C = B.T @ B, B.T @ Y
            for j in range(rank):
                X[j] = np.maximum(X[j] + (C[j] - G[j] @ X) / max(G[j, j], 1e-300), 0)
    for _ in range(max_iter):
        H = _n12_lsq(W, A, H)
        W = _n12_lsq(H.T, A.T, W.T).T
        if np.linalg.norm(A - W @ H) <= tol * nrm:
            break
    energy = np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1)
    order = np.argsort(energy)[::-1]
    return W[:, order], H


# ---------------------------------------------------------------- n13
def _n13_step(G, C, Z, D):
    """Scaled projected gradient, the gradient divided by row bounds of the Gram matrix."""
    return np.maximum(Z - (G @ Z - C) / D[:, None], 0.0)


class n13:
    """Alternating projected gradient with Nesterov momentum over the whole iteration."""

    def __init__(self, n_components=2, max_iter=5000, inner=3, tol=1e-14, random_state=None):
        self.n_components = n_components
        self.max_iter = max_iter
        self.inner = inner
        self.tol = tol
        self.random_state = random_state

    def _validate(self, X):
        X = np.array(X, dtype=float)
        if X.ndim != 2 or not np.isfinite(X).all() or X.min() < 0:
            raise ValueError("X must be a finite nonnegative matrix")
        X -= X.mean(axis=0)
        return np.maximum(X, 0.0)

    def _block(self, F, Y, Z, Z_prev, beta):
        G, C = F.T @ F, F.T @ Y
        D = np.maximum(G.sum(axis=1), 1e-300)
        V = np.maximum(Z + beta * (Z - Z_prev), 0.0)
        for _ in range(self.inner):
            V = _n13_step(G, C, V, D)
        return V

    def fit_transform(self, X, y=None):
        X = self._validate(X)
        k = self.n_components
        rng = np.random.default_rng(self.random_state)
        W = rng.random((X.shape[0], k))
        H = rng.random((k, X.shape[1]))
        H *= X.sum() / (W @ H).sum()
        W_prev, H_prev, t = W, H, 1.0
        size = np.linalg.norm(X)
        err = np.inf
        for it in range(self.max_iter):
            t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
            beta = (t - 1) / t_new
            H_new = self._block(W, X, H, H_prev, beta)
            W_new = self._block(H_new.T, X.T, W.T, W_prev.T, beta).T
            W_prev, H_prev, W, H, t = W, H, W_new, H_new, t_new
            last, err = err, np.linalg.norm(X - W @ H)
            if err > last:
                W_prev, H_prev, t = W, H, 1.0
            if err <= self.tol * size or abs(last - err) <= 1e-13 * err:
                break
        self.components_ = H
        self.n_iter_ = it + 1
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


# ---------------------------------------------------------------- n14
def _n14_newton_dir(G, C, X):
    """Gradient at X and the gradient divided by the diagonal of the Gram matrix."""
    grad = G @ X - C
    d = np.maximum(np.diag(G), 1e-300)[:, None]
    return grad, grad / d


def _n14_armijo(G, C, X, t, sigma=0.01, n_steps=4):
    """Projected gradient with Armijo search on min 1/2 tr(X'GX) - tr(X'C), X >= 0."""
    for _ in range(n_steps):
        grad, P = _n14_newton_dir(G, C, X)
        t = min(2.0 * t, 4.0)
        for _ in range(30):
            Xn = X - t * P
            D = Xn - X
            # f(Xn) - f(X) <= sigma <grad, D>, the difference written out for a quadratic
            if (1.0 - sigma) * np.vdot(grad, D) + 0.5 * np.vdot(D, G @ D) <= 0.0:
                break
            t *= 0.5
        else:
            break
        X = Xn
    return X, t


def n14(A, rank, *, W0=None, H0=None, seed=0, max_iter=1500, tol=1e-13):
    """Alternating projected gradients with a line search (in the manner of Lin)."""
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed)
    W = rng.random((A.shape[0], rank)) if W0 is None else np.array(W0, dtype=float)
    H = rng.random((rank, A.shape[1])) if H0 is None else np.array(H0, dtype=float)
    tw = th = 1.0
    for _ in range(max_iter):
        H, th = _n14_armijo(W.T @ W, W.T @ A, H, th)
        X, tw = _n14_armijo(H @ H.T, H @ A.T, W.T, tw)
        W = X.T
        if np.linalg.norm(A - W @ H) <= tol * np.linalg.norm(A):
            break
    return W, H


# ---------------------------------------------------------------- n15
_n15_EPS = 1e-4


def _n15_nndsvda(A, k):
    """NNDSVD start, zeros filled with the mean of A."""
    U, S, Vt = np.linalg.svd(A, full_matrices=False)
    W = np.zeros((A.shape[0], k))
    H = np.zeros((k, A.shape[1]))
    for j in range(min(k, len(S))):
        u, v = U[:, j], Vt[j]
        up, vp = np.maximum(u, 0), np.maximum(v, 0)
        un, vn = np.maximum(-u, 0), np.maximum(-v, 0)
        if np.linalg.norm(up) * np.linalg.norm(vp) < np.linalg.norm(un) * np.linalg.norm(vn):
            up, vp = un, vn
        a, b = np.linalg.norm(up), np.linalg.norm(vp)
        if a > 0 and b > 0:
            root = np.sqrt(S[j] * a * b)
            W[:, j], H[j] = root * up / a, root * vp / b
    W[W < 1e-12] = A.mean()
    H[H < 1e-12] = A.mean()
    return W, H


class n15:
    """HALS from NNDSVDa on data scaled to maximum one."""

    def __init__(self, n_components=2, max_iter=4000, tol=1e-14, random_state=None):
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        scale = X.max() if X.max() > 0 else 1.0
        A = X / scale
        W, H = _n15_nndsvda(A, self.n_components)
        rng = np.random.default_rng(self.random_state)
        W *= 1 + 0.1 * rng.random(W.shape)
        goal = self.tol * np.linalg.norm(A)
        err = np.inf
        for self.n_iter_ in range(1, self.max_iter + 1):
            for F, B, Y in ((W, H.T, A), (H.T, W, A.T)):
                BtB, YB = B.T @ B, Y @ B
                for _ in range(2):
                    for c in range(self.n_components):
                        g = (YB[:, c] - F @ BtB[:, c]) / max(BtB[c, c], _n15_EPS)
                        F[:, c] = np.maximum(F[:, c] + g, _n15_EPS)
            if self.n_iter_ % 10 == 0:
                last, err = err, np.linalg.norm(A - W @ H)
                if err <= goal or last - err <= 1e-11 * err:
                    break
        self.components_ = H * np.sqrt(scale)
        return W * np.sqrt(scale)
