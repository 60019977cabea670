"""Hypothesis strategies for cases, and for factorizations of every kind."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from nmfcheck import Case, bidiagonal, exact_factorization
from nmfcheck.families import find
from nmfcheck.families.inflated.cases import inflated_factors

FIXED = ("mixed", "noisy", "rays", "rank-one", "optima")
"""Families with a fixed requirement."""

EPSILONS = (1e-4, 1e-3, 0.01, 0.1, 0.25, 1.0, 3.0)


def entries(size):
    """Numbers of order 1, as the paper assumes."""
    return st.lists(st.floats(0.5, 2.0), min_size=size, max_size=size)


@st.composite
def cases(draw, min_n=1, max_n=6, eps=(0.0, *EPSILONS)):
    n = draw(st.integers(min_n, max_n))
    return bidiagonal(draw(entries(n)), draw(entries(n - 1)), draw(st.sampled_from(eps)))


@st.composite
def points(draw, case):
    """Draw a place on the solution set: keyword arguments of `exact_factorization`."""
    n = case.n
    return {
        "switch": draw(st.integers(1, max(n - 1, 1))),
        "theta": draw(st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.05, 0.95))),
        "w0": draw(st.lists(st.floats(0.1, 10.0), min_size=n, max_size=n)),
        "permutation": draw(st.permutations(range(n))),
    }


@st.composite
def factorizations(draw, case):
    """W, H of one of the kinds that a judge meets: exact, nearly, half-way, random, dead."""
    n = case.n
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    W, H = exact_factorization(case, **draw(points(case)))
    kind = draw(st.sampled_from(["exact", "near", "off", "random", "dead", "doubled"]))
    if kind in ("near", "off"):
        size = draw(st.sampled_from([1e-12, 1e-8, 1e-5] if kind == "near" else [1e-3, 0.1]))
        W, H = W + size * rng.random((n, n)), H + size * rng.random((n, n))
    elif kind == "random":
        W, H = rng.random((n, n)), rng.random((n, n))
    elif kind == "dead":
        W = W.copy()
        W[:, draw(st.integers(0, n - 1))] = 0.0
    elif kind == "doubled":  # the last component explains the same as the first
        W[:, -1], H[-1] = W[:, 0], H[0]
    return W, H


@st.composite
def inflated_cases(draw):
    """Cases of the inflated family: tall, wide and square, with and without zero rows."""
    shape = draw(st.sampled_from(["9x6/k=3", "4x7/k=3", "5x4/k=2", "6x4/k=1", "5x5/k=4"]))
    kind = draw(st.sampled_from(["dyadic", "zeros"]))
    ask = draw(st.sampled_from(["eps=0", "eps=1e-3", "eps=0.25"]))
    return Case.from_id(f"inflated/{shape}/{kind}#{draw(st.integers(0, 1000))}/{ask}")


@st.composite
def inflated_factorizations(draw, case):
    """W, H of an inflated case: those of its core of every kind, inflated well or badly."""
    W, H = inflated_factors(case, *draw(factorizations(case.core)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["as it is", "off", "random", "negative"]))
    if kind == "off":  # rows and columns that are no multiples of each other
        size = draw(st.sampled_from([1e-12, 1e-8, 1e-5, 1e-3, 0.1]))
        W, H = W + size * rng.random(W.shape), H + size * rng.random(H.shape)
    elif kind == "random":
        W, H = rng.random(W.shape), rng.random(H.shape)
    elif kind == "negative":  # by rounding, or not
        W[draw(st.integers(0, case.m - 1)), 0] = draw(st.sampled_from([-1e-14, -1e-3]))
    return W, H


@st.composite
def fixed_cases(draw):
    """Draw a case of any of the families, of small and not so small shapes."""
    family, i = draw(st.sampled_from(FIXED)), draw(st.integers(0, 10**6))
    m, n = draw(st.integers(2, 9)), draw(st.integers(2, 9))
    if family in ("mixed", "noisy"):
        k = draw(st.integers(1, min(m, n) - (family == "noisy")))
        return Case.from_id(f"{family}/{m}x{n}/k={k}/dyadic#{i}/eps=0")
    if family == "rays":
        k = draw(st.integers(3, 4))
        return Case.from_id(f"rays/k={k}/alpha=0.25/extra={m - 2}x{n - 2}/dyadic#{i}")
    if family == "rank-one":
        return Case.from_id(f"rank-one/{m}x{n}/dyadic#{i}/beta=2")
    which = draw(st.sampled_from(["thomas/k=1", "thomas/k=2", "hexagon/k=1", "hexagon/k=2"]))
    return Case.from_id(f"optima/{which}/shuffled#{i}/residual")


def right_factors(case):
    """Return the right W and H of a case with a fixed requirement; of optima, one of several."""
    if case.family != "optima":
        return find(case.family).answer(case)
    mean = case.A.mean()
    if case.rank == 1:
        return np.full((case.m, 1), mean), np.ones((1, case.n))
    # The mean and one direction of the plane of the second singular value.
    y = case.A[0] / mean - 1
    x = (case.A / mean - 1) @ y / (y @ y)
    return np.stack([1 + x, 1 - x], axis=1), mean / 2 * np.stack([1 + y, 1 - y])
