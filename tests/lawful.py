"""A right NMF that offers everything, so that animals can be wrong in one way each.

Multiplicative updates for the Frobenius norm, with scikit-learn's interface: starts, seeds, sparse
input, `transform`, `inverse_transform`, penalties, weights and masks; it reports its error, losses,
iterations and whether it converged.
"""

import inspect
import warnings

import numpy as np
from scipy import sparse
from scipy.optimize import nnls

TINY = 1e-300


def nonnegative_least_squares(A, H):
    return np.array([nnls(H.T, row)[0] for row in A])


class Lawful:
    def __init__(self, n_components=2, *, init=None, max_iter=300, tol=1e-7, random_state=None,
                 alpha_W=0.0, alpha_H=None, l1_ratio=0.0):  # fmt: skip
        self.n_components = n_components
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio

    def get_params(self, deep=True):
        names = list(inspect.signature(Lawful.__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    # What an animal may get wrong, piece by piece.

    def read(self, X):
        A = X.toarray() if sparse.issparse(X) else np.array(X)
        if A.ndim != 2 or 0 in A.shape:
            raise ValueError(f"A has shape {A.shape}")
        if not (np.isfinite(A).all() and (A >= 0).all()):
            raise ValueError("A must be finite and nonnegative")
        if self.n_components < 1:
            raise ValueError("n_components must be at least 1")
        return A.astype(np.float64)

    def start(self, A, W, H):
        if W is not None and H is not None:
            return np.array(W, dtype=np.float64), np.array(H, dtype=np.float64)
        return self.own_start(A, self.init)

    def own_start(self, A, init):
        if init not in (None, "random", "custom"):
            raise ValueError(f"no init {init!r}")
        rng, size = np.random.default_rng(self.random_state), np.sqrt(A.mean() / self.n_components)
        m, n = A.shape
        W = rng.random((m, self.n_components)) + 0.1
        return size * W, size * (rng.random((self.n_components, n)) + 0.1)

    def penalties(self, A):
        alpha_H = self.alpha_W if self.alpha_H is None else self.alpha_H
        return self.alpha_W * A.shape[1], alpha_H * A.shape[0]

    def step(self, A, V, W, H):
        """One step, with weights V."""
        return self.step_W(A, V, W, self.step_H(A, V, W, H))

    def step_H(self, A, V, W, H):
        return self.half(A.T, V.T, H.T, W.T, self.penalties(A)[1]).T

    def step_W(self, A, V, W, H):
        return self.half(A, V, W, H, self.penalties(A)[0]), H

    def half(self, A, V, W, H, alpha):
        """Update W."""
        below = (V * (W @ H)) @ H.T + alpha * (self.l1_ratio + (1 - self.l1_ratio) * W)
        return W * self.ratio((V * A) @ H.T, below)

    def ratio(self, above, below):
        return above / (below + TINY)

    def error(self, A, W, H):
        return float(np.linalg.norm(A - W @ H))

    def stops(self, before, now, first):
        return before - now < self.tol * first

    # The rest.

    def fit_transform(self, X, W=None, H=None, weights=None, mask=None):
        A = self.read(X)
        V = np.ones_like(A) if weights is None else np.asarray(weights, dtype=np.float64)
        V = V if mask is None else V * mask
        W, H = self.start(A, W, H)
        W, H = self.run(A, V, W, H)
        self.components_ = H
        self.reconstruction_err_ = self.error(A, W, H)
        return W

    def run(self, A, V, W, H):
        first = before = self.error(A, W, H)
        losses, self.converged_, self.n_iter_ = [], False, 0
        while self.n_iter_ < self.max_iter:
            W, H = self.step(A, V, W, H)
            self.n_iter_ += 1
            now = self.error(A, W, H)
            losses.append(now)
            if self.n_iter_ > 1 and self.tol > 0 and self.stops(before, now, first):
                self.converged_ = True
                break
            before = now
        if not self.converged_:
            warnings.warn("stopped at max_iter before convergence", stacklevel=2)
        self.losses_ = losses
        return W, H

    def fit(self, X):
        self.fit_transform(X)
        return self

    def transform(self, X):
        return nonnegative_least_squares(self.read(X), self.components_)

    def inverse_transform(self, W):
        return W @ self.components_

    def fit_transform_quietly(self, X, W, H):
        """Return W and H, without a warning about the limit."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.fit_transform(X, W, H), self.components_
