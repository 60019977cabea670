"""What a subject does in place of returning W and H: it refuses, crashes, or is mistaken."""

from __future__ import annotations

import re

from .problem import raised

ACCIDENTS = (
    "IndexError", "KeyError", "AttributeError", "NameError", "UnboundLocalError",
    "ZeroDivisionError", "FloatingPointError", "OverflowError", "LinAlgError", "RecursionError",
    "MemoryError", "BoundsError", "DimensionMismatch", "DivideError", "SingularException",
    "UndefVarError", "NullPointerException", "ArrayIndexOutOfBoundsException",
    "IndexOutOfBoundsException", "ArithmeticException", "StackOverflowError",
    "NegativeArraySizeException", "ClassCastException",
)  # fmt: skip
"""Exceptions that nobody raises on purpose, in Python, Julia and Java: no clear refusals."""

RUNTIME_WORDS = (
    "non-conformable", "subscript out of bounds", "missing value where TRUE/FALSE needed",
    "nonconformant", "vertical dimensions mismatch", "horizontal dimensions mismatch",
    "): out of bound",
)  # fmt: skip
"""The same for R and Octave, which have no names for them but these words."""


def is_clear(text: str) -> bool:
    """Say whether an error's name and text may be a refusal that somebody wrote on purpose.

    An assertion that says nothing is an accident, too.
    """
    match = re.match(r"\W*(?:\w+\.)*(\w+)\W*(\w?)", text)
    if match is None or any(words in text for words in RUNTIME_WORDS):
        return False
    name, more = match.groups()
    return name not in ACCIDENTS and (name != "AssertionError" or bool(more))


class RefusedError(Exception):
    """A subject raised something; `clear` says whether that may have been on purpose."""

    def __init__(self, text: str, *, clear: bool) -> None:
        super().__init__(text)
        self.clear = clear

    @classmethod
    def by(cls, error: BaseException) -> RefusedError:
        """Return what an exception amounts to."""
        text = raised(error)
        return cls(text, clear=is_clear(text.removeprefix("raised ")))

    def names(self, value: str) -> bool:
        """Say whether it is a KeyError of this very value: a table in which it was looked up."""
        return str(self) == f"raised KeyError: {value!r}"


class CrashedError(Exception):
    """A subject's process ended, or broke the protocol; no law takes that for a refusal."""


class InvalidError(Exception):
    """A subject returned something that is no pair of matrices of the right shapes."""
