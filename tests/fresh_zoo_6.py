"""Fresh subjects, sixth set: written and scored by somebody who had not seen the rules."""

import numpy as np
from scipy.optimize import nnls

from cheats import descend, sweep

FRESH = {}


def fresh(thing):
    FRESH[thing.__name__] = thing
    return thing


def at_rest(X, before):
    return abs(X - before).max() <= 1e-15


def swept(A, W, H, update_W=sweep, number=500):
    """Descend with another update of W, until nothing changes."""
    W, H = W.copy(), H.copy()
    for _ in range(number):
        before = W.copy(), H.copy()
        W = update_W(A, W, H)
        H = sweep(A.T, H.T, W.T).T.copy()
        if at_rest(W, before[0]) and at_rest(H, before[1]):
            break
    return W, H


def multiplied(A, W, H, number=2000, weights=1.0):
    W, H = W.copy(), H.copy()
    for _ in range(number):
        W *= (A @ H.T) / ((weights * (W @ H)) @ H.T + 1e-300)
        H *= (W.T @ A) / (W.T @ (weights * (W @ H)) + 1e-300)
    return W, H


def fitted(X, A):
    return np.column_stack([nnls(X, a)[0] for a in A.T])


def above_zero(X):
    return np.maximum(X, 0)


def updated(A, W, H, gram, project=above_zero):
    """Sweep over the components of W with a Gram matrix and a projection of one's own."""
    mixed = A @ H.T
    for k in range(W.shape[1]):
        if gram[k, k] > 0:
            W[:, k] = project(W[:, k] + (mixed[:, k] - W @ gram[:, k]) / gram[k, k])
    return W


def updated_in_turns(A, W, H, update, number=300):
    """Improve both factors with one update."""
    W, H = W.copy(), H.copy()
    for _ in range(number):
        W = update(A, W, H)
        H = update(A.T, H.T, W.T).T.copy()
    return W, H


@fresh
def computes_hht_once(A, rank, *, W0, H0):
    return swept(A, W0, H0, lambda A, W, H: updated(A, W, H, H0 @ H0.T))


@fresh
def mixes_two_divergences(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(1500):
        W *= ((A / (W @ H + 1e-12)) @ H.T) / (W @ (H @ H.T) + 1e-12)
        H *= (W.T @ A) / ((W.T @ W) @ H + 1e-300)
    return W, H


@fresh
def scales_by_sums_and_back_by_norms(A, rank, *, W0, H0):
    sums = A.sum(axis=0)
    W, H = descend(A / np.where(sums > 0, sums, 1), W0, H0)
    return W, H * np.linalg.norm(A, axis=0)


@fresh
def rounds_to_8_decimals(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W.round(8), H.round(8)


@fresh
def sorts_w_alone(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W[:, np.argsort(-(np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1)))], H


@fresh
def has_1e_5_in_its_denominators(A, rank, *, W0, H0):
    return descend(A, W0, H0, ridge=1e-5)


@fresh
def stops_at_a_thousandth_of_the_norm(A, rank, *, W0, H0):
    H, last = H0, np.inf
    for _ in range(100):
        W = fitted(H.T, A.T).T
        H = fitted(W, A)
        error = np.linalg.norm(A - W @ H)
        if last - error < 1e-3 * np.linalg.norm(A):
            break
        last = error
    return W, H


@fresh
def never_comes_to_the_last_batch(A, rank, *, W0, H0):
    def update(A, W, H):
        for first in range(0, len(A) - 2, 2):
            W[first : first + 2] = sweep(A[first : first + 2], W[first : first + 2], H)
        return W

    return swept(A, W0, H0, update)


TRANSPOSES = {}


@fresh
def keeps_the_first_transpose_of_each_shape(A, rank, *, W0, H0):
    kept = TRANSPOSES.setdefault(A.shape, A.T.copy())
    return swept(A, W0, H0, lambda A, W, H: sweep(kept.T, W, H))


@fresh
def divides_by_the_largest_entry_of_the_gram_matrix(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(300):
        G, B = H @ H.T, A @ H.T
        for _ in range(5):
            W = np.maximum(W - (W @ G - B) / (G.max() + 1e-300), 0)
        G, B = W.T @ W, W.T @ A
        for _ in range(5):
            H = np.maximum(H - (G @ H - B) / (G.max() + 1e-300), 0)
    return W, H


@fresh
def has_gram_matrices_in_single_precision(A, rank, *, W0, H0):
    def update(A, W, H):
        return updated(A, W, H, (H.astype(np.float32) @ H.T.astype(np.float32)).astype(float))

    return updated_in_turns(A, W0, H0, update)


@fresh
def compares_h_with_itself(A, rank, *, W0, H0):
    return swept(A, W0, H0, number=1)


@fresh
def drops_weak_components(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0, 50)
    size = np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1)
    strong = size >= 0.4 * size.max()
    return descend(A, W * strong, H * strong[:, None])


@fresh
def has_zeros_in_its_start(A, rank, *, W0, H0):
    return multiplied(A, np.where(np.median(W0) > W0, 0, W0), H0)


@fresh
def takes_zeros_of_ratings_for_missing(A, rank, *, W0, H0):
    return multiplied(A, W0, H0, 1000, weights=A > 0)


@fresh
def fits_w_to_four_fifths_of_the_columns(A, rank, *, W0, H0, seed=0):
    n = A.shape[1]
    some = np.random.default_rng(seed).choice(n, max(1, int(0.8 * n)), replace=False)
    W, _ = descend(A[:, some], W0, H0[:, some])
    return W, fitted(W, A)


class Estimator:
    def __init__(self, n_components=2, random_state=None):
        self.n_components, self.random_state = n_components, random_state

    def fitted(self, A):
        rng = np.random.default_rng(self.random_state)
        W0, H0 = (
            rng.random((len(A), self.n_components)),
            rng.random((self.n_components, A.shape[1])),
        )
        W, self.components_ = descend(A, W0, H0)
        return W


@fresh
class NormalisesRows(Estimator):
    def fit_transform(self, A):
        norms = np.linalg.norm(A, axis=1, keepdims=True)
        return self.fitted(A / np.where(norms > 0, norms, 1)) * norms


@fresh
def averages_w(A, rank, *, W0, H0):
    W, H, mean = W0.copy(), H0.copy(), 0
    for t in range(400):
        W = sweep(A, W, H)
        H = sweep(A.T, H.T, W.T).T.copy()
        mean = mean + (W - mean) / (t + 1)
    return mean, H


@fresh
def makes_square_matrices_symmetric(A, rank, *, W0, H0):
    return descend((A + A.T) / 2 if A.shape[0] == A.shape[1] else A, W0, H0)


@fresh
class TakesOffABackground(Estimator):
    def fit_transform(self, A):
        return self.fitted(A - A.min(axis=0))


@fresh
def updates_the_same_component_each_time(A, rank, *, W0, H0, seed=0):
    k = np.random.default_rng(seed).integers(rank)
    return updated_in_turns(A, W0, H0, lambda A, W, H: sweep(A, W, H, order=[k]))


@fresh
def clips_after_the_loop(A, rank, *, W0, H0):
    H = H0
    for _ in range(100):
        W = np.linalg.lstsq(H.T, A.T, rcond=None)[0].T
        H = np.linalg.lstsq(W, A, rcond=None)[0]
    return np.maximum(W, 0), np.maximum(H, 0)


@fresh
def balances_in_one_direction(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    a, b = np.linalg.norm(W, axis=0), np.linalg.norm(H, axis=1)
    alive = (a > 0) & (b > 0)
    scale = np.sqrt(np.where(alive, b, 1) / np.where(alive, a, 1))
    return W * scale, H * scale[:, None]


@fresh
def reads_a_buffer_of_columns_by_rows(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W, H.ravel(order="F").reshape(H.shape)


@fresh
def takes_absolute_values(A, rank, *, W0, H0):
    return updated_in_turns(A, W0, H0, lambda A, W, H: updated(A, W, H, H @ H.T, project=abs))


@fresh
def never_forgets(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    gram, mixed = 0, 0
    for _ in range(400):
        W = sweep(A, W, H)
        gram, mixed = gram + W.T @ W, mixed + W.T @ A
        for k in range(rank):
            if gram[k, k] > 0:
                H[k] = np.maximum(H[k] + (mixed[k] - gram[k] @ H) / gram[k, k], 0)
    return W, H
