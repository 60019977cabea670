"""Start at the answer: does a subject stay at exact factorizations that it is started at.

Where it does not, its updates are wrong, or A was changed before them, or W and H after; which
entries move, and how, says more. Each is asked with two seeds, and each matrix from the usual start
as well: who ends at the same W and H from there does not use its start, and this shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...families import Ask, Drawn, Family, Trial, house
from .asking import Asking
from .record import Begin, Experiment, Run

NAME = "start at the answer"

SEEDS = (0, 1)


def at_answer(asking: Asking, objective: str) -> Experiment:
    """Start at exact factorizations, each time with two seeds."""
    runs: list[Run] = []
    begun: set[str] = set()
    for trial, ask in _asked(objective, lambda room: room.starts_at_answer):
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


def exact_starts(objective: str) -> list[Run]:
    """Return runs from exact factorizations, one of each trial."""
    runs: dict[str, Run] = {}
    for trial, ask in _asked(objective, lambda room: room.starts_at_answer):
        if (answer := trial.family.exact_answer(trial.case(ask))) is not None:
            runs.setdefault(trial.id, Run(trial, ask, Begin.EXACT, *answer, SEEDS[0]))
    return list(runs.values())


def dense(asking: Asking, objective: str) -> Experiment:
    """Ask a subject that takes no start for some dense matrices."""
    runs = [
        Run(trial, ask, Begin.GIVEN, *trial.start(), trial.seed)
        for trial, ask in _asked(objective, lambda room: room.without_start)
    ]
    if not runs:
        return Experiment(NAME, (), "it takes no start")
    return Experiment(NAME, asking.ask(runs), "it takes no start; dense matrices were asked")


def _asked(
    objective: str, drawn: Callable[[Family], Sequence[Drawn]]
) -> Iterator[tuple[Trial, Ask]]:
    """Return what the families of the house say is to be asked for an objective."""
    for room in house(objective):
        for cell, draw, asks in drawn(room):
            trial = room.trial(room.cell(cell), draw)
            for name in asks:
                yield trial, room.ask(name)
