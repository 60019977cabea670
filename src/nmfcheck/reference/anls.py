"""ANLS: alternating nonnegative least squares, each solved exactly by active sets.

H. Kim and H. Park, "Nonnegative matrix factorization based on alternating nonnegativity constrained
least squares and active set method", SIAM Journal on Matrix Analysis and Applications, 2008. The
active sets are those of C. L. Lawson and R. J. Hanson, "Solving least squares problems", 1974.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Bools
from .factorization import Algorithm, alternate
from .lanes import T, keep, matmul, quotient

DEPENDENT = 2.0**-40
"""A column of W whose part across the columns in use is that short, squared and relative to its own
squared length, depends on them: it is not used beside them."""


def solved(A: Array, W: Array, _H: Array) -> Array:
    """Return `argmin_{H ≥ 0} ‖WH − A‖_F`; where H came from does not matter.

    Columns of A do not depend on each other: each is a lane of its own here.
    """
    m, n, lanes = A.shape
    Wt = T(W)
    WtA = matmul(Wt, A)
    k = len(WtA)
    G = np.repeat(matmul(Wt, W)[:, :, None], n, axis=2).reshape(k, k, n * lanes)
    B = WtA.reshape(k, n * lanes)
    return nonnegative(G, B, (m + k) * 2.0**-50).reshape(k, n, lanes)


def nonnegative(G: Array, b: Array, rounding: float) -> Array:
    """Solve `min ½yᵀGy − bᵀy` for y ≥ 0, by Lawson and Hanson's active sets.

    With more and more components in use, y is the best with those and no others. The one whose
    gradient says that it helps most is taken in; where the new best has one that is not positive, y
    goes towards it as far as the bounds let it, and what has become 0 is out of use again.

    Parameters
    ----------
    rounding : b − Gy counts as 0 up to this, relative to b. Nothing cancels in either: G and b are
        products of matrices without negative entries.
    """
    k = len(b)
    result = np.zeros(b.shape)
    open_lanes = np.arange(b.shape[-1])
    y = np.zeros(b.shape)
    used, entered, refused = (np.zeros(b.shape, dtype=bool) for _ in range(3))
    for _ in range(10 * k + 10):
        z, dependent = _best(G, b, used)
        below = used & ~(z > 0)
        back = entered.any(axis=0) & (dependent | (entered & below).any(axis=0))
        short = below.any(axis=0) & ~back
        reach = np.where(below & short, quotient(y, y - z), np.inf)
        step = np.where(short, reach.min(axis=0), 1.0)
        y = np.where(used & ~back, np.where(short, y + step * (z - y), z), y)
        out = (entered & back) | (used & short & ((reach == step) | ~(y > 0)))
        y[out] = 0.0
        used &= ~out
        refused = np.where(back, refused | entered, refused & short)
        uphill = b - (G * y).sum(axis=1)
        helps = ~used & ~refused & ~short & (uphill > rounding * b)
        uphill = np.where(helps, uphill, -np.inf)
        entered = helps & (np.arange(k)[:, None] == uphill.argmax(axis=0))
        used |= entered
        done = ~short & ~entered.any(axis=0)
        if done.any():
            result[:, open_lanes[done]] = y[:, done]
            left = ~done
            open_lanes = open_lanes[left]
            G, b, y = (keep(X, left) for X in (G, b, y))
            used, entered, refused = used[:, left], entered[:, left], refused[:, left]
            if len(open_lanes) == 0:
                return result
    result[:, open_lanes] = y
    return result


def _best(G: Array, b: Array, used: Bools) -> tuple[Array, Bools]:
    """Solve `Gz = b` for the components in use, and say where these depend on each other.

    By Cholesky's decomposition LLᵀ of their part of G; the diagonal of L is kept as its inverse,
    which is 0 for a component that is not in use.
    """
    k = len(b)
    L = np.zeros(G.shape)
    dependent = np.zeros(b.shape[-1], dtype=bool)
    z = np.zeros(b.shape)
    for i in range(k):
        for j in range(i):
            rest = G[i, j] - (L[i, :j] * L[j, :j]).sum(axis=0)
            L[i, j] = np.where(used[i], rest * L[j, j], 0.0)
        pivot = G[i, i] - (L[i, :i] * L[i, :i]).sum(axis=0)
        dependent |= used[i] & (pivot <= DEPENDENT * G[i, i])
        L[i, i] = np.where(used[i] & (pivot > 0), 1 / np.sqrt(np.where(pivot > 0, pivot, 1.0)), 0.0)
        z[i] = (b[i] - (L[i, :i] * z[:i]).sum(axis=0)) * L[i, i]
    for i in reversed(range(k)):
        z[i] = (z[i] - (L[i + 1 :, i] * z[i + 1 :]).sum(axis=0)) * L[i, i]
    return z, dependent


anls = Algorithm(
    "anls",
    alternate(solved),
    10**4,
    "Factorize A by alternating nonnegative least squares. H0 is not used, except as the answer "
    "after no iterations. The objective ½‖A − WH‖² never rises.",
    reads=(0,),
)
