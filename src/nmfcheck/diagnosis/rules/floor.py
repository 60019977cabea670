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
LOWEST = 0.99
"""Where it is a floor, no entry of that factor is below this part of it, in failing runs either."""


def floor(evidence: Evidence) -> Finding | None:
    """Say so if zeros are lifted to one value, and nothing is below it."""
    values = _lifted(evidence)
    if not len(values):
        return None
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    names = sorted({name for factors in _raised(evidence) for name in factors}, reverse=True)
    factor = " and ".join(names)
    least = [
        min(float(X.min()) for name, X in (("W", W), ("H", H)) if name in names)
        for _, W, H in evidence.unconverged.factors
    ]
    if high - low > NARROW or not mostly(x >= LOWEST * 10**middle for x in least):
        return None
    return Finding(
        Cause.FLOOR,
        f"Entries of {factor} do not fall below {10**middle:.1g} here: zeros of an exact "
        f"factorization come back as that. A floor under {factor} is in the way, or a constant is "
        f"added to {'it' if len(names) == 1 else 'them'} (by a penalty with the wrong sign, say).",
        evidence=f"start at the answer: {len(values)} zeros come back as {10**middle:.3g}",
    )


def lifted(evidence: Evidence) -> Finding | None:
    """Say so if zeros are lifted to different values."""
    values = _lifted(evidence)
    if not len(values):
        return None
    low, high = (f"{10**x:.1g}" for x in np.quantile(values, [0.1, 0.9]))
    become = low if low == high else f"{low} to {high}"
    return Finding(
        Cause.FLOOR,
        f"Zeros of an exact factorization do not stay 0, but become {become}: something is added "
        "to A, W or H, or in an update (a penalty with the wrong sign, say), or they are smoothed.",
        evidence=f"start at the answer: {len(values)} zeros do not come back as 0",
    )


def _raised(evidence: Evidence) -> list[dict[str, Array]]:
    """Return, of each run whose exact start has zeros, what became of them, by factor.

    Of the factors in which nearly all are lifted.
    """
    raised = []
    for run in evidence.tried.exact:
        assert run.W is not None and run.H is not None
        sides = (("W", run.W0, run.W), ("H", run.H0, run.H))
        zeros = {name: X[X0 == 0] for name, X0, X in sides if (X0 == 0).any()}
        if zeros:
            raised.append({name: x for name, x in zeros.items() if _share(x) >= NEARLY_ALL})
    return raised


def _share(zeros: Array) -> float:
    """Return how many of some entries are not 0."""
    return float((zeros > LEAST).mean())


def _lifted(evidence: Evidence) -> Array:
    """Return the logarithms of what became of zeros, if nearly all of them are lifted."""
    raised = _raised(evidence)
    if not mostly(raised):
        return np.empty(0)
    became = np.concatenate([zeros for factors in raised for zeros in factors.values()])
    return np.asarray(np.log10(became[became > 0]))
