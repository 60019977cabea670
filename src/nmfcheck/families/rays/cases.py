"""Rays: `A = WH` with one factorization, although no row or column of A is pure.

W has the k(k−1) rows `e_i + α·e_j`, i ≠ j, each times a number, and further rows that are mixtures;
H has such columns. For α ≤ 1 and α < (k−2)/2 no other W and H ≥ 0 with k components have this
product (docs/theory.md, Theorem 6). Here α = ¼; nearer the threshold right algorithms collapse.
All entries are dyadic: A has rank exactly k as it is stored, and is exact in single precision.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...arrays import Array, frozen
from ...errors import InputError
from ..dyadic import generator, mixtures, shuffled, sizes
from ..trial import Case

NAME = "rays"
CODE = 6
"""What the generator of draws is seeded with, beside rank, numbers of mixtures and draw."""

ALPHA = 0.25


@dataclass(frozen=True, eq=False, repr=False)
class RaysCase(Case):
    """A matrix with the factorization that it was made of, which is its only one.

    Attributes
    ----------
    answer : W and H.
    """

    answer: tuple[Array, Array]


def check_rank(k: int) -> None:
    """Raise `InputError` where the answer would not be unique."""
    if not 3 <= k <= 64:
        raise InputError(f"no rays of rank {k}; expected 3 to 64")


def rays(k: int) -> Array:
    """Return the k(k−1) rows `e_i + α·e_j`, i ≠ j."""
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    rows = np.zeros((len(pairs), k))
    for row, (i, j) in zip(rows, pairs, strict=True):
        row[i], row[j] = 1.0, ALPHA
    return rows


@lru_cache(maxsize=4096)
def case_of(k: int, more_rows: int, more_columns: int, i: int, id: str) -> RaysCase:
    """Return the case of a draw."""
    check_rank(k)
    rng = generator(CODE, k, more_rows, more_columns, i)
    W, H = (_side(rng, k, more) for more in (more_rows, more_columns))
    answer = frozen(W), frozen(H.T)
    return RaysCase(id, frozen(answer[0] @ answer[1]), k, answer)


def _side(rng: np.random.Generator, k: int, more: int) -> Array:
    """Return W, or the transpose of H: rays of different lengths and mixtures, shuffled."""
    lengths = sizes(rng, (k * (k - 1), 1))
    rows = np.concatenate([lengths * rays(k), mixtures(rng, more, k)])
    return rows[shuffled(rng, len(rows))]
