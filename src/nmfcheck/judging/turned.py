"""Factors that are turned or swapped: ways in which W and H may be meant."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array


def _product(X: Array, Y: Array) -> Array:
    """Return X·Y, or nothing where the shapes do not fit."""
    product: Array = X @ Y if X.shape[1] == Y.shape[0] else np.empty((0, 0))
    return product


TURNED: dict[str, Callable[[Array, Array], Array]] = {
    "W·Hᵀ": lambda W, H: _product(W, H.T),
    "Wᵀ·H": lambda W, H: _product(W.T, H),
    "Wᵀ·Hᵀ": lambda W, H: _product(W.T, H.T),
    "H·W": lambda W, H: _product(H, W),
    "H·Wᵀ": lambda W, H: _product(H, W.T),
    "Hᵀ·W": lambda W, H: _product(H.T, W),
}


def misses(A: Array, product: Array) -> float:
    """Return by how much a product misses A, relative to its largest entry."""
    if product.shape != A.shape:
        return np.inf
    with np.errstate(all="ignore"):
        miss = float(abs(A - product).max() / A.max())
    return miss if np.isfinite(miss) else np.inf
