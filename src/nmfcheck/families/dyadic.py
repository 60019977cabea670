"""Draws that are the same on every machine, on a grid of binary fractions.

What is drawn are multiples of 1/64: products and short sums of them are exact in double precision,
and mostly in single precision, so that a matrix has as it is stored the rank that it is said to
have. Rounding to the grid makes them so, where `exp2` differs in the last bit.
"""

from __future__ import annotations

import re

import numpy as np

from ..arrays import Array, Ints
from ..errors import InputError

DYADIC = "dyadic"
"""What such draws are called in ids."""

GRID = 64
"""Entries are multiples of 1/64."""


def generator(*key: int) -> np.random.Generator:
    """Return the generator of one draw."""
    return np.random.Generator(np.random.PCG64(key))


def sizes(rng: np.random.Generator, shape: int | tuple[int, ...], grid: int = GRID) -> Array:
    """Return numbers from ½ to 2, log-uniform, rounded to the grid."""
    drawn: Array = np.round(grid * np.exp2(2 * rng.random(shape) - 1)) / grid
    return drawn


def mixture(rng: np.random.Generator, k: int) -> Array:
    """Return k positive weights whose sum is 1: the gaps between k − 1 of the numbers 1 to 63."""
    cuts = np.sort(np.argsort(rng.random(GRID - 1), kind="stable")[: k - 1] + 1)
    return np.diff(np.concatenate([[0], cuts, [GRID]])) / GRID


def mixtures(rng: np.random.Generator, count: int, k: int) -> Array:
    """Return some mixtures, one in each row."""
    return np.array([mixture(rng, k) for _ in range(count)]).reshape(count, k)


def shuffled(rng: np.random.Generator, size: int) -> Ints:
    """Return a permutation."""
    return np.argsort(rng.random(size), kind="stable")


def parts_of(name: str, form: str, family: str, example: str) -> re.Match[str]:
    """Match the name of a cell, or raise `InputError` with an example."""
    match = re.fullmatch(form, name)
    if match is None:
        raise InputError(f"no cell {name!r} of {family}; expected one such as {example!r}")
    return match


NUMBER = r"(0|[1-9]\d{0,3})"
SHAPE = rf"{NUMBER}x{NUMBER}/k={NUMBER}"
