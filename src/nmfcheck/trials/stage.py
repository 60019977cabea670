"""The stage record: what came of one ask of one trial, from the judge to the report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ..arrays import Array
from ..families import Ask, Case, Question, Trial
from ..judging.outcomes import Flag, Outcome, reaches
from ..records import maker


@dataclass(slots=True)
class Stage:
    """What came of one ask of a trial.

    Attributes
    ----------
    trial, ask : what was asked; with the subject they identify the stage.
    outcome, message : what became of it, and why, in a sentence.
    measures : named numbers of the judge's; without those that are not a number.
    labels : named texts of the judge's.
    flags : what W and H do not show.
    output : the last lines that the subject printed, where something went wrong.
    seconds : how long the subject took; NaN where that is not known.
    digest : the same for the same W and H, bit by bit; "" where there are none.
    W, H : kept where they are matrices of numbers, and the stage was not passed or the ask keeps
        them.
    """

    trial: Trial
    ask: Ask
    outcome: Outcome
    message: str
    measures: dict[str, float] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    flags: tuple[Flag, ...] = ()
    output: str = ""
    seconds: float = field(default=math.nan, compare=False)
    digest: str = ""
    W: Array | None = field(default=None, compare=False, repr=False)
    H: Array | None = field(default=None, compare=False, repr=False)

    @property
    def case(self) -> Case:
        """The case that was asked."""
        return self.trial.case(self.ask)

    @property
    def case_id(self) -> str:
        """The id of the case that was asked."""
        return self.trial.family.case_id(self.trial, self.ask)

    @property
    def passed(self) -> bool:
        """Whether the grade that the ask needs was reached; what is only measured cannot fail."""
        return self.ask.question is Question.NONE or reaches(self.outcome.grade, self.ask.needs)


made_stage = maker(Stage)


@dataclass(slots=True)
class TrialResult:
    """The stages of one trial, in the order of its asks; those after a failure are missing."""

    trial: Trial
    stages: tuple[Stage, ...]

    @property
    def passed(self) -> bool:
        """Whether the trial passed its test, if it was asked."""
        return self._passed(Question.TEST)

    @property
    def exact(self) -> bool:
        """Whether the trial passed the question of exactness, if it was asked."""
        return self._passed(Question.EXACTNESS)

    def _passed(self, question: Question) -> bool:
        asked = {ask for ask in self.trial.asks if ask.question is question}
        return bool(asked) and asked <= {stage.ask for stage in self.stages if stage.passed}

    def stage(self, ask: str) -> Stage | None:
        """Return the stage of the ask of this name, if it was run."""
        return next((stage for stage in self.stages if stage.ask.name == ask), None)


made_result = maker(TrialResult)


def not_run(trial: Trial, why: str) -> list[Stage]:
    """Return the stages of a trial that was not run."""
    return [Stage(trial, ask, Outcome.NOT_RUN, why) for ask in trial.asks]


def by_trial(stages: Iterable[Stage]) -> Iterator[tuple[Trial, Sequence[Stage]]]:
    """Group stages, which must lie trial by trial."""
    for trial, members in groupby(stages, key=lambda stage: stage.trial):
        yield trial, list(members)
