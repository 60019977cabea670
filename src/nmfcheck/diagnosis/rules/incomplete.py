"""W·H is A in a part of it only: some rows or columns, or where A is not 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Array
from ..evidence import AMISS, Evidence
from ..experiments.lines import zeros_come_of_an_update
from ..findings import MOST, Cause, Finding
from .pruned import alive as alive_components

FEWEST = 3

SMALL = 2
"""Of so few rows or columns, one that is wrong does not show that it is the last, or the first."""

NEARLY_ALL = 0.8

FAR = 1e-2
"""Zeros that are missed by more than this are not on their way to 0."""


def emptied_lines(evidence: Evidence) -> Finding | None:
    """Say so if whole rows or columns of W·H are 0 that are not in A, and others are not.

    At rank one, any zero of W or H makes such a line.
    """
    if zeros_come_of_an_update(evidence.tried.followed):
        return None
    several = [run for run in evidence.unconverged.factors if run[1].shape[1] > 1]
    alive = [run for run in several if alive_components(*run[1:]).all()]
    runs = [(A, np.asarray(W @ H)) for A, W, H in alive]
    for what, turned in (("columns", [(A.T, X.T) for A, X in runs]), ("rows", runs)):
        empty = [np.atleast_1d(~X.any(axis=1) & A.any(axis=1)) for A, X in turned]
        some = [lines for lines in empty if lines.any()]
        if len(some) >= max(FEWEST, NEARLY_ALL * len(several)):
            factor = "H" if what == "columns" else "W"
            return Finding(
                Cause.MISSING,
                f"Whole {what} of W·H are 0 where those of A are not ({int(some[0].sum())} of "
                f"{len(some[0])}, for instance), and so are those of {factor}: probably they are "
                "left out of the fit, taken for empty, 0 at the start and unable to grow, or set "
                "to 0 afterwards.",
                certain=False,
                evidence=f"so in {len(some)} of {len(several)} failing runs",
            )
    return None


def incomplete(evidence: Evidence) -> Finding | None:
    """Say in which part of A the product is right, if it is so in most of it."""
    runs = [(A, W @ H) for A, W, H in evidence.astray if min(A.shape) > SMALL]
    if len(runs) < FEWEST:
        return None
    ends: dict[str, Callable[[Array], Array]] = {
        "the last column": (lambda X: X[:, :-1]), "the last row": (lambda X: X[:-1]),
        "the first column": (lambda X: X[:, 1:]), "the first row": (lambda X: X[1:]),
    }  # fmt: skip
    # Where a component has become 0, what it was for is missing whatever the reason.
    whole = [
        (A, W @ H) for A, W, H in evidence.astray
        if min(A.shape) > SMALL and alive_components(W, H).all()
    ]  # fmt: skip
    shares = {
        name: np.mean([_agree(rest(A), rest(X), A.max()) for A, X in whole] or [False])
        for name, rest in ends.items()
    }
    best = max(shares.values())
    if best >= MOST and len(whole) >= FEWEST:
        names = " or ".join(name for name, share in shares.items() if share == best)
        return Finding(
            Cause.MISSING,
            f"W·H is A in all but {names}: a loop or a slice ends too early, or that part of A is "
            "not looked at.",
            evidence=f"so in {best:.0%} of {len(whole)} answers that miss A",
        )
    with_zeros = [(A, X) for A, X in runs if (A == 0).any()]
    where = [
        _agree(A[A > 0], X[A > 0], A.max()) and X[A == 0].max() > FAR * A.max()
        for A, X in with_zeros
    ]
    if len(where) < FEWEST or np.mean(where) < MOST:
        return None
    return Finding(
        Cause.MISSING,
        "W·H is A where A is positive, and something else where A is 0: zeros are taken for "
        "missing values, have no weight, or are left out of the sums.",
        evidence=f"so in {sum(where)} of {len(where)} answers that miss A",
    )


def _agree(A: Array, X: Array, unit: float) -> bool:
    return A.size > 0 and bool(abs(A - X).max(initial=0.0) <= 100 * AMISS * unit)
