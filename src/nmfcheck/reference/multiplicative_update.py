"""Algorithm 1 of the paper: multiplicative update.

D. D. Lee and H. S. Seung, "Algorithms for non-negative matrix factorization", NIPS 2000.
"""

from __future__ import annotations

from ..arrays import Array
from .factorization import Algorithm, alternate
from .lanes import T, matmul, quotient


def updated(A: Array, W: Array, H: Array) -> Array:
    """Return `H ∘ (WᵀA) / (WᵀWH)`.

    Where a denominator is 0 the entry is 0. Nothing is added to denominators: that would move the
    fixed points, and the product would miss A.
    """
    Wt = T(W)
    return quotient(H * matmul(Wt, A), matmul(matmul(Wt, W), H))


multiplicative_update = Algorithm(
    "multiplicative_update",
    alternate(updated),
    10**6,
    "Factorize A by multiplicative updates. The objective ½‖A − WH‖² never rises.",
)
