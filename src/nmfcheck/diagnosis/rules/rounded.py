"""The entries of W and H have few digits."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

MOST_DECIMALS = 8

FAR = 0.1
"""Who misses A by more than this has diverged, or does something else."""

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


def _is_half(X: Array) -> bool:
    with np.errstate(over="ignore"):
        same = (X.astype(np.float16) == X).all()
    return bool(same) and len(np.unique(X[X > 0])) > 1
