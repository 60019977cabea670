"""Signs of a factor were thrown away at the end."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

FEWEST = 3
SAME = 1e-6
"""Entries that differ by no more than this, relative to the largest, are the same."""
NEGATIVE = 1e-3
"""Only what is below zero by more than this, relative to the largest, has a sign to lose."""


def unsigned(evidence: Evidence) -> Finding | None:
    """Say so if W or H is the absolute value of the least squares solution for the other one."""
    runs = evidence.unconverged.factors
    if len(runs) < FEWEST:
        return None
    both = {
        "W": [_lost_signs(A, W, H) for A, W, H in runs],
        "H": [_lost_signs(A.T, H.T, W.T) for A, W, H in runs],
    }
    for name, lost in both.items():
        if mostly(lost):
            return Finding(
                Cause.UNSIGNED,
                f"The signs of {name} are thrown away at the end: {name} is the absolute value of "
                "the least squares solution for the other factor, which has negative entries. "
                f"{name} is not kept nonnegative in the loop, where it should be projected.",
                evidence=f"so in {sum(lost)} of {len(lost)} failing runs",
            )
    return None


def _lost_signs(A: Array, W: Array, H: Array) -> bool:
    """Say whether W is |A·H⁺|, and A·H⁺ has negative entries."""
    if not (np.isfinite(H).all() and W.any() and H.any()):
        return False
    X = np.linalg.lstsq(H.T, A.T, rcond=None)[0].T
    size = abs(X).max()
    return bool(X.min() < -NEGATIVE * size and abs(abs(X) - W).max() <= SAME * size)
