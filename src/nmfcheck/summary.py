"""The results of a run, counted: per size and kind of entries, stage by stage."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .outcomes import Flag, Outcome, reaches
from .records import Record, by_trial
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
