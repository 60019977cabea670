"""Multiplicative update for the Kullback–Leibler divergence.

D. D. Lee and H. S. Seung, "Algorithms for non-negative matrix factorization", NIPS 2000.
"""

from __future__ import annotations

from ..arrays import Array
from ..judging.objectives import KL
from .factorization import Algorithm, alternate
from .lanes import T, added, matmul, quotient


def updated(A: Array, W: Array, H: Array) -> Array:
    """Return `H ∘ (WᵀQ) / (Wᵀ1)` with `Q = A/(WH)`.

    Where a denominator is 0 the ratio is 0: so `Q` is 0 where `A` and `WH` both are, and a
    component whose column of W is 0 becomes 0. Nothing is added to denominators.
    """
    Wt = T(W)
    Q = quotient(A, matmul(W, H))
    return quotient(H * matmul(Wt, Q), added(W)[:, None])


kl_multiplicative_update = Algorithm(
    "kl_multiplicative_update",
    alternate(updated),
    2 * 10**4,
    "Factorize A by multiplicative updates for the Kullback–Leibler divergence, which never rises. "
    "Where W0·H0 is positive, W·H has the column sums of A after H's half of an iteration, and "
    "its row sums after W's.",
    objective=KL.name,
)
