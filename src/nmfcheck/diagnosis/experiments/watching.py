"""Line by line: some failing runs again, followed by the lines of the subject's own file.

Where it is written in Python. Some runs that pass are followed as well: what only failing ones go
through may be why; and some from exact factorizations: which statement leaves them first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from ...judging.outcomes import Outcome, reaches
from ...store import Results
from ...store.results import Row
from ...trials.suites import Suite
from .asking import Asking
from .at_answer import exact_starts
from .record import Experiment, Run, again

NAME = "line by line"

RUNS = 2
"""So many runs of each outcome are followed."""

EXACT = 3
"""So many runs are followed from exact factorizations."""

OUTCOMES = (Outcome.ERROR, Outcome.INVALID, Outcome.UNCONVERGED, Outcome.COLLAPSED)

WHEREVER = (Outcome.ERROR, Outcome.INVALID)
"""Failures of every question, not only of those that the test is about."""

AT_MOST = 6

LONGEST = 0.4
"""Who usually takes more seconds than this is not followed: that takes several times as long."""


def watching(asking: Asking, results: Results, suite: Suite, *, starts: bool) -> Experiment:
    """Follow some runs that fail, some that pass, and some from exact factorizations.

    Parameters
    ----------
    starts : whether it takes a start.
    """
    failing, passing = chosen(results, suite)
    if not failing:
        return Experiment(NAME, (), "no run fails")
    first = asking.ask(failing[:1], watched=True)
    if first and first[0].watched is None:
        return Experiment(NAME, (), first[0].error)
    exact = _exact(suite.objective) if starts else []
    others = [*failing[1:], *passing, *exact]
    made = [*first, *asking.ask(others, watched=True)]
    asked = 1 + len(others)
    short = f"{asked - len(made)} of {asked} runs were not followed: the time was up"
    return Experiment(NAME, made, short if len(made) < asked else "")


def _exact(objective: str) -> list[Run]:
    """Return runs from exact factorizations of matrices whose shapes tell W from H."""
    runs = exact_starts(objective)
    telling = [run for run in runs if len({*run.A.shape, run.trial.cell.k}) == 3]
    return telling[:EXACT]


def chosen(results: Results, suite: Suite) -> tuple[list[Run], list[Run]]:
    """Return runs that fail, some of each outcome, and runs that pass."""
    asks = {(part.family, ask.name): ask for part in suite.parts for ask in part.test}
    by_outcome: dict[Outcome, list[Row]] = {}
    passing: list[Row] = []
    for row in results.of_the_suite():
        outcome, ask = Outcome(row.outcome), asks.get((_family(row), row.ask))
        if ask is not None and reaches(outcome.grade, ask.needs):
            passing.append(row)
        elif outcome in WHEREVER or (ask is not None and outcome in OUTCOMES):
            by_outcome.setdefault(outcome, []).append(row)
    each = [_told_apart(by_outcome.get(outcome, ()), suite) for outcome in OUTCOMES]
    failing = [rows[i] for i in range(RUNS) for rows in each if i < len(rows)]
    return _runs(failing[:AT_MOST], results), _runs(_told_apart(passing, suite), results)


def _told_apart(rows: Sequence[Row], suite: Suite) -> list[Row]:
    """Return some rows of different trials.

    First those whose W·H should be A, and of which shapes tell W from H; then those that right ones
    hardly ever fail, of a high rank.
    """
    cells = {cell.id: cell for cell in suite.cells}

    @cache
    def key(name: str) -> tuple[bool, bool, bool, int]:
        cell = cells[name]
        room = suite.part(cell.family).room
        alike = len({cell.m, cell.n, cell.k}) < 3
        return not fits(suite, cell.family), alike, room.required is None, -cell.k

    trials: dict[tuple[str, int], Row] = {}
    for row in sorted(rows, key=lambda row: key(row.cell)):
        trials.setdefault((row.cell, row.seed), row)
    return list(trials.values())[:RUNS]


def fits(suite: Suite, family: str) -> bool:
    """Say whether W·H should be A in a family."""
    part = suite.part(family)
    cell = next(iter(part.cells))
    case = part.room.trial(cell, 0).case((part.test or part.asks)[0])
    target = part.room.target(case)
    return target is not None and np.array_equal(target, case.A)


def _runs(rows: Sequence[Row], results: Results) -> list[Run]:
    runs = again(results.stages([row.id for row in rows]))
    return [replace(run, outcome=Outcome(row.outcome)) for run, row in zip(runs, rows, strict=True)]


def _family(row: Row) -> str:
    return row.cell.partition("/")[0]
