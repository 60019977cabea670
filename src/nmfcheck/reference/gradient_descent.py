"""Algorithm 3 of the paper: gradient descent.

N. Guan, D. Tao, Z. Luo and B. Yuan, "Manifold regularized discriminative nonnegative matrix
factorization with fast gradient descent", IEEE Transactions on Image Processing, 2011; here
without its regularisation.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .factorization import Algorithm, alternate
from .lanes import T, matmul, quotient, total


def descended(A: Array, W: Array, H: Array) -> Array:
    """Return `H + s·G`: the step of multiplicative update, G, as long as pays off.

    `s* = −⟨∇_H, G⟩/‖WG‖²` minimises the objective along G, `s_max` is where H reaches the
    boundary; both are at least 1, and s = 1 is multiplicative update itself.
    """
    Wt = T(W)
    WtA, WtWH = matmul(Wt, A), matmul(matmul(Wt, W), H)
    G = quotient(H * WtA, WtWH) - H
    best = quotient(total((WtA - WtWH) * G), total(np.square(matmul(W, G))))
    boundary = np.where(G < 0, quotient(-H, G), np.inf).min(axis=(0, 1))
    s = np.maximum(1.0, np.minimum(best, 0.99 * boundary))
    moved: Array = H + s * G
    return moved


gradient_descent = Algorithm(
    "gradient_descent",
    alternate(descended),
    10**4,
    "Factorize A by fast gradient descent. The objective ½‖A − WH‖² never rises.",
)
