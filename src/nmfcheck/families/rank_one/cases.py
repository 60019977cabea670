"""Positive matrices that are to be approximated by one component.

There is one best product w·hᵀ, and no other stationary point but 0 (docs/theory.md, Theorem 7): for
the Frobenius norm it is `σ₁·u₁·v₁ᵀ`. On other families every loss and every weighting has the same
answers, since something fits exactly; here they differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...arrays import Array, frozen
from ...errors import InputError
from ..dyadic import generator, sizes
from ..trial import Case

NAME = "rank-one"
ONE = "one"
"""The entries of cells whose trials all have one matrix."""

CODE = 7
"""What the generator of draws is seeded with, beside shape and draw."""

FINE = 4096
"""Entries are multiples of 1/4096: exact in single precision, and not in half precision."""


@dataclass(frozen=True, eq=False, repr=False)
class RankOneCase(Case):
    """A positive matrix with its best approximation by one component.

    Attributes
    ----------
    X : the product of the best w and h.
    """

    X: Array


def check_shape(m: int, n: int) -> None:
    """Raise `InputError` where rank one would be no restriction."""
    if min(m, n) < 2:
        raise InputError(f"a {m}×{n} matrix has rank one itself; expected 2×2 or larger")


@lru_cache(maxsize=4096)
def case_of(m: int, n: int, i: int, id: str) -> RankOneCase:
    """Return the case of a draw: entries from ½ to 2."""
    check_shape(m, n)
    A = sizes(generator(CODE, m, n, i), (m, n), FINE)
    u, s, v = np.linalg.svd(A)
    X = s[0] * np.abs(np.outer(u[:, 0], v[0]))  # positive by Perron and Frobenius
    return RankOneCase(id, frozen(A), 1, frozen(X))
