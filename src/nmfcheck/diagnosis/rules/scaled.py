"""W·H is a multiple of A."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...judging.turned import misses
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly


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
    factor = 1 / np.median([_factor(X, W @ H) for X, W, H in runs.aimed])
    penalty = "; an L2 penalty would leave one like it" if 0.8 < factor < 1 else ""
    return Finding(
        Cause.SCALED, f"W·H is what it should be but for a factor of about {factor:.4g}{penalty}."
    )


def _factor(A: Array, product: Array) -> float:
    """Return the c for which c·WH is nearest to A."""
    square = float((product * product).sum())
    return float((A * product).sum()) / square if square > 0 else 0.0
