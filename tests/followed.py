"""NMFs to be followed line by line: right ones, and wrong ones with a line that is to be named."""

import numpy as np


def start(A, rank, W0, H0, seed):
    rng = np.random.default_rng(seed)
    W = rng.random((len(A), rank)) if W0 is None else W0.copy()
    H = rng.random((rank, A.shape[1])) if H0 is None else H0.copy()
    return W, H


def half(G, B, X):
    """Improve X in place, row by row."""
    for j in range(len(X)):
        if G[j, j] > 0:
            X[j] = np.maximum(0.0, X[j] + (B[j] - G[j] @ X) / G[j, j])


def hals(A, W, H, sweeps=400):
    V = W.T.copy()
    for _ in range(sweeps):
        half(V @ V.T, V @ A, H)
        half(H @ H.T, H @ A.T, V)
    return V.T.copy(), H


def right(A, rank, *, W0=None, H0=None, seed=0):
    return hals(A, *start(A, rank, W0, H0, seed))


def right_and_scaled_to_and_fro(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for _ in range(3000):
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-300)
        W = W * (A @ H.T) / (W @ (H @ H.T) + 1e-300)
        s = W.sum(axis=0)
        W = W / s
        H = H * s[:, None]
    return W, H


def normalised_at_the_end(A, rank, *, W0=None, H0=None, seed=0):
    W, H = hals(A, *start(A, rank, W0, H0, seed))
    s = W.sum(axis=0)
    W = W / s  # HERE
    return W, H


def normalised_as_it_returns(A, rank, *, W0=None, H0=None, seed=0):
    W, H = hals(A, *start(A, rank, W0, H0, seed))
    return W / W.sum(axis=0), H  # HERE


def built_anew(A, rank, *, W0=None, H0=None, seed=0):
    W, H = hals(A, *start(A, rank, W0, H0, seed))
    out = np.zeros_like(W)  # HERE
    for i in range(len(W) - 1):
        out[i] = W[i]
    return out, H


def wrong_update(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for _ in range(300):
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-300)
        W = W * np.sqrt(A @ H.T) / (W @ (H @ H.T) + 1e-300)  # HERE
    return W, H


def wrong_update_in_place(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    V = W.T.copy()
    for _ in range(300):
        half(V @ V.T, V @ A, H)
        half(V @ V.T, H @ A.T, V)  # HERE
    return V.T, H


def leaves_its_loop(A, rank, *, W0=None, H0=None, seed=0, max_iter=1000):
    W, H = start(A, rank, W0, H0, seed)
    before = np.inf
    for _ in range(max_iter):
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-300)
        W = W * (A @ H.T) / (W @ (H @ H.T) + 1e-300)
        error = np.linalg.norm(A - W @ H)
        if abs(before - error) < 1e-1:
            break  # HERE
        before = error
    return W, H


def reads_no_limit(A, rank, *, W0=None, H0=None, seed=0, max_iter=1000):
    W, H = start(A, rank, W0, H0, seed)
    for _ in range(5):  # HERE
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-300)
        W = W * (A @ H.T) / (W @ (H @ H.T) + 1e-300)
    return W, H


def divides_by_nothing(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    H[0] = 0.0
    with np.errstate(all="ignore"):
        for _ in range(50):
            H = H * (W.T @ A) / (W.T @ W @ H)
            W = W * (A @ H.T) / (W @ (H @ H.T))  # HERE
    return W, H


def fitted_again(A, rank, *, W0=None, H0=None, seed=0):
    W, H = hals(A, *start(A, rank, W0, H0, seed), sweeps=2)
    H = np.linalg.lstsq(W, A, rcond=None)[0]  # HERE
    return W, H


def raises(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    try:
        W[len(A)] = 0.0
    except IndexError:
        W = W + 0.0
    W[len(A) + 1] = 1.0  # HERE
    return W, H


def empties(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    H[0] = 0.0  # HERE
    return W, H


class Estimator:
    def __init__(self, n_components=2, random_state=0):
        self.n_components, self.random_state = n_components, random_state

    def fit_transform(self, X, y=None):
        W, H = hals(X, *start(X, self.n_components, None, None, self.random_state))
        self.components_ = H
        self.components_ = self.components_ / H.sum(axis=1, keepdims=True)  # HERE
        return W


def never_ends_in_time(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    number = 0
    while number < 10**9:
        number += 1
    return W, H


def shuffles_behind_its_loop(A, rank, *, W0=None, H0=None, seed=0):
    W, H = hals(A, *start(A, rank, W0, H0, seed))
    W, H = np.sort(W, axis=None).reshape(W.shape), H[:, ::-1] ** 1.5  # HERE
    return W, H


def returns_an_old_h(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for i in range(40):
        if i == 1:
            kept = H.copy()
        W, H = hals(A, W, H, sweeps=10)
    return W, kept


def uses_an_old_gram_matrix(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    G = W.T @ W
    for _ in range(50):
        H = H * (W.T @ A) / (G @ H + 1e-300)  # HERE
        G = W.T @ W
        W = W * (A @ H.T) / (W @ (H @ H.T) + 1e-300)
    return W, H


def uses_an_old_residual(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for _ in range(50):
        R = A - W @ H
        for j in range(rank):
            mine = R + np.outer(W[:, j], H[j])  # HERE
            H[j] = np.maximum(W[:, j] @ mine, 0) / (W[:, j] @ W[:, j] + 1e-300)
            W[:, j] = np.maximum(mine @ H[j], 0) / (H[j] @ H[j] + 1e-300)
    return W, H


def right_with_a_residual_that_is_kept(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    R = A - W @ H
    for _ in range(400):
        for j in range(rank):
            R += np.outer(W[:, j], H[j])
            H[j] = np.maximum(W[:, j] @ R, 0) / (W[:, j] @ W[:, j] + 1e-300)
            W[:, j] = np.maximum(R @ H[j], 0) / (H[j] @ H[j] + 1e-300)
            R -= np.outer(W[:, j], H[j])
    return W, H


def right_with_two_gradients_at_once(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for _ in range(400):
        R = W @ H - A
        in_W, in_H = R @ H.T, W.T @ R
        step = 0.5 / (np.linalg.norm(W, 2) ** 2 + np.linalg.norm(H, 2) ** 2)
        W = np.maximum(W - step * in_W, 0)
        H = np.maximum(H - step * in_H, 0)
    return W, H


def bounds_its_denominators(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for _ in range(50):
        H = H * (W.T @ A) / np.maximum(W.T @ W @ H, 1e-300)
        below = np.maximum(W @ (H @ H.T), 1.0)
        W = W * (A @ H.T) / below  # HERE
    return W, H


def leaves_at_once(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    before = np.linalg.norm(A - W @ H)
    while True:
        for j in range(rank):
            w = W[:, j]
            H[j] = np.maximum(0, H[j] + w @ (A - W @ H) / (w @ w))
        error = np.linalg.norm(A - W @ H)
        if error - before < 1e-9:
            break  # HERE
        before = error
    return W, H


def starts_far_too_large(A, rank, *, seed=0):
    W, H = start(A, rank, None, None, seed)
    return hals(A, 100 * W, 100 * H)


def empties_h_and_then_w(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for _ in range(3):
        H[0] = H[0] - H[0]  # HERE
        W = W * (A @ H.T) / (W @ (H @ H.T) + 1e-300)
    return W, H


def takes_seed_0_for_none(A, rank, *, seed=None):
    W, H = start(A, rank, None, None, seed if seed else None)
    return hals(A, W, H)


def right_and_bounded_afterwards(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for _ in range(400):
        G, B = W.T @ W, W.T @ A
        for j in range(rank):
            H[j] += (B[j] - G[j] @ H) / (G[j, j] + 1e-300)
            np.maximum(H[j], 0, out=H[j])
        G, B = H @ H.T, A @ H.T
        for j in range(rank):
            W[:, j] += (B[:, j] - W @ G[:, j]) / (G[j, j] + 1e-300)
            np.maximum(W[:, j], 0, out=W[:, j])
    return W, H


def refuses(X):
    raise ValueError(X.shape)


def calls_what_raises(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    refuses(W)  # HERE
    return W, H


def starts_at_zero(A, rank, *, W0=None, H0=None, seed=0):
    W, _ = start(A, rank, W0, H0, seed)
    H = np.zeros((rank, A.shape[1]))  # HERE
    for _ in range(30):
        H *= (W.T @ A) / (W.T @ W @ H + 1e-12)
        W *= (A @ H.T) / (W @ H @ H.T + 1e-12)
    return W, H


def forgets_its_own_component(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for _ in range(100):
        for j in range(rank):
            R = A - W @ H
            H[j] = np.maximum(W[:, j] @ R / (W[:, j] @ W[:, j]), 0)  # HERE
            R = A - W @ H + np.outer(W[:, j], H[j])
            W[:, j] = np.maximum(R @ H[j] / (H[j] @ H[j] + 1e-300), 0)
    return W, H


def scales_before_and_forgets_its_own_component(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    sizes = W.sum(axis=0)
    for j in range(rank):
        W[:, j] /= sizes[j]
    for j in range(rank):
        H[j] *= sizes[j]
    for _ in range(100):
        G, B = H @ H.T, A @ H.T
        for j in range(rank):
            W[:, j] = np.maximum((B[:, j] - W @ G[:, j]) / G[j, j], 0)  # HERE
    return W, H


def leaves_out_a_component(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for _ in range(50):
        for j in range(1, rank):
            R = A - W @ H + np.outer(W[:, j], H[j])
            H[j] = np.maximum(W[:, j] @ R / (W[:, j] @ W[:, j] + 1e-300), 0)
            W[:, j] = np.maximum(R @ H[j] / (H[j] @ H[j] + 1e-300), 0)
    return W, H


def holds_h_from_the_fifth_pass_on(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for i in range(100):
        W *= (A @ H.T) / (W @ (H @ H.T) + 1e-300)
        if i < 5:
            H *= (W.T @ A) / (W.T @ W @ H + 1e-300)  # HERE
    return W, H


def bounded_at_the_end_only(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for _ in range(200):
        W = A @ np.linalg.pinv(H)
        H = np.linalg.pinv(W) @ A
    H = np.maximum(H, 0)  # HERE
    return np.maximum(W, 0), H


def keeps_w_and_h_in_one_array(A, rank, *, W0=None, H0=None, seed=0):
    pool = np.random.default_rng(seed).random((max(A.shape), rank))
    W, H = pool[: len(A)], pool[: A.shape[1]].T
    for _ in range(50):
        half(W.T @ W, W.T @ A, H)
        half(H @ H.T, H @ A.T, W.T)
    return W, H


def adds_to_what_it_keeps(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    V, kept = W.T.copy(), np.zeros((rank, rank))
    for _ in range(50):
        half(V @ V.T + kept, V @ A, H)
        G = kept
        G += H @ H.T  # HERE
        half(G, H @ A.T, V)
    return V.T, H


def writes_into_its_own_numerator(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    room, other = np.empty_like(H), np.empty_like(W)
    for _ in range(50):
        B = np.matmul(W.T, A, out=room)
        below = np.matmul(W.T @ W, H, out=room)  # HERE
        H = H * B / (below + 1e-300)
        B = np.matmul(A, H.T, out=other)
        W = W * B / (W @ (H @ H.T) + 1e-300)
    return W, H


def right_with_work_arrays(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    above, below = np.empty_like(H), np.empty_like(H)
    for _ in range(3000):
        N = np.matmul(W.T, A, out=above)
        G = W.T @ W
        for _ in range(2):
            P = np.matmul(G, H, out=below)
            np.add(P, 1e-9, out=below)
            H *= N
            H /= P
        W *= (A @ H.T) / (W @ (H @ H.T) + 1e-300)
    return W, H


def reads_its_start_again(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)

    def step(W):
        return W * (A @ H0.T) / (W @ (H0 @ H0.T) + 1e-300)  # HERE

    for _ in range(50):
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-300)
        W = step(W)
    return W, H


def changes_both_at_once(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for _ in range(50):
        R = W @ H
        by_h = (W.T @ A) / (W.T @ R + 1e-300)
        by_w = (A @ H.T) / (R @ H.T + 1e-300)
        H = H * by_h
        W = W * by_w  # HERE
    return W, H


def steps_too_far_at_first(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    for i in range(3000):
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-300)
        W = W * (A @ H.T) / (W @ (H @ H.T) + 1e-300)
        if i == 5:
            W = W * 30  # HERE
    return W, H


def leaves_an_answer_and_comes_back(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    V = W.T.copy()
    V[0] = V[0] + V[1:].sum(axis=0) ** 2  # HERE
    for _ in range(400):
        half(V @ V.T, V @ A, H)
        half(H @ H.T, H @ A.T, V)
    return V.T.copy(), H


def right_with_a_momentum(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    before = W, H
    for _ in range(1000):
        further = W + 0.5 * (W - before[0]), H + 0.5 * (H - before[1])
        before = W, H
        W, H = np.maximum(0, further[0]), np.maximum(0, further[1])
        half(W.T @ W, W.T @ A, H)
        W = W.T.copy()
        half(H @ H.T, H @ A.T, W)
        W = W.T
    return W, H


def leaves_out_rows_of_w_after_a_while(A, rank, *, W0=None, H0=None, seed=0):
    W, H = hals(A, *start(A, rank, W0, H0, seed), sweeps=1)
    for _ in range(100):
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-300)
        some = slice(0, rank + 1)
        W[some] = W[some] * (A[some] @ H.T) / (W[some] @ (H @ H.T) + 1e-300)
    return W, H


def right_from_an_svd(A, rank, *, W0=None, H0=None, seed=0):
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    U, V = U[:, :rank] * np.sqrt(s[:rank]), np.sqrt(s[:rank])[:, None] * Vt[:rank]
    W, H = np.abs(U) + 0.01, np.abs(V) + 0.01
    for _ in range(3000):
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-300)
        W = W * (A @ H.T) / (W @ (H @ H.T) + 1e-300)
    return W, H


def right_with_a_residual_set_anew(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    R = A - W @ H
    for _ in range(400):
        for j in range(rank):
            h = np.maximum(0, H[j] + W[:, j] @ R / (W[:, j] @ W[:, j] + 1e-300))
            R = R - np.outer(W[:, j], h - H[j])
            H[j] = h
            w = np.maximum(0, W[:, j] + R @ H[j] / (H[j] @ H[j] + 1e-300))
            R = R - np.outer(w - W[:, j], H[j])
            W[:, j] = w
    return W, H


def right_with_inner_steps(A, rank, *, W0=None, H0=None, seed=0):
    def solved(A, W, H):
        length = np.linalg.norm(H @ H.T, 2) + 1e-300
        for _ in range(60):
            W = np.maximum(0, W - (W @ (H @ H.T) - A @ H.T) / length)
        return W

    W, H = W0.copy(), H0.copy()
    for _ in range(200):
        W = solved(A, W, H)
        H = solved(A.T, H.T, W.T).T
    return W, H


def right_of_six_starts(A, rank, *, W0=None, H0=None, seed=0):
    rng = np.random.default_rng(seed)
    best = None
    for _ in range(6):
        W = rng.random((len(A), rank))
        H = rng.random((rank, A.shape[1]))
        for _ in range(100):
            half(W.T @ W, W.T @ A, H)
            half(H @ H.T, H @ A.T, W.T)
        error = np.linalg.norm(A - W @ H)
        if best is None or error < best[0]:
            best = error, W.copy(), H.copy()
    return best[1], best[2]


class WithSlots:
    __slots__ = ("components_", "n_components", "random_state")

    def __init__(self, n_components=2, random_state=0):
        self.n_components, self.random_state = n_components, random_state

    def __getattr__(self, name):
        raise KeyError(name)

    def fit_transform(self, X, y=None):
        W, H = hals(X, *start(X, self.n_components, None, None, self.random_state))
        self.components_ = H
        return W / W.sum(axis=0)


CALLS = []


def takes_another_way_each_time(A, rank, *, W0=None, H0=None, seed=0):
    CALLS.append(1)
    W, H = hals(A, *start(A, rank, W0, H0, seed), sweeps=3)
    if len(CALLS) % 2:
        W = W + 1
    if not len(CALLS) % 2:
        W = W + 2
    return W, H


def keeps_a_log_of_nan(A, rank, *, W0=None, H0=None, seed=0):
    losses = np.full(50, np.nan)
    W, H = divides_by_nothing(A, rank, W0=W0, H0=H0, seed=seed)
    losses[0] = np.linalg.norm(A - W @ H)
    return W, H


def returns_under_a_condition_and_shares(A, rank, *, W0=None, H0=None, seed=0):
    W = np.ones((len(A), rank)) / rank
    H = W.T.copy()
    if len(A) == A.shape[1]:
        return W, H
    return start(A, rank, W0, H0, seed)


def catches_what_it_raises(A, rank, *, W0=None, H0=None, seed=0):
    try:
        {}["max_iter"]
    except KeyError:
        W, H = start(A, rank, W0, H0, seed)
    return W, H, 3


def has_a_loop_over_several_lines(A, rank, *, W0=None, H0=None, seed=0):
    W, H = start(A, rank, W0, H0, seed)
    done = 0
    while (
        done
        < 30
    ):  # fmt: skip
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-300)
        W = W * (A @ H.T) / (W @ (H @ H.T) + 1e-300)
        done += 1
    return W, H


def hands_on_what_it_overwrote(A, rank, *, W0=None, H0=None, seed=0):
    def step(W, H):
        above = A @ H.T
        ratio = above
        ratio /= W @ (H @ H.T) + 1e-9
        return W * ratio, above

    W, H = start(A, rank, W0, H0, seed)
    for _ in range(300):
        H = H * (W.T @ A) / (W.T @ W @ H + 1e-300)
        W, _ = step(W, H)
    return W, H
