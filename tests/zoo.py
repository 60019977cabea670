"""The zoo: small NMFs, each of them wrong in one way that some real one was.

What the verdict, the outcomes and the diagnosis must be is said with each (`test_zoo.py` asserts
it). A few are right, in spite of how they look.
"""

import ctypes
import itertools
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nmfcheck import reference
from nmfcheck.diagnosis.findings import Cause
from nmfcheck.judging.outcomes import Outcome
from nmfcheck.verdict.decision import Decision

PASS, FAIL, INCONCLUSIVE = Decision


@dataclass(frozen=True)
class Kept:
    """An animal: what it does, and what must be said of it.

    Attributes
    ----------
    outcome : what most of the stages that fail the paper's test come to; None where hardly any do.
    cause : the first finding of the diagnosis; None where there is none, or a usual one.
    unrunnable : whether there is no answer at all.
    sizes : that it is shown to; fewer for those that cost a process for each stage.
    trials : of each cell; more where many pass.
    both : the decision and the first finding where the inflated family is asked as well; None where
        that is not looked at.
    """

    function: Callable[..., object]
    decision: Decision
    outcome: Outcome | None
    cause: Cause | None
    unrunnable: bool = False
    sizes: tuple[int, ...] = (2, 3)
    trials: int = 30
    both: tuple[Decision, Cause | None] | None = None


ZOO: dict[str, Kept] = {}


def kept(decision, outcome=None, cause=None, **more):
    def keep(function):
        ZOO[function.__name__] = Kept(function, decision, outcome, cause, **more)
        return function

    return keep


def descend(A, W0, H0):
    """Coordinate descent, as it should be."""
    found = reference.coordinate_descent(A, W0, H0, 2000, threads=1)
    return found.W, found.H


def hals(A, W, H, *, ridge=0.0, dies=False, sweeps=100):
    """Coordinate descent column by column: right, unless `ridge` or `dies` is set."""
    W, H = W.copy(), H.copy()
    for _ in range(sweeps):
        _sweep(H.T, W.T @ W, A.T @ W, ridge, dies)
        _sweep(W, H @ H.T, A @ H.T, ridge, dies)
    return W, H


def _sweep(X, G, B, ridge, dies):
    for k in range(len(G)):
        if G[k, k] > 0:
            step = (B[:, k] - X @ G[:, k] + X[:, k] * G[k, k]) / (G[k, k] + ridge)
            X[:, k] = np.maximum(step, 0)
        elif dies:
            X[:, k] = 0


# Right, in spite of how they look.


@kept(PASS, both=(PASS, None))
def good(A, rank, *, W0, H0):
    return descend(A, W0, H0)


@kept(PASS)
def returns_np_matrix(A, rank, *, W0, H0):
    return tuple(map(np.asmatrix, descend(A, W0, H0)))


@kept(PASS)
def returns_sparse(A, rank, *, W0, H0):
    from scipy import sparse

    return tuple(map(sparse.csr_array, descend(A, W0, H0)))


@kept(PASS)
def prints_megabytes(A, rank, *, W0, H0):
    print("x" * (1 << 20))
    return descend(A, W0, H0)


@kept(PASS, both=(PASS, None))
def ignores_the_seed(A, rank, *, seed):
    return descend(A, A[:, :rank] + 0.1, np.eye(rank, A.shape[1]) + 0.1)


@kept(PASS)
def reads_fortran_order_as_the_transpose(A, rank, *, W0, H0):
    """Pass in a run, which has C order only; the smoke check finds it out."""
    return descend(np.frombuffer(A.tobytes("A")).reshape(A.shape), W0, H0)


# What is returned is not what was found.


@kept(FAIL, Outcome.COLLAPSED, Cause.ZEROS, both=(FAIL, Cause.ZEROS))
def returns_zeros(A, rank):
    return np.zeros((len(A), rank)), np.zeros((rank, A.shape[1]))


@kept(FAIL, Outcome.UNCONVERGED, Cause.TURNED, both=(FAIL, Cause.TURNED))
def returns_transposed_factors(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return H.T, W.T


@kept(FAIL, Outcome.UNCONVERGED, Cause.TURNED)
def returns_w_transposed(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W.T, H


@kept(FAIL, Outcome.UNCONVERGED, Cause.SPOILED)
def returns_h_of_another_run(A, rank, *, W0, H0):
    W, _ = descend(A, W0, H0)
    _, H = descend(A, H0.T * 3, W0.T)
    return W, H


@kept(FAIL, Outcome.UNCONVERGED, Cause.SCALED, both=(FAIL, Cause.SCALED))
def is_wrong_by_a_factor(A, rank, *, W0, H0):
    W, H = descend(A / A.sum(), W0, H0)
    return W, H * (A.sum() * 0.9)


@kept(FAIL, Outcome.UNCONVERGED, Cause.PERMUTED, both=(FAIL, Cause.PERMUTED))
def permutes_h_but_not_w(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    order = np.argsort(W.sum(axis=0))
    order = np.roll(order, 1) if (order == np.arange(rank)).all() else order
    return W, H[order]


@kept(FAIL, Outcome.UNCONVERGED, Cause.UNMOVED, both=(FAIL, Cause.UNMOVED))
def is_stuck_at_its_start(A, rank, *, W0, H0):
    return W0, H0


@kept(FAIL, Outcome.UNCONVERGED, Cause.UNMOVED)
def updates_in_a_lazy_iterator(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()

    def update():
        W[:], H[:] = descend(A, W, H)

    (update() for _ in range(100))  # nobody asks for its items
    return W, H


# The updates are wrong, or stop too soon.


@kept(FAIL, Outcome.COLLAPSED, Cause.COLLAPSES, sizes=(2, 5))
def lets_components_die(A, rank, *, W0, H0):
    """Where a row of H is 0, so becomes the column of W, and they stay so."""
    return hals(A, W0, H0, dies=True)


@kept(FAIL, Outcome.UNCONVERGED, Cause.EARLY)
def stops_at_a_relative_change_of_1e_4(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    first = before = np.linalg.norm(A - W0 @ H0)
    for _ in range(5000):
        H *= (W.T @ A) / (W.T @ W @ H + 1e-300)
        W *= (A @ H.T) / (W @ H @ H.T + 1e-300)
        now = np.linalg.norm(A - W @ H)
        if before - now <= 1e-4 * first:
            break
        before = now
    return W, H


@kept(FAIL, Outcome.UNCONVERGED, Cause.BIASED)
def adds_1e_9_to_denominators(A, rank, *, W0, H0):
    return hals(A, W0, H0, ridge=1e-9)


@kept(FAIL, Outcome.UNCONVERGED, Cause.BIASED, both=(FAIL, Cause.BIASED))
def leaves_an_l2_penalty_on(A, rank, *, W0, H0):
    return hals(A, W0, H0, ridge=1e-3)


@kept(FAIL, Outcome.UNCONVERGED, Cause.SINGLE)
def works_in_single_precision(A, rank, *, W0, H0):
    W, H = hals(*(X.astype(np.float32) for X in (A, W0, H0)))
    return W.astype(float), H.astype(float)


@kept(FAIL, Outcome.UNCONVERGED, Cause.SINGLE, both=(FAIL, Cause.SINGLE))
def returns_single_precision(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return W.astype(np.float32), H.astype(np.float32)


@kept(FAIL, Outcome.UNCONVERGED, Cause.UNSTABLE)
def makes_the_loss_rise(A, rank, *, W0, H0):
    """Gradient descent with the wrong sign."""
    W, H = W0.copy(), H0.copy()
    for _ in range(3):
        W = np.maximum(W + 0.01 * (W @ H - A) @ H.T, 0)
        H = np.maximum(H + 0.01 * W.T @ (W @ H - A), 0)
    return W, H


@kept(FAIL, Outcome.COLLAPSED, Cause.COLLAPSES, sizes=(2, 5))
def updates_w_with_h_not_transposed(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(10):
        W *= (A @ H) / (W @ H @ H.T + 1e-12)
        H *= (W.T @ A) / (W.T @ W @ H + 1e-12)
    return W, H


@kept(FAIL, Outcome.UNCONVERGED, Cause.UNMOVED)
def is_lucky_on_one_seed_only(A, rank, *, W0, H0, seed):
    return descend(A, W0, H0) if seed == 0 else (W0 * A.mean(), H0)


# Hard failures.


@kept(FAIL, Outcome.INVALID, Cause.HARD)
def has_nan_after_some_iterations(A, rank, *, W0, H0, seed):
    W, H = descend(A, W0, H0)
    return (W * (np.nan if seed % 2 else 1)), H


@kept(FAIL, Outcome.INVALID, Cause.HARD, both=(FAIL, Cause.HARD))
def has_negative_entries(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    return -W, -H


@kept(FAIL, None, Cause.HARD, both=(FAIL, Cause.HARD))
def modifies_A(A, rank, *, W0, H0):
    W, H = descend(A, W0, H0)
    A /= A.sum()
    return W, H


@kept(FAIL, None, Cause.HARD)
def answers_differently_for_the_same_seed(A, rank, *, seed):
    rng = np.random.default_rng(int.from_bytes(os.urandom(8)))
    return descend(A, rng.random((len(A), rank)), rng.random((rank, A.shape[1])))


# Right where A is square, of full rank and without a zero row, as in the paper.


@kept(PASS, both=(FAIL, Cause.UNSTABLE))
def ignores_the_rank(A, rank, *, W0, H0):
    full = min(A.shape)
    W, H = descend(A, np.resize(W0, (len(A), full)), np.resize(H0, (full, A.shape[1])))
    return W[:, :rank], H[:rank]


@kept(PASS, both=(FAIL, Cause.HARD))
def divides_0_by_0_where_a_row_is_zero(A, rank, *, W0, H0):
    """Begin with multiplicative updates, and nothing that keeps denominators from 0."""
    W, H = W0.copy(), H0.copy()
    with np.errstate(all="ignore"):
        for _ in range(2):
            W *= (A @ H.T) / (W @ H @ H.T)
            H *= (W.T @ A) / (W.T @ W @ H)
        return hals(A, W, H)


@kept(PASS, both=(FAIL, Cause.SILENT))
def takes_A_for_square(A, rank, *, W0, H0):
    W, H = np.empty((len(A), rank)), np.empty((rank, len(A)))
    W[:], H[:] = descend(A, W0, H0)
    return W, H


# No answer.


@kept(FAIL, Outcome.ERROR, Cause.SILENT, sizes=(2, 5))
def raises_on_n_5_only(A, rank, *, W0, H0):
    if rank == 5:
        raise ValueError("shapes (5,5) and (4,5) not aligned")
    return descend(A, W0, H0)


@kept(FAIL, Outcome.CRASHED, Cause.SILENT, sizes=(2,))
def segfaults_at_times(A, rank, *, W0, H0, seed):
    if seed % 3 == 2 and A[0, 1] == 0:
        ctypes.string_at(0)
    return descend(A, W0, H0)


@kept(FAIL, Outcome.CRASHED, Cause.SILENT, unrunnable=True, sizes=(2,))
def exits_the_process(A, rank):
    os._exit(3)


@kept(INCONCLUSIVE, Outcome.TIMEOUT, Cause.SILENT, unrunnable=True, sizes=(2,))
def hangs(A, rank):
    time.sleep(1000)


@kept(INCONCLUSIVE, Outcome.TIMEOUT, Cause.SILENT)
def hangs_on_n_3(A, rank, *, W0, H0):
    if rank == 3:
        time.sleep(1000)
    return descend(A, W0, H0)


@kept(FAIL, Outcome.ERROR, Cause.SILENT)
def allocates_without_end(A, rank, *, W0, H0, seed):
    if seed % 2:
        hoard = [np.empty(1 << 24) for _ in itertools.count()]
        return hoard[0], hoard[1]
    return descend(A, W0, H0)
