"""What is kept of an experiment: its runs, with where they began and where they ended."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from ...arrays import Array
from ...families import Ask, Trial
from ...judging.outcomes import Outcome
from ...subjects import Answer
from ...subjects.mending import Edit
from ...subjects.watching import Watched
from ...trials.climb import judged
from ...trials.stage import Stage


class Begin(StrEnum):
    """Where a run begins."""

    GIVEN = "given"
    """At the trial's own start."""
    OWN = "own"
    """At the answer that the subject gave before."""
    EXACT = "exact"
    """At an exact factorization."""


@dataclass(frozen=True)
class Run:
    """One more run.

    Attributes
    ----------
    trial, ask : what was asked.
    begin, W0, H0 : where it began.
    seed : what the subject was told, which may be another than the trial's.
    options : of the subject that are not as in the run before.
    W, H : the answer; None where there was none, or an invalid one.
    error : why there is none.
    before : the error of the run that it repeats, where it does.
    again : whether the global random states are seeded as for a question that is put again.
    watched : what it did line by line, where it was followed.
    edit : what was changed in the subject's source.
    outcome : of the run that it repeats, where it was followed; with an edit, its own.
    """

    trial: Trial
    ask: Ask
    begin: Begin
    W0: Array
    H0: Array
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)
    W: Array | None = None
    H: Array | None = None
    error: str = ""
    before: float | None = None
    again: bool = False
    watched: Watched | None = None
    outcome: Outcome | None = None
    edit: Edit | None = None

    @property
    def A(self) -> Array:
        """The matrix that was to be factorized."""
        return self.trial.case(self.ask).A

    @property
    def product(self) -> Array | None:
        """W·H, where there is one."""
        if self.W is None or self.H is None:
            return None
        with np.errstate(all="ignore"):
            product: Array = self.W @ self.H
        return product

    def as_data(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        matrices = {"W0": self.W0, "H0": self.H0, "W": self.W, "H": self.H}
        return {
            "trial": self.trial.id,
            "ask": self.ask.name,
            "begin": str(self.begin),
            "seed": self.seed,
            "options": dict(self.options),
            "error": self.error,
            "before": self.before,
            "again": self.again,
            **self._as_followed,
            **self._as_edited,
        } | {name: None if X is None else X.tolist() for name, X in matrices.items()}

    @property
    def _as_followed(self) -> dict[str, Any]:
        if self.watched is None:
            return {}
        return {"watched": self.watched.as_data(), "outcome": self.outcome}

    @property
    def _as_edited(self) -> dict[str, Any]:
        if self.edit is None:
            return {}
        return {"edit": self.edit.as_data(), "outcome": self.outcome}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Run:
        """Return the run that `as_data` wrote down."""
        trial = Trial.from_id(data["trial"])
        W0, H0, W, H = (
            None if data[name] is None else np.array(data[name], dtype=np.float64)
            for name in ("W0", "H0", "W", "H")
        )
        if W0 is None or H0 is None:
            raise ValueError("an experiment's run has no start")
        return cls(
            trial, trial.family.ask(data["ask"]), Begin(data["begin"]), W0, H0, int(data["seed"]),
            dict(data["options"]), W, H, str(data["error"]), data["before"],
            bool(data.get("again", False)),
            Watched.from_data(data["watched"]) if "watched" in data else None,
            Outcome(data["outcome"]) if data.get("outcome") else None,
            Edit.from_data(data["edit"]) if "edit" in data else None,
        )  # fmt: skip


def again(stages: Iterable[Stage], options: Mapping[str, Any] | None = None) -> list[Run]:
    """Return the runs of some stages, to be made again from the same start."""
    return [
        Run(stage.trial, stage.ask, Begin.GIVEN, *stage.trial.start(), stage.trial.seed,
            options or {}, before=defect_of(stage.measures))
        for stage in stages
    ]  # fmt: skip


def stage_of(run: Run) -> Stage | None:
    """Return a run as a stage, judged."""
    if run.W is None or run.H is None:
        return None
    (judgement,) = judged([run.trial], [run.trial.case(run.ask)], [Answer(run.W, run.H)])
    if judgement is None:
        return None
    return Stage(
        run.trial, run.ask, judgement.outcome, judgement.explanation, judgement.measures,
        judgement.labels, W=run.W, H=run.H,
    )  # fmt: skip


@dataclass(frozen=True)
class Experiment:
    """An experiment that was made, or why it was not.

    Attributes
    ----------
    name : what it is called in stores and reports.
    runs : in order.
    left_out : what was not done, and why, in a sentence; "" where all of it was.
    """

    name: str
    runs: Sequence[Run] = ()
    left_out: str = ""

    def as_data(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {"runs": [run.as_data() for run in self.runs], "left_out": self.left_out}

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any]) -> Experiment:
        """Return the experiment that `as_data` wrote down."""
        return cls(name, tuple(map(Run.from_data, data["runs"])), str(data["left_out"]))


def defect_of(measures: Mapping[str, float]) -> float:
    """Return the product defect, or the largest defect where a family has no such one."""
    named = {name: x for name, x in measures.items() if name.endswith("_defect")}
    return named.get("product_defect", max(named.values(), default=math.inf))
