"""Alone: some failing runs again, each as the first thing that a new process is asked.

If that is better by far, an answer depends on what was asked before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from ...executors.protocol import Executor
from ...trials.stage import Stage
from .asking import Asking, Clock
from .record import Begin, Experiment, Run, defect_of

NAME = "alone"

RUNS = 2
"""So many runs are made again, of different shapes where there are such."""

TIMES = 2
"""So often each is, in as many processes: who answers at random gives different answers there."""

FAR = 1e-3
"""Only who is farther than this from the right answer is asked: a process takes long to start."""


def alone(
    fresh: Callable[[], AbstractContextManager[Executor]],
    stages: Sequence[Stage],
    clock: Clock,
    usual: float,
) -> Experiment:
    """Ask for each of some failing runs in a process of its own."""
    by_shape = {stage.trial.cell.id: stage for stage in stages}
    runs = [
        Run(stage.trial, stage.ask, Begin.GIVEN, *stage.trial.start(), stage.trial.seed,
            before=defect_of(stage.measures))
        for stage in list(by_shape.values())[:RUNS]
        for _ in range(TIMES)
    ]  # fmt: skip
    made: list[Run] = []
    for run in runs:
        if clock.left > usual:
            with fresh() as executor:
                made += Asking(executor, clock, usual).ask([run])
    short = f"{len(runs) - len(made)} of {len(runs)} runs were not made: the time was up"
    return Experiment(NAME, made, short if len(made) < len(runs) else "")
