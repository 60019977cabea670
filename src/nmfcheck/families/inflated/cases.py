"""Inflated matrices: `A = P·B·Q` with a bidiagonal core B of size k.

Each row of P (m×k) has at most one positive entry, and each column at least one; Q (k×n) is the
same transposed. So every row of A is a multiple of a row of the core's, or zero.

All entries are dyadic, multiples of 1/64, so that A has rank exactly k as it is stored, and is
exact in single precision, wherever ε is dyadic, too (0 and 0.25).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...arrays import Array, Ints, frozen
from ...errors import InputError
from ..bidiagonal.cases import BidiagonalCase, bidiagonal
from ..trial import Case, check_size

NAME = "inflated"
DYADIC, ZEROS = "dyadic", "zeros"
CODES = {DYADIC: 2, ZEROS: 3}
"""What the generator of each kind of draw is seeded with, beside shape, rank and draw."""

GRID = 64
"""Entries are multiples of 1/64."""


@dataclass(frozen=True)
class Side:
    """How the rows of A come from the core's rows, or its columns from the core's columns.

    Attributes
    ----------
    classes : of each row of A, the row of the core that it is a multiple of; −1 for a zero row.
    weights : of each row of A, the multiple; 0 for a zero row.
    core : for each row of the core, the row of A that has the weight 1, the largest of its class.
    """

    classes: Ints
    weights: Array
    core: Ints

    @property
    def matrix(self) -> Array:
        """P, or the transpose of Q: one column for each row of the core."""
        P = np.zeros((len(self.classes), len(self.core)))
        rows = np.flatnonzero(self.classes >= 0)
        P[rows, self.classes[rows]] = self.weights[rows]
        return P


@dataclass(frozen=True, eq=False, repr=False)
class InflatedCase(Case):
    """An inflated matrix with what it was made of.

    Attributes
    ----------
    core : the bidiagonal matrix B.
    rows, columns : P and Q.
    """

    core: BidiagonalCase
    rows: Side
    columns: Side


@dataclass(frozen=True)
class Draw:
    """What a draw consists of: the core's diagonals, and both sides."""

    a0: Array
    a1: Array
    rows: Side
    columns: Side


@lru_cache(maxsize=4096)
def draw(m: int, n: int, k: int, kind: str, i: int) -> Draw:
    """Return draw i of a shape and rank.

    Only `random` and rounding to the grid are used, which are the same on every machine.
    """
    check_shape(m, n, k, kind)
    rng = np.random.Generator(np.random.PCG64([CODES[kind], m, n, k, i]))
    a0, a1 = (np.round(GRID * np.exp2(2 * rng.random(size) - 1)) / GRID for size in (k, k - 1))
    rows, columns = (_side(rng, size, k, zeros=kind == ZEROS) for size in (m, n))
    return Draw(frozen(a0), frozen(a1), rows, columns)


def check_shape(m: int, n: int, k: int, kind: str) -> None:
    """Raise `InputError` where there is no such matrix."""
    check_size(m, n)
    if not 1 <= k <= min(m, n):
        raise InputError(f"no rank {k} of a {m}×{n} matrix; expected 1 to {min(m, n)}")
    if kind == ZEROS and k == max(m, n):
        raise InputError(f"a {m}×{n} matrix of rank {k} has no room for a zero row or column")


def _side(rng: np.random.Generator, size: int, k: int, *, zeros: bool) -> Side:
    """Return k rows of weight 1, one of each class, and others of random class and weight."""
    others = size - k
    classes = np.concatenate([np.arange(k), np.floor(k * rng.random(others)).astype(np.int64)])
    half = GRID // 2
    weights = np.concatenate(
        [np.ones(k), (half + np.floor((half + 1) * rng.random(others))) / GRID]
    )
    if zeros and others:
        empty = (others + 1) // 2
        classes[size - empty :], weights[size - empty :] = -1, 0.0
    order = np.argsort(rng.random(size), kind="stable")
    core = np.argsort(order, kind="stable")[:k]  # where the first k rows have gone
    return Side(classes[order], frozen(weights[order]), core)


def inflate(core: BidiagonalCase, rows: Side, columns: Side) -> Array:
    """Return `P·B·Q`, entry by entry: nothing is added up, so nothing but products is rounded."""
    B = np.pad(core.A, ((0, 1), (0, 1)))  # class −1 is the last row and column: zeros
    A: Array = rows.weights[:, None] * B[np.ix_(rows.classes, columns.classes)] * columns.weights
    return A


@lru_cache(maxsize=4096)
def case_of(m: int, n: int, k: int, kind: str, i: int, eps: float, id: str) -> InflatedCase:
    """Return the case of a draw at an ε."""
    drawn = draw(m, n, k, kind, i)
    core = bidiagonal(drawn.a0, drawn.a1, eps)
    A = inflate(core, drawn.rows, drawn.columns)
    return InflatedCase(id, frozen(A), k, core, drawn.rows, drawn.columns)


def inflated_factors(case: InflatedCase, W: Array, H: Array) -> tuple[Array, Array]:
    """Return `(P·W, H·Q)`: an exact factorization of A if (W, H) is one of the core."""
    return case.rows.matrix @ W, H @ case.columns.matrix.T
