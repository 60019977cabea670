"""Suites: which trials, and how many. The numbers are here and nowhere else.

`QUICK`, `STANDARD` and `FULL` are iterables of `Trial`; `find("quick")` gives one by its name.

>>> len(list(QUICK)), QUICK.cell(3, "loguniform")[7].id
(800, 'bidiagonal/n=3/loguniform#7/seed=7')
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .cases import KINDS_OF_ENTRIES
from .errors import InputError
from .trials import LADDER, Rung, Trial


@dataclass(frozen=True)
class Suite:
    """A set of cells (size × kind of entries), each with the same number of trials.

    Attributes
    ----------
    name : what the command line calls it.
    sizes : the sizes n.
    trials : number of trials in a cell. Trial i uses draw i and seed i, in every suite.
    reference_iterations : limit to the reference algorithms' iterations; None for the paper's
        counts.
    summary : a line for the user.
    """

    name: str
    sizes: tuple[int, ...]
    trials: int
    reference_iterations: int | None
    summary: str
    kinds: tuple[str, ...] = KINDS_OF_ENTRIES
    ladder: tuple[Rung, ...] = LADDER
    version: int = 1

    @property
    def scope(self) -> str:
        """The sizes and the number of trials, in words."""
        sizes = ", ".join(map(str, self.sizes))
        return f"n = {sizes}; {self.trials} trials per size and kind of entries"

    def cells(self) -> list[tuple[int, str]]:
        """Return all (size, kind of entries)."""
        return [(n, kind) for n in self.sizes for kind in self.kinds]

    def cell(self, n: int, kind: str) -> list[Trial]:
        """Return the trials of one cell."""
        return [Trial.of_cell(n, kind, i, self.ladder) for i in range(self.trials)]

    def __iter__(self) -> Iterator[Trial]:
        return (trial for n, kind in self.cells() for trial in self.cell(n, kind))


QUICK = Suite(
    name="quick",
    sizes=(2, 3, 4, 5),
    trials=100,
    reference_iterations=10**4,
    summary="seconds (with NumPy a minute): first-order shows by then, exactness need not",
)
STANDARD = Suite(
    name="standard",
    sizes=(2, 3, 4, 5, 6, 7, 8),
    trials=100,
    reference_iterations=None,
    summary="the sizes that the paper recommends, its numbers of iterations",
)
FULL = Suite(
    name="full",
    sizes=(2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20),
    trials=60,
    reference_iterations=None,
    summary="up to n = 20, where the paper ends",
)
SUITES = {suite.name: suite for suite in (QUICK, STANDARD, FULL)}


def find(name: str) -> Suite:
    """Return the suite of this name."""
    if name not in SUITES:
        raise InputError(f"no suite {name!r}; there are {', '.join(SUITES)}")
    return SUITES[name]
