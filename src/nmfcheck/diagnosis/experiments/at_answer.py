"""Start at the answer: does a subject stay at exact factorizations that it is started at.

Where it does not, its updates are wrong, or A was changed before them, or W and H after; which
entries move, and how, says more. Each is asked with two seeds, and each matrix from the usual start
as well: who ends at the same W and H from there does not use its start, and this shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import InputError
from ...families import Ask, Trial, find
from .asking import Asking
from .record import Begin, Experiment, Run

NAME = "start at the answer"

ASKED = (
    ("bidiagonal", "n=3/loguniform", 0, ("eps=0", "eps=1e-3", "eps=1e-6")),
    ("bidiagonal", "n=4/loguniform", 1, ("eps=0", "eps=0.25")),
    ("mixed", "6x8/k=3/dyadic", 0, ("eps=0",)),
    ("mixed", "6x5/k=2/dyadic", 1, ("eps=0",)),
)
"""Families, cells, draws and asks: with zeros, with small entries, and dense."""

DENSE = ("mixed", "6x8/k=3/dyadic", 3)
"""What is asked of a subject that takes no start: so many dense matrices."""

SEEDS = (0, 1)


def at_answer(asking: Asking, objective: str) -> Experiment:
    """Start at exact factorizations, each time with two seeds."""
    runs: list[Run] = []
    begun: set[str] = set()
    for trial, ask in _asked(objective):
        answer = trial.family.exact_answer(trial.case(ask))
        if answer is None:
            continue
        if trial.id not in begun:
            begun.add(trial.id)
            runs.append(Run(trial, ask, Begin.GIVEN, *trial.start(), SEEDS[0]))
        runs += [Run(trial, ask, Begin.EXACT, *answer, seed) for seed in SEEDS]
    if not runs:
        return Experiment(NAME, (), "no exact factorizations are known for this objective")
    made = asking.ask(runs)
    short = f"{len(runs) - len(made)} of {len(runs)} runs were not made: the time was up"
    return Experiment(NAME, made, short if len(made) < len(runs) else "")


def dense(asking: Asking, objective: str) -> Experiment:
    """Ask a subject that takes no start for some dense matrices."""
    family, cell, draws = DENSE
    try:
        room = find(family, objective)
    except InputError:
        return Experiment(NAME, (), "it takes no start")
    trials = [room.trial(room.cell(cell), i) for i in range(draws)]
    runs = [Run(t, t.asks[0], Begin.GIVEN, *t.start(), t.seed) for t in trials]
    return Experiment(NAME, asking.ask(runs), "it takes no start; dense matrices were asked")


def _asked(objective: str) -> Iterator[tuple[Trial, Ask]]:
    for family, cell, draw, asks in ASKED:
        try:
            room = find(family, objective)
        except InputError:
            continue
        trial = room.trial(room.cell(cell), draw)
        for name in asks:
            yield trial, room.ask(name)
