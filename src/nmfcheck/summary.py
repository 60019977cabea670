"""The results of a run, counted: per size and kind of entries, stage by stage."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .outcomes import Outcome, reaches
from .trials import Rung, TrialResult


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
    """

    rung: Rung
    ran: int
    exact: int
    first_order: int
    passed: int
    permutation_changed: int
    median_defect: float
    outcomes: dict[str, int]


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


def count(results: Iterable[TrialResult]) -> list[CellCount]:
    """Count results by cell, in the order in which the cells come."""
    cells: dict[tuple[int, str], list[TrialResult]] = {}
    for result in results:
        cells.setdefault((result.trial.n, result.trial.kind), []).append(result)
    return [
        CellCount(
            n=n,
            entries=kind,
            trials=len(members),
            passed=sum(result.passed for result in members),
            stages=tuple(_count_stage(rung, members) for rung in members[0].trial.ladder),
        )
        for (n, kind), members in cells.items()
    ]


def _count_stage(rung: Rung, members: Iterable[TrialResult]) -> StageCount:
    stages = [stage for result in members if (stage := result.stage(rung.eps)) is not None]
    grades = [stage.outcome.grade for stage in stages]
    occurred = Counter(stage.outcome for stage in stages)
    judged = (stage.judgement for stage in stages if stage.judgement is not None)
    defects = [defect for j in judged if not math.isnan(defect := j.product_defect)]
    return StageCount(
        rung=rung,
        ran=len(stages),
        exact=sum(reaches(grade, "exact") for grade in grades),
        first_order=sum(reaches(grade, "first-order") for grade in grades),
        passed=sum(stage.passed for stage in stages),
        permutation_changed=sum(stage.permutation_changed is True for stage in stages),
        median_defect=statistics.median(defects) if defects else math.nan,
        outcomes={str(outcome): occurred[outcome] for outcome in Outcome if occurred[outcome]},
    )
