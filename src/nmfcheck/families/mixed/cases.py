"""Mixed matrices: `A = P·D·Q` with a diagonal core D, whose other rows and columns are mixtures.

P (m×k) has the rows of the identity in some places, and in all others positive weights whose sum is
1; Q (k×n) is the same transposed. So A is dense, and its only zeros are the core's. All entries are
dyadic: A has rank exactly k as it is stored, and is exact in single precision, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...arrays import Array, Ints, frozen
from ...errors import InputError
from ..bidiagonal.cases import BidiagonalCase, bidiagonal
from ..dyadic import generator, mixtures, shuffled, sizes
from ..trial import Case, check_size

NAME = "mixed"
CODE = 4
"""What the generator of draws is seeded with, beside shape, rank and draw."""


@dataclass(frozen=True)
class Side:
    """How the rows of A are mixed from the core's rows, or its columns from the core's columns.

    Attributes
    ----------
    matrix : P, or the transpose of Q: one column for each row of the core.
    core : for each row of the core, the row of A that is this row and no mixture.
    """

    matrix: Array
    core: Ints

    @property
    def mixed(self) -> Ints:
        """The rows that are mixtures."""
        return np.setdiff1d(np.arange(len(self.matrix)), self.core)


@dataclass(frozen=True, eq=False, repr=False)
class MixedCase(Case):
    """A mixed matrix with what it was made of.

    Attributes
    ----------
    core : the diagonal matrix D, as a bidiagonal case with ε = 0.
    rows, columns : P and Q.
    """

    core: BidiagonalCase
    rows: Side
    columns: Side

    @property
    def X(self) -> Array:
        """The product of the right W and H."""
        return self.A

    @property
    def noise(self) -> float:
        """The norm of what no factorization of rank k explains."""
        return 0.0

    @property
    def answer(self) -> tuple[Array, Array]:
        """The only factorization, up to permutation and scaling: `P·√D` and `√D·Q`."""
        root = np.sqrt(self.core.a0)
        return self.rows.matrix * root, root[:, None] * self.columns.matrix.T


@dataclass(frozen=True)
class Draw:
    """What a draw consists of: the core's diagonal, and both sides."""

    a0: Array
    rows: Side
    columns: Side

    @property
    def X(self) -> Array:
        """`P·D·Q`; sums of multiples of 2⁻¹⁸ below 4, so nothing is rounded."""
        return (self.rows.matrix * self.a0) @ self.columns.matrix.T


def check_shape(m: int, n: int, k: int) -> None:
    """Raise `InputError` where there is no such matrix."""
    check_size(m, n)
    if min(m, n) < 1:
        raise InputError(f"a {m}×{n} matrix is empty; expected 1×1 or larger")
    if not 1 <= k <= min(m, n):
        raise InputError(f"no rank {k} of a {m}×{n} matrix; expected 1 to {min(m, n)}")
    if k > 64:
        raise InputError(f"rank {k} is too large; a mixture has at most 64 weights")


@lru_cache(maxsize=4096)
def draw(code: int, m: int, n: int, k: int, i: int) -> Draw:
    """Return draw i of a shape and rank."""
    return drawn_by(generator(code, m, n, k, i), m, n, k)


def drawn_by(rng: np.random.Generator, m: int, n: int, k: int) -> Draw:
    """Draw the core and both sides."""
    check_shape(m, n, k)
    a0 = sizes(rng, k)
    return Draw(frozen(a0), _side(rng, m, k), _side(rng, n, k))


def _side(rng: np.random.Generator, size: int, k: int) -> Side:
    """Return k rows of the identity and mixtures for the rest, shuffled."""
    matrix = np.concatenate([np.eye(k), mixtures(rng, size - k, k)])
    order = shuffled(rng, size)
    core = np.argsort(order, kind="stable")[:k]  # where the first k rows have gone
    return Side(frozen(matrix[order]), core)


@lru_cache(maxsize=4096)
def case_of(m: int, n: int, k: int, i: int, id: str) -> MixedCase:
    """Return the case of a draw."""
    drawn = draw(CODE, m, n, k, i)
    core = bidiagonal(drawn.a0)
    return MixedCase(id, frozen(drawn.X), k, core, drawn.rows, drawn.columns)
