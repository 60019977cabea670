"""Algorithm 1 of the paper: multiplicative update.

D. D. Lee and H. S. Seung, "Algorithms for non-negative matrix factorization", NIPS 2000.
"""

from __future__ import annotations

import numpy.typing as npt

from ..arrays import Array
from .factorization import Algorithm, Factorization, alternate, factorize
from .lanes import T, matmul, quotient
from .orbits import Progress


def updated(A: Array, W: Array, H: Array) -> Array:
    """Return `H ∘ (WᵀA) / (WᵀWH)`.

    Where a denominator is 0 the entry is 0. Nothing is added to denominators: that would move the
    fixed points, and the product would miss A.
    """
    Wt = T(W)
    return quotient(H * matmul(Wt, A), matmul(matmul(Wt, W), H))


def multiplicative_update(
    A: npt.ArrayLike,
    W0: npt.ArrayLike,
    H0: npt.ArrayLike,
    iterations: int = 10**6,
    *,
    close_orbits: bool = True,
    progress: Progress | None = None,
    engine: str = "auto",
    threads: int | None = None,
) -> Factorization:
    """Factorize A by multiplicative updates: H first, then W.

    The objective `½‖A − WH‖_F²` never rises.
    See `Factorization` for what is returned.

    Parameters
    ----------
    A, W0, H0 : shapes (..., m, n), (..., m, k), (..., k, n); leading dimensions broadcast.
    iterations : how many.
    close_orbits : end a problem early where its final state is known; the result is the same.
    progress : called now and then with the number of iterations × problems newly settled.
    engine : ``native``, ``numpy``, or ``auto``: native where it was built.
    threads : of the native engine; as many as there are cores if None. NumPy has one.
    """
    return factorize(
        Algorithm("multiplicative_update", alternate(updated)),
        A,
        W0,
        H0,
        iterations,
        close_orbits=close_orbits,
        progress=progress,
        engine=engine,
        threads=threads,
    )
