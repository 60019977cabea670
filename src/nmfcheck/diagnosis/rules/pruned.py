"""Whole components are set to 0."""

from __future__ import annotations

import numpy as np

from ...arrays import Array, Bools
from ..evidence import Evidence
from ..findings import Cause, Finding


def pruned(evidence: Evidence) -> Finding | None:
    """Say so if small components of exact factorizations come back as 0, and no others."""
    dropped: list[float] = []
    left: list[float] = []
    asked: set[str] = set()
    losing: set[str] = set()
    for run in evidence.tried.exact:
        assert run.W is not None and run.H is not None
        sizes = np.linalg.norm(run.W0, axis=0) * np.linalg.norm(run.H0, axis=1)
        gone = _alive(run.W0, run.H0) & ~_alive(run.W, run.H)
        dropped += (sizes[gone] / sizes.max()).tolist()
        left += (sizes[~gone] / sizes.max()).tolist()
        name = f"{run.trial.id}/{run.ask.name}"
        asked.add(name)
        if gone.any():
            losing.add(name)
    if not losing or not left or max(dropped) >= min(left):
        return None
    return Finding(
        Cause.PRUNED,
        "Whole components come back as 0: started at exact factorizations, it drops all that are "
        f"up to {max(dropped):.0%} of the largest one's size, and none that is larger. A needs "
        "them. Probably small components are taken for dead, or a penalty is too strong.",
        certain=False,
        evidence=f"start at the answer: in {len(losing)} of {len(asked)} factorizations",
    )


def _alive(W: Array, H: Array) -> Bools:
    return np.logical_and((W > 0).any(axis=0), (H > 0).any(axis=1))
