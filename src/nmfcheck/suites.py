"""Suites: which trials, and how many. The numbers are here and nowhere else.

`QUICK`, `STANDARD` and `FULL` are iterables of `Trial`; `find("quick")` gives one by its name.

>>> len(list(QUICK)), QUICK.cell(3, "loguniform")[7].id
(800, 'bidiagonal/n=3/loguniform#7/seed=7')
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .arrays import real_number, whole_number
from .cases import KINDS_OF_ENTRIES, decimal
from .errors import InputError
from .trials import LADDER, Rung, Trial, rung_of


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

    def selected(
        self,
        *,
        sizes: Sequence[int] | None = None,
        trials: int | None = None,
        eps: Sequence[float] | None = None,
        kinds: Sequence[str] | None = None,
    ) -> Suite:
        """Return this suite with other sizes, trials per cell, values of ε or kinds of entries."""
        for kind in kinds or ():
            if kind not in KINDS_OF_ENTRIES:
                raise InputError(f"no entries {kind!r}; there are {', '.join(KINDS_OF_ENTRIES)}")
        for size in sizes or ():
            whole_number("a size", size, 1)
        ladder = tuple(rung_of(real_number("ε", x)) for x in sorted(set(eps or ())))
        if ladder and ladder[0].eps < 0:
            raise InputError(f"ε is {decimal(ladder[0].eps)}; it must be at least 0")
        return replace(
            self,
            sizes=tuple(sorted(set(sizes))) if sizes else self.sizes,
            trials=self.trials if trials is None else whole_number("trials", trials, 1),
            kinds=tuple(k for k in KINDS_OF_ENTRIES if k in kinds) if kinds else self.kinds,
            ladder=ladder or self.ladder,
        )

    @property
    def stages(self) -> int:
        """The number of stages of a run in which no trial ends early."""
        return len(self.cells()) * self.trials * len(self.ladder)

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
    summary="the references take seconds: first-order shows by then, exactness need not",
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
