"""W·H is a multiple of A."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...arrays import Array
from ...judging.turned import misses
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly
from .rescaled import STAYS

FEWEST = 3
SAME = 1e-6
"""Factors that differ by no more than this are the same."""


def scaled(evidence: Evidence) -> Finding | None:
    """Say by which factor W·H is off, if that is all."""
    runs = evidence.unconverged

    def rescaled(A: Array, W: Array, H: Array) -> Array:
        product: Array = W @ H
        return product * _factor(A, product)

    if not runs.product_is(rescaled):
        return None
    others = [(A, W @ H, rescaled(A, W, H)) for A, W, H in evidence.astray]
    if others and not mostly(misses(A, Y) <= min(misses(A, X), 1.0) / 100 for A, X, Y in others):
        return None  # a diagonal matrix is easily a multiple of another
    if evidence.tried.stays:
        return Finding(
            Cause.AT_ONCE, f"W·H is what it should be but for a factor. {STAYS}", certain=False
        )
    factor = 1 / np.median([_factor(X, W @ H) for X, W, H in runs.aimed])
    named = _named([(X, 1 / _factor(X, W @ H)) for X, W, H in runs.aimed])
    if named:
        return Finding(
            Cause.SCALED,
            f"W·H is what it should be but for a factor, which is {named} in each run (about "
            f"{factor:.4g}): a scaling is not undone, or is undone twice.",
        )
    penalty = "; an L2 penalty would leave one like it" if 0.8 < factor < 1 else ""
    return Finding(
        Cause.SCALED, f"W·H is what it should be but for a factor of about {factor:.4g}{penalty}."
    )


_SIZES: dict[str, Callable[[Array], float]] = {
    "A's largest entry": lambda A: float(A.max()),
    "A's mean": lambda A: float(A.mean()),
    "A's norm": lambda A: float(np.sqrt((A * A).sum())),
    "A's sum": lambda A: float(A.sum()),
    "A's standard deviation": lambda A: float(A.std()),
    "A's largest singular value": lambda A: float(np.linalg.norm(A, 2)),
    "A's number of rows": lambda A: float(A.shape[0]),
    "A's number of columns": lambda A: float(A.shape[1]),
    "A's number of entries": lambda A: float(A.size),
}
_POWERS = {1.0: "{}", -1.0: "1 over {}", 2.0: "the square of {}", 0.5: "the root of {}",
           -2.0: "1 over the square of {}", -0.5: "1 over the root of {}"}  # fmt: skip

APART = 1.05
"""A size is only told from others where it differs so much from matrix to matrix."""


def _named(runs: Sequence[tuple[Array, float]]) -> str:
    """Return which size of A the factor is in each run; "" where it is none."""
    factors = np.array([factor for _, factor in runs])
    if len(runs) < FEWEST or factors.max() < APART * factors.min():
        return ""
    for name, size in _SIZES.items():
        sizes = np.array([size(A) for A, _ in runs])
        for power, called in _POWERS.items():
            if mostly(abs(factors / sizes**power - 1) <= SAME):
                return called.format(name)
    return ""


def _factor(A: Array, product: Array) -> float:
    """Return the c for which c·WH is nearest to A."""
    square = float((product * product).sum())
    return float((A * product).sum()) / square if square > 0 else 0.0
