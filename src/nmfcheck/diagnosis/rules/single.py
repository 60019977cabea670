"""Single precision."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

CLUSTER = 0.5
"""Within so many decades, defects near the rounding of single precision come from it."""

SINGLE, MOST_SINGLE = (1e-8, 1e-6), 1e-5
"""Where the defects of a run in single precision lie: its rounding is 6e-8."""


def single(evidence: Evidence) -> Finding | None:
    """Say so if all entries are float32 numbers."""
    runs = evidence.unconverged
    if runs.typical > MOST_SINGLE:  # then that is not what is wrong
        return None
    if not mostly(_is_single(W) and _is_single(H) for _, W, H in runs.factors):
        return None
    sentence = "It works in single precision: all entries of W and H are float32 numbers"
    return Finding(Cause.SINGLE, f"{sentence}, and the median error is {runs.typical:.0e}.")


def clustered(evidence: Evidence) -> Finding | None:
    """Say so if errors cluster where those of single precision do."""
    runs = evidence.unconverged
    if not (runs.spread < CLUSTER and SINGLE[0] < runs.typical < SINGLE[1]):
        return None
    sentence = f"It is probably single precision: the product is off by about {runs.typical:.0e}"
    return Finding(Cause.SINGLE, f"{sentence}, whatever the start.", certain=False)


def _is_single(X: Array) -> bool:
    """Say whether a matrix has float32 numbers only, and some that would not be so by chance."""
    with np.errstate(over="ignore"):
        return bool((X.astype(np.float32) == X).all() and (X * 2**12 % 1 != 0).any())
