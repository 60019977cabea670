"""Matrices that have no exact factorization, but whose best residual is known.

Two matrices from the literature on nonnegative rank, rows and columns shuffled: Thomas's, and the
slack matrix of the regular hexagon. For k = 1 and 2 the truncated SVD is nonnegative up to a choice
of basis and is attained by nonnegative factors, so that its residual is the optimum, certified
(docs/theory.md, Theorem 8). For larger k only the best known value is there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...arrays import frozen
from ...errors import InputError
from ..dyadic import generator, shuffled
from ..trial import Case

NAME = "optima"
CODES = {"thomas": 8, "hexagon": 9}
"""What the generator of draws is seeded with, beside the draw."""

MATRICES = {
    "thomas": np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], dtype=float),
    "hexagon": np.array(
        [
            [0, 0, 1, 2, 2, 1],
            [1, 0, 0, 1, 2, 2],
            [2, 1, 0, 0, 1, 2],
            [2, 2, 1, 0, 0, 1],
            [1, 2, 2, 1, 0, 0],
            [0, 1, 2, 2, 1, 0],
        ],
        dtype=float,
    ),
}


@dataclass(frozen=True)
class Optimum:
    """The least residual ‖A − WH‖ that is known for a rank.

    Attributes
    ----------
    certified : whether it is proved that there is none below.
    """

    residual: float
    certified: bool


OPTIMA = {
    ("thomas", 1): Optimum(2.0, certified=True),
    ("thomas", 2): Optimum(math.sqrt(2), certified=True),
    ("thomas", 3): Optimum(math.sqrt(2 - math.sqrt(2)), certified=False),
    ("hexagon", 1): Optimum(math.sqrt(24), certified=True),
    ("hexagon", 2): Optimum(math.sqrt(12), certified=True),
    ("hexagon", 3): Optimum(1.537402403260198, certified=False),
    ("hexagon", 4): Optimum(0.7318521424558888, certified=False),
}


@dataclass(frozen=True, eq=False, repr=False)
class OptimumCase(Case):
    """A matrix with the least residual that is known."""

    optimum: Optimum


@lru_cache(maxsize=4096)
def case_of(matrix: str, k: int, i: int, id: str) -> OptimumCase:
    """Return the case of a draw: the matrix with its rows and columns shuffled."""
    optimum = optimum_of(matrix, k)
    rng = generator(CODES[matrix], i)
    A = MATRICES[matrix]
    rows, columns = shuffled(rng, len(A)), shuffled(rng, len(A[0]))
    return OptimumCase(id, frozen(A[np.ix_(rows, columns)]), k, optimum)


def optimum_of(matrix: str, k: int) -> Optimum:
    """Return the least residual that is known, or raise `InputError`."""
    if (matrix, k) not in OPTIMA:
        known = ", ".join(f"{name}/k={rank}" for name, rank in OPTIMA)
        raise InputError(f"no optimum is known of {matrix}/k={k}; there are {known}")
    return OPTIMA[matrix, k]
