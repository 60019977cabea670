"""Fresh subjects, third set: drawn up before the rules were changed after the second one.

Written and run after the rules were frozen for the third time.
"""

import numpy as np

from cheats import descend, multiply, sweep

FRESH = {}


def fresh(thing):
    FRESH[thing.__name__] = thing
    return thing


def sweeps(A, W, H, number=100, after=None):
    W, H = W.copy(), H.copy()
    for _ in range(number):
        W = sweep(A, W, H)
        H = sweep(A.T, H.T, W.T).T.copy()
        if after is not None:
            W, H = after(W, H)
    return W, H


@fresh
def divides_rows_by_their_largest_entry(A, rank, *, W0, H0):
    return descend(A / np.maximum(A.max(axis=1, keepdims=True), 1e-12), W0, H0)


@fresh
def raises_to_a_power(A, rank, *, W0, H0):
    return descend(A**0.7, W0, H0)


@fresh
def keeps_3_significant_digits(A, rank, *, W0, H0):
    return descend(np.array([[float(f"{x:.3g}") for x in row] for row in A]), W0, H0)


@fresh
def adds_a_percent_of_the_largest(A, rank, *, W0, H0):
    return descend(A + 0.01 * A.max(), W0, H0)


@fresh
def thresholds_softly(A, rank, *, W0, H0):
    return descend(np.maximum(A - 0.05, 0), W0, H0)


@fresh
def rounds_h_to_2_decimals(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W, H.round(2)


@fresh
def smooths_w_after_each_update(A, rank, *, W0, H0):
    def smooth(W, H):
        padded = np.pad(W, ((1, 1), (0, 0)), mode="edge")
        return 0.9 * W + 0.05 * (padded[:-2] + padded[2:]), H

    return sweeps(A, W0, H0, 100, smooth)


@fresh
def multiplies_30_times(A, rank, *, W0, H0):
    return multiply(A, W0, H0, 30)


@fresh
def stops_at_an_absolute_gradient(A, rank, *, W0, H0):
    W, H = W0, H0
    for _ in range(2000):
        W, H = multiply(A, W, H, 1)
        if np.linalg.norm(W.T @ (W @ H - A)) < 1e-2:
            break
    return W, H


@fresh
def has_1e_4_in_the_denominators_of_h(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(200):
        W = sweep(A, W, H)
        H = sweep(A.T, H.T, W.T, ridge=1e-4).T.copy()
    return W, H


@fresh
def has_an_l2_penalty_on_w(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        W = sweep(A, W, H, ridge=0.01)
        H = sweep(A.T, H.T, W.T).T.copy()
    return W, H


@fresh
def adds_noise_to_a(A, rank, *, W0, H0, seed):
    noise = 0.01 * np.random.default_rng(seed).standard_normal(A.shape)
    return descend(abs(A + noise), W0, H0)


@fresh
def drops_a_component_by_chance(A, rank, *, W0, H0, seed):
    W, H = descend(A, W0, H0)
    if rank > 1:
        W[:, np.random.default_rng(seed).integers(rank)] *= 0.5
    return W, H


@fresh
def leaves_out_the_first_row(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(60):
        W[1:] = sweep(A[1:], W[1:].copy(), H)
        H = sweep(A[1:].T, H.T.copy(), W[1:].T.copy()).T.copy()
    return W, H


@fresh
def returns_the_first_h(A, rank, *, W0, H0):
    W, _ = descend(A, W0, H0)
    return W, H0


@fresh
def steps_uphill_in_h(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(60):
        W = sweep(A, W, H)
        H = np.clip(H + 0.05 * W.T @ (W @ H - A), 0, 10)
    return W, H


@fresh
def uses_the_transpose_for_h(A, rank, *, W0, H0):
    B = A.T if A.shape[0] == A.shape[1] else A
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        W = sweep(A, W, H)
        H = sweep(B.T.copy(), H.T, W.T).T.copy()
    return W, H


@fresh
def makes_the_largest_of_each_column_of_h_1(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W, H / np.maximum(H.max(axis=0), 1e-12)


@fresh
def sorts_the_components_of_w(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W[:, np.argsort(-np.linalg.norm(W, axis=0))], H


@fresh
def computes_in_single_precision(A, rank, *, W0, H0):
    return descend(*(X.astype(np.float32) for X in (A, W0, H0)), sweeps=100)


@fresh
def takes_log2(A, rank, *, W0, H0):
    return descend(np.log2(A + 1), W0, H0)


@fresh
def clips_w_at_1_in_each_iteration(A, rank, *, W0, H0):
    return sweeps(A, W0, H0, 100, lambda W, H: (np.minimum(W, 1.0), np.minimum(H, 1.0)))


@fresh
def scales_a_to_0_and_1(A, rank, *, W0, H0):
    return descend((A - A.min()) / (A.max() - A.min()), W0, H0)


@fresh
def scales_twice(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    size = np.maximum(np.linalg.norm(W, axis=0), 1e-12)
    return W / size, H / size[:, None]
