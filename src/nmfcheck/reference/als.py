"""Algorithm 2 of the paper: alternating least squares, clipped at zero.

M. W. Berry, M. Browne, A. N. Langville, V. P. Pauca and R. J. Plemmons, "Algorithms and
applications for approximate nonnegative matrix factorization", CSDA 2007 (the basic ALS).
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Bools
from .factorization import Algorithm, alternate
from .lanes import T, from_lanes, keep, matmul, quotient, to_lanes

SAFE = 1e8
"""Largest condition of `WᵀW`, its columns scaled to one length, for the normal equations: at most
half the digits are lost."""
FULL_RANK = 1e26
"""Largest condition of `WᵀW` as it is: far from where singular values count as zero."""


def clipped(A: Array, W: Array, _H: Array) -> Array:
    """Return `max(0, argmin_H ‖WH − A‖_F)`; where H came from does not matter."""
    return np.maximum(least_squares(W, A), 0.0)


def least_squares(W: Array, A: Array) -> Array:
    """Solve `min ‖WH − A‖_F` for H, of minimum norm where W is rank-deficient.

    By the normal equations `WᵀW·H = WᵀA` in the lanes where that is safe, and by the singular value
    decomposition in the others: there, singular values below `max(m, k)·2⁻⁵²·σ₁` count as zero.
    A component that was clipped to zero is left out of the equations: its row of the minimum-norm
    solution is 0.
    """
    Wt = T(W)
    H, doubtful = _eliminate(matmul(Wt, W), matmul(Wt, A))
    if doubtful.any():
        H[..., doubtful] = matmul(_pseudo_inverse(keep(W, doubtful)), keep(A, doubtful))
    return H


def _eliminate(G: Array, B: Array) -> tuple[Array, Bools]:
    """Solve `GX = B` for symmetric positive definite G, and say which lanes not to trust.

    Gauss and Jordan's elimination without pivoting, which leaves G⁻¹ in the place of G. Its
    diagonal bounds the condition: `‖G‖ ≤ ΣG(j,j)` and `‖G⁻¹‖ ≤ ΣG⁻¹(j,j)`; with the columns of W
    scaled to length 1, `‖G⁻¹‖ ≤ ΣG(j,j)·G⁻¹(j,j)`.
    """
    k = len(G)
    squares = np.array([G[j, j] for j in range(k)])  # of the lengths of W's columns
    pivots = np.empty_like(squares)
    both = np.concatenate([G, B], axis=1)
    for j in range(k):
        pivots[j] = both[j, j]
        both[j, j] = 1.0
        both[j] = quotient(both[j], pivots[j])  # a dead component: zeros throughout
        factors = both[:, j].copy()
        factors[j] = 0.0
        both[:, j] -= factors
        both -= factors[:, None] * both[j]
    inverse = np.array([both[j, j] for j in range(k)])
    doubtful = (k * (squares * inverse).sum(axis=0) > SAFE) | (
        squares.sum(axis=0) * inverse.sum(axis=0) > FULL_RANK
    )
    doubtful |= ((squares > 0) & (SAFE * pivots <= squares)).any(axis=0)
    return both[:, k:], doubtful


def _pseudo_inverse(W: Array) -> Array:
    U, sigma, Vt = np.linalg.svd(from_lanes(W), full_matrices=False)
    cutoff = max(W.shape[:2]) * np.finfo(np.float64).eps * sigma[:, :1]
    inverse = np.where(sigma > cutoff, 1 / np.where(sigma > cutoff, sigma, 1.0), 0.0)
    pinv = matmul(to_lanes(Vt.swapaxes(1, 2) * inverse[:, None, :]), to_lanes(U.swapaxes(1, 2)))
    alive = (W != 0).any(axis=0)[:, None]
    return np.where(alive, pinv, 0.0)  # and not rounding errors, from which a component would rise


als = Algorithm(
    "als",
    alternate(clipped),
    10**6,
    "Factorize A by clipped alternating least squares. H0 is not used, except as the answer after "
    "no iterations. The objective may rise: clipping does not solve the constrained problem.",
    reads=(0,),
)
