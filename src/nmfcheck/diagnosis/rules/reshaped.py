"""A factor was reshaped where it should have been transposed."""

from __future__ import annotations

from collections.abc import Sequence

from ...arrays import Array
from ...judging.turned import misses
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

FEWEST = 3
"""Fewer runs than these do not show it."""


def reshaped(evidence: Evidence) -> Finding | None:
    """Say which factor has its entries in the order of its transpose, if W·H is A without that."""
    runs = [(A, W, H) for A, W, H in evidence.astray if W.shape[1] > 1]
    for name, place in (("H", 2), ("W", 1)):
        telling = [run for run in runs if run[place].shape[0] != run[place].shape[1]]
        fits = [_is_reshaped(*run, place) for run in telling]
        if len(telling) >= FEWEST and mostly(fits):
            return Finding(
                Cause.TURNED,
                f"W·H is A if the entries of {name} are put in the order of its transpose: "
                f"{name} is reshaped where it should be transposed, or is read column by column "
                "instead of row by row.",
                evidence=f"so in {sum(fits)} of {len(fits)} answers that miss A",
            )
    return None


def _is_reshaped(A: Array, W: Array, H: Array, place: int) -> bool:
    near = min(misses(A, W @ H), 1.0) / 100
    if place == 1:
        return any(misses(A, X @ H) <= near for X in _orders(W))
    return any(misses(A, W @ X) <= near for X in _orders(H))


def _orders(X: Array) -> Sequence[Array]:
    """Return what X was before its transpose was reshaped to it, or it to its transpose."""
    rows, columns = X.shape
    return X.reshape(columns, rows).T, X.T.reshape(rows, columns)
