"""Fresh subjects, fifth set: first run before the rules were changed for it.

Then they had an own solver, and more iterations; what is wrong with each is the same. Three more
passed: one that ends with least squares clipped at zero, as ALS does; one that drops columns that
are there twice, which is wrong only where nothing fits exactly; and one that drops components of
less than a quarter of the largest.
"""

import numpy as np

from cheats import descend, sweep
from nmfcheck import reference

FRESH = {}


def fresh(thing):
    FRESH[thing.__name__] = thing
    return thing


def swept(A, W, H, number=40, **penalty):
    """Sweep a few times more, in NumPy, from where the engine's coordinate descent has ended."""
    W, H = descend(A, W, H)
    for _ in range(number):
        W = sweep(A, W, H, **penalty)
        H = sweep(A.T, H.T, W.T, **penalty).T.copy()
    return W, H


@fresh
def has_a_ridge_of_1e_7_in_its_denominators(A, rank, *, W0, H0):
    return swept(A, W0, H0, ridge=1e-7)


@fresh
def has_a_floor_of_1e_6(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    for _ in range(40):
        W = np.maximum(sweep(A, W, H), 1e-6)
        H = np.maximum(sweep(A.T, H.T, W.T).T, 1e-6)
    return W, H


@fresh
def reads_a_in_single_precision(A, rank, *, W0, H0):
    return descend(A.astype(np.float32).astype(float), W0, H0)


@fresh
def rounds_h_to_6_decimals(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W, H.round(6)


@fresh
def jitters_w_by_1e_9(A, rank, *, W0, H0, seed):
    W, H = descend(A, W0, H0)
    return W + 1e-9 * np.random.default_rng(seed).random(W.shape), H


@fresh
def adds_1e_6_to_a(A, rank, *, W0, H0):
    return descend(A + 1e-6, W0, H0)


@fresh
def stops_at_a_relative_change_of_1e_5(A, rank, *, W0, H0):
    W, H, before = W0.copy(), H0.copy(), np.inf
    for _ in range(150):
        H = sweep(A.T, H.T, W.T).T.copy()
        W = sweep(A, W, H)
        loss = ((A - W @ H) ** 2).sum()
        if before - loss < 1e-5 * before or loss < 1e-8 * (A**2).sum():
            break
        before = loss
    return W, H


@fresh
def stops_at_an_absolute_step_of_a_hundredth(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(400):
        old_W, old_H = W.copy(), H.copy()
        H = sweep(A.T, H.T, W.T).T.copy()
        W = sweep(A, W, H)
        if max(abs(W - old_W).max(), abs(H - old_H).max()) < 1e-2:
            break
    return W, H


@fresh
def leaves_two_penalties_on(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    for _ in range(40):
        W = sweep(A, W, H, ridge=2e-5)
        H = sweep(A.T, H.T, W.T, lasso=2e-5).T.copy()
    return W, H


@fresh
def reads_an_image_of_8_bits(A, rank, *, W0, H0):
    top = A.max() or 1.0
    return descend((A / top * 255).round() / 255 * top, W0, H0)


@fresh
def fits_a_sketch(A, rank, *, W0, H0, seed):
    sketch = A @ np.random.default_rng(seed).standard_normal((A.shape[1], rank + 1))
    Q, _ = np.linalg.qr(sketch)
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        W = sweep(Q @ (Q.T @ A), W, H)
        H = sweep((Q @ (Q.T @ A)).T, H.T, W.T).T.copy()
    return W, H


@fresh
def gives_zeros_no_weight(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(60):
        W = sweep(np.where(A > 0, A, W @ H), W, H)
        H = sweep(np.where(A > 0, A, W @ H).T, H.T, W.T).T.copy()
    return W, H


@fresh
def begins_at_component_1_of_w(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        W = sweep(A, W, H, order=range(1, rank))
        H = sweep(A.T, H.T, W.T).T.copy()
    return W, H


@fresh
def updates_w_in_blocks_of_4_rows(A, rank, *, W0, H0):
    W, H, rows = W0.copy(), H0.copy(), len(A) // 4 * 4
    for _ in range(100):
        H = sweep(A.T, H.T, W.T).T.copy()
        W[:rows] = sweep(A[:rows], W[:rows], H)
    return W, H


@fresh
def keeps_the_first_wtw(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    gram = W.T @ W
    for _ in range(100):
        mixed = W.T @ A
        for k in range(rank):
            H[k] = np.maximum(H[k] + (mixed[k] - gram[k] @ H) / gram[k, k], 0.0)
        W = sweep(A, W, H)
    return W, H


@fresh
def forgets_to_add_a_component_back(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        H = sweep(A.T, H.T, W.T).T.copy()
        gram, mixed = H @ H.T, A @ H.T
        for k in range(rank):
            W[:, k] = np.maximum((mixed[:, k] - W @ gram[:, k]) / max(gram[k, k], 1e-300), 0.0)
    return W, H


@fresh
def minimises_kullback_leibler(A, rank, *, W0, H0):
    answer = reference.kl_multiplicative_update(A, W0, H0, 500, threads=1)
    return answer.W, answer.H


@fresh
def makes_rows_sum_to_1_and_scales_back(A, rank, *, W0, H0):
    size = A.sum(axis=1, keepdims=True)
    size[size == 0] = 1.0
    W, H = descend(A / size, W0, H0)
    return W * size, H


@fresh
def locks_zeros(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        W = np.where(W > 0, sweep(A, W.copy(), H), 0.0)
        H = np.where(H > 0, sweep(A.T, H.T.copy(), W.T).T, 0.0)
    return W, H


@fresh
def has_a_box_of_0_to_1(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(100):
        W = np.minimum(sweep(A, W, H), 1.0)
        H = np.minimum(sweep(A.T, H.T, W.T).T, 1.0)
    return W, H


@fresh
def mixes_two_norms(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    size, sums = np.linalg.norm(W, axis=0), W.sum(axis=0)
    return W / np.where(size > 0, size, 1.0), H * sums[:, None]


@fresh
def reshapes_for_wide_a(A, rank, *, W0, H0):
    if len(A) >= A.shape[1]:
        return descend(A, W0, H0)
    Wt, Ht = descend(A.T, H0.T, W0.T)
    return Ht.T, Wt.reshape(rank, -1)


CACHE = {}


@fresh
def caches_by_shape(A, rank, *, W0, H0):
    return descend(CACHE.setdefault((A.shape, rank), A.copy()), W0, H0)
