"""A floor: zeros of the answer are lifted."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

NEARLY_ALL = 0.9
LEAST = 1e-13
"""Less than this is rounding."""
NARROW = 0.01
"""Within so many decades, lifted entries have one value."""


def floor(evidence: Evidence) -> Finding | None:
    """Say so if zeros are lifted to one value."""
    values = _lifted(evidence)
    if not len(values):
        return None
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    if high - low > NARROW:
        return None
    return Finding(
        Cause.FLOOR,
        f"Entries of W or H are kept from falling below {10**middle:.1g}: zeros of an exact "
        "factorization come back as that. A floor under W and H, or a constant added to them, is "
        "in the way.",
        evidence=f"start at the answer: {len(values)} zeros come back as {10**middle:.3g}",
    )


def lifted(evidence: Evidence) -> Finding | None:
    """Say so if zeros are lifted to different values."""
    values = _lifted(evidence)
    if not len(values):
        return None
    low, high = np.quantile(values, [0.1, 0.9])
    return Finding(
        Cause.FLOOR,
        f"Zeros of an exact factorization do not stay 0, but become {10**low:.1g} to "
        f"{10**high:.1g}: something is added to A, W or H, or they are smoothed.",
        evidence=f"start at the answer: {len(values)} zeros do not come back as 0",
    )


def _lifted(evidence: Evidence) -> Array:
    """Return the logarithms of what became of zeros, if nearly all of them are lifted."""
    lifted = []
    for run in evidence.tried.exact:
        assert run.W is not None and run.H is not None
        sides = [(run.W0, run.W), (run.H0, run.H)]
        zeros = [X[X0 == 0] for X0, X in sides if (X0 == 0).any()]
        if zeros:
            lifted.append([x for x in zeros if (x > LEAST).mean() >= NEARLY_ALL])
    if not mostly(lifted):
        return np.empty(0)
    return np.asarray(np.log10(np.concatenate([x[x > 0] for some in lifted for x in some])))
