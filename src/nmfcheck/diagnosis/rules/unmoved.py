"""The start comes back, or a part of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

Pair = tuple[Array, Array]

FEW = 0.1
"""So many of the other rows may come back as they were, too."""


def unmoved(evidence: Evidence) -> Finding | None:
    """Say so if W0 and H0, or one of them, are returned as they were."""
    runs = evidence.unconverged
    W, H = (
        [(run[place + 1], start[place])
         for run, start in zip(runs.factors, runs.starts, strict=True)]
        for place in (0, 1)
    )  # fmt: skip
    if _same(W) and _same(H):
        return Finding(Cause.UNMOVED, "It returns its start as it was: the updates never ran.")
    for name, start, pairs in (("W", "W0", W), ("H", "H0", H)):
        if _same(pairs):
            return Finding(
                Cause.UNMOVED,
                f"It returns {start} as {name}: the other factor changes, {name} is never updated.",
            )
    return None


def partly_unmoved(evidence: Evidence) -> Finding | None:
    """Say so if the first or last row or column of W or H is returned as it was, alone."""
    runs = evidence.unconverged
    W = [(run[1], start[0]) for run, start in zip(runs.factors, runs.starts, strict=True)]
    H = [(run[2], start[1]) for run, start in zip(runs.factors, runs.starts, strict=True)]
    parts = (
        ("column of H", _transposed(H)), ("row of W", W),
        ("row of H", H), ("column of W", _transposed(W)),
    )  # fmt: skip
    for name, pairs in parts:
        for which, place, rest in (("last", -1, slice(None, -1)), ("first", 0, slice(1, None))):
            others = [(X[rest] == X0[rest]).all(axis=1).mean() for X, X0 in pairs if len(X) > 1]
            alone = bool(others) and float(np.mean(others)) < FEW
            if alone and _same([(X[place], X0[place]) for X, X0 in pairs]):
                return Finding(
                    Cause.UNMOVED,
                    f"The {which} {name} comes back as it was at the start: a loop or a slice "
                    "leaves it out.",
                )
    return None


def _transposed(pairs: Sequence[Pair]) -> list[Pair]:
    return [(X.T, X0.T) for X, X0 in pairs]


def _same(pairs: Sequence[Pair]) -> bool:
    return mostly(np.array_equal(X, X0) for X, X0 in pairs)
