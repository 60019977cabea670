"""Positive matrices that are to be approximated by one component.

There is one best product w·hᵀ, and no other stationary point but 0 (docs/theory.md, Theorem 7). On
other families every loss and every weighting has the same answers, since something fits exactly;
here they differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ...arrays import Array, frozen
from ...errors import InputError
from ...judging.objectives import FROBENIUS, find
from ..dyadic import generator, sizes
from ..trial import Case, check_size
from .best import best_product

NAME = "rank-one"
ONE = "one"
"""The entries of cells whose trials all have one matrix."""
TINY = "tiny"
"""Entries in units of 2⁻³⁰."""
UNITS = {TINY: 2.0**-30}

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
    check_size(m, n)
    if min(m, n) < 2:
        raise InputError(f"a {m}×{n} matrix has rank one itself; expected 2×2 or larger")


@lru_cache(maxsize=4096)
def case_of(
    m: int, n: int, i: int, id: str, objective: str = FROBENIUS.name, unit: float = 1.0
) -> RankOneCase:
    """Return the case of a draw: entries from ½ to 2, times a unit."""
    check_shape(m, n)
    A = unit * sizes(generator(CODE, m, n, i), (m, n), FINE)
    X = best_product(A, find(objective).beta)
    return RankOneCase(id, frozen(A), 1, frozen(X), objective=objective)
