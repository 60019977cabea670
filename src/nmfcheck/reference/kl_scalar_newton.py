"""Scalar Newton steps for the Kullback–Leibler divergence: one entry after the other.

L. T. K. Hien and N. Gillis, "Algorithms for nonnegative matrix factorization with the
Kullback–Leibler divergence", Journal of Scientific Computing 2021 (their SN). It is the cyclic
coordinate descent of C.-J. Hsieh and I. S. Dhillon (KDD 2011), with steps that are damped where a
whole one might overshoot, so that the divergence never rises.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..judging.objectives import KL
from .factorization import Algorithm, alternate
from .lanes import added, matmul, quotient

WHOLE = 0.683802
"""Up to this length, in the metric of the second derivative, a whole step does not go uphill."""


def swept(A: Array, W: Array, H: Array) -> Array:
    """Move one row of H after the other by a Newton step in each of its entries.

    With `Q = A/(WH)`, entry (c, j) has the derivatives `g = Σᵢ W(i,c)·(1 − Q(i,j))` and
    `f = Σᵢ W(i,c)²·Q(i,j)/(WH)(i,j)`, and the step is `d = max(−H(c,j), −g/f)`. The divergence is
    self-concordant in one entry with the constant `1/√min A(i,j)`, over A(i,j) > 0. Where the
    entry grows (g < 0) a whole step never overshoots; where it shrinks, the step is shortened by
    `1/(1 + λ)` with `λ = √(f/min A)·|d|`, unless λ is small (docs/theory.md, 15). An entry that
    nothing of A depends on (f = 0) has the best value 0.
    """
    H = np.array(H)
    WH = matmul(W, H)
    positive = np.where(A > 0, A, np.inf)
    least = np.min(positive, axis=0)  # of each column of A, over its positive entries
    sums = added(W)
    for c in range(len(H)):
        w = W[:, c, None]
        Q = quotient(A, WH)
        P = quotient(Q, WH)
        g = sums[c] - added(w * Q)
        f = added(w * w * P)
        d = np.where(f > 0, np.maximum(-H[c], -quotient(g, f)), np.where(sums[c] > 0, -H[c], 0.0))
        length = np.sqrt(quotient(f, least)) * np.abs(d)
        d = np.where((g > 0) & (length > WHOLE), d / (1 + length), d)
        H[c] = H[c] + d
        WH = WH + w * d
    return H


kl_scalar_newton = Algorithm(
    "kl_scalar_newton",
    alternate(swept),
    10**4,
    "Factorize A by scalar Newton steps for the Kullback–Leibler divergence, which never rises. An "
    "iteration is a sweep over H, then over W.",
    objective=KL.name,
)
