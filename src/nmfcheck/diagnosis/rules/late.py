"""Negative entries are set to 0 at the end only."""

from __future__ import annotations

import numpy as np

from ..evidence import Evidence
from ..experiments.tried import LEFT
from ..findings import Cause, Finding, mostly
from .unrelated import unrelated

ZEROS = 0.15
"""Who does not keep W and H nonnegative has more zeros than this in both in the end."""


def late(evidence: Evidence) -> Finding | None:
    """Say that it may be so if only exact factorizations stay, and answers are full of zeros."""
    runs, missed = evidence.unconverged.factors, evidence.tried.missed
    if unrelated(evidence) is None or not missed or max(missed) > LEFT:
        return None
    if evidence.part.family not in {run.trial.cell.family for run in evidence.tried.exact}:
        return None  # it may stay there, and leave those of this family
    zeros = [min(float((W == 0).mean()), float((H == 0).mean())) for _, W, H in runs]
    if not mostly(share > ZEROS for share in zeros):
        return None
    return Finding(
        Cause.UNRELATED,
        "Where it fails, W·H is nowhere near A: the median error is "
        f"{evidence.unconverged.typical:.1g} of its largest entry. The cause is unknown, but it "
        f"stays at exact factorizations, and {float(np.median(zeros)):.0%} of W or H or more are "
        "exactly 0: negative entries may be set to 0 at the end only, and not in the loop, or "
        "steps be too large, so that factors become 0 (all components updated at once from old "
        "values, say).",
        certain=False,
        evidence=f"start at the answer: all {len(missed)} runs stayed",
    )
