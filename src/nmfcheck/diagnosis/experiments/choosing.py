"""With which runs changes are tried: those that fail and some that pass, and what chance would do.

A change that mends nothing may make other runs fail than those before, as another start would. Of a
subject that is right in a part of its runs, so many have to come right that this is not by chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from ...families import Cell
from ...intervals import Share
from ...judging.outcomes import Outcome, reaches
from ...store import Results
from ...store.results import Row
from ...trials.suites import Suite
from . import watching
from .record import Run, again

FAILING, PASSING = 6, 6
"""So many failing runs a change has to mend, of all families, and so many it must not spoil."""

AT_MOST = 24
"""If some runs of its cells are right as it is, it has to mend more, up to so many."""

CHANCE = 0.01
"""How often any of all changes that are tried may mend as many by chance, beginning elsewhere."""

CHANGES = 1000
"""So many changes are expected when runs are chosen."""

LEVEL = 0.05
"""How often a bound of a family or of one of its cells is too low."""

OF_EACH = 4
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

    def chance(self, runs: Sequence[Run], right: int) -> float:
        """Return how likely so many failing runs, or more, come right if they are made otherwise.

        Each by itself; that is the tail of a sum of independent outcomes with unlike shares.
        """
        number = np.ones(1)
        for run in runs:
            share = self.chances[question(run)]
            number = np.convolve(number, [1 - share, share])
        return float(number[right:].sum())


def question(run: Run) -> tuple[str, str]:
    """Return what was asked in a run: trial and ask."""
    return run.trial.id, run.ask.name


@dataclass(frozen=True)
class OfCell:
    """What was run in a cell.

    Attributes
    ----------
    rows : with whether they pass.
    may_collapse : whether right ones collapse here, now and then: such runs do not count.
    """

    cell: Cell
    rows: Sequence[tuple[bool, Row]]
    may_collapse: bool = False

    @property
    def failing(self) -> list[Row]:
        """Those that fail, which collapsed last."""
        fails = [row for passes, row in self.rows if not passes]
        return sorted(fails, key=lambda row: row.outcome == Outcome.COLLAPSED)

    @property
    def passing(self) -> list[Row]:
        """Those that pass."""
        return [row for passes, row in self.rows if passes]

    @property
    def counted(self) -> tuple[int, int]:
        """How many pass, and how many fail, of those that count."""
        fails = [r for r in self.failing if not self.may_collapse or r.outcome != Outcome.COLLAPSED]
        return len(self.passing), len(fails)


def chances(cells: Sequence[OfCell]) -> list[float]:
    """Return for each cell of a family how likely it is that another run of it is right, at most.

    That is the upper bound of the family's mean share, or of the cell's at a level that all cells
    share, if that is less or the cell passes more often than the family. All of these bounds hold
    together with 95 %: failing runs are taken from the cells that look worst.
    """
    if not cells:
        return []
    counted = [each.counted for each in cells]
    passes, fails = (sum(numbers) for numbers in zip(*counted, strict=True))
    of_all = _at_most(passes, fails, LEVEL / 2)

    def of_cell(right: int, wrong: int) -> float:
        own = _at_most(right, wrong, LEVEL / 2 / len(cells))
        more = right * (passes + fails) > passes * (right + wrong)
        return own if more else min(of_all, own)

    return [of_cell(right, wrong) for right, wrong in counted]


def _at_most(passes: int, fails: int, level: float) -> float:
    """Return the upper bound of Clopper and Pearson for a share that passes."""
    return 1 - Share(fails, passes + fails).bound(level)


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
    fits = {part.family: watching.fits(suite, part.family) for part in suite.parts}
    cells = [
        OfCell(cell, by_cell[cell.id], part.room.required is None)
        for part in suite.parts
        for cell in part.cells
        if cell.id in by_cell
    ]
    likely: dict[Cell, float] = {}
    for part in suite.parts:
        own = [some for some in cells if some.cell.family == part.family]
        likely |= {some.cell: chance for some, chance in zip(own, chances(own), strict=True)}

    def key(some: OfCell) -> tuple[bool, bool, bool, float, int]:
        collapsed = all(row.outcome == Outcome.COLLAPSED for row in some.failing)
        family, k = some.cell.family, some.cell.k
        passed = len(some.passing) / len(some.rows)
        return collapsed, k < 2 or not fits[family], some.may_collapse, passed, k

    turns: dict[str, list[tuple[OfCell, Row]]] = {}
    for some in sorted(cells, key=key):
        of_cell = [(some, row) for row in some.failing[:OF_EACH]]
        turns.setdefault(some.cell.family, []).extend(of_cell)
    ordered = [each for some in zip_longest(*turns.values()) for each in some if each is not None]
    number = enough([(likely[some.cell], some.may_collapse) for some, _ in ordered])
    failing = ordered[:number]
    passing = _passing(
        sorted(cells, key=lambda some: (some.may_collapse, -len(some.passing))), turns
    )
    first, others = (
        again(results.stages([row.id for row in rows]))
        for rows in ([row for _, row in failing], passing)
    )
    pairs = zip(first, failing, strict=True)
    return Chosen(first, others, {question(run): likely[some.cell] for run, (some, _) in pairs})


def _passing(cells: Sequence[OfCell], turns: Iterable[str]) -> list[Row]:
    """Return some runs that pass, of all families in turns, a cell at a time."""
    by_family: dict[str, list[Row]] = {family: [] for family in turns}
    for some in cells:
        by_family.setdefault(some.cell.family, []).extend(some.passing[-1:])
    in_turns = zip_longest(*by_family.values())
    return [row for some in in_turns for row in some if row is not None][:PASSING]


def enough(runs: Sequence[tuple[float, bool]]) -> int:
    """Return how many failing runs are made again, so that all of them are not mended by chance.

    Parameters
    ----------
    runs : how likely each is right if it is made otherwise, and whether right ones may collapse
        there; every second such run may turn out not to count.
    """
    lucky = 1.0
    for number, (chance, may_collapse) in enumerate(runs):
        if number >= FAILING and (lucky <= CHANCE / CHANGES or number >= AT_MOST):
            return number
        if number:  # the first is how a change is found
            lucky *= math.sqrt(chance) if may_collapse else chance
    return len(runs)


def right(runs: Sequence[Run]) -> int:
    """Count the runs that come out right."""
    return sum(reaches(run.outcome and run.outcome.grade, run.ask.needs) for run in runs)


def collapsed(run: Run) -> bool:
    """Say whether a run collapsed in a family in which right ones do, now and then."""
    return run.outcome is Outcome.COLLAPSED and run.trial.family.required is None
