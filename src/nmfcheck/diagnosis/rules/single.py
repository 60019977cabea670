"""Single precision."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..experiments.tried import LEFT
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


def inside(evidence: Evidence) -> Finding | None:
    """Say that something inside may be in single precision, if it leaves answers by so little."""
    left = [each for each in evidence.tried.missed if each > LEFT]
    if not mostly(each > LEFT for each in evidence.tried.missed):
        return None
    if not all(SINGLE[0] / 10 < each < SINGLE[1] for each in left):
        return None
    runs = evidence.unconverged
    if runs.typical > MOST_SINGLE or mostly(_is_single(W) for _, W, _ in runs.factors):
        return None
    return Finding(
        Cause.SINGLE,
        "Probably something that it computes is in single precision, or is rounded: W and H have "
        "more digits, but started at exact factorizations it goes "
        f"{float(np.median(left)):.0e} away from A, and single precision rounds by 6e-08.",
        certain=False,
        evidence=f"start at the answer: {len(left)} of {len(evidence.tried.missed)} runs left it, "
        f"by {min(left):.0e} to {max(left):.0e}",
    )


def _is_single(X: Array) -> bool:
    """Say whether a matrix has float32 numbers only, and some that would not be so by chance."""
    with np.errstate(over="ignore"):
        return bool((X.astype(np.float32) == X).all() and (X * 2**12 % 1 != 0).any())
