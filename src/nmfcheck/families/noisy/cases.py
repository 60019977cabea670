"""Noisy matrices: `A = X + N`, where X is a mixed matrix and N is orthogonal to it on both sides.

Then nothing fits A exactly, and still the best W and H of rank k are those of X (docs/theory.md,
Theorem 5). With `P = [I; C]` and `Q = [I, E]`, up to the order of rows and columns,
`N = [−Cᵀ; I]·Z·[−Eᵀ, I]` has `NᵀX = 0` and `NXᵀ = 0` whatever Z is. Z ≥ 0 makes N positive where X
is 0; its size is a power of two, small enough that A > 0 everywhere and that N's largest singular
value is below X's smallest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...arrays import Array, frozen
from ...errors import InputError
from ..bidiagonal.cases import bidiagonal
from ..dyadic import GRID, generator
from ..mixed.cases import Draw, MixedCase, Side, drawn_by
from ..mixed.cases import check_shape as check_mixed

NAME = "noisy"
CODE = 5
"""What the generator of draws is seeded with, beside shape, rank and draw."""

BELOW = 0.9
"""The largest singular value of N is at most this part of the k-th of X."""

LEAST = 8
"""Every entry of A is at least X's, divided by this."""


@dataclass(frozen=True, eq=False, repr=False)
class NoisyCase(MixedCase):
    """A noisy matrix with what it was made of.

    Attributes
    ----------
    exact : X, the mixed matrix that the best W and H have as their product.
    """

    exact: Array

    @property
    def X(self) -> Array:
        """The product of the best W and H."""
        return self.exact

    @property
    def noise(self) -> float:
        """‖N‖, the least that is left of A."""
        return float(np.linalg.norm(self.A - self.exact))


def check_shape(m: int, n: int, k: int) -> None:
    """Raise `InputError` where there is no such matrix, or no room for noise."""
    check_mixed(m, n, k)
    if min(m, n) < 2:
        raise InputError(f"no room for noise in a {m}×{n} matrix; expected 2×2 or larger")
    if not 1 <= k < min(m, n):
        raise InputError(f"no noise of rank {k} in a {m}×{n} matrix; expected 1 to {min(m, n) - 1}")


@lru_cache(maxsize=4096)
def case_of(m: int, n: int, k: int, i: int, id: str) -> NoisyCase:
    """Return the case of a draw."""
    check_shape(m, n, k)
    rng = generator(CODE, m, n, k, i)
    drawn = drawn_by(rng, m, n, k)
    # Positive, on the grid: then N's part in the core, CᵀZEᵀ, is positive, too.
    Z = (1 + np.floor(GRID * rng.random((m - k, n - k)))) / GRID
    X = drawn.X
    N = _scaled(_null(drawn.rows) @ Z @ _null(drawn.columns).T, X, drawn)
    return NoisyCase(
        id, frozen(X + N), k, bidiagonal(drawn.a0), drawn.rows, drawn.columns, frozen(X)
    )


def _null(side: Side) -> Array:
    """Return `[−Cᵀ; I]`: its columns are orthogonal to those of P, and there are all of them."""
    null = np.zeros((len(side.matrix), len(side.mixed)))
    null[side.core] = -side.matrix[side.mixed].T
    null[side.mixed] = np.eye(len(side.mixed))
    return null


def _scaled(N: Array, X: Array, drawn: Draw) -> Array:
    """Return N times the largest power of two for which A is positive and X its best part."""
    smallest = np.linalg.svd(X, compute_uv=False)[len(drawn.a0) - 1]
    size = 2.0 ** np.floor(np.log2(BELOW * smallest / np.linalg.norm(N, 2)))
    while not (size * N >= X / LEAST - X).all():
        size /= 2
    scaled: Array = size * N
    return scaled
