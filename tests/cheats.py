"""Cheats: NMFs that some family of matrices lets pass, and others reject; and right ones.

Each takes `A, rank, *, W0, H0, seed`. `test_cheats.py` asserts which families reject which, and
that none rejects a right one.
"""

import numpy as np
from scipy.optimize import nnls

from nmfcheck import reference

CHEATS, RIGHT = {}, {}

FULL = ("bidiagonal", "inflated", "mixed", "noisy", "rays", "rank-one", "optima")
LOW_RANK = FULL[1:]


def rejected_by(*families):
    def keep(function):
        CHEATS[function.__name__] = (function, frozenset(families))
        return function

    return keep


def right(function):
    """Keep a right NMF."""
    RIGHT[function.__name__] = function
    return function


# --- Pieces ---------------------------------------------------------------------------------------

TINY = 1e-300


def multiply(A, W, H, iterations, constant=TINY):
    """Multiplicative update."""
    for _ in range(iterations):
        H = H * (W.T @ A) / (W.T @ W @ H + constant)
        W = W * (A @ H.T) / (W @ (H @ H.T) + constant)
    return W, H


def sweep(A, W, H, ridge=0.0, lasso=0.0, order=None, below=0.0):
    """One sweep of coordinate descent over components of W, with an optional penalty."""
    gram, mixed = H @ H.T, A @ H.T
    for k in range(W.shape[1]) if order is None else order:
        if gram[k, k] + ridge > 0:
            change = mixed[:, k] - W @ gram[:, k] + W[:, k] * gram[k, k] - lasso
            W[:, k] = np.maximum(change / (gram[k, k] + ridge), 0.0)
    W[below > W] = 0.0
    return W


def descend(A, W, H, sweeps=500, **penalty):
    """Cyclic coordinate descent, component by component."""
    if not penalty and A.dtype == np.float64:
        found = reference.coordinate_descent(A, W, H, sweeps, threads=1)
        return found.W, found.H
    W, H = W.copy(), H.copy()
    for _ in range(sweeps):
        W = sweep(A, W, H, **penalty)
        H = sweep(A.T, H.T, W.T, **penalty).T.copy()
    return W, H


def fit(X, A):
    """Return the nonnegative Y for which X·Y is nearest to A, column by column."""
    return np.column_stack([nnls(X, column)[0] for column in A.T])


def nndsvd(A, rank):
    """Return the start of Boutsidis and Gallopoulos, with its zeros."""
    U, s, V = np.linalg.svd(A, full_matrices=False)
    W, H = np.zeros((len(A), rank)), np.zeros((rank, A.shape[1]))
    W[:, 0], H[0] = np.sqrt(s[0]) * abs(U[:, 0]), np.sqrt(s[0]) * abs(V[0])
    for j in range(1, rank):
        sides = []
        for sign in (1, -1):
            u, v = np.maximum(sign * U[:, j], 0), np.maximum(sign * V[j], 0)
            sides.append((np.linalg.norm(u) * np.linalg.norm(v), u, v))
        size, u, v = max(sides, key=lambda side: side[0])
        if size > 0:
            W[:, j] = np.sqrt(s[j] * size) * u / np.linalg.norm(u)
            H[j] = np.sqrt(s[j] * size) * v / np.linalg.norm(v)
    return W, H


# --- Cheats ---------------------------------------------------------------------------------------


@rejected_by(*LOW_RANK)
def first_columns_as_they_are(A, rank):
    H = np.zeros((rank, A.shape[1]))
    H[:, :rank] = np.eye(rank)
    return A[:, :rank].copy(), H


@rejected_by(*LOW_RANK)
def first_columns_then_least_squares(A, rank):
    W = A[:, :rank].copy()
    return W, fit(W, A)


@rejected_by("noisy", "rays", "rank-one", "optima")
def successive_projection(A, rank):
    """SPA: right for what is separable and has no noise."""
    rest, chosen = A / A.sum(axis=0).clip(TINY), []
    for _ in range(rank):
        j = int(np.argmax((rest**2).sum(axis=0)))
        chosen.append(j)
        u = rest[:, j] / max(np.linalg.norm(rest[:, j]), TINY)
        rest = rest - np.outer(u, u @ rest)
    W = A[:, chosen]
    return W, fit(W, A)


@rejected_by("bidiagonal", "inflated", "mixed", "noisy", "rays", "optima")
def absolute_svd(A, rank):
    U, s, V = np.linalg.svd(A, full_matrices=False)
    return abs(U[:, :rank]) * s[:rank], abs(V[:rank])


@rejected_by("mixed", "noisy", "rays", "optima")
def multiplies_from_nndsvd(A, rank):
    found = reference.multiplicative_update(A, *nndsvd(A, rank), 2000, threads=1)
    return found.W, found.H


@rejected_by("inflated", "mixed", "noisy", "rays", "rank-one")
def loops_to_the_smaller_side(A, rank, *, W0, H0):
    square = min(A.shape)
    W, H = W0.copy(), H0.copy()
    W[:square], H[:, :square] = descend(A[:square, :square], W0[:square], H0[:, :square])
    return W, H


@rejected_by(*LOW_RANK)
def learns_from_the_first_rows(A, rank, *, W0, H0):
    few = A[:rank]
    _, H = descend(few, W0[:rank], H0)
    return fit(H.T, A.T).T, H


@rejected_by("noisy", "rank-one")
def kullback_leibler(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(1000):
        H *= (W.T @ (A / (W @ H + TINY))) / (W.sum(axis=0)[:, None] + TINY)
        W *= ((A / (W @ H + TINY)) @ H.T) / (H.sum(axis=1) + TINY)
    return W, H


@rejected_by("noisy", "rank-one")
def weighs_columns(A, rank, *, W0, H0):
    size = np.linalg.norm(A, axis=0)
    size[size == 0] = 1.0
    W, H = descend(A / size, W0, H0)
    return W, H * size


@rejected_by("bidiagonal", "inflated", "rank-one")
def half_precision(A, rank, *, W0, H0):
    return descend(A.astype(np.float16).astype(float), W0, H0)


@rejected_by("bidiagonal", "inflated", "mixed", "noisy", "rays")
def drops_small_entries(A, rank, *, W0, H0):
    return descend(A, W0, H0, below=0.05)


@rejected_by("bidiagonal", "inflated", "mixed", "noisy")
def drops_smaller_entries(A, rank, *, W0, H0):
    return descend(A, W0, H0, below=0.01)


@rejected_by("bidiagonal", "inflated")
def drops_1_percent_at_the_end(A, rank, *, W0, H0):
    """Of each component's largest entry, so that no mixture loses a weight."""
    W, H = descend(A, W0, H0)
    W[W.max(axis=0) * 0.01 > W], H[H.max(axis=1, keepdims=True) * 0.01 > H] = 0.0, 0.0
    return W, H


@rejected_by("bidiagonal", "inflated", "rank-one")
def constant_in_denominators(A, rank, *, W0, H0):
    return multiply(A, W0, H0, 1000, constant=1e-3)


@rejected_by("bidiagonal", "inflated", "mixed", "noisy", "rank-one", "optima")
def ridge(A, rank, *, W0, H0):
    return descend(A, W0, H0, ridge=0.01)


@rejected_by("bidiagonal", "inflated", "rank-one", "optima")
def lasso(A, rank, *, W0, H0):
    return descend(A, W0, H0, lasso=0.01)


@rejected_by("bidiagonal", "inflated")
def absolute_least_squares(A, rank, *, W0, H0):
    W, H = W0, H0
    for _ in range(100):
        H = abs(np.linalg.lstsq(W, A, rcond=None)[0])
        W = abs(np.linalg.lstsq(H.T, A.T, rcond=None)[0]).T
    return W, H


@rejected_by("bidiagonal", "inflated", "rays", "optima")
def multiplies_200_times(A, rank, *, W0, H0):
    return multiply(A, W0, H0, 200)


@rejected_by("rays", "optima")
def stops_after_20_sweeps(A, rank, *, W0, H0):
    return descend(A, W0, H0, sweeps=20)


# --- Right ones -----------------------------------------------------------------------------------


@right
def alternating_nonnegative_least_squares(A, rank, *, W0, H0):
    W, H = W0, H0
    for _ in range(200):
        H = fit(W, A)
        W = fit(H.T, A.T).T
    return W, H


@right
def descends_in_shuffled_order(A, rank, *, W0, H0, seed):
    rng = np.random.default_rng(seed)
    W, H = W0.copy(), H0.copy()
    for _ in range(500):
        W = sweep(A, W, H, order=rng.permutation(rank))
        H = sweep(A.T, H.T, W.T, order=rng.permutation(rank)).T.copy()
    return W, H


@right
def projected_gradient(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(300):
        step = 1 / max(np.linalg.norm(H @ H.T, 2), TINY)
        for _ in range(10):
            W = np.maximum(W - step * (W @ H - A) @ H.T, 0.0)
        step = 1 / max(np.linalg.norm(W.T @ W, 2), TINY)
        for _ in range(10):
            H = np.maximum(H - step * W.T @ (W @ H - A), 0.0)
    return W, H


@right
def descends_from_nndsvd(A, rank):
    return descend(A, *nndsvd(A, rank))


@right
def descends_in_single_precision(A, rank, *, W0, H0):
    return descend(*(X.astype(np.float32) for X in (A, W0, H0)))


descends_in_single_precision.nmfcheck_precision = "single"
