"""Fresh subjects, fourth set: first run before the rules were changed for it.

Here they have fewer iterations than then, to save time.
"""

import numpy as np

from cheats import descend, nndsvd, sweep

FRESH = {}


def fresh(thing):
    FRESH[thing.__name__] = thing
    return thing


def sweeps(A, W, H, number=100, after=None):
    """Coordinate descent, also of an A with negative entries; `after` is done after each sweep."""
    W, H = W.copy(), H.copy()
    for _ in range(number):
        W = sweep(A, W, H)
        H = sweep(A.T, H.T, W.T).T.copy()
        if after is not None:
            W, H = after(W, H)
    return W, H


@fresh
def computes_wta_once(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    numerator = W.T @ A
    for _ in range(150):
        G, N = H @ H.T, A @ H.T
        for k in range(rank):
            W[:, k] = np.maximum(0, W[:, k] + (N[:, k] - W @ G[:, k]) / (G[k, k] + 1e-16))
        G = W.T @ W
        for k in range(rank):
            H[k] = np.maximum(0, H[k] + (numerator[k] - G[k] @ H) / (G[k, k] + 1e-16))
    return W, H


@fresh
def divides_h_by_the_norms_of_w(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    size = np.linalg.norm(W, axis=0) + 1e-300
    return W / size, H / size[:, None]


@fresh
def normalises_columns_and_leaves_it_at_that(A, rank, *, W0, H0):
    size = A.sum(axis=0)
    return descend(A / np.where(size > 0, size, 1), W0, H0)


@fresh
def undoes_a_scaling_in_both_factors(A, rank, *, W0, H0):
    W, H = descend(A / A.max(), W0, H0)
    return W * A.max(), H * A.max()


@fresh
def stores_its_answer_in_half_precision(A, rank, *, W0, H0):
    return tuple(X.astype(np.float16) for X in descend(A, W0, H0))


@fresh
def rounds_its_input(A, rank, *, W0, H0):
    return descend(np.round(A, 2), W0, H0)


@fresh
def leaves_an_l1_penalty_on(A, rank, *, W0, H0):
    return descend(A, W0, H0, sweeps=100, lasso=5e-3)


@fresh
def has_a_ridge_on_h_only(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        W = sweep(A, W, H)
        H = sweep(A.T, H.T, W.T, ridge=1e-2).T.copy()
    return W, H


@fresh
def has_a_floor_of_1e_3(A, rank, *, W0, H0):
    return sweeps(A, W0, H0, 100, lambda W, H: (np.maximum(W, 1e-3), np.maximum(H, 1e-3)))


@fresh
def goes_uphill_in_w(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        G = H @ H.T
        W = np.maximum(0, W + (W @ G - A @ H.T) / (np.linalg.norm(G) + 1e-16))
        H = sweep(A.T, H.T, W.T).T.copy()
    return W, H


@fresh
def swaps_the_step_sizes(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        G, N, step = H @ H.T, A @ H.T, 1 / (np.linalg.norm(W.T @ W) + 1e-16)
        for _ in range(3):
            W = np.maximum(0, W - step * (W @ G - N))
        G, N, step = W.T @ W, W.T @ A, 1 / (np.linalg.norm(H @ H.T) + 1e-16)
        for _ in range(3):
            H = np.maximum(0, H - step * (G @ H - N))
    return W, H


@fresh
def clips_its_input_to_1(A, rank, *, W0, H0):
    return descend(np.clip(A, 0, 1), W0, H0)


@fresh
def stops_at_the_first_rise(A, rank, *, W0, H0):
    """Clipped least squares, which is right often enough to pass."""
    W, H, best = W0, H0, np.inf
    for _ in range(500):
        W1 = np.maximum(0, np.linalg.lstsq(H.T, A.T, rcond=None)[0].T)
        H1 = np.maximum(0, np.linalg.lstsq(W1, A, rcond=None)[0])
        loss = np.linalg.norm(A - W1 @ H1)
        if loss > best:
            break
        W, H, best = W1, H1, loss
    return W, H


@fresh
def never_updates_the_last_component_of_h(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        W = sweep(A, W, H)
        H = sweep(A.T, H.T, W.T, order=range(rank - 1)).T.copy()
    return W, H


@fresh
def leaves_out_the_last_of_an_odd_number_of_rows(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    even = len(A) // 2 * 2
    for _ in range(100):
        W[:even] = sweep(A[:even], W[:even].copy(), H)
        H = sweep(A.T, H.T, W.T).T.copy()
    return W, H


@fresh
def starts_with_the_zeros_of_nndsvd(A, rank, *, W0, H0):
    W, H = nndsvd(A, rank)
    for _ in range(300):
        W = W * (A @ H.T) / (W @ (H @ H.T) + 1e-300)
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-300)
    return W, H


@fresh
def centres_the_columns_for_good(A, rank, *, W0, H0):
    return sweeps(A - A.mean(axis=0), W0, H0)


@fresh
def sorts_w_and_h_apart(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    by_size = (np.argsort(-np.linalg.norm(X, axis=axis)) for X, axis in ((W, 0), (H, 1)))
    first, second = by_size
    return W[:, first], H[second]


@fresh
def drops_a_percent_of_the_largest_of_h(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W, np.where(0.01 * H.max() > H, 0, H)


@fresh
def hides_the_signs_of_w(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        W = np.linalg.solve(H @ H.T + 1e-12 * np.eye(rank), H @ A.T).T
        H = sweep(A.T, H.T, W.T).T.copy()
    return abs(W), H


@fresh
def fills_in_zeros(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        X = np.where(A > 0, A, W @ H)
        W = sweep(X, W, H)
        H = sweep(X.T, H.T, W.T).T.copy()
    return W, H


@fresh
def sweeps_over_all_components_at_once(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(150):
        G = H @ H.T
        W = np.maximum(0, W + (A @ H.T - W @ G) / (np.diag(G) + 1e-16))
        G = W.T @ W
        H = np.maximum(0, H + (W.T @ A - G @ H) / (np.diag(G)[:, None] + 1e-16))
    return W, H


@fresh
def normalises_rows_and_scales_w_back(A, rank, *, W0, H0):
    size = np.linalg.norm(A, axis=1, keepdims=True)
    size[size == 0] = 1
    W, H = descend(A / size, W0, H0)
    return W * size, H


@fresh
def reshapes_h(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W, np.ascontiguousarray(H.T).reshape(rank, -1)
