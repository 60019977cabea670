"""It stops early: what is left if nothing else fits."""

from __future__ import annotations

from ..evidence import Evidence
from ..findings import Cause, Finding


def early(evidence: Evidence) -> Finding:
    """Say how far runs get before they stop."""
    runs = evidence.unconverged
    return Finding(
        Cause.EARLY,
        "It stops early: its stopping rule, not its update, fails, unless it rests where nothing "
        f"is stationary. The median error is {runs.typical:.0e}, the median KKT residual "
        f"{runs.kkt:.0e}; try a smaller tolerance or more iterations.",
    )
