"""Factors that are turned or swapped: ways in which W and H may be meant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .arrays import Array

TURNED: dict[str, Callable[[Array, Array], Array]] = {
    "W·Hᵀ": lambda W, H: W @ H.T,
    "Wᵀ·H": lambda W, H: W.T @ H,
    "Wᵀ·Hᵀ": lambda W, H: W.T @ H.T,
    "H·W": lambda W, H: H @ W,
    "H·Wᵀ": lambda W, H: H @ W.T,
    "Hᵀ·W": lambda W, H: H.T @ W,
}


def misses(A: Array, product: Array) -> float:
    """Return by how much a product misses A, relative to its largest entry."""
    with np.errstate(all="ignore"):
        miss = float(abs(A - product).max() / A.max())
    return miss if np.isfinite(miss) else np.inf
