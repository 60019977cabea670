"""What a subject is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ..arrays import Array

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Problem:
    """One matrix to factorize, the subject's own copy of everything."""

    A: Array
    rank: int
    W0: Array
    H0: Array
    seed: int


@dataclass(frozen=True)
class Answer:
    """What a subject returned for a problem: W and H as they came, or what it raised."""

    W: Any = None
    H: Any = None
    error: str | None = None


@runtime_checkable
class Subject(Protocol):
    """An NMF implementation under test."""

    @property
    def name(self) -> str:
        """What it is called in tables and reports."""
        ...

    def solve(self, problems: Sequence[Problem], progress: Progress) -> list[Answer]:
        """Answer each problem, and report the number of problems newly done now and then."""
        ...
