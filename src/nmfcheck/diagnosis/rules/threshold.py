"""A threshold: small entries of the answer are set to 0."""

from __future__ import annotations

import numpy as np

from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

FEWEST = 2


def threshold(evidence: Evidence) -> Finding | None:
    """Say which entries are dropped, where a run is started at an exact factorization."""
    dropped: list[float] = []
    left: list[float] = []
    runs = 0
    for run in evidence.tried.exact:
        assert run.W is not None and run.H is not None
        some = False
        for X0, X in ((run.W0, run.W), (run.H0, run.H)):
            dropped += X0[(X0 > 0) & (X == 0)].tolist()
            left += X[X > 0].tolist()
            some |= bool(((X0 > 0) & (X == 0)).any())
        runs += some
    if runs < FEWEST or not left or not mostly(x < min(left) for x in dropped):
        return None
    return Finding(
        Cause.THRESHOLD,
        "Small entries are set to 0: started at exact factorizations, it drops some that are "
        f"positive there (half of them up to {np.median(dropped):.1g}), and leaves none between 0 "
        f"and {min(left):.1g}. A threshold is in the way.",
        evidence=f"start at the answer: {len(dropped)} entries dropped in {runs} runs, "
        f"of sizes {min(dropped):.0e} to {max(dropped):.0e}",
    )
