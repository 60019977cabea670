"""One trial again, with everything that it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .arrays import Array
from .cases import decimal
from .errors import InputError
from .matrices import write_matrix
from .nearest import NearestExact, nearest_exact
from .outcomes import Outcome
from .protocol import Climb, judged
from .subjects import Answer, Problem
from .trials import Stage, Trial


@dataclass(frozen=True)
class Replayed:
    """A stage with its matrices; W and H are None where there are none to show."""

    stage: Stage
    problem: Problem
    W: Array | None
    H: Array | None
    nearest: NearestExact | None


def replay(trial: Trial, ask: Callable[[Problem], Answer]) -> list[Replayed]:
    """Run a trial; return its stages in the order in which they were asked."""
    climb, replayed = Climb(trial), []
    while due := climb.due():
        for rung in due:
            case, problem = climb.case(rung), climb.problem(rung)
            answer = ask(climb.problem(rung))
            (judgement,) = judged([case], [answer])
            climb.take(rung, answer, judgement)
            stage = climb.stages[rung]
            shown = judgement is not None and stage.digest != ""
            valid = shown and stage.outcome is not Outcome.INVALID
            nearest = nearest_exact(case, answer.W, answer.H) if valid else None
            W, H = (answer.W, answer.H) if shown else (None, None)
            replayed.append(Replayed(stage, problem, W, H, nearest))
    return sorted(replayed, key=lambda each: trial.ladder.index(each.stage.rung))


def save(replayed: list[Replayed], folder: Path) -> None:
    """Write the matrices of a trial, a folder a stage."""
    try:
        for each in replayed:
            place = folder / f"eps={decimal(each.stage.rung.eps)}"
            place.mkdir(parents=True, exist_ok=True)
            matrices = {"A": each.problem.A, "W0": each.problem.W0, "H0": each.problem.H0}
            if each.W is not None and each.H is not None:
                matrices |= {"W": each.W, "H": each.H}
            if each.nearest is not None:
                matrices |= {"nearest_W": each.nearest.W, "nearest_H": each.nearest.H}
            for name, X in matrices.items():
                write_matrix(place / f"{name}.csv", X)
    except OSError as error:
        raise InputError(f"{str(folder)!r} cannot be written: {error.strerror or error}") from None
