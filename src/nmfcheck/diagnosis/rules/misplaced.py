"""The zero rows and columns of A are elsewhere in W·H."""

from __future__ import annotations

from ...arrays import Array
from ...judging.turned import misses
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

FEWEST = 3

NOTHING = 1e-12
"""Entries up to this, relative to the largest, are zeros."""


def misplaced(evidence: Evidence) -> Finding | None:
    """Say so if W·H is A where lines of zeros are left out in both, and not with them."""
    runs = [(A, W @ H) for A, W, H in evidence.astray]
    if len(runs) < FEWEST or not mostly(_elsewhere(A, X) for A, X in runs):
        return None
    return Finding(
        Cause.PERMUTED,
        "W·H is A but for its rows or columns of zeros, which are in another place: lines of zeros "
        "are left out first, and what is put back at the end is not where they were.",
        evidence=f"so in {sum(_elsewhere(A, X) for A, X in runs)} of {len(runs)} answers that miss "
        "A",
    )


def _elsewhere(A: Array, X: Array) -> bool:
    of_A, of_X = _without_zeros(A), _without_zeros(X)
    if of_A.shape == A.shape or of_A.shape != of_X.shape:
        return False
    return misses(of_A, of_X) <= min(misses(A, X), 1.0) / 100


def _without_zeros(X: Array) -> Array:
    """Return a matrix without its rows and columns of zeros."""
    there = abs(X) > NOTHING * abs(X).max()
    kept: Array = X[there.any(axis=1)][:, there.any(axis=0)]
    return kept
