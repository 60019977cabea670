"""What a section of the paper comes to: claims, tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from matplotlib.figure import Figure

from .plan import Batch, Scale
from .runs import Folder, Runs

LEVEL = 0.01
"""Of the tests, one family of comparisons at a time."""


class Status(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    CORRECTED = "reproduced with a correction"
    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "undecided"


def graded(*, whole: bool, part: bool | None) -> Status:
    """Return the status of a claim that holds wholly, or only in part."""
    if whole:
        return Status.REPRODUCED
    if part is None:
        return Status.UNDECIDED
    return Status.CORRECTED if part else Status.NOT_REPRODUCED


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    Attributes
    ----------
    id : a name.
    where : in the paper.
    said : what the paper says, in our words.
    rule : how it is decided.
    evidence : what was found, in numbers.
    """

    id: str
    where: str
    said: str
    rule: str
    status: Status
    evidence: str


@dataclass(frozen=True)
class Table:
    """The numbers behind a figure or a claim: a CSV file."""

    name: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True)
class Drawing:
    """A figure, and what it shows, in words."""

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True)
class Section:
    """What one experiment comes to."""

    title: str
    text: str
    claims: Sequence[Claim] = ()
    tables: Sequence[Table] = ()
    drawings: Sequence[Drawing] = ()


class Evidence:
    """The runs, at a scale."""

    def __init__(self, scale: Scale, folder: Folder) -> None:
        self.scale = scale
        self.of_batch = cache(folder.runs)

    def runs(self, algorithm: str, n: int, entries: str, eps: float) -> Runs:
        """Return the runs of an algorithm on a kind of case."""
        return self.of_batch(self.scale.batch(algorithm, n, entries, eps))

    def listed(self, batches: Sequence[Batch]) -> list[Runs]:
        """Return the runs of some batches."""
        return [self.of_batch(batch) for batch in batches]
