"""Which of the stages that failed are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..families import Question
from ..judging.outcomes import Outcome, reaches
from ..store import Row
from ..trials.suites import Suite
from ..verdict.tally import CellTally


def failing_stages(
    rows: Sequence[Row], suite: Suite, tallies: Sequence[CellTally], most: int
) -> list[int]:
    """Choose some stages that failed: one of each family and outcome, then from all cells.

    Parameters
    ----------
    tallies : the outcomes at another tolerance than the paper's, if there is one.
    """
    own = {cell.id for cell in suite.cells}
    exact = {
        (each.cell.id, ask, seed)
        for each in tallies
        for ask, letters in each.letters.items()
        for seed, letter in zip(each.seeds, letters, strict=True)
        if letter == Outcome.EXACT.letter
    }
    passing = {
        (cell.id, ask.name, str(outcome))
        for part in suite.parts
        for cell in part.cells
        for ask in part.asked(cell)
        for outcome in Outcome
        if ask.question is Question.NONE or reaches(outcome.grade, ask.needs)
    }
    failed = [
        row
        for row in rows
        if row.cell in own
        and row.outcome != Outcome.NOT_RUN
        and (row.cell, row.ask, row.outcome) not in passing
        and (row.cell, row.ask, row.seed) not in exact
    ]
    chosen: dict[int, None] = {}
    for of in (
        lambda row: (row.cell.partition("/")[0], row.outcome),
        lambda row: (row.outcome, row.cell),
        lambda row: (row.cell, row.seed),
        lambda row: row.id,
    ):
        seen: set[Any] = set()
        for row in failed:
            if len(chosen) < most and of(row) not in seen:
                seen.add(of(row))
                chosen.setdefault(row.id)
    return list(chosen)
