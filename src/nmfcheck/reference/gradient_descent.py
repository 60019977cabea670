"""Algorithm 3 of the paper: gradient descent.

N. Guan, D. Tao, Z. Luo and B. Yuan, "Manifold regularized discriminative nonnegative matrix
factorization with fast gradient descent", IEEE Transactions on Image Processing, 2011; here
without its regularisation.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .factorization import Algorithm, Factorization, alternate, factorize
from .lanes import T, matmul, quotient, total
from .orbits import Progress


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


def gradient_descent(
    A: npt.ArrayLike,
    W0: npt.ArrayLike,
    H0: npt.ArrayLike,
    iterations: int = 10**4,
    *,
    close_orbits: bool = True,
    progress: Progress | None = None,
    engine: str = "auto",
    threads: int | None = None,
) -> Factorization:
    """Factorize A by fast gradient descent: H first, then W.

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
        Algorithm("gradient_descent", alternate(descended)),
        A,
        W0,
        H0,
        iterations,
        close_orbits=close_orbits,
        progress=progress,
        engine=engine,
        threads=threads,
    )
