"""The start comes back."""

from __future__ import annotations

import numpy as np

from ..evidence import Evidence
from ..findings import Cause, Finding, mostly


def unmoved(evidence: Evidence) -> Finding | None:
    """Say so if W0 and H0 are returned as they were."""
    runs = evidence.unconverged
    if mostly(
        np.array_equal(W, W0) and np.array_equal(H, H0)
        for (_, W, H), (W0, H0) in zip(runs.factors, runs.starts, strict=True)
    ):
        return Finding(Cause.UNMOVED, "It returns its start as it was: the updates never ran.")
    return None
