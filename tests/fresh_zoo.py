"""Fresh subjects: wrong NMFs that no rule of the diagnosis was made for.

The list of faults was drawn up before the rules were written, and these were written and run after
the rules were frozen. What the first finding said is kept with each, right or not.
"""

import numpy as np

from cheats import descend, multiply, sweep

FRESH = {}


def fresh(function):
    FRESH[function.__name__] = function
    return function


def sweeps(A, W, H, number=100, after=None, **penalty):
    W, H = W.copy(), H.copy()
    for _ in range(number):
        W = sweep(A, W, H, **penalty)
        H = sweep(A.T, H.T, W.T, **penalty).T.copy()
        if after is not None:
            W, H = after(W, H)
    return W, H


@fresh
def stops_when_w_hardly_changes(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(2000):
        new, H = multiply(A, W, H, 1)
        change = np.linalg.norm(new - W) / np.linalg.norm(W)
        W = new
        if change < 1e-3:
            break
    return W, H


@fresh
def makes_the_columns_of_w_sum_to_1_at_the_end(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W / np.maximum(W.sum(axis=0), 1e-12), H


@fresh
def divides_columns_by_their_sums(A, rank, *, W0, H0):
    return descend(A / np.maximum(A.sum(axis=0), 1e-12), W0, H0)


@fresh
def takes_log1p(A, rank, *, W0, H0):
    return descend(np.log1p(A), W0, H0)


@fresh
def quantises_to_8_bits(A, rank, *, W0, H0):
    top = A.max()
    image = (A / top * 255).astype(np.uint8)
    return descend(image / 255.0 * top, W0, H0)


@fresh
def writes_4_decimals(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return tuple(np.array([[float(f"{x:.4f}") for x in row] for row in X]) for X in (W, H))


@fresh
def drops_below_1e_3_at_the_end(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    W[W < 1e-3] = 0
    H[H < 1e-3] = 0
    return W, H


@fresh
def has_a_floor_of_1e_4(A, rank, *, W0, H0):
    return sweeps(A, W0, H0, after=lambda W, H: (np.maximum(W, 1e-4), np.maximum(H, 1e-4)))


@fresh
def multiplies_with_1e_6(A, rank, *, W0, H0):
    return multiply(A, W0, H0, 500, constant=1e-6)


@fresh
def has_an_l1_penalty_on_h(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        W = sweep(A, W, H)
        H = sweep(A.T, H.T, W.T, lasso=0.01).T.copy()
    return W, H


@fresh
def jitters_w_at_the_end(A, rank, *, W0, H0, seed):
    W, H = descend(A, W0, H0)
    return W + 1e-4 * np.random.default_rng(seed).random(W.shape), H


@fresh
def does_not_fit_the_last_column(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(60):
        W = sweep(A[:, :-1], W, H[:, :-1].copy())
        H[:, :-1] = sweep(A[:, :-1].T, H[:, :-1].T.copy(), W.T).T
    return W, H


@fresh
def never_updates_w(A, rank, *, W0, H0):
    H = H0.copy()
    for _ in range(100):
        H = sweep(A.T, H.T, W0.T.copy()).T.copy()
    return W0.copy(), H


@fresh
def takes_a_hundredth_of_each_step(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(200):
        new_W, new_H = multiply(A, W, H, 1)
        W, H = W + 0.01 * (new_W - W), H + 0.01 * (new_H - H)
    return W, H


@fresh
def reads_columns_first(A, rank, *, W0, H0):
    """Right for symmetric matrices; others have the wrong shape of memory."""
    return descend(A.ravel().reshape(A.shape, order="F").copy(), W0, H0)


@fresh
def stops_at_an_objective_of_1e_4(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(2000):
        W, H = multiply(A, W, H, 1)
        if ((A - W @ H) ** 2).sum() < 1e-4:
            break
    return W, H


@fresh
def descends_on_random_rows(A, rank, *, W0, H0, seed):
    rng = np.random.default_rng(seed)
    W, H = W0.copy(), H0.copy()
    for _ in range(500):
        i = rng.integers(len(A))
        error = W[i] @ H - A[i] * (1 + 0.1 * rng.standard_normal())
        W[i] = np.maximum(W[i] - 0.05 * error @ H.T, 0)
        H = np.maximum(H - 0.05 * np.outer(W[i], error), 0)
    return W, H


@fresh
def takes_a_fixed_step_that_is_too_large(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(200):
        W = np.clip(W - 0.9 * (W @ H - A) @ H.T, 0, 1e3)
        H = np.clip(H - 0.9 * W.T @ (W @ H - A), 0, 1e3)
    return W, H


@fresh
def takes_zeros_for_missing(A, rank, *, W0, H0):
    mask = A > 0
    W, H = W0.copy(), H0.copy()
    for _ in range(500):
        H *= (W.T @ (mask * A)) / (W.T @ (mask * (W @ H)) + 1e-300)
        W *= ((mask * A) @ H.T) / ((mask * (W @ H)) @ H.T + 1e-300)
    return W, H


@fresh
def adds_a_pseudocount(A, rank, *, W0, H0):
    return descend(A + 0.01, W0, H0)


@fresh
def clips_outliers(A, rank, *, W0, H0):
    return descend(np.minimum(A, np.quantile(A, 0.9)), W0, H0)


@fresh
def averages_two_runs(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    V, G = descend(A, W0[::-1].copy(), H0[:, ::-1].copy())
    return (W + V) / 2, (H + G) / 2


@fresh
def never_computes_the_gram_matrix_again(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    gram = W0.T @ W0
    for _ in range(100):
        W = sweep(A, W, H)
        H = np.maximum(np.linalg.solve(gram, W.T @ A), 0)
    return W, H


@fresh
def makes_the_columns_of_h_sum_to_1(A, rank, *, W0, H0):
    return sweeps(A, W0, H0, after=lambda W, H: (W, H / np.maximum(H.sum(axis=0), 1e-12)))


@fresh
def returns_shuffled_rows(A, rank, *, W0, H0, seed):
    order = np.random.default_rng(seed).permutation(len(A))
    return descend(A[order], W0, H0)


@fresh
def has_a_default_of_10_iterations(A, rank, *, W0, H0, max_iter=10):
    return multiply(A, W0, H0, max_iter)


@fresh
def mixes_two_losses(A, rank, *, W0, H0):
    """Update W for Kullback–Leibler, H for the Frobenius norm."""
    W, H = W0.copy(), H0.copy()
    for _ in range(300):
        W *= (A / (W @ H + 1e-300)) @ H.T / (H.sum(axis=1) + 1e-300)
        H *= (W.T @ A) / (W.T @ W @ H + 1e-300)
    return W, H


@fresh
def drops_entries_of_a_at_random(A, rank, *, W0, H0, seed):
    return descend(A * (np.random.default_rng(seed).random(A.shape) > 0.1), W0, H0)


@fresh
def weighs_by_tf_idf(A, rank, *, W0, H0):
    tf = A / np.maximum(A.sum(axis=1, keepdims=True), 1e-12)
    idf = np.log((1 + len(A)) / (1 + (A > 0).sum(axis=0))) + 1
    return descend(tf * idf, W0, H0)


@fresh
def scales_columns_to_0_and_1(A, rank, *, W0, H0):
    low, high = A.min(axis=0), A.max(axis=0)
    return descend((A - low) / np.maximum(high - low, 1e-12), W0, H0)
