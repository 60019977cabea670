"""A floor: zeros of the answer are lifted."""

from __future__ import annotations

import numpy as np

from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

NEARLY_ALL = 0.9
LEAST = 1e-13
"""Less than this is rounding."""
NARROW = 0.01
"""Within so many decades, lifted entries have one value."""


def floor(evidence: Evidence) -> Finding | None:
    """Say to what zeros are lifted, where a run is started at an exact factorization."""
    lifted = []
    for run in evidence.tried.exact:
        assert run.W is not None and run.H is not None
        sides = [(run.W0, run.W), (run.H0, run.H)]
        zeros = [X[X0 == 0] for X0, X in sides if (X0 == 0).any()]
        if zeros:
            lifted.append([x for x in zeros if (x > LEAST).mean() >= NEARLY_ALL])
    if not mostly(lifted):
        return None
    values = np.log10(np.concatenate([x[x > 0] for some in lifted for x in some]))
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    kept = f"start at the answer: zeros of W or H come back as {10**low:.1g} to {10**high:.1g}"
    if high - low <= NARROW:
        return Finding(
            Cause.FLOOR,
            f"Entries of W or H are kept from falling below {10**middle:.1g}: zeros of an exact "
            "factorization come back as that. A floor under W and H, or a constant added to them, "
            "is in the way.",
            evidence=kept,
        )
    return Finding(
        Cause.FLOOR,
        f"Zeros of an exact factorization do not stay 0, but become {10**low:.1g} to "
        f"{10**high:.1g}: probably something is added to W or H, or they are smoothed.",
        certain=False,
        evidence=kept,
    )
