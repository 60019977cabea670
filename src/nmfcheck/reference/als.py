"""Algorithm 2 of the paper: alternating least squares, clipped at zero.

M. W. Berry, M. Browne, A. N. Langville, V. P. Pauca and R. J. Plemmons, "Algorithms and
applications for approximate nonnegative matrix factorization", CSDA 2007 (the basic ALS).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array, Bools
from .factorization import Factorization, alternate, factorize
from .lanes import T, from_lanes, keep, matmul, to_lanes
from .orbits import Progress

WELL_CONDITIONED = 1e-8
"""A pivot that keeps this part of its diagonal is safe: at most half the digits are lost."""


def clipped(A: Array, W: Array, _H: Array) -> Array:
    """Return `max(0, argmin_H ‖WH − A‖_F)`; where H came from does not matter."""
    return np.maximum(least_squares(W, A), 0.0)


def least_squares(W: Array, A: Array) -> Array:
    """Solve `min ‖WH − A‖_F` for H, of minimum norm where W is rank-deficient.

    By the normal equations `WᵀW·H = WᵀA` in the lanes where they are well conditioned, and by the
    singular value decomposition in the others. A component that was clipped to zero, which really
    happens, is left out of the equations: its row of the minimum-norm solution is 0.
    """
    Wt = T(W)
    H, doubtful = _eliminate(matmul(Wt, W), matmul(Wt, A))
    if doubtful.any():
        m, k, _ = W.shape
        cutoff = max(m, k) * np.finfo(np.float64).eps
        inverse = np.linalg.pinv(from_lanes(keep(W, doubtful)), rcond=cutoff)
        H[..., doubtful] = matmul(to_lanes(np.asarray(inverse)), keep(A, doubtful))
    return H


def _eliminate(G: Array, B: Array) -> tuple[Array, Bools]:
    """Solve `GX = B` for symmetric positive definite G, and say which lanes not to trust.

    Gaussian elimination in place, without pivoting. A pivot over its diagonal entry is sin² of the
    angle between a column of W and the columns before it, whatever the columns' lengths.
    """
    k = len(G)
    diagonal = [G[j, j].copy() for j in range(k)]
    doubtful = np.zeros(G.shape[-1], dtype=bool)
    for j in range(k):
        unsafe = G[j, j] <= WELL_CONDITIONED * diagonal[j]
        doubtful |= unsafe & (diagonal[j] > 0)
        G[j, j][unsafe] = 1.0
        factors = G[j + 1 :, j] / G[j, j]
        G[j + 1 :, j + 1 :] -= factors[:, None] * G[j, j + 1 :]
        B[j + 1 :] -= factors[:, None] * B[j]
    for j in reversed(range(k)):
        B[j] /= G[j, j]
        B[:j] -= G[:j, j, None] * B[j]
    return B, doubtful


def als(
    A: npt.ArrayLike,
    W0: npt.ArrayLike,
    H0: npt.ArrayLike,
    iterations: int = 10**6,
    *,
    close_orbits: bool = True,
    progress: Progress | None = None,
) -> Factorization:
    """Factorize A by clipped alternating least squares: H first, then W.

    H0 is not used, except as the answer after no iterations. The objective may rise: clipping is
    not the solution of the constrained problem. See `Factorization` for what is returned.
    """
    return factorize(
        alternate(clipped),
        A,
        W0,
        H0,
        iterations,
        reads=(0,),
        close_orbits=close_orbits,
        progress=progress,
    )
