"""Fresh subjects, second set: drawn up before the rules were changed after the first one.

Written and run after the rules were frozen again; nothing was changed after that.
"""

import numpy as np

from cheats import descend, multiply, sweep

FRESH = {}


def fresh(thing):
    FRESH[thing.__name__] = thing
    return thing


def sweeps(A, W, H, number=100, after=None, **penalty):
    W, H = W.copy(), H.copy()
    for _ in range(number):
        W = sweep(A, W, H, **penalty)
        H = sweep(A.T, H.T, W.T, **penalty).T.copy()
        if after is not None:
            W, H = after(W, H)
    return W, H


@fresh
def stops_at_a_change_of_a_hundredth(A, rank, *, W0, H0):
    W, H, before = W0, H0, np.inf
    for _ in range(500):
        W, H = sweeps(A, W, H, 1)
        now = np.linalg.norm(A - W @ H)
        if before - now <= 1e-2 * before:
            break
        before = now
    return W, H


@fresh
def scales_the_rows_of_h_to_norm_1(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W, H / np.maximum(np.linalg.norm(H, axis=1, keepdims=True), 1e-12)


@fresh
def divides_by_the_frobenius_norm(A, rank, *, W0, H0):
    return descend(A / np.linalg.norm(A), W0, H0)


@fresh
def stabilises_the_variance(A, rank, *, W0, H0):
    """Anscombe's transform."""
    return descend(2 * np.sqrt(A + 3 / 8), W0, H0)


@fresh
def reads_a_in_fixed_point(A, rank, *, W0, H0):
    return descend(np.round(A * 16) / 16, W0, H0)


@fresh
def casts_to_half_precision_in_each_iteration(A, rank, *, W0, H0):
    def cast(W, H):
        return W.astype(np.float16).astype(float), H.astype(np.float16).astype(float)

    return sweeps(A, W0, H0, 60, cast)


@fresh
def drops_two_percent_of_the_largest(A, rank, *, W0, H0):
    return sweeps(A, W0, H0, 60, lambda W, H: (W, np.where(0.02 * H.max() > H, 0.0, H)))


@fresh
def has_a_floor_of_1e_8_under_w(A, rank, *, W0, H0):
    return sweeps(A, W0, H0, 100, lambda W, H: (np.maximum(W, 1e-8), H))


@fresh
def has_a_ridge_in_its_normal_equations(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    ridge = 1e-5 * np.eye(rank)
    for _ in range(200):
        H = np.maximum(np.linalg.solve(W.T @ W + ridge, W.T @ A), 0)
        W = np.maximum(np.linalg.solve(H @ H.T + ridge, H @ A.T).T, 0)
    return W, H


@fresh
def keeps_the_two_largest_of_each_column(A, rank, *, W0, H0):
    def keep(W, H):
        least = np.sort(H, axis=0)[-min(2, rank)]
        return W, np.where(least > H, 0.0, H)

    return sweeps(A, W0, H0, 100, keep)


@fresh
def multiplies_with_noise(A, rank, *, W0, H0, seed):
    rng = np.random.default_rng(seed)
    return sweeps(A, W0, H0, 60, lambda W, H: (W * (1 + 0.01 * rng.random(W.shape)), H))


@fresh
def leaves_out_the_last_row(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(60):
        W[:-1] = sweep(A[:-1], W[:-1].copy(), H)
        H = sweep(A[:-1].T, H.T.copy(), W[:-1].T.copy()).T.copy()
    return W, H


@fresh
def forgets_w_in_a_denominator(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        H *= (W.T @ A) / (W.T @ W @ H + 1e-300)
        W *= (A @ H.T) / (np.ones_like(A) @ H.T @ H @ H.T + 1e-300)
    return W, H


@fresh
def has_too_much_momentum(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    dW, dH = np.zeros_like(W), np.zeros_like(H)
    for _ in range(300):
        dW = 0.99 * dW - 0.1 * (W @ H - A) @ H.T
        W = np.maximum(W + dW, 0)
        dH = 0.99 * dH - 0.1 * W.T @ (W @ H - A)
        H = np.maximum(H + dH, 0)
    return W, H


@fresh
class FitsInFiveIterations:
    """An estimator."""

    def __init__(self, n_components=2, max_iter=5, random_state=None):
        self.n_components = n_components
        self.max_iter = max_iter
        self.random_state = random_state

    def fit_transform(self, A):
        rng = np.random.default_rng(self.random_state)
        W, H = rng.random((len(A), self.n_components)), rng.random((self.n_components, A.shape[1]))
        W, self.components_ = multiply(A, W, H, self.max_iter)
        return W


@fresh
def returns_the_worst_of_five(A, rank, *, W0, H0):
    """Keep the iterate with the largest error instead of the smallest."""
    W, H = W0, H0
    found = []
    for _ in range(5):
        W, H = multiply(A, W, H, 40)
        found.append((np.linalg.norm(A - W @ H), W, H))
    return max(found, key=lambda each: each[0])[1:]


@fresh
def centres_the_columns(A, rank, *, W0, H0):
    return descend(np.maximum(A - A.mean(axis=0), 0), W0, H0)


@fresh
def truncates_the_svd(A, rank, *, W0, H0):
    U, s, V = np.linalg.svd(A, full_matrices=False)
    few = max(1, rank - 1)
    return descend(np.maximum((U[:, :few] * s[:few]) @ V[:few], 0), W0, H0)


@fresh
def reverses_the_rows_of_h(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W, H[::-1]


@fresh
def has_a_penalty_in_units_of_a(A, rank, *, W0, H0):
    return sweeps(A, W0, H0, 100, ridge=0.01 * A.mean())


@fresh
def weighs_rows(A, rank, *, W0, H0):
    weights = np.arange(1.0, len(A) + 1)[:, None]
    W, H = descend(A * weights, W0, H0)
    return W / weights, H


@fresh
def minimises_absolute_deviations(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(300):
        V = 1 / np.maximum(abs(A - W @ H), 1e-6)
        H *= (W.T @ (V * A)) / (W.T @ (V * (W @ H)) + 1e-300)
        V = 1 / np.maximum(abs(A - W @ H), 1e-6)
        W *= ((V * A) @ H.T) / ((V * (W @ H)) @ H.T + 1e-300)
    return W, H


@fresh
def replaces_the_largest_entry(A, rank, *, W0, H0):
    B = A.copy()
    B[np.unravel_index(A.argmax(), A.shape)] = A.mean()
    return descend(B, W0, H0)


@fresh
def reads_integers(A, rank, *, W0, H0):
    return descend(A.astype(int).astype(float), W0, H0)


@fresh
def adds_a_part_of_the_mean(A, rank, *, W0, H0):
    return descend(A + 1e-3 * A.mean(), W0, H0)


@fresh
def has_a_constant_component(A, rank, *, W0, H0):
    def fix(W, H):
        H[0] = A.mean(axis=0)
        return W, H

    return sweeps(A, W0, H0, 100, fix)


@fresh
def normalises_w_in_each_iteration(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        H = sweep(A.T, H.T, W.T.copy()).T.copy()
        W = sweep(A, W, H)
        W = W / np.maximum(W.sum(axis=0), 1e-12)
    return W, H


@fresh
def swaps_two_columns_by_chance(A, rank, *, W0, H0, seed):
    W, H = descend(A, W0, H0)
    order = np.random.default_rng(seed).permutation(rank)
    return W[:, order], H
