"""A threshold: small entries of the answer are set to 0."""

from __future__ import annotations

import numpy as np

from ..evidence import Evidence
from ..findings import Cause, Finding

FEWEST = 2


def threshold(evidence: Evidence) -> Finding | None:
    """Say which entries are dropped, where a run is started at an exact factorization."""
    dropped, kept, runs = [], [], 0
    for run in evidence.tried.exact:
        assert run.W is not None and run.H is not None
        some = False
        for X0, X in ((run.W0, run.W), (run.H0, run.H)):
            dropped += list(X0[(X0 > 0) & (X == 0)])
            kept += list(X0[(X0 > 0) & (X > 0)])
            some |= bool(((X0 > 0) & (X == 0)).any())
        runs += some
    if runs < FEWEST or not kept or max(dropped) > min(kept):
        return None
    return Finding(
        Cause.THRESHOLD,
        "Small entries are set to 0: started at exact factorizations, it drops those of W and H up "
        f"to {max(dropped):.1g}, and keeps those from {min(kept):.1g} on. A threshold is in the "
        "way.",
        evidence=f"start at the answer: {len(dropped)} entries dropped in {runs} runs, "
        f"of sizes {np.min(dropped):.0e} to {max(dropped):.0e}",
    )
