"""The entries of W and H have few digits."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

MOST_DECIMALS = 8

FAR = 0.1
"""Who misses A by more than this has diverged, or does something else."""

LEVELS = (255, 127, 63, 15, 65535)
"""How many steps numbers of so many bits have."""

ON_A_LEVEL, LEAST = 1e-6, 0.01
"""How near to a level a number lies that was rounded to it; what is farther from 0 and from the
largest than the second may lie between two."""

OFF = 20
"""Rounding explains errors up to so many units of the last place."""


def rounded(evidence: Evidence) -> Finding | None:
    """Say how many decimals there are, or that entries are float16 numbers."""
    factors = evidence.unconverged.factors
    if not evidence.unconverged.typical < FAR:  # then that is not what is wrong
        return None
    typical = f"the median error is {evidence.unconverged.typical:.0e}"
    if mostly(_is_half(W) and _is_half(H) for _, W, H in factors):
        return Finding(
            Cause.ROUNDED,
            f"All entries of W and H are float16 numbers, and {typical}: it works in half "
            "precision, or returns it.",
        )
    for levels in LEVELS:
        if mostly(_has_levels(W, levels) and _has_levels(H, levels) for _, W, H in factors):
            return Finding(
                Cause.ROUNDED,
                f"All entries of W and of H are multiples of 1/{levels} of the largest, and "
                f"{typical}: they are rounded to {levels + 1} levels.",
            )
    for digits in range(MOST_DECIMALS + 1):
        if evidence.unconverged.typical > OFF * 10.0**-digits:
            return None
        short = [
            name
            for name, place in (("W", 1), ("H", 2))
            if mostly(_has_decimals(run[place], digits) for run in factors)
        ]
        if short:
            return Finding(
                Cause.ROUNDED,
                f"All entries of {' and '.join(short)} have at most {digits} decimals, and "
                f"{typical}: they are rounded at the end, or on their way through a text file.",
            )
    return None


def _has_decimals(X: Array, digits: int) -> bool:
    """Say whether all entries have so many decimals, and some have that many."""
    scaled = X * 10.0**digits
    if not (np.isfinite(scaled).all() and scaled.max(initial=0.0) < 10**10):
        return False
    whole = abs(scaled - np.round(scaled)) <= 1e-5
    some = len(np.unique(np.round(scaled[scaled > 0]))) > 1
    return bool(whole.all()) and some


def _has_levels(X: Array, levels: int) -> bool:
    """Say whether all entries are multiples of 1/levels of the largest, and some are between."""
    largest = float(X.max(initial=0.0))
    if not 0 < largest < np.inf:
        return False
    steps = X / largest * levels
    between = (steps > LEAST * levels) & (steps < (1 - LEAST) * levels)
    return bool(abs(steps - np.round(steps)).max() <= ON_A_LEVEL and between.any())


def _is_half(X: Array) -> bool:
    with np.errstate(over="ignore"):
        same = (X.astype(np.float16) == X).all()
    return bool(same) and len(np.unique(X[X > 0])) > 1
