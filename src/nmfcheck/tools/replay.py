"""One trial again, with everything that it shows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from ..arrays import Array
from ..diagnosis.experiments import Begin
from ..errors import InputError
from ..executors.protocol import Executor
from ..families import Nearest, Trial
from ..judging.outcomes import Outcome
from ..trials.driver import Driver, Plan
from ..trials.stage import Stage
from .matrices import write_matrix


@dataclass(frozen=True)
class Replayed:
    """A stage with its matrices, and the known answer that is nearest to it, if there is one."""

    stage: Stage
    nearest: Nearest | None


@dataclass(frozen=True)
class StartedTrial(Trial):
    """A trial with a start of its own."""

    begin: tuple[Array, Array] | None = field(default=None, repr=False, compare=False)

    def start(self) -> tuple[Array, Array]:
        """Return that start."""
        return super().start() if self.begin is None else self.begin


def replay_from(trial: Trial, executor: Executor, begin: Begin) -> list[Replayed]:
    """Run each ask of a trial from an exact factorization, or from the subject's own answer."""
    starts: dict[str, tuple[Array, Array] | None] = {}
    if begin is Begin.EXACT:
        starts = {ask.name: trial.family.exact_answer(trial.case(ask)) for ask in trial.asks}
    elif begin is Begin.OWN:
        for stage in (each.stage for each in replay(trial, executor)):
            if stage.W is not None and stage.H is not None:
                starts[stage.ask.name] = (stage.W, stage.H)
    else:
        return replay(trial, executor)
    replayed = []
    for ask in trial.asks:
        if (start := starts.get(ask.name)) is not None:
            alone = StartedTrial(trial.cell, trial.draw, trial.seed, (ask,), start)
            replayed += replay(alone, executor)
    if not replayed:
        what = "exact factorization is known" if begin is Begin.EXACT else "answer to start at"
        raise InputError(f"there is no {what} for {trial.id}")
    return replayed


def replay(trial: Trial, executor: Executor) -> list[Replayed]:
    """Run a trial; return its stages in the order of its asks.

    As in a run, one that has some digits goes on to the next ask.
    """
    asks = tuple(replace(ask, keeps=True, lenient=True) for ask in trial.asks)
    whole = replace(trial, asks=asks)
    stages = [stage for some in Driver(executor, [Plan([whole])]) for stage in some]
    named = {ask.name: ask for ask in trial.asks}
    return [
        Replayed(replace(stage, trial=trial, ask=named[stage.ask.name]), _nearest(stage))
        for stage in stages
    ]


def _nearest(stage: Stage) -> Nearest | None:
    if stage.outcome is Outcome.INVALID or stage.W is None or stage.H is None:
        return None
    return stage.trial.family.nearest(stage.case, stage.W, stage.H)


def save(replayed: list[Replayed], folder: Path) -> None:
    """Write the matrices of a trial, a folder a stage."""
    try:
        for each in replayed:
            stage = each.stage
            place = folder / stage.ask.name
            place.mkdir(parents=True, exist_ok=True)
            W0, H0 = stage.trial.start()
            matrices: dict[str, Array | None] = {"A": stage.case.A, "W0": W0, "H0": H0}
            matrices |= {"W": stage.W, "H": stage.H}
            if each.nearest is not None:
                matrices |= {"nearest_W": each.nearest.W, "nearest_H": each.nearest.H}
            for name, X in matrices.items():
                if X is not None:
                    write_matrix(place / f"{name}.csv", X)
    except OSError as error:
        raise InputError(f"{str(folder)!r} cannot be written: {error.strerror or error}") from None
