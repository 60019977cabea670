"""W·H is A with its largest entries cut down."""

from __future__ import annotations

import numpy as np

from ..evidence import Evidence, explains
from ..findings import Cause, Finding, mostly

FEWEST = 4
FAR = 0.2
"""What is cut down to less than this is hardly A any more."""


def clipped(evidence: Evidence) -> Finding | None:
    """Say so if W·H is A where that is small, and the same everywhere else."""
    runs = [(A, W @ H) for A, W, H in evidence.astray]
    runs = [(A, X) for A, X in runs if FAR * A.max() < X.max() < A.max()]
    if len(runs) < max(FEWEST, len(evidence.astray) / 2):
        return None
    if not mostly(explains(A, X, np.minimum(A, X.max())) for A, X in runs):
        return None
    return Finding(
        Cause.CHANGED_A,
        "W·H is not A, but A with its largest entries cut down to the same size: A is clipped "
        "before it is factorized.",
        evidence=f"so in most of {len(runs)} answers that miss A",
    )
