"""W·H is nowhere near A."""

from __future__ import annotations

from ..evidence import Evidence
from ..findings import Cause, Finding

FAR = 0.1
"""A product that misses A by so much, relative to its largest entry, with half as large a KKT
residual, is not on its way to it."""


def unrelated(evidence: Evidence) -> Finding | None:
    """Say so if runs end far from A, where nothing is stationary."""
    runs = evidence.unconverged
    by_residual = not runs.aimed
    far = FAR**2 if by_residual else FAR  # an excess of the residual is of second order
    if not (runs.typical > far and runs.kkt > FAR / 2):
        return None
    if by_residual:
        return Finding(
            Cause.UNRELATED,
            "Where it fails, the residual is nowhere near the least: its square is "
            f"{runs.typical:.1g}·‖A‖² above. The cause is unknown: W and H may not belong "
            "together, an update may be wrong, or another matrix than A be factorized.",
            certain=False,
        )
    return Finding(
        Cause.UNRELATED,
        f"Where it fails, W·H is nowhere near A: the median error is {runs.typical:.1g} of A's "
        "largest entry. The cause is unknown: W and H may not belong together, an update may be "
        "wrong, or another matrix than A be factorized.",
        certain=False,
    )
