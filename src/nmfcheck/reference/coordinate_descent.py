"""Cyclic coordinate descent over the components (HALS): what most people run.

A. Cichocki, R. Zdunek and S. Amari, "Hierarchical ALS algorithms for nonnegative matrix and 3D
tensor factorization", ICA 2007.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .factorization import Algorithm, alternate
from .lanes import T, matmul, quotient


def swept(A: Array, W: Array, H: Array) -> Array:
    """Set one row of H after the other to `max(0, H[j] + (WᵀA − WᵀWH)[j]/(WᵀW)[j,j])`.

    That is the best row j, the others being what they are. A row whose denominator is 0 is left.
    """
    Wt = T(W)
    WtA, WtW = matmul(Wt, A), matmul(Wt, W)
    H = np.array(H)
    for j in range(len(H)):
        downhill = WtA[j] - matmul(WtW[j, None], H)[0]
        H[j] = np.maximum(H[j] + quotient(downhill, WtW[j, j]), 0.0)
    return H


coordinate_descent = Algorithm(
    "coordinate_descent",
    alternate(swept),
    2 * 10**4,
    "Factorize A by coordinate descent; an iteration is a sweep over H, then over W. The objective "
    "½‖A − WH‖² never rises.",
)
