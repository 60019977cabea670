"""W·H is huge beside A."""

from __future__ import annotations

import numpy as np

from ...judging.turned import misses
from ..evidence import Evidence
from ..findings import Cause, Finding

HUGE = 1e6
"""Who misses A by more than this, relative to its largest entry, is on its way to infinity."""


FEWEST = 3


def diverged(evidence: Evidence) -> Finding | None:
    """Say so if most failing runs end with a product that is huge beside A."""
    off = [misses(A, W @ H) for A, W, H in evidence.unconverged.factors]
    middle = float(np.median(off)) if off else 0.0
    if len(off) < FEWEST or not middle > HUGE:
        return None
    size = f"{middle:.0e}" if np.isfinite(middle) else "more than 1e+300"
    return Finding(
        Cause.DIVERGES,
        f"W·H is far too large: the median error is {size} of A's largest entry. Probably numbers "
        "grow from step to step (a step is too large, or an update divides by the wrong thing), or "
        "equations are solved that are nearly singular.",
        certain=False,
        evidence=f"so in {sum(x > HUGE for x in off)} of {len(off)} failing runs",
    )
