"""A bidiagonal case whose entries are given on the command line, instead of an id."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import InputError
from ..family import Option
from .cases import BidiagonalCase, bidiagonal

OPTIONS = (
    Option("a0", "Of a bidiagonal case, instead: the diagonal of A.", "X,X,…"),
    Option("a1", "Its superdiagonal, before ε.  [default: ones]", "X,…"),
    Option("eps", "The size of the superdiagonal.  [default: 0]", "ε"),
)


def case_given(given: Mapping[str, str]) -> BidiagonalCase:
    """Return the case that the values of these options say."""
    if "a0" not in given:
        raise InputError("say which matrix was factorized: --case, or --a0 (with --a1 and --eps)")
    size = _numbers("--eps", given["eps"]) if "eps" in given else [0.0]
    if len(size) != 1:
        raise InputError(f"--eps is {given['eps']!r}; expected one number")
    a0 = _numbers("--a0", given["a0"])
    a1 = _numbers("--a1", given["a1"]) if "a1" in given else None
    return bidiagonal(a0, a1, size[0])


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")] if text.strip() else []
    except ValueError:
        expected = "a number" if option == "--eps" else "numbers between commas"
        raise InputError(f"{option} is {text!r}; expected {expected}") from None
