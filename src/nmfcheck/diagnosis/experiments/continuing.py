"""Continue: a subject is started at its own failing answers, again and again.

If that improves them, it had stopped early. If they stay, and are not stationary, its updates come
to rest at the wrong place. If they get worse, it does not come to rest at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...trials.stage import Stage
from .asking import Asking
from .record import Begin, Experiment, Run

NAME = "continue"
LINKS = 4
"""So often a run is continued."""


def continuing(asking: Asking, stages: Sequence[Stage]) -> Experiment:
    """Continue the runs of some stages, all of them once, then all of them again."""
    last = [
        Run(stage.trial, stage.ask, Begin.OWN, stage.W, stage.H, stage.trial.seed)
        for stage in stages
        if stage.W is not None and stage.H is not None and (stage.W >= 0).all()
        and (stage.H >= 0).all()
    ]  # fmt: skip
    wanted = LINKS * len(last)
    runs: list[Run] = []
    for _ in range(LINKS):
        found = asking.ask(last)
        runs += found
        last = [
            replace(run, W0=run.W, H0=run.H, W=None, H=None)
            for run in found
            if run.W is not None and run.H is not None
        ]
        if not last:
            break
    failed = any(run.error for run in runs)
    short = f"{wanted - len(runs)} of {wanted} runs were not made" if len(runs) < wanted else ""
    return Experiment(NAME, runs, f"{short}: {_why(failed=failed)}" if short else "")


def _why(*, failed: bool) -> str:
    return "it gave no answer there, or the time was up" if failed else "the time was up"
