"""With which runs changes are tried: those that fail and some that pass, and what chance would do.

A change that mends nothing may make other runs fail than those before, as another start would. Of a
subject that is right in a part of its runs, so many have to come right that this is not by chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from ...families import Cell
from ...judging.outcomes import Outcome, reaches
from ...store import Results
from ...store.results import Row
from ...trials.suites import Suite
from . import watching
from .record import Run, again

FAILING, PASSING = 6, 2
"""So many failing runs a change has to mend, of all families, and so many it must not spoil."""

AT_MOST, CHANCE = 24, 1e-4
"""If some runs of its cells are right as it is, it has to mend more, up to so many: as many would
come right by chance less often than this, if they only began elsewhere."""

OF_EACH = 2
"""So many failing runs of a cell, at most."""


@dataclass(frozen=True)
class Chosen:
    """Runs with which changes are tried.

    Attributes
    ----------
    failing, passing : runs as they were made.
    chances : of each failing one, by trial and ask, how likely another run of its cell is right.
    """

    failing: Sequence[Run]
    passing: Sequence[Run] = ()
    chances: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def chance(self, runs: Sequence[Run]) -> float:
        """Return how likely it is that failing runs all come right if they are made otherwise."""
        return math.prod(self.chances[question(run)] for run in runs)


def question(run: Run) -> tuple[str, str]:
    """Return what was asked in a run: trial and ask."""
    return run.trial.id, run.ask.name


@dataclass(frozen=True)
class OfCell:
    """What was run in a cell: rows, and whether they pass."""

    cell: Cell
    rows: Sequence[tuple[bool, Row]]

    @property
    def failing(self) -> list[Row]:
        """Those that fail, which collapsed last."""
        fails = [row for passes, row in self.rows if not passes]
        return sorted(fails, key=lambda row: row.outcome == Outcome.COLLAPSED)

    @property
    def passing(self) -> list[Row]:
        """Those that pass."""
        return [row for passes, row in self.rows if passes]

    def chance(self, *, may_collapse: bool) -> float:
        """Return the share that passes, of those that count; of few a little is not known."""
        fails = [r for r in self.failing if not may_collapse or r.outcome != Outcome.COLLAPSED]
        passes = len(self.passing)
        return (passes + 0.5) / (passes + len(fails) + 1)


def chosen(results: Results, suite: Suite) -> Chosen:
    """Return runs that fail, of families in turns, and some that pass.

    First those of cells in which W·H should be A, with two components or more, and in which right
    ones hardly ever fail; with the first of them changes are sought.
    """
    asks = {(part.family, ask.name): ask for part in suite.parts for ask in part.test}
    by_cell: dict[str, list[tuple[bool, Row]]] = {}
    for row in results.of_the_suite():
        ask = asks.get((row.cell.partition("/")[0], row.ask))
        if ask is not None:
            passes = reaches(Outcome(row.outcome).grade, ask.needs)
            by_cell.setdefault(row.cell, []).append((passes, row))
    cells = [OfCell(cell, by_cell[cell.id]) for cell in suite.cells if cell.id in by_cell]
    fits = {part.family: watching.fits(suite, part.family) for part in suite.parts}
    may_collapse = {part.family: part.room.required is None for part in suite.parts}

    def key(some: OfCell) -> tuple[bool, bool, bool, float, int]:
        collapsed = all(row.outcome == Outcome.COLLAPSED for row in some.failing)
        family, k = some.cell.family, some.cell.k
        passed = len(some.passing) / len(some.rows)
        return collapsed, k < 2 or not fits[family], may_collapse[family], passed, k

    turns: dict[str, list[tuple[float, Row]]] = {}
    for some in sorted(cells, key=key):
        family = some.cell.family
        chance = some.chance(may_collapse=may_collapse[family])
        turns.setdefault(family, []).extend((chance, row) for row in some.failing[:OF_EACH])
    ordered = [each for some in zip_longest(*turns.values()) for each in some if each is not None]
    failing = ordered[: enough([chance for chance, _ in ordered])]
    passing = [row for some in cells for row in some.passing[-1:]][:PASSING]
    first, others = (
        again(results.stages([row.id for row in rows]))
        for rows in ([row for _, row in failing], passing)
    )
    chances = {question(run): chance for run, (chance, _) in zip(first, failing, strict=True)}
    return Chosen(first, others, chances)


def enough(chances: Sequence[float]) -> int:
    """Return how many runs have to be mended so that it is not by chance."""
    lucky = 1.0
    for number, chance in enumerate(chances):
        if number >= FAILING and (lucky <= CHANCE or number >= AT_MOST):
            return number
        lucky *= chance if number else 1.0
    return len(chances)


def right(runs: Sequence[Run]) -> int:
    """Count the runs that come out right."""
    return sum(reaches(run.outcome and run.outcome.grade, run.ask.needs) for run in runs)


def collapsed(run: Run) -> bool:
    """Say whether a run collapsed in a family in which right ones do, now and then."""
    return run.outcome is Outcome.COLLAPSED and run.trial.family.required is None
