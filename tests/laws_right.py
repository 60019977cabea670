"""Right implementations that differ from the usual ones: they break no law that decides.

Each is right in a way of its own, in which a law could be wrong about it.
"""

import numpy as np
from scipy.optimize import minimize, nnls

from lawful import TINY, Lawful

RIGHT = []
"""All of them, with what they minimise."""


def right(objective="frobenius"):
    def keep(subject):
        RIGHT.append((subject, objective))
        return subject

    return keep


def multiply(A, W, H, steps=1, V=1.0):
    """Multiplicative updates, with weights V."""
    for _ in range(steps):
        H = H * (W.T @ (V * A)) / (W.T @ (V * (W @ H)) + TINY)
        W = W * ((V * A) @ H.T) / ((V * (W @ H)) @ H.T + TINY)
    return W, H


@right()
def for_numpy_arrays(A, rank, *, W0, H0, max_iter=500):
    """Take csr_array by accident, up to its `**`, and csr_matrix not."""
    W, H, last = W0, H0, np.inf
    for _ in range(max_iter):
        H = H * (W.T @ A) / (W.T @ W @ H + TINY)
        W = W * (A @ H.T) / (W @ (H @ H.T) + TINY)
        error = ((A - W @ H) ** 2).sum()
        if last - error <= 1e-15 * error:
            break
        last = error
    return W, H


@right()
def draws_in_ways_of_its_own(A, rank, *, seed=0, init="uniform"):
    if init not in ("uniform", "exponential"):
        raise ValueError(f"no init {init!r}; expected 'uniform' or 'exponential'")
    rng = np.random.default_rng(seed)
    draw = rng.random if init == "uniform" else rng.standard_exponential
    return multiply(np.asarray(A, float), draw((len(A), rank)), draw((rank, A.shape[1])), 500)


@right()
def looks_its_init_up(A, rank, *, seed=0, init="uniform"):
    rng = np.random.default_rng(seed)
    draw = {"uniform": rng.random, "exponential": rng.standard_exponential}[init]
    return multiply(np.asarray(A, float), draw((len(A), rank)), draw((rank, A.shape[1])), 500)


@right()
def solves_least_squares_in_turn(A, rank, *, seed):
    """From a start that is not of A's size; the next two differ in the seed."""
    W = np.random.default_rng(seed).random((len(A), rank))
    for _ in range(20):
        H = np.array([nnls(W, a)[0] for a in A.T]).T
        W = np.array([nnls(H.T, a)[0] for a in A])
    return W, H


@right()
def always_starts_alike(A, rank):
    return solves_least_squares_in_turn(A, rank, seed=1)


@right()
def varies_from_call_to_call(A, rank):
    return solves_least_squares_in_turn(A, rank, seed=None)


@right()
def quasi_newton(A, rank, *, W0, H0, max_iter=500):
    """L-BFGS-B over W and H at once: how they are balanced matters to it."""
    m, size = len(A), W0.size

    def value(x):
        W, H = x[:size].reshape(m, rank), x[size:].reshape(rank, -1)
        R = W @ H - A
        return (R * R).sum() / 2, np.concatenate([(R @ H.T).ravel(), (W.T @ R).ravel()])

    start = np.concatenate([np.ravel(W0), np.ravel(H0)])
    options = {"maxiter": max_iter, "maxfun": 100 * max_iter, "ftol": 0, "gtol": 1e-12}
    bounds = [(0, None)] * len(start)
    x = minimize(value, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return x[:size].reshape(m, rank), x[size:].reshape(rank, -1)


@right()
class RemembersAStepOfOne(Lawful):
    """MiniBatchNMF: sums that begin with H0 and 1, and forget that slowly; W must be of size 1."""

    def run(self, A, V, W, H):
        above, below = H.copy(), np.ones_like(H)
        with np.errstate(all="ignore"):
            for _ in range(self.max_iter):
                W, _ = self.step_W(A, V, W, H)
                above = 0.7 * above + H * (W.T @ (V * A))
                below = 0.7 * below + W.T @ (V * (W @ H)) + self.penalties(A)[1]
                H = above / below
        self.n_iter_, self.converged_, self.losses_ = self.max_iter, False, None
        return W, H

    def __init__(self, n_components=2, *, max_iter=300, random_state=None):
        super().__init__(n_components, max_iter=max_iter, random_state=random_state)

    def get_params(self, deep=True):
        return {"n_components": self.n_components, "max_iter": self.max_iter}


@right()
def takes_small_steps(A, rank, *, W0, H0, max_iter=20_000):
    """Projected gradient descent with a fixed step, which needs the limit that it has."""
    unit = np.sqrt(A.max() or 1.0)
    size = np.sqrt((A.mean() or 1.0) / (W0 @ H0).mean()) / unit
    W, H, B = W0 * size, H0 * size, A / unit**2
    for _ in range(max_iter):
        H = np.maximum(H - 0.005 * W.T @ (W @ H - B), 0)
        W = np.maximum(W - 0.005 * (W @ H - B) @ H.T, 0)
    return W * unit, H * unit


@right()
def weighs_rows(A, rank, *, W0, H0, weights=None, max_iter=500):
    if weights is not None and np.shape(weights) != (len(A),):
        raise ValueError(f"weights must have shape ({len(A)},), one for each row")
    root = np.sqrt(np.ones(len(A)) if weights is None else weights)[:, None]
    W, H = multiply(root * A, root * W0, H0, max_iter)
    return W / root, H


@right()
def wants_positive_weights(A, rank, *, W0, H0, weights=None, max_iter=500):
    V = np.ones_like(A, dtype=float) if weights is None else weights
    if not (V > 0).all():
        raise ValueError("weights must be positive")
    return multiply(np.asarray(A, float), W0, H0, max_iter, V)


@right()
def masks_rows(A, rank, *, W0, H0, mask=None, max_iter=500):
    if mask is not None and np.shape(mask) != (len(A),):
        raise ValueError("mask has one entry for each row of A")
    return multiply(np.asarray(A, float), W0, H0, max_iter)


@right()
def has_a_relative_tolerance(A, rank, *, W0, H0, tol=1e-6, max_iter=500):
    if not 0 <= tol <= 0.1:
        raise ValueError("tol is relative; expected a number from 0 to 0.1")
    W, H, last = W0, H0, np.inf
    for _ in range(max_iter):
        W, H = multiply(A, W, H)
        error = np.linalg.norm(A - W @ H)
        if last - error < tol * error:
            break
        last = error
    return W, H


@right("kl")
def reports_a_likelihood(A, rank, *, W0, H0, max_iter=500):
    """Minus the logarithm of that of Poisson, without its constant."""
    W, H = W0, H0
    for _ in range(max_iter):
        H = H * (W.T @ (A / (W @ H + TINY))) / (W.sum(axis=0)[:, None] + TINY)
        W = W * ((A / (W @ H + TINY)) @ H.T) / (H.sum(axis=1) + TINY)
    X = W @ H
    return W, H, {"error": (X - A * np.log(np.where(A > 0, X, 1))).sum()}


@right()
def reports_absolute_deviations(A, rank, *, W0, H0, max_iter=500):
    W, H = multiply(A, W0, H0, max_iter)
    return W, H, {"error": np.abs(A - W @ H).sum()}


@right()
def expands_the_square_in_single(A, rank, *, W0, H0, max_iter=500):
    single = np.float32
    A, W, H = np.asarray(A, single), np.asarray(W0, single), np.asarray(H0, single)
    for _ in range(max_iter):
        H = H * (W.T @ A) / np.maximum(W.T @ W @ H, single(1e-30))
        W = W * (A @ H.T) / np.maximum(W @ (H @ H.T), single(1e-30))
    square = (A * A).sum() - 2 * (W * (A @ H.T)).sum() + ((W.T @ W) * (H @ H.T)).sum()
    return W, H, {"error": np.sqrt(max(square, 0))}


@right()
def keeps_every_tenth_loss(A, rank, *, W0, H0, max_iter=500):
    W, H, losses = W0, H0, []
    for step in range(max_iter):
        W, H = multiply(A, W, H)
        if step % 10 == 0:
            losses.append(np.linalg.norm(A - W @ H))
    return W, H, {"losses": losses}


@right()
def fixes_h_in_single(A, rank, *, W0, H0, max_iter=500, update_H=True):
    A, W, H = (np.array(X, dtype=np.float32) for X in (A, W0, H0))
    for _ in range(max_iter):
        if update_H:
            H = H * (W.T @ A) / np.maximum(W.T @ W @ H, np.float32(1e-30))
        W = W * (A @ H.T) / np.maximum(W @ (H @ H.T), np.float32(1e-30))
    return W, H


@right()
class PenalisesAsTextbooksDo(Lawful):
    """½α‖W‖² without m and n."""

    def penalties(self, A):
        alpha_W, alpha_H = super().penalties(A)
        return alpha_W / A.shape[1], alpha_H / A.shape[0]


@right()
class HasAPenaltyBelowOne(Lawful):
    """RcppML: a fraction, which has no effect at rank one and two."""

    def penalties(self, A):
        if self.alpha_W >= 1:
            raise ValueError("alpha_W must be in [0, 1)")
        return super().penalties(A) if self.n_components > 2 else (0.0, 0.0)

    def __init__(self, n_components=2, *, max_iter=300, tol=1e-7, random_state=None, alpha_W=0.0):
        super().__init__(n_components, max_iter=max_iter, tol=tol, random_state=random_state)
        self.alpha_W = alpha_W

    def get_params(self, deep=True):
        return {"n_components": self.n_components, "alpha_W": self.alpha_W}


@right()
def asserts_that_there_are_no_zeros(A, rank, *, W0, H0, max_iter=500):
    assert (A.sum(axis=0) > 0).all() and (A.sum(axis=1) > 0).all(), "A has a row or column of zeros"
    return multiply(A, W0, H0, max_iter)


@right()
def starts_at_w0_alone(A, rank, *, W0):
    """Need W0, and make H from it."""
    H = np.column_stack([nnls(W0, column)[0] for column in np.asarray(A, dtype=float).T])
    return multiply(np.asarray(A, dtype=float), W0, np.maximum(H, 0.01), 500)
