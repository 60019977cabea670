"""The results of a subject, counted: for each cell, ask by ask."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..families import Ask, Question
from ..judging.outcomes import Flag, Grade, Outcome, reaches
from ..store import Results
from ..trials.suites import Suite
from .tally import CellTally


@dataclass(frozen=True)
class StageCount:
    """What came of one ask, over the trials of a cell.

    Attributes
    ----------
    ran : stages that were run; where an earlier ask failed, later ones were not.
    exact : how many were exact.
    passed : how many reached the grade that the ask needs.
    median_defect : median of the defect that its family shows; NaN where there is none.
    outcomes : how often each outcome occurred, in the order of `Outcome`.
    flags : how often each flag was set.
    """

    ask: Ask
    ran: int
    exact: int
    passed: int
    median_defect: float
    outcomes: dict[str, int]
    flags: dict[str, int]

    def reaching(self, grade: Grade) -> int:
        """Return how many reached a grade or a better one."""
        return sum(n for name, n in self.outcomes.items() if reaches(Outcome(name).grade, grade))


@dataclass(frozen=True)
class CellCount:
    """The trials of one cell.

    Attributes
    ----------
    passed : trials that passed the test.
    """

    family: str
    cell: str
    columns: tuple[str, ...]
    trials: int
    passed: int
    stages: tuple[StageCount, ...]


def count(results: Results, suite: Suite, cells: Sequence[CellTally]) -> list[CellCount]:
    """Count the results of a subject, whose outcomes have been read.

    Parameters
    ----------
    cells : the outcomes.
    """
    defects: dict[tuple[str, str], list[float]] = {}
    shown = {part.family: part.room.shown_defect for part in suite.parts}
    for measure in sorted(set(shown.values())):
        for cell, ask, defect in results.numbers(measure):
            if shown.get(cell.partition("/")[0]) == measure:
                defects.setdefault((cell, ask), []).append(defect)
    flags: dict[tuple[str, str], Counter[str]] = {}
    for row, names in results.flagged():
        flags.setdefault((row.cell, row.ask), Counter()).update(names)
    counts = []
    for each in cells:
        part = suite.part(each.cell.family)
        passed = each.climbed(part.test) if part.test else []
        stages = tuple(
            _stage(
                ask,
                each.counts(ask),
                defects.get((each.cell.id, ask.name), []),
                flags.get((each.cell.id, ask.name), Counter()),
            )
            for ask in part.asked(each.cell)
        )
        counts.append(
            CellCount(
                each.cell.family,
                each.cell.name,
                each.cell.columns,
                len(each.seeds),
                sum(one is True for one in passed),
                stages,
            )
        )
    return counts


def _stage(
    ask: Ask, counts: dict[Outcome, int], defects: Sequence[float], flags: Counter[str]
) -> StageCount:
    def reaching(grade: Grade) -> int:
        return sum(number for outcome, number in counts.items() if reaches(outcome.grade, grade))

    ran = sum(counts.values()) - counts[Outcome.NOT_RUN]
    return StageCount(
        ask=ask,
        ran=ran,
        exact=reaching("exact"),
        passed=ran if ask.question is Question.NONE else reaching(ask.needs),
        median_defect=statistics.median(defects) if defects else math.nan,
        outcomes={str(outcome): number for outcome, number in counts.items() if number},
        flags={str(flag): flags[flag] for flag in Flag if flags[flag]},
    )
