"""Whole components are set to 0."""

from __future__ import annotations

import numpy as np

from ...arrays import Array, Bools
from ..evidence import Evidence
from ..findings import Cause, Finding

FEWEST = 2


def pruned(evidence: Evidence) -> Finding | None:
    """Say so if components of exact factorizations come back as 0, and which ones do."""
    dropped: list[float] = []
    smallest = runs = 0
    for run in evidence.tried.exact:
        assert run.W is not None and run.H is not None
        gone = _alive(run.W0, run.H0) & ~_alive(run.W, run.H)
        if gone.any() and not gone.all():
            sizes = np.linalg.norm(run.W0, axis=0) * np.linalg.norm(run.H0, axis=1)
            dropped += (sizes[gone] / sizes.max()).tolist()
            smallest += bool(sizes[gone].max() < sizes[~gone].min())
            runs += 1
    if runs < FEWEST or smallest < runs:
        return None
    return Finding(
        Cause.PRUNED,
        "Whole components are set to 0: started at exact factorizations, it drops some, and always "
        f"the smallest, up to {max(dropped):.0%} of the largest one's size. Those are not dead: "
        "A needs them.",
        evidence=f"start at the answer: {len(dropped)} components dropped in {runs} runs",
    )


def _alive(W: Array, H: Array) -> Bools:
    return np.logical_and((W > 0).any(axis=0), (H > 0).any(axis=1))
