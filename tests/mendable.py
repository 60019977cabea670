"""NMFs with one fault each, and the line that it is in: ``# FAULT`` stands behind it."""

import os
import shutil
from pathlib import Path

import numpy as np

FLOOR = 0.5  # FAULT of has_a_floor


def start(A, rank, W0, H0):
    return np.array(W0, dtype=float), np.array(H0, dtype=float)


def hals(A, W, H, sweeps=150):
    for _ in range(sweeps):
        G, B = W.T @ W, W.T @ A
        for j in range(len(H)):
            H[j] = np.maximum(0.0, H[j] + (B[j] - G[j] @ H) / (G[j, j] + 1e-300))
        G, B = H @ H.T, H @ A.T
        for j in range(len(H)):
            W[:, j] = np.maximum(0.0, W[:, j] + (B[j] - G[j] @ W.T) / (G[j, j] + 1e-300))
    return W, H


def right(A, rank, *, W0, H0):
    return hals(A, *start(A, rank, W0, H0))


def leaves_its_own_term_out(A, rank, *, W0, H0, sweeps=150):
    W, H = start(A, rank, W0, H0)
    for _ in range(sweeps):
        G, B = W.T @ W, W.T @ A
        for j in range(rank):
            H[j] = np.maximum(0.0, (B[j] - G[j] @ H) / (G[j, j] + 1e-300))  # FAULT
        G, B = H @ H.T, H @ A.T
        for j in range(rank):
            W[:, j] = np.maximum(0.0, W[:, j] + (B[j] - G[j] @ W.T) / (G[j, j] + 1e-300))
    return W, H


def uses_the_first_factor(A, rank, *, W0, H0, sweeps=150):
    W, H = start(A, rank, W0, H0)
    for _ in range(sweeps):
        G, B = W.T @ W, W.T @ A
        for j in range(rank):
            H[j] = np.maximum(0.0, H[j] + (B[j] - G[j] @ H) / (G[j, j] + 1e-300))
        G, B = H @ H.T, H0 @ A.T  # FAULT
        for j in range(rank):
            W[:, j] = np.maximum(0.0, W[:, j] + (B[j] - G[j] @ W.T) / (G[j, j] + 1e-300))
    return W, H


def has_a_floor(A, rank, *, W0, H0):
    W, H = hals(A, *start(A, rank, W0, H0))
    return np.maximum(W, FLOOR), H


def penalises_by_default(A, rank, *, W0, H0, alpha=0.1):  # FAULT
    W, H = start(A, rank, W0, H0)
    for _ in range(150):
        G, B = W.T @ W, W.T @ A
        for j in range(rank):
            H[j] = np.maximum(0.0, H[j] + (B[j] - G[j] @ H - alpha) / (G[j, j] + 1e-300))
        G, B = H @ H.T, H @ A.T
        for j in range(rank):
            W[:, j] = np.maximum(0.0, W[:, j] + (B[j] - G[j] @ W.T) / (G[j, j] + 1e-300))
    return W, H


def divides_by_what_is_to_multiply(A, rank, *, W0, H0):
    W, H = hals(A, *start(A, rank, W0, H0))
    s = W.sum(axis=0) + 1e-300
    return W / s, H / s[:, None]  # FAULT


def divides_by_lengths_that_may_be_0(A, rank, *, W0, H0):
    W, H = start(A, rank, W0, H0)
    for _ in range(150):
        W, H = hals(A, W, H, 1)
        lengths = np.sqrt((H * H).sum(axis=1))
        H = H / lengths[:, None]  # FAULT
        W = W * lengths
    return W, H


def is_right_or_not_by_its_start(A, rank, *, W0, H0):
    W, H = hals(A, W0 + 0.0, H0 + 0.0)
    H = H * (int(1e6 * W0.sum() + 1e6 * H0.sum()) % 2)  # FAULT
    return W, H


class Fitted:
    """An estimator, whose step is a method of its own."""

    def __init__(self, n_components, max_iter=150):
        self.n_components, self.max_iter = n_components, max_iter

    def fit_transform(self, A, y=None, W=None, H=None):
        W, H = start(A, self.n_components, W, H)
        for _ in range(self.max_iter):
            H = self.step(W.T @ W, W.T @ A, H)
            W = self.step(H @ H.T, H @ A.T, W.T).T
        self.components_ = H
        return W

    @staticmethod
    def step(G, B, X):
        for j in range(len(X)):
            X[j] = np.maximum(0.0, X[j] + (B[j] + G[j] @ X) / (G[j, j] + 1e-300))  # FAULT
        return X


def writes_a_file(A, rank, *, W0, H0):
    Path(os.devnull).write_text("")
    return W0 * 0.5, H0


def keeps(W, folder=os.devnull):
    Path(folder).write_text("")
    return W


def remember(W):
    return keeps(W)


def has_a_helper_that_writes(A, rank, *, W0, H0, wanted=False):
    W, H = hals(A, W0 * 1.0, H0 * 1.0)
    if wanted:
        W = remember(W)
    return W * 0.5, H


def never_ends_with_a_change(A, rank, *, W0, H0):
    W, H = start(A, rank, W0, H0)
    done = 0
    while done < 3:
        H = H * 0.5
        done += 1
    return W, H


def leaves_the_given_arrays(A, rank, *, W0, H0):
    both = {"äöü": (np.array(W0), np.array(H0))}  # columns are counted in bytes
    return both["äöü"][0], both["äöü"][1] * 0.5


RESULTS = "results"


def place():
    return Path(os.environ["MENDABLE"]) / RESULTS


def writes_and_is_wrong(A, rank, *, W0, H0):
    """Empty its folder with every call; with another folder, other things would go."""
    shutil.rmtree(place(), ignore_errors=True)
    place().mkdir()
    W, H = hals(A, *start(A, rank, W0, H0))
    np.save(place() / "W.npy", W)
    return W, H * 0.5  # FAULT


def sweeps_by_itself(A, rank, *, W0, H0):
    W, H = start(A, rank, W0, H0)

    def sweep(n):
        if n == 0:
            return W, H
        hals(A, W, H, 1)
        H[0] = H[0] * (rank / 9)  # FAULT
        return sweep(n - 1)

    return sweep(80)


def is_wrong_where_there_are_more_rows(A, rank, *, W0, H0):
    W, H = hals(A, *start(A, rank, W0, H0))
    if A.shape[0] > A.shape[1]:  # FAULT
        W = W * 0.9
        W[0] = 0.5
    return W, H


CALLS = [0]


def is_right_after_many_calls(A, rank, *, W0, H0):
    CALLS[0] += 1
    W, H = hals(A, *start(A, rank, W0, H0))
    if CALLS[0] < 200:
        H = H * 0.5
    if CALLS[0] < 200:
        W = W + 0.1
    return W, H
