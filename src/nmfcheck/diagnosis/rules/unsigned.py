"""Signs of a factor were thrown away."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly
from .at_once import at_once
from .least_squares import least_squares

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
                f"The signs of {name} are thrown away: {name} is the absolute value of the least "
                "squares solution for the other factor, which has negative entries. It should be "
                "kept nonnegative in each iteration, by max(x, 0) or a solver with that bound.",
                evidence=f"so in {sum(lost)} of {len(lost)} failing runs",
            )
    each = {
        "W": [_lost_in_a_component(A.T, H.T, W.T) for A, W, H in runs],
        "H": [_lost_in_a_component(A, W, H) for A, W, H in runs],
    }
    for name, components in each.items():
        lost = [one for one in components if one is not None]
        if len(lost) >= FEWEST and mostly(lost):
            if (cycle := at_once(evidence)) is not None:  # in which signs seem to be lost
                return cycle
            return Finding(
                Cause.UNSIGNED,
                f"The signs of {name} are thrown away, component by component: one of them is the "
                "absolute value of what is best with all others as they are, where that is "
                "negative. It should be 0 there: max(x, 0) instead of |x|.",
                evidence=f"so in {sum(lost)} of {len(lost)} failing runs that have such entries",
            )
    return None


def _lost_in_a_component(A: Array, W: Array, H: Array) -> bool | None:
    """Say whether a row of H is |h|, where h is the best for W and the other rows.

    None where no such h has negative entries.
    """
    if not (np.isfinite(W).all() and np.isfinite(H).all()):
        return None
    G = W.T @ W
    size = np.diag(G)[:, None]
    with np.errstate(all="ignore"):
        best = H + (W.T @ A - G @ H) / size
    signed = False
    for row, x in zip(H, best, strict=True):
        top = abs(x).max()
        if not (np.isfinite(top) and x.min() < -NEGATIVE * top):
            continue
        signed = True
        if abs(abs(x) - row).max() <= SAME * top:
            return True
    return False if signed else None


def _lost_signs(A: Array, W: Array, H: Array) -> bool:
    """Say whether W is |A·H⁺|, and A·H⁺ has negative entries."""
    if not (W.any() and H.any()):
        return False
    turned = least_squares(H.T, A.T)
    if turned is None:
        return False
    X = turned.T
    size = abs(X).max()
    return bool(X.min() < -NEGATIVE * size and abs(abs(X) - W).max() <= SAME * size)
