"""Multiplicative update for any β-divergence with 0 ≤ β ≤ 2.

C. Févotte and J. Idier, "Algorithms for nonnegative matrix factorization with the β-divergence",
Neural Computation 2011 (their majorization–minimization).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..judging.objectives import Objective, find
from .factorization import Algorithm, alternate
from .lanes import T, matmul, quotient


def updated(beta: float, A: Array, W: Array, H: Array) -> Array:
    """Return `H ∘ ((Wᵀ(A∘X^(β−2))) / (Wᵀ·X^(β−1)))^γ` with `X = WH`.

    The exponent γ is `1/(2−β)` for β < 1 and 1 otherwise: with it the divergence never rises.
    """
    Wt, X = T(W), matmul(W, H)
    with np.errstate(divide="ignore"):
        ratio = np.where(A == 0, 0.0, A * X ** (beta - 2))
        # Where A = X = 0, a component without weight has no slope, in the limit: not 0·∞.
        slope = np.where((A == 0) & (X == 0), 0.0 if beta < 1 else X ** (beta - 1), X ** (beta - 1))
    step = quotient(matmul(Wt, ratio), matmul(Wt, slope))
    return H * (step ** (1 / (2 - beta)) if beta < 1 else step)


@lru_cache
def beta_multiplicative_update(objective: str | Objective) -> Algorithm:
    """Return the algorithm for an objective, such as ``itakura-saito`` or ``beta=0.5``."""
    which = objective if isinstance(objective, Objective) else find(objective)
    if not 0 <= which.beta <= 2:
        raise InputError(f"β is {which.beta:g}; expected a number from 0 to 2")
    return Algorithm(
        "beta_multiplicative_update",
        alternate(lambda A, W, H: updated(which.beta, A, W, H)),
        10**4,
        f"Factorize A by multiplicative updates for {which.title}, which never rises.",
        objective=which.name,
        native=False,
    )
