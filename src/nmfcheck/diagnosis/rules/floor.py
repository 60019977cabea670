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
    factor = _which(evidence)
    least = [
        min(float(X.min()) for name, X in (("W", W), ("H", H)) if name in factor)
        for _, W, H in evidence.unconverged.factors
    ]
    if high - low > NARROW or not mostly(x >= LOWEST * 10**middle for x in least):
        return None
    return Finding(
        Cause.FLOOR,
        f"Entries of {factor} do not fall below {10**middle:.1g} here: zeros of an exact "
        f"factorization come back as that. A floor under {factor} is in the way, or a constant is "
        f"added to {'it' if len(factor) == 1 else 'them'} (by a penalty with the wrong sign, say).",
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


def _raised(evidence: Evidence) -> list[list[tuple[Array, Array]]]:
    """Return, of each run whose exact start has zeros, the factors in which nearly all are lifted.

    Each with what it was at the start.
    """
    raised = []
    for run in evidence.tried.exact:
        assert run.W is not None and run.H is not None
        sides = [(X0, X) for X0, X in ((run.W0, run.W), (run.H0, run.H)) if (X0 == 0).any()]
        if sides:
            raised.append([(X0, X) for X0, X in sides if _share(X[X0 == 0]) >= NEARLY_ALL])
    return raised


def _which(evidence: Evidence) -> str:
    """Say in which factors zeros are lifted: in those in which nearly all are, in any run."""
    names = []
    for name, place in (("W", 0), ("H", 1)):
        pairs = [((run.W0, run.H0)[place], (run.W, run.H)[place]) for run in evidence.tried.exact]
        zeros = [X[X0 == 0] for X0, X in pairs if X is not None and (X0 == 0).any()]
        if any(_share(x) >= NEARLY_ALL for x in zeros):
            names.append(name)
    return " and ".join(names)


def _share(zeros: Array) -> float:
    """Return how many of some entries are not 0."""
    return float((zeros > LEAST).mean())


def _lifted(evidence: Evidence) -> Array:
    """Return the logarithms of what became of zeros, if nearly all of them are lifted."""
    raised = _raised(evidence)
    if not mostly(raised):
        return np.empty(0)
    became = [X[X0 == 0] for factors in raised for X0, X in factors]
    return np.asarray(np.log10(np.concatenate([x[x > 0] for x in became])))
