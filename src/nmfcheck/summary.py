"""The results of a run, counted: per size and kind of entries, stage by stage."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .cases import ONES
from .outcomes import Flag, Grade, Outcome, reaches
from .records import Record, by_trial
from .store import Store, StoredSubject
from .tally import CellTally
from .trials import Rung, Trial


@dataclass(frozen=True)
class StageCount:
    """What came of one rung of the ladder, over the trials of a cell.

    Attributes
    ----------
    rung : ε, and the question it belongs to.
    ran : stages that were run; where an earlier rung failed, later ones were not.
    exact, first_order : how many reached this grade or a better one.
    passed : how many reached the grade that the rung needs.
    permutation_changed : how many have another permutation than at ε = 0.
    median_defect : median product defect; NaN where there is none.
    outcomes : how often each outcome occurred, in the order of `Outcome`.
    flags : how often each flag was set.
    """

    rung: Rung
    ran: int
    exact: int
    first_order: int
    passed: int
    permutation_changed: int
    median_defect: float
    outcomes: dict[str, int]
    flags: dict[str, int]


@dataclass(frozen=True)
class CellCount:
    """The trials of one size and kind of entries.

    Attributes
    ----------
    passed : trials that passed the paper's test, all its rungs.
    """

    n: int
    entries: str
    trials: int
    passed: int
    stages: tuple[StageCount, ...]


def count(records: Iterable[Record], ladder: Sequence[Rung]) -> list[CellCount]:
    """Count records by cell, in the order in which the cells come.

    Parameters
    ----------
    ladder : the rungs that every trial was to climb.
    """
    cells: dict[tuple[int, str], dict[Trial, Sequence[Record]]] = {}
    for trial, members in by_trial(records):
        cells.setdefault((trial.n, trial.kind), {})[trial] = members
    test = {rung for rung in ladder if rung.question == 1}
    return [
        CellCount(
            n=n,
            entries=kind,
            trials=len(trials),
            passed=sum(
                bool(test) and test <= {record.rung for record in trial if record.passed}
                for trial in trials.values()
            ),
            stages=tuple(_count_stage(rung, trials.values()) for rung in ladder),
        )
        for (n, kind), trials in cells.items()
    ]


def count_stored(
    store: Store, subject: StoredSubject, cells: Sequence[CellTally]
) -> list[CellCount]:
    """Return what `count` does, from columns of a store: for many stages much faster.

    Parameters
    ----------
    cells : the outcomes of the same subject.
    """
    ladder = store.suite.ladder
    test = [rung for rung in ladder if rung.question == 1]
    defects: dict[tuple[int, bool, float], list[float]] = {}
    changed: Counter[tuple[int, bool, float]] = Counter()
    flags: dict[tuple[int, bool, float], Counter[str]] = {}
    columns = "n, entries = 'ones', eps, product_defect, permutation_changed, flags"
    for n, ones, eps, defect, other, flagged in store.select(subject, columns, in_order=False):
        cell = (n, bool(ones), eps)
        if defect is not None:
            defects.setdefault(cell, []).append(defect)
        changed[cell] += other or 0
        if flagged:
            flags.setdefault(cell, Counter()).update(flagged.split(","))
    return [
        CellCount(
            n=cell.n,
            entries=cell.entries,
            trials=len(cell.seeds),
            passed=sum(passed is True for passed in cell.climbed(test)) if test else 0,
            stages=tuple(
                _stage_of(
                    rung,
                    cell.letters[rung.eps],
                    defects.get((cell.n, cell.entries == ONES, rung.eps), []),
                    changed[cell.n, cell.entries == ONES, rung.eps],
                    flags.get((cell.n, cell.entries == ONES, rung.eps), Counter()),
                )
                for rung in ladder
            ),
        )
        for cell in cells
    ]


def _stage_of(
    rung: Rung, letters: str, defects: Sequence[float], changed: int, flags: Counter[str]
) -> StageCount:
    counts = {outcome: letters.count(outcome.letter) for outcome in Outcome}

    def reaching(grade: Grade) -> int:
        return sum(m for outcome, m in counts.items() if reaches(outcome.grade, grade))

    return StageCount(
        rung=rung,
        ran=sum(counts.values()) - counts[Outcome.NOT_RUN],
        exact=reaching("exact"),
        first_order=reaching("first-order"),
        passed=reaching(rung.needs),
        permutation_changed=changed,
        median_defect=statistics.median(defects) if defects else math.nan,
        outcomes={str(outcome): number for outcome, number in counts.items() if number},
        flags={str(flag): flags[flag] for flag in Flag if flags[flag]},
    )


def _count_stage(rung: Rung, trials: Iterable[Sequence[Record]]) -> StageCount:
    stages = [record for trial in trials for record in trial if record.rung == rung]
    grades = [record.outcome.grade for record in stages]
    occurred = Counter(record.outcome for record in stages)
    flags = Counter(flag for record in stages for flag in record.flags)
    defects = [defect for s in stages if not math.isnan(defect := s.product_defect)]
    return StageCount(
        rung=rung,
        ran=sum(record.outcome is not Outcome.NOT_RUN for record in stages),
        exact=sum(reaches(grade, "exact") for grade in grades),
        first_order=sum(reaches(grade, "first-order") for grade in grades),
        passed=sum(record.passed for record in stages),
        permutation_changed=sum(record.permutation_changed is True for record in stages),
        median_defect=statistics.median(defects) if defects else math.nan,
        outcomes={str(outcome): occurred[outcome] for outcome in Outcome if occurred[outcome]},
        flags={str(flag): flags[flag] for flag in Flag if flags[flag]},
    )
