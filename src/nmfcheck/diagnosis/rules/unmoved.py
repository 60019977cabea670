"""The start comes back, or a part of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

Pair = tuple[Array, Array]


def unmoved(evidence: Evidence) -> Finding | None:
    """Say so if W0 and H0, or one of them, or the end of one, are returned as they were."""
    runs = evidence.unconverged
    W, H = (
        [(found[place + 1], start[place])
         for found, start in zip(runs.factors, runs.starts, strict=True)]
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
    for name, pairs in (("column of H", _turned(H)), ("row of W", W)):
        for which, place in (("last", -1), ("first", 0)):
            if _same([(X[place], X0[place]) for X, X0 in pairs]):
                return Finding(
                    Cause.UNMOVED,
                    f"The {which} {name} comes back as it was at the start: a loop or a slice "
                    "leaves it out.",
                )
    return None


def _same(pairs: Sequence[Pair]) -> bool:
    return mostly(np.array_equal(X, X0) for X, X0 in pairs)


def _turned(pairs: Sequence[Pair]) -> list[Pair]:
    return [(X.T, X0.T) for X, X0 in pairs]
