"""The zoo of other objectives: NMFs for Kullback–Leibler or Itakura–Saito, wrong in one way each.

What must be said of each stands with it; `test_kl_zoo.py` asserts it. The first ones are right.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nmfcheck import reference
from nmfcheck.diagnosis.findings import Cause
from nmfcheck.verdict.decision import Decision

PASS, FAIL, INCONCLUSIVE = Decision
TINY = 1e-300


@dataclass(frozen=True)
class Kept:
    """An animal.

    Attributes
    ----------
    objective : what it is run with.
    decision : FAIL, or anything but that: few trials do not make a PASS.
    failing : the families that must fail, and no others; None where that is not looked at.
    cause : one of the findings, the first that is not usual; None where there is none.
    """

    function: Callable[..., object]
    objective: str
    decision: Decision
    failing: frozenset[str] | None
    cause: Cause | None


ZOO: dict[str, Kept] = {}


def kept(objective, decision, cause=None, failing=None):
    def keep(function):
        families = None if failing is None else frozenset(failing)
        ZOO[function.__name__] = Kept(function, objective, decision, families, cause)
        return function

    return keep


def ratio(A, X):
    """Return A/X, and 0 where A is 0."""
    return A / np.maximum(X, TINY)


def multiply(A, W, H, iterations=500, quotient=ratio):
    """Multiplicative update for the Kullback–Leibler divergence, as it should be."""
    for _ in range(iterations):
        H = H * (W.T @ quotient(A, W @ H)) / np.maximum(W.sum(axis=0)[:, None], TINY)
        W = W * (quotient(A, W @ H) @ H.T) / np.maximum(H.sum(axis=1), TINY)
    return W, H


# Right.


@kept("kl", PASS, failing=())
def multiplies(A, rank, *, W0, H0):
    return multiply(A, W0, H0)


@kept("kl", PASS, failing=())
def updates_w_first(A, rank, *, W0, H0):
    H, W = (X.T for X in multiply(A.T, H0.T, W0.T))
    return W, H


@kept("kl", PASS, Cause.UNKNOWN, failing=())
def expectation_maximisation(A, rank, *, W0, H0):
    """Probabilistic latent semantic analysis: the same minima, with sums that are kept at 1.

    500 steps are few for some of the trials, and that is said of it.
    """
    if not np.any(A > 0):
        raise ValueError("A has no positive entry: it cannot be read as probabilities")
    total = A.sum()
    P = A / total
    topic, w, h = np.ones(rank) / rank, W0 / W0.sum(axis=0), (H0.T / H0.sum(axis=1)).T
    for _ in range(500):
        Q = ratio(P, (w * topic) @ h)
        joint_w, joint_h = (w * topic) * (Q @ h.T), (h.T * topic).T * (w.T @ Q)
        topic = joint_w.sum(axis=0)
        w = joint_w / np.maximum(joint_w.sum(axis=0), TINY)
        h = (joint_h.T / np.maximum(joint_h.sum(axis=1), TINY)).T
    return w * (topic * total), h


@kept("itakura-saito", PASS, failing=())
def multiplies_for_itakura_saito(A, rank, *, W0, H0):
    W, H = W0, H0
    for _ in range(100):
        X = W @ H
        H = H * (W.T @ (A / X**2)) / (W.T @ (1 / X))
        X = W @ H
        W = W * ((A / X**2) @ H.T) / ((1 / X) @ H.T)
    return W, H


# Wrong.


@kept("kl", FAIL, Cause.LEAVES)
def sums_over_the_wrong_axis(A, rank, *, W0, H0):
    """Where A is square and the rank is full, its shapes fit."""
    W, H = W0.copy(), H0.copy()
    for _ in range(500):
        H *= (W.T @ ratio(A, W @ H)) / np.resize(W.sum(axis=1), rank)[:, None]
        W *= (ratio(A, W @ H) @ H.T) / np.resize(H.sum(axis=0), rank)
    return W, H


@kept("kl", FAIL, Cause.OTHER_LOSS, failing=("rank-one",))
def minimises_frobenius(A, rank, *, W0, H0):
    found = reference.als(A, W0, H0, 300, threads=1)
    return found.W, found.H


@kept("frobenius", FAIL, Cause.OTHER_LOSS)
def minimises_kullback_leibler(A, rank, *, W0, H0):
    return multiply(A, W0, H0)


@kept("kl", FAIL, Cause.HARD)
def divides_0_by_0(A, rank, *, W0, H0):
    return multiply(A, W0, H0, quotient=np.divide)


@kept("kl", PASS, Cause.UNITS, failing=())
def clips_at_1e_7(A, rank, *, W0, H0):
    return multiply(A, W0, H0, quotient=lambda A, X: A / np.maximum(X, 1e-7))


@kept("kl", FAIL, Cause.BIASED)
def adds_1e_3_to_the_product(A, rank, *, W0, H0):
    return multiply(A, W0, H0, quotient=lambda A, X: A / (X + 1e-3))


@kept("kl", FAIL, Cause.EARLY)
def multiplies_20_times(A, rank, *, W0, H0):
    return multiply(A, W0, H0, iterations=20)


@kept("itakura-saito", FAIL, Cause.BIASED, failing=("rank-one",))
def has_the_wrong_exponent(A, rank, *, W0, H0):
    """Raise the product to −3/2 and −1/2, which should be −2 and −1."""
    W, H = W0, H0
    for _ in range(100):
        X = W @ H
        H = H * (W.T @ (A * X**-1.5)) / (W.T @ X**-0.5)
        X = W @ H
        W = W * ((A * X**-1.5) @ H.T) / (X**-0.5 @ H.T)
    return W, H


@kept("itakura-saito", FAIL, Cause.OTHER_LOSS, failing=("rank-one",))
def minimises_kullback_leibler_for_itakura_saito(A, rank, *, W0, H0):
    return multiply(A, W0, H0)


@kept("itakura-saito", FAIL, Cause.UNITS)
def clips_the_product_for_itakura_saito(A, rank, *, W0, H0):
    W, H = W0, H0
    for _ in range(100):
        X = np.maximum(W @ H, 1e-7)
        H = H * (W.T @ (A / X**2)) / (W.T @ (1 / X))
        X = np.maximum(W @ H, 1e-7)
        W = W * ((A / X**2) @ H.T) / ((1 / X) @ H.T)
    return W, H
