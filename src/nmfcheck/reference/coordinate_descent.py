"""Cyclic coordinate descent over the components (HALS): what most people run.

A. Cichocki, R. Zdunek and S. Amari, "Hierarchical ALS algorithms for nonnegative matrix and 3D
tensor factorization", ICA 2007.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .factorization import Algorithm, Factorization, alternate, factorize
from .lanes import T, matmul, quotient
from .orbits import Progress


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


def coordinate_descent(
    A: npt.ArrayLike,
    W0: npt.ArrayLike,
    H0: npt.ArrayLike,
    iterations: int = 2 * 10**4,
    *,
    close_orbits: bool = True,
    progress: Progress | None = None,
    engine: str = "auto",
    threads: int | None = None,
) -> Factorization:
    """Factorize A by coordinate descent; an iteration is a sweep over H, then over W.

    The objective `½‖A − WH‖_F²` never rises.
    See `Factorization` for what is returned.

    Parameters
    ----------
    A, W0, H0 : shapes (..., m, n), (..., m, k), (..., k, n); leading dimensions broadcast.
    iterations : how many sweeps over H and W.
    close_orbits : end a problem early where its final state is known; the result is the same.
    progress : called now and then with the number of iterations × problems newly settled.
    engine : ``native``, ``numpy``, or ``auto``: native where it was built.
    threads : of the native engine; as many as there are cores if None. NumPy has one.
    """
    return factorize(
        Algorithm("coordinate_descent", alternate(swept)),
        A,
        W0,
        H0,
        iterations,
        close_orbits=close_orbits,
        progress=progress,
        engine=engine,
        threads=threads,
    )
