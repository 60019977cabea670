"""Continue: a subject is started at its own failing answers, again and again.

If that improves them, it had stopped early. If they stay, and are not stationary, its updates come
to rest at the wrong place. If they get worse, it does not come to rest at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...trials.stage import Stage
from .asking import Asking
from .record import Begin, Experiment, Run

NAME = "continue"
LINKS = 4
"""So often a run is continued."""


class Continued:
    """The runs of some stages, continued: all of them once, then all of them again."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self._last = [
            Run(stage.trial, stage.ask, Begin.OWN, stage.W, stage.H, stage.trial.seed)
            for stage in stages
            if stage.W is not None and stage.H is not None and (stage.W >= 0).all()
            and (stage.H >= 0).all()
        ]  # fmt: skip
        self._runs: list[Run] = []
        self._missing = 0

    def go_on(self, asking: Asking, links: int) -> None:
        """Continue what does not rest, so many times."""
        for _ in range(links):
            if not self._last:
                break
            made = asking.ask(self._last)
            self._runs += made
            self._missing += len(self._last) - len(made)
            self._last = [
                replace(run, W0=run.W, H0=run.H, W=None, H=None)
                for run in made
                if run.W is not None and run.H is not None and not _rests(run)
            ]

    @property
    def experiment(self) -> Experiment:
        """What came of it."""
        asked = self._missing + len(self._runs)
        left_out = f"{self._missing} of {asked} runs were not made: the time was up"
        return Experiment(NAME, self._runs, left_out if self._missing else "")


def _rests(run: Run) -> bool:
    """Say whether a run came back to where it began, bit by bit."""
    return np.array_equal(run.W0, run.W) and np.array_equal(run.H0, run.H)  # type: ignore[arg-type]
