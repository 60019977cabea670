"""The best approximation of a positive matrix by one component, for each β-divergence.

There is one, and no other stationary point with w, h > 0 (docs/theory.md, 13 and 15).
"""

from __future__ import annotations

import numpy as np

from ...arrays import Array

MOST_SWEEPS = 400
"""With entries between ½ and 2 each sweep brings the answer nearer by a factor of 0.36 or less."""


def best_product(A: Array, beta: float) -> Array:
    """Return the w·hᵀ that is nearest to A: `σ₁·u₁·v₁ᵀ` for β = 2, `r·cᵀ/N` for β = 1."""
    if beta == 2:
        u, s, v = np.linalg.svd(A)
        best: Array = s[0] * np.abs(np.outer(u[:, 0], v[0]))  # positive by Perron and Frobenius
        return best
    if beta == 1:
        return np.asarray(np.outer(A.sum(axis=1), A.sum(axis=0)) / A.sum())
    return _swept(A, beta)


def _swept(A: Array, beta: float) -> Array:
    """Alternate between the best h, `Aᵀw^(β−1)/Σw^β`, and the best w; for β = 0 it is Sinkhorn's.

    In units of A's largest entry, and back, so that no power leaves the range of numbers.
    """
    top = A.max()
    A = A / top
    w = A.sum(axis=1)
    for _ in range(MOST_SWEEPS):
        h = A.T @ w ** (beta - 1) / (w**beta).sum()
        before, w = w, A @ h ** (beta - 1) / (h**beta).sum()
        if np.abs(w / before - 1).max() <= 4e-16:
            break
    best: Array = top * np.outer(w, h)
    return best
