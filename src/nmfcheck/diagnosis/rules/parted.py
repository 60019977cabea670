"""One factor is that of an exact factorization, and the other one is not."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...judging.objectives import find
from ...judging.turned import misses
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly
from .refitted import refitted

FEWEST = 3

RIGHT, TIMES = 1e-8, 1e4
"""A factor is right if the other can be chosen so that W·H misses A by no more than the first, and
by so many times less than it does."""


def parted(evidence: Evidence) -> Finding | None:
    """Say which factor is right, if the other one alone keeps W·H from being A."""
    if find(evidence.part.objective).beta != 2:
        return None
    runs = [
        (A, W, H) for A, W, H in evidence.astray if np.isfinite(W).all() and np.isfinite(H).all()
    ]
    if len(runs) < FEWEST:
        return None
    off = [misses(A, W @ H) for A, W, H in runs]
    both = {
        "H": [_least(A.T, H.T) for A, _, H in runs],
        "W": [_least(A, W) for A, W, _ in runs],
    }
    rights = {
        name: mostly(x <= min(RIGHT, y / TIMES) for x, y in zip(least, off, strict=True))
        for name, least in both.items()
    }
    if all(rights.values()):
        return None  # each of them is right, with another one: that has many causes
    for right, least in both.items():
        if rights[right]:
            wrong = "W" if right == "H" else "H"
            return Finding(
                Cause.HALF,
                f"{right} is right, and {wrong} is not: with {right} as it is and the best "
                f"{wrong}, the median error is {np.median(least):.0e}, but as they are it is "
                f"{np.median(off):.0e}. {wrong} belongs to another {right}: is it from an earlier "
                "iteration, an average, not updated to the end, or changed afterwards?",
                evidence=f"{wrong} fitted again in {len(runs)} answers that miss A",
            )
    return None


def _least(A: Array, W: Array) -> float:
    """Return by how much W·H misses A with the best H."""
    H = refitted(A, W)
    return np.inf if H is None else float(misses(A, W @ H))
