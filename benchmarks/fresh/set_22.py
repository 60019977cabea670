"""Nonnegative matrix factorization A ~ W H, Frobenius norm, several algorithms."""

import numpy as np
from scipy.optimize import nnls

EPS = 1e-16


def _start(A, k, W0, H0, rng):
    m, n = A.shape
    s = np.sqrt(A.mean() / k)
    W = s * (0.1 + rng.random((m, k))) if W0 is None else np.array(W0, dtype=float)
    H = s * (0.1 + rng.random((k, n))) if H0 is None else np.array(H0, dtype=float)
    return W, H


def n01(A, rank, *, W0=None, H0=None, seed=None, max_iter=2500, tol=1e-9):
    """NMF by HALS (hierarchical alternating least squares)."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    ref = np.linalg.norm(A)
    prev = np.linalg.norm(A - W @ H)
    for it in range(max_iter):
        G, B = W.T @ W, W.T @ A
        for j in range(rank):
            H[j] = np.maximum(H[j] + (B[j] - G[j] @ H) / (G[j, j] + EPS), 0)
        G, B = H @ H.T, A @ H.T
        for j in range(rank):
            W[:, j] = np.maximum(W[:, j] + (B[:, j] - W @ G[:, j]) / (G[j, j] + EPS), 0)
        err = np.linalg.norm(A - W @ H)
        if (err - prev) / prev < tol or err < 1e-13 * ref:
            break
        prev = err
    return W, H


def n02(A, rank, *, W0=None, H0=None, seed=None):
    """NMF by HALS."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    floor = 1e-3
    normA = np.linalg.norm(A)
    old = np.inf
    for sweep in range(2500):
        AHt, HHt = A @ H.T, H @ H.T
        for r in range(rank):
            num = AHt[:, r] - W @ HHt[:, r] + W[:, r] * HHt[r, r]
            W[:, r] = np.maximum(num / HHt[r, r], floor)
        WtA, WtW = W.T @ A, W.T @ W
        for r in range(rank):
            num = WtA[r] - WtW[r] @ H + WtW[r, r] * H[r]
            H[r] = np.maximum(num / WtW[r, r], floor)
        if sweep % 5 == 0:
            e = np.linalg.norm(A - W @ H) / normA
            if e < 1e-13 or old - e < 1e-9 * e:
                break
            old = e
    return W, H


def n03(A, rank, *, W0=None, H0=None, seed=None, max_iter=800, tol=1e-8):
    """NMF by alternating projected gradient with step 1/L and inner iterations."""
    A = np.asarray(A, dtype=float) + 1e-2
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    prev = np.inf
    for it in range(max_iter):
        HHt, AHt = H @ H.T, A @ H.T
        step = 1.0 / (np.linalg.norm(HHt, 2) + EPS)
        for _ in range(8):
            W = np.maximum(W - step * (W @ HHt - AHt), 0)
        WtW, WtA = W.T @ W, W.T @ A
        step = 1.0 / (np.linalg.norm(WtW, 2) + EPS)
        for _ in range(8):
            H = np.maximum(H - step * (WtW @ H - WtA), 0)
        if it % 5 == 4:
            err = np.linalg.norm(A - W @ H)
            if prev - err <= tol * err:
                break
            prev = err
    return W, H


class n04:
    """NMF by coordinate descent (HALS), elastic-net penalty on H, scikit-learn style."""

    def __init__(
        self, n_components=2, *, random_state=None, max_iter=2500, tol=1e-9, alpha=0.0, l1_ratio=0.0
    ):
        self.n_components = n_components
        self.random_state = random_state
        self.max_iter = max_iter
        self.tol = tol
        self.alpha = alpha
        self.l1_ratio = l1_ratio

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        n_samples = X.shape[0]
        k = self.n_components
        l1 = n_samples * self.alpha * self.l1_ratio
        l2 = n_samples * (1.0 - self.l1_ratio)
        W, H = _start(X, k, None, None, np.random.default_rng(self.random_state))
        last = np.inf
        for self.n_iter_ in range(1, self.max_iter + 1):
            G, B = H @ H.T, X @ H.T
            for t in range(k):
                W[:, t] = np.maximum(W[:, t] + (B[:, t] - W @ G[:, t]) / (G[t, t] + EPS), 0)
            G, B = W.T @ W, W.T @ X
            G[np.diag_indices(k)] += l2
            for t in range(k):
                H[t] = np.maximum(H[t] + (B[t] - l1 - G[t] @ H) / (G[t, t] + EPS), 0)
            if self.n_iter_ % 5 == 0:
                obj = np.linalg.norm(X - W @ H) ** 2 + 2 * l1 * H.sum() + l2 * np.sum(H**2)
                if last - obj <= self.tol * obj:
                    break
                last = obj
        self.components_ = H
        self.reconstruction_err_ = np.linalg.norm(X - W @ H)
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


def n05(A, rank, *, W0=None, H0=None, seed=None, max_iter=6000, tol=1e-8):
    """NMF by multiplicative updates."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    prev = np.inf
    for it in range(1, max_iter + 1):
        W *= (A @ H.T) / (W @ (H @ H.T) + EPS)
        H *= (W.T @ (A / (W @ H + EPS))) / (W.sum(axis=0)[:, None] + EPS)
        if it % 10 == 0:
            err = np.linalg.norm(A - W @ H)
            if abs(prev - err) <= tol * err:
                break
            prev = err
    return W, H


def n06(A, rank, *, W0=None, H0=None, seed=None, max_iter=6000, tol=1e-9):
    """NMF by multiplicative updates (Lee and Seung)."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    WtW = W.T @ W
    prev = np.linalg.norm(A - W @ H)
    for it in range(max_iter):
        H = H * (W.T @ A) / (WtW @ H + EPS)
        HHt = H @ H.T
        WtW = W.T @ W
        W = W * (A @ H.T) / (W @ HHt + EPS)
        err = np.linalg.norm(A - W @ H)
        if prev - err <= tol * prev:
            break
        prev = err
    return W, H


def n07(A, rank, *, seed=None, max_iter=400, tol=1e-8):
    """NMF by alternating nonnegative least squares."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = rng.random((m, rank))
    H = np.zeros((rank, n))
    prev = np.inf
    for _ in range(max_iter):
        for j in range(n):
            H[:, j] = nnls(W, A[:, j])[0]
        for i in range(m):
            W[i] = nnls(H.T, A[i])[0]
        err = np.linalg.norm(A - W @ H)
        if err < 1e-12 * np.linalg.norm(A) or prev - err <= tol * err:
            break
        prev = err
    s = W.sum(axis=0)
    s[s == 0] = 1.0
    W = W / s
    return W, H


def n08(A, rank, *, W0=None, H0=None, seed=None, max_iter=2500, tol=1e-9):
    """NMF by HALS."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    nA = np.linalg.norm(A)
    prev = np.inf
    for it in range(max_iter):
        W[W <= 0] = 0.1
        WtA, WtW = W.T @ A, W.T @ W
        for j in range(rank):
            d = max(WtW[j, j], EPS)
            H[j] = np.maximum(0, H[j] + (WtA[j] - WtW[j] @ H) / d)
        AHt, HHt = A @ H.T, H @ H.T
        for j in range(rank):
            d = max(HHt[j, j], EPS)
            W[:, j] = np.maximum(0, W[:, j] + (AHt[:, j] - W @ HHt[:, j]) / d)
        err = np.linalg.norm(A - W @ H)
        if err <= 1e-13 * nA or abs(prev - err) <= tol * err:
            break
        prev = err
    return W, H


def n09(A, rank, *, W0=None, H0=None, seed=None, max_iter=800, tol=1e-8, l2_w=0.1, l2_h=0.0):
    """NMF by alternating projected gradient."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    eye = np.eye(rank)
    prev = np.inf
    for it in range(max_iter):
        Q, P = W.T @ W + l2_h * eye, W.T @ A
        L = np.linalg.norm(Q, 2) + EPS
        for _ in range(8):
            H = np.maximum(0, H - (Q @ H - P) / L)
        Q, P = H @ H.T + l2_w * eye, A @ H.T
        L = np.linalg.norm(Q, 2) + EPS
        for _ in range(8):
            W = np.maximum(0, W - (W @ Q - P) / L)
        if it % 5 == 0:
            f = np.sum((A - W @ H) ** 2) + l2_w * np.sum(W**2) + l2_h * np.sum(H**2)
            if prev - f <= tol * f:
                break
            prev = f
    return W, H


_generator = None


def _get_rng(seed):
    global _generator
    if _generator is None:
        _generator = np.random.default_rng(seed)
    return _generator


def n10(A, rank, *, seed=None, max_iter=6000, tol=1e-8):
    """NMF by multiplicative updates from a random start."""
    A = np.asarray(A, dtype=float)
    rng = _get_rng(seed)
    m, n = A.shape
    W = rng.uniform(0.1, 1.0, (m, rank))
    H = rng.uniform(0.1, 1.0, (rank, n))
    prev = np.inf
    for it in range(1, max_iter + 1):
        H *= (W.T @ A) / ((W.T @ W) @ H + EPS)
        W *= (A @ H.T) / (W @ (H @ H.T) + EPS)
        if it % 20 == 0:
            err = np.linalg.norm(A - W @ H)
            if prev - err <= tol * err:
                break
            prev = err
    return W, H


def n11(A, rank, *, W0=None, H0=None, seed=None, max_iter=6000, tol=1e-8):
    """NMF by multiplicative updates."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    gamma = 2.0
    prev = np.inf
    for it in range(1, max_iter + 1):
        H *= ((W.T @ A) / (W.T @ W @ H + EPS)) ** gamma
        W *= ((A @ H.T) / (W @ (H @ H.T) + EPS)) ** gamma
        if it % 20 == 0:
            err = np.linalg.norm(A - W @ H)
            if abs(prev - err) <= tol * err:
                break
            prev = err
    return W, H


class n12:
    """NMF by HALS, scikit-learn style; columns of W are scaled to unit norm."""

    def __init__(self, n_components=2, random_state=None, max_iter=2500, tol=1e-9):
        self.n_components = n_components
        self.random_state = random_state
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X, y=None):
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X, y=None):
        X = np.asarray(X, dtype=float)
        k = self.n_components
        W, H = _start(X, k, None, None, np.random.default_rng(self.random_state))
        last = np.inf
        for it in range(self.max_iter):
            XHt, HHt = X @ H.T, H @ H.T
            for j in range(k):
                W[:, j] = np.maximum(W[:, j] + (XHt[:, j] - W @ HHt[:, j]) / (HHt[j, j] + EPS), 0)
            WtX, WtW = W.T @ X, W.T @ W
            for j in range(k):
                H[j] = np.maximum(H[j] + (WtX[j] - WtW[j] @ H) / (WtW[j, j] + EPS), 0)
            err = np.linalg.norm(X - W @ H)
            if err < 1e-13 or last - err < self.tol * err:
                break
            last = err
        self.n_iter_ = it + 1
        self.components_ = H
        norms = np.linalg.norm(W, axis=0)
        norms[norms == 0] = 1.0
        W = W / norms
        H = H * norms[:, None]
        self.reconstruction_err_ = np.linalg.norm(X - W @ H)
        return W


def n13(A, rank, *, seed=None, max_iter=2500, tol=1e-9):
    """NMF by HALS from a scaled random start."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    scale = (A.mean() * rank) ** 2
    W = scale * rng.random((m, rank))
    H = scale * rng.random((rank, n))
    normA = np.linalg.norm(A)
    prev = np.inf
    for it in range(max_iter):
        WtA, WtW = W.T @ A, W.T @ W
        for j in range(rank):
            h = WtA[j] - WtW[j] @ H + WtW[j, j] * H[j]
            H[j] = np.maximum(h, 0) / max(WtW[j, j], EPS)
        AHt, HHt = A @ H.T, H @ H.T
        for j in range(rank):
            w = AHt[:, j] - W @ HHt[:, j] + HHt[j, j] * W[:, j]
            W[:, j] = np.maximum(w, 0) / max(HHt[j, j], EPS)
        err = np.linalg.norm(A - W @ H)
        if err < 1e-13 * normA or prev - err < tol * err:
            break
        prev = err
    return W, H


def n14(A, rank, *, seed=None, max_iter=6000, tol=1e-8):
    """NMF by multiplicative updates from a random start."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    if seed is not None:
        np.random.seed(seed)
    rs = np.random
    W = rs.rand(m, rank) + 1e-3
    H = rs.rand(rank, n) + 1e-3
    prev = np.inf
    for it in range(1, max_iter + 1):
        W *= (A @ H.T) / (W @ (H @ H.T) + EPS)
        H *= (W.T @ A) / (W.T @ W @ H + EPS)
        if it % 20 == 0:
            err = np.linalg.norm(A - W @ H)
            if prev - err <= tol * err:
                break
            prev = err
    return W, H


def n15(A, rank, *, W0=None, seed=None, max_iter=400, tol=1e-10):
    """NMF by alternating nonnegative least squares; H is first fitted to the start of W."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    if W0 is None:
        W = np.random.default_rng(seed).random((m, rank))
    else:
        W = np.array(W0, dtype=float)

    def fit_h(W):
        return np.column_stack([nnls(W, A[:, j])[0] for j in range(n)])

    def fit_w(H):
        return np.vstack([nnls(H.T, A[i])[0] for i in range(m)])

    H = fit_h(W)
    for it in range(max_iter):
        H_old = H
        H = fit_h(W)
        W = fit_w(H)
        delta = np.linalg.norm(H - H_old) / (np.linalg.norm(H_old) + EPS)
        if delta < tol:
            break
    return W, H


def _nnls_columns(M, B):
    if M.shape[0] != B.shape[0]:
        M = M.T
    return np.column_stack([nnls(M, B[:, j])[0] for j in range(B.shape[1])])


def n16(A, rank, *, W0=None, H0=None, seed=None, max_iter=400, tol=1e-8):
    """NMF by alternating nonnegative least squares."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    normA = np.linalg.norm(A)
    prev = np.inf
    for _ in range(max_iter):
        H = _nnls_columns(W, A)
        W = _nnls_columns(H, A.T).T
        err = np.linalg.norm(A - W @ H)
        if err < 1e-12 * normA or abs(prev - err) <= tol * err:
            break
        prev = err
    return W, H


def n17(A, rank, *, seed=None):
    """NMF by HALS from a random start."""
    A = np.asarray(A, dtype=float)
    rng = np.random.default_rng(seed) if seed else np.random.default_rng()
    W, H = _start(A, rank, None, None, rng)
    prev = np.inf
    for it in range(2500):
        G, B = W.T @ W, W.T @ A
        for j in range(rank):
            H[j] = np.maximum(H[j] + (B[j] - G[j] @ H) / (G[j, j] + EPS), 0)
        G, B = H @ H.T, A @ H.T
        for j in range(rank):
            W[:, j] = np.maximum(W[:, j] + (B[:, j] - W @ G[:, j]) / (G[j, j] + EPS), 0)
        err = np.linalg.norm(A - W @ H)
        if err < 1e-13 or prev - err <= 1e-9 * err:
            break
        prev = err
    return W, H


def n18(A, rank, *, W0=None, H0=None, seed=None, max_iter=800, tol=1e-8):
    """NMF by alternating projected gradient with step 1/L."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = rng.random((m, rank))
    H = rng.random((rank, n))
    if H0 is not None:
        H = np.array(H0, dtype=float)
    prev = np.inf
    for it in range(max_iter):
        G, B = W.T @ W, W.T @ A
        t = 1.0 / np.linalg.norm(G, 2)
        for _ in range(8):
            H = np.maximum(H - t * (G @ H - B), 0)
        G, B = H @ H.T, A @ H.T
        t = 1.0 / np.linalg.norm(G, 2)
        for _ in range(8):
            W = np.maximum(W - t * (W @ G - B), 0)
        if it % 5 == 0:
            err = np.linalg.norm(A - W @ H)
            if prev - err <= tol * err:
                break
            prev = err
    return W, H


def n19(A, rank, *, W0=None, H0=None, seed=None, max_iter=2500, tol=1e-9):
    """NMF by HALS."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = rng.random((m, rank)) if W0 is None else np.asarray(W0, dtype=float)
    H = rng.random((rank, n)) if H0 is None else np.array(H0, dtype=float)
    normA = np.linalg.norm(A)
    prev = np.inf
    for it in range(max_iter):
        AHt, HHt = A @ H.T, H @ H.T
        for j in range(rank):
            W[:, j] = np.maximum(W[:, j] + (AHt[:, j] - W @ HHt[:, j]) / (HHt[j, j] + EPS), 0)
        WtA, WtW = W.T @ A, W.T @ W
        for j in range(rank):
            H[j] = np.maximum(H[j] + (WtA[j] - WtW[j] @ H) / (WtW[j, j] + EPS), 0)
        err = np.linalg.norm(A - W @ H)
        if err < 1e-13 * normA or prev - err < tol * err:
            break
        prev = err
    return W, H


def n20(A, rank, *, W0=None, H0=None, seed=None):
    """NMF by HALS with a ridge that is faded out over the iterations."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    ridge = 0.1
    prev = np.inf
    for i in range(2500):
        G, B = W.T @ W + ridge * np.eye(rank), W.T @ A
        for i in range(rank):
            H[i] = np.maximum(H[i] + (B[i] - G[i] @ H) / G[i, i], 0)
        G, B = H @ H.T + ridge * np.eye(rank), A @ H.T
        for i in range(rank):
            W[:, i] = np.maximum(W[:, i] + (B[:, i] - W @ G[:, i]) / G[i, i], 0)
        ridge = 0.1 * 0.7**i
        err = np.linalg.norm(A - W @ H)
        if err < 1e-13 or abs(prev - err) <= 1e-9 * err:
            break
        prev = err
    return W, H


def n21(A, rank, *, W0=None, H0=None, seed=None):
    """NMF by multiplicative updates."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    prev = np.inf
    for it in range(1, 6001):
        den = np.maximum(W.T @ W @ H, 1.0)
        H = H * (W.T @ A) / den
        den = np.maximum(W @ (H @ H.T), 1.0)
        W = W * (A @ H.T) / den
        if it % 10 == 0:
            err = np.linalg.norm(A - W @ H)
            if abs(prev - err) <= 1e-8 * err:
                break
            prev = err
    return W, H


class n22:
    """NMF by HALS, scikit-learn style."""

    def __init__(self, n_components=2, *, random_state=None, max_iter=2500, tol=1e-9):
        self.n_components = n_components
        self.random_state = random_state
        self.max_iter = max_iter
        self.tol = tol

    def _prepare(self, X):
        X = np.array(X, dtype=float)
        if X.ndim != 2 or X.min() < 0:
            raise ValueError("X must be a nonnegative matrix")
        X -= X.mean(axis=0)
        return X

    def fit_transform(self, X, y=None):
        k = self.n_components
        rng = np.random.default_rng(self.random_state)
        m, n = np.shape(X)
        W = rng.random((m, k))
        H = rng.random((k, n))
        X = self._prepare(X)
        last = np.inf
        for it in range(self.max_iter):
            G, B = H @ H.T, X @ H.T
            for t in range(k):
                W[:, t] = np.maximum(W[:, t] + (B[:, t] - W @ G[:, t]) / (G[t, t] + EPS), 0)
            G, B = W.T @ W, W.T @ X
            for t in range(k):
                H[t] = np.maximum(H[t] + (B[t] - G[t] @ H) / (G[t, t] + EPS), 0)
            err = np.linalg.norm(X - W @ H)
            if err < 1e-13 or abs(last - err) <= self.tol * err:
                break
            last = err
        self.n_iter_ = it + 1
        self.components_ = H
        self.reconstruction_err_ = err
        return W

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self


def n23(A, rank, *, W0=None, H0=None, seed=None, max_iter=2500, tol=1e-9):
    """NMF by HALS with preallocated work arrays."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    AHt = np.empty((m, rank), dtype=np.float32)
    WtA = np.empty((rank, n))
    normA = np.linalg.norm(A)
    prev = np.inf
    for it in range(max_iter):
        WtA[:] = W.T @ A
        WtW = W.T @ W
        for j in range(rank):
            H[j] = np.maximum(H[j] + (WtA[j] - WtW[j] @ H) / (WtW[j, j] + EPS), 0)
        AHt[:] = A @ H.T
        HHt = H @ H.T
        for j in range(rank):
            W[:, j] = np.maximum(W[:, j] + (AHt[:, j] - W @ HHt[:, j]) / (HHt[j, j] + EPS), 0)
        err = np.linalg.norm(A - W @ H)
        if err < 1e-13 * normA or abs(prev - err) < tol * err:
            break
        prev = err
    return W, H


def n24(A, rank, *, W0=None, H0=None, seed=None, max_iter=6000, tol=1e-8):
    """NMF by multiplicative updates; convergence is tested every 10 iterations."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    err_init = np.linalg.norm(A - W @ H)
    for it in range(1, max_iter + 1):
        H *= (W.T @ A) / (W.T @ W @ H + EPS)
        W *= (A @ H.T) / (W @ (H @ H.T) + EPS)
        if it % 10 == 0:
            err = np.linalg.norm(A - W @ H)
            if err < (1 - tol) * err_init:
                break
    return W, H


def n25(A, rank, *, seed=None, max_iter=6000, tol=1e-8):
    """NMF by multiplicative updates from a random start."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = rng.integers(0, 10, size=(m, rank)) / 10
    H = rng.integers(0, 10, size=(rank, n)) / 10
    prev = np.inf
    for it in range(1, max_iter + 1):
        H *= (W.T @ A) / (W.T @ W @ H + EPS)
        W *= (A @ H.T) / (W @ (H @ H.T) + EPS)
        if it % 20 == 0:
            err = np.linalg.norm(A - W @ H)
            if prev - err <= tol * err:
                break
            prev = err
    return W, H


def n26(A, rank, *, W0=None, H0=None, seed=None):
    """NMF by HALS on the running residual, columns of W kept at unit norm."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    normA = np.linalg.norm(A)
    R = A - W @ H
    prev = np.inf
    for it in range(2500):
        for j in range(rank):
            w, h = W[:, j], H[j]
            R += np.outer(w, h)
            h = np.maximum(w @ R, 0) / (w @ w + EPS)
            w = np.maximum(R @ h, 0) / (h @ h + EPS)
            R -= np.outer(w, h)
            s = np.linalg.norm(w)
            if s > 0:
                w = w / s
            W[:, j], H[j] = w, h
        if it % 5 == 0:
            err = np.linalg.norm(R)
            if err < 1e-13 * normA or abs(prev - err) <= 1e-8 * err:
                break
            prev = err
    return W, H


def n27(A, rank, *, W0=None, H0=None, seed=None, max_iter=6000, tol=1e-8):
    """NMF by multiplicative updates."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    eps = 1e-2
    prev = np.inf
    for it in range(1, max_iter + 1):
        W *= (A @ H.T) / (W @ (H @ H.T) + eps)
        H *= (W.T @ A) / (W.T @ W @ H + eps)
        if it % 10 == 0:
            err = np.linalg.norm(A - W @ H)
            if abs(prev - err) <= tol * err:
                break
            prev = err
    return W, H


def n28(A, rank, *, W0=None, H0=None, seed=None):
    """NMF by HALS."""
    A = np.asarray(A, dtype=float)
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    normA = np.linalg.norm(A)
    prev = np.inf
    for it in range(2500):
        R = A - W @ H
        for j in range(rank):
            Rj = R + np.outer(W[:, j], H[j])
            H[j] = np.maximum(W[:, j] @ Rj, 0) / (W[:, j] @ W[:, j] + EPS)
            W[:, j] = np.maximum(Rj @ H[j], 0) / (H[j] @ H[j] + EPS)
        err = np.linalg.norm(A - W @ H)
        if err < 1e-13 * normA or abs(prev - err) <= 1e-9 * err:
            break
        prev = err
    return W, H


def n29(A, rank, *, W0=None, H0=None, seed=None, max_iter=2500):
    """NMF by coordinate descent, rows of W in blocks."""
    A = np.asarray(A, dtype=float)
    m, n = A.shape
    W, H = _start(A, rank, W0, H0, np.random.default_rng(seed))
    normA = np.linalg.norm(A)
    size = 4
    n_blocks = m // size
    prev = np.inf
    for it in range(max_iter):
        HHt = H @ H.T
        for b in range(n_blocks):
            rows = slice(b * size, (b + 1) * size)
            Wb = W[rows]
            AHt = A[rows] @ H.T
            for j in range(rank):
                Wb[:, j] = np.maximum(
                    Wb[:, j] + (AHt[:, j] - Wb @ HHt[:, j]) / (HHt[j, j] + EPS), 0
                )
        WtW, WtA = W.T @ W, W.T @ A
        for j in range(rank):
            H[j] = np.maximum(H[j] + (WtA[j] - WtW[j] @ H) / (WtW[j, j] + EPS), 0)
        err = np.linalg.norm(A - W @ H)
        if err < 1e-13 * normA or prev - err <= 1e-9 * err:
            break
        prev = err
    return W, H


def n30(A, rank, *, seed=None):
    """NMF by alternating nonnegative least squares on the matrix with columns scaled to sum 1."""
    A = np.asarray(A, dtype=float)
    sums = A.sum(axis=0)
    sums[sums == 0] = 1.0
    A = A / sums
    m, n = A.shape
    rng = np.random.default_rng(seed)
    W = rng.random((m, rank))
    normA = np.linalg.norm(A)
    prev = np.inf
    for it in range(400):
        H = np.array([nnls(W, a)[0] for a in A.T]).T
        W = np.array([nnls(H.T, a)[0] for a in A])
        err = np.linalg.norm(A - W @ H)
        if err < 1e-12 * normA or prev - err <= 1e-8 * err:
            break
        prev = err
    return W, H
