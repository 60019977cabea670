"""It stops early: what is left if nothing else fits."""

from __future__ import annotations

from ..evidence import Evidence
from ..findings import Cause, Finding


def early(evidence: Evidence) -> Finding:
    """Say how far runs get before they stop."""
    runs = evidence.unconverged
    return Finding(
        Cause.EARLY,
        f"It stops early: the median error is {runs.typical:.0e}, and the median KKT residual, "
        f"which is 0 at a stationary point, {runs.kkt:.0e}. Try a smaller tolerance or more "
        "iterations; if that changes nothing, it minimises something else.",
    )
