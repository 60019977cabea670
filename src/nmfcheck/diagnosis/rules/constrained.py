"""W or H is held to sums or norms of 1 that no factorization of A has."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

FEWEST = 4

_SIZES: dict[str, Callable[[Array], Array]] = {
    "sum to 1": lambda X: X.sum(axis=0),
    "have norm 1": lambda X: np.sqrt((X * X).sum(axis=0)),
    "have a largest entry of 1": lambda X: X.max(axis=0),
}


def constrained(evidence: Evidence) -> Finding | None:
    """Say so if all columns of H, or all rows of W, have the same size, and A is missed."""
    runs = [(W, H) for _, W, H in evidence.astray if W.shape[1] > 1]
    both = (("columns of H", [H for _, H in runs]), ("rows of W", [W.T for W, _ in runs]))
    for what, factors in both:
        for how, size in _SIZES.items():
            telling = [X for X in factors if not (_is_one(size(X)) and _is_one(size(X.T)))]
            if len(telling) >= FEWEST and mostly(_is_one(size(X)) for X in telling):
                return Finding(
                    Cause.CONSTRAINED,
                    f"All {what} {how}, and W·H is not A. Probably that is a constraint, or a "
                    "normalisation, which the other factor does not make up for.",
                    certain=False,
                    evidence=f"median error {evidence.unconverged.typical:.0e}",
                )
    return None


def _is_one(sizes: Array) -> bool:
    return np.allclose(sizes, 1.0, atol=1e-6)
