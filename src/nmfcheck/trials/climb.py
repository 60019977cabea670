"""One trial on its way: which asks are due, and what came of those that were answered.

The asks of the test are the paper's protocol (its section IV): they are asked in order, from the
same start, and the first that does not pass ends them, unless it is lenient and some digits are
right. All others are asked in any case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import groupby

import numpy as np

from ..arrays import Array
from ..families import Ask, Case, Question, Trial
from ..judging.judgement import Judgement
from ..judging.outcomes import reaches
from ..judging.tolerances import TOLERANCE
from ..subjects import Answer, Problem
from .stage import Stage, TrialResult


class Climb:
    """A trial on its way through its asks."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.start = trial.start()
        self.stages: dict[Ask, Stage] = {}
        self._test = [ask for ask in trial.asks if ask.question is Question.TEST]
        self._rest = [ask for ask in trial.asks if ask.question is not Question.TEST]

    def due(self) -> list[Ask]:
        """Return the asks that can be put now, all at once."""
        due, self._test, self._rest = self._test[:1] + self._rest, self._test[1:], []
        return due

    def problem(self, ask: Ask) -> Problem:
        """Return what is to be asked, as copies of its own."""
        W0, H0 = self.start
        case = self.trial.case(ask)
        return Problem(
            case.A.copy(), case.rank, W0.copy(), H0.copy(), self.trial.seed, case.objective
        )

    def take(self, ask: Ask, answer: Answer, judgement: Judgement | None) -> int:
        """Record a stage; return how many later ones its failure spares."""
        stage = self._stage(ask, answer, judgement)
        self.stages[ask] = stage
        if stage.passed or ask.question is not Question.TEST or self._goes_on(stage):
            return 0
        spared, self._test = len(self._test), []
        return spared

    def _goes_on(self, stage: Stage) -> bool:
        """Say whether a stage that did not pass has digits that are right, if that is asked."""
        room = self.trial.family
        return stage.ask.lenient and room.defect(stage.measures) <= TOLERANCE.loosest

    def _stage(self, ask: Ask, answer: Answer, judgement: Judgement | None) -> Stage:
        """Return the stage of an answer; its judgement is None where there was none to judge."""
        if judgement is None:
            message = str(answer.error)
            return Stage(
                self.trial, ask, answer.outcome, message, flags=answer.flags,
                output=answer.output, seconds=answer.seconds,
            )  # fmt: skip
        kept = ask.keeps or not reaches(judgement.grade, ask.needs)
        return Stage(
            self.trial,
            ask,
            judgement.outcome,
            judgement.explanation,
            measures=judgement.measures,
            labels=judgement.labels,
            flags=answer.flags,
            output=answer.output,
            seconds=answer.seconds,
            digest=_digest(answer.W, answer.H),
            W=answer.W if kept else None,
            H=answer.H if kept else None,
        )

    def result(self) -> TrialResult:
        """Return what came of it, whatever the order in which the answers came."""
        stages = [self.stages[ask] for ask in self.trial.asks if ask in self.stages]
        return TrialResult(self.trial, tuple(self.trial.family.finished(stages)))


def judged(
    trials: Sequence[tuple[Trial, Ask]], answers: Sequence[Answer]
) -> list[Judgement | None]:
    """Judge answers in batches, one for each family and shape; None where there is no answer."""
    judgements: list[Judgement | None] = [None] * len(answers)
    usable = [i for i, answer in enumerate(answers) if answer.error is None]

    def batch(i: int) -> tuple[str, str, int, int, int]:
        cell = trials[i][0].cell
        return cell.family, cell.objective, cell.m, cell.n, cell.k

    for _, members in groupby(sorted(usable, key=batch), key=batch):
        places = list(members)
        cases: list[Case] = [trial.case(ask) for trial, ask in (trials[i] for i in places)]
        W, H = (np.stack([getattr(answers[i], name) for i in places]) for name in ("W", "H"))
        batched = trials[places[0]][0].family.judge(cases, W, H)
        for i, judgement in zip(places, batched, strict=True):
            judgements[i] = judgement
    return judgements


def _digest(W: Array, H: Array) -> str:
    return hashlib.blake2b(W.tobytes() + H.tobytes(), digest_size=8).hexdigest()
