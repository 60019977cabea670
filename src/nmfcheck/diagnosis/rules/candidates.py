"""Matrices that are easily factorized instead of A."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ...arrays import Array


class Kind(Enum):
    """What was done to A, and what to look at."""

    NORMALISED = "A is normalised first, and that is not undone at the end."
    ROUNDED = "A is rounded before it is factorized."
    FUNCTION = "A is transformed before it is factorized."
    SHIFTED = "What is taken off A before it is factorized is not added again."
    CENTRED = "A is centred before it is factorized, which leaves negative entries."

    @property
    def advice(self) -> str:
        """What it means."""
        return str(self.value)


@dataclass(frozen=True)
class Candidate:
    """Another matrix than A.

    Attributes
    ----------
    called : what sentences call it.
    of : makes it from A.
    """

    called: str
    kind: Kind
    of: Callable[[Array], Array]


def _divided(size: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return A over some sizes; what has size 0 stays as it is."""

    def divided(A: Array) -> Array:
        of = np.asarray(size(A), dtype=np.float64)
        quotient: Array = A / np.where(of > 0, of, 1.0)
        return quotient

    return divided


def _l2(A: Array, axis: int | None) -> Array:
    return np.asarray(np.sqrt((A * A).sum(axis=axis, keepdims=True)))


_SIZES: dict[str, Callable[[Array, int | None], Array]] = {
    "sum": lambda A, axis: A.sum(axis=axis, keepdims=True),
    "largest entry": lambda A, axis: A.max(axis=axis, keepdims=True),
    "norm": _l2,
    "mean": lambda A, axis: A.mean(axis=axis, keepdims=True),
    "standard deviation": lambda A, axis: A.std(axis=axis, keepdims=True),
}
_AXES = {"A": None, "each column of A": 0, "each row of A": 1}

NORMALISED = [
    Candidate(f"{whose} divided by its {what}", Kind.NORMALISED,
              _divided(lambda A, size=size, axis=axis: size(A, axis)))  # type: ignore[misc]
    for whose, axis in _AXES.items()
    for what, size in _SIZES.items()
]  # fmt: skip


def _decimals(digits: int, cut: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda A: cut(A * 10.0**digits) / 10.0**digits


def _significant(digits: int) -> Callable[[Array], Array]:
    def rounded(A: Array) -> Array:
        unit = 10.0 ** (np.floor(np.log10(np.where(A > 0, A, 1.0))) + 1 - digits)
        return np.asarray(np.round(A / unit) * unit)

    return rounded


def _levels(
    number: int, cut: Callable[[Array], Array], *, of_max: bool
) -> Callable[[Array], Array]:
    def quantised(A: Array) -> Array:
        unit = A.max() if of_max else 1.0
        return cut(A / unit * number) / number * unit

    return quantised


def _short_mantissa(A: Array) -> Array:
    """Return A with the 8 bits of bfloat16's mantissa."""
    mantissa, exponent = np.frexp(A)
    return np.ldexp(np.round(mantissa * 2**8) / 2**8, exponent)


ROUNDED = [
    Candidate("A in half precision (float16)", Kind.ROUNDED,
              lambda A: A.astype(np.float16).astype(np.float64)),
    Candidate("A in bfloat16", Kind.ROUNDED, _short_mantissa),
    Candidate("A in single precision (float32)", Kind.ROUNDED,
              lambda A: A.astype(np.float32).astype(np.float64)),
    *(Candidate(f"A rounded to {d} significant digits", Kind.ROUNDED, _significant(d))
      for d in range(1, 7)),
    Candidate("A rounded to whole numbers", Kind.ROUNDED, np.round),
    Candidate("A cut off to whole numbers", Kind.ROUNDED, np.floor),
    *(Candidate(f"A rounded to {d} decimal{'s' * (d > 1)}", Kind.ROUNDED, _decimals(d, np.round))
      for d in range(1, 9)),
    *(Candidate(f"A cut off after {d} decimal{'s' * (d > 1)}", Kind.ROUNDED, _decimals(d, np.floor))
      for d in range(1, 9)),
    *(Candidate(f"A in steps of 1/{n} of {'its largest entry' if of_max else '1'}", Kind.ROUNDED,
                _levels(n, cut, of_max=of_max))
      for n in (255, 256, 65535) for of_max in (True, False) for cut in (np.round, np.floor)),
]  # fmt: skip

FUNCTIONS = [
    Candidate("the square root of A", Kind.FUNCTION, np.sqrt),
    Candidate("A squared", Kind.FUNCTION, np.square),
    Candidate("log(1 + A)", Kind.FUNCTION, np.log1p),
    Candidate("log₂(1 + A)", Kind.FUNCTION, lambda A: np.log2(1 + A)),
    Candidate("log₁₀(1 + A)", Kind.FUNCTION, lambda A: np.log10(1 + A)),
    Candidate("exp(A) − 1", Kind.FUNCTION, np.expm1),
    Candidate("A clipped at 1", Kind.FUNCTION, lambda A: np.minimum(A, 1.0)),
    Candidate("tanh(A)", Kind.FUNCTION, np.tanh),
    Candidate("A/(1 + A)", Kind.FUNCTION, lambda A: np.asarray(A / (1 + A), dtype=np.float64)),
    Candidate(
        "A with 1 for each positive entry", Kind.FUNCTION, lambda A: (A > 0).astype(np.float64)
    ),
]


def _square(of: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return what can be made of square matrices only."""
    return lambda A: of(A) if A.shape[0] == A.shape[1] else np.full(A.shape, np.nan)


PRODUCTS = [
    Candidate("(A + Aᵀ)/2", Kind.FUNCTION, _square(lambda A: (A + A.T) / 2)),
    Candidate("A·Aᵀ", Kind.FUNCTION, _square(lambda A: A @ A.T)),
    Candidate("Aᵀ·A", Kind.FUNCTION, _square(lambda A: A.T @ A)),
    Candidate("A·A", Kind.FUNCTION, _square(lambda A: A @ A)),
]


def _taken_off(
    level: Callable[..., Array], axis: int | None, size: Callable[..., Array] | None
) -> Callable[[Array], Array]:
    """Return A minus a level of each part; over the size of what is left, where there is one."""

    def taken_off(A: Array) -> Array:
        X: Array = A - level(A, axis=axis, keepdims=True)
        return X if size is None else _divided(lambda X: size(X, axis=axis, keepdims=True))(X)

    return taken_off


CENTRED = [
    Candidate(f"{whose} minus its mean{', divided by its standard deviation' * (size is not None)}",
              Kind.CENTRED, _taken_off(np.mean, axis, size))
    for whose, axis in _AXES.items()
    for size in (None, np.std)
]  # fmt: skip

SHIFTED = [
    Candidate(f"{whose} {'minus its smallest entry' if size is None else 'scaled to 0 … 1'}",
              Kind.SHIFTED, _taken_off(np.min, axis, size))
    for whose, axis in _AXES.items()
    for size in (None, np.max)
]  # fmt: skip

CANDIDATES = [*NORMALISED, *ROUNDED, *FUNCTIONS, *PRODUCTS, *SHIFTED, *CENTRED]
