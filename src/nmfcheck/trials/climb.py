"""One trial on its way: which asks are due, and what came of those that were answered.

The asks of the test are the paper's protocol (its section IV): they are asked in order, from the
same start, and the first that does not pass ends them, unless it is lenient and some digits are
right. All others are asked in any case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from ..arrays import Array, stacked
from ..families import Ask, Case, Cell, Question, Trial
from ..judging.judgement import Judgement
from ..judging.outcomes import reaches
from ..judging.tolerances import TOLERANCE
from ..subjects import Answer, Problem
from ..subjects.problem import made_problem
from .stage import Stage, TrialResult, made_result, made_stage

TEST = Question.TEST  # looked up once, which takes long in Python 3.11: stages are many

_EMPTY_DIGEST = hashlib.blake2b(digest_size=8)


class Ladder:
    """What the trials of a cell have in common, worked out once for many of them.

    Attributes
    ----------
    asks : in the order in which a trial has them.
    steps : what can be asked at once; first all but the test, and the first ask of that.
    """

    __slots__ = ("asks", "cell", "family", "steps")

    def __init__(self, trial: Trial) -> None:
        self.cell, self.family, self.asks = trial.cell, trial.family, trial.asks
        test = [ask for ask in trial.asks if ask.question is TEST]
        rest = [ask for ask in trial.asks if ask.question is not TEST]
        self.steps = [(*test[:1], *rest), *((ask,) for ask in test[1:])]

    def serves(self, trial: Trial) -> bool:
        """Say whether it is that of a trial."""
        return trial.asks is self.asks and trial.cell is self.cell


class Climb:
    """A trial on its way through its asks."""

    __slots__ = ("_ladder", "_step", "family", "stages", "start", "trial")

    def __init__(self, trial: Trial, ladder: Ladder | None = None) -> None:
        ladder = ladder or Ladder(trial)
        self.trial = trial
        self.family = ladder.family
        self.start = trial.start()  # which may not be the family's: of an experiment
        self.stages: dict[str, Stage] = {}  # by the name of the ask
        self._ladder = ladder
        self._step = 0  # of the ladder, the next

    def due(self) -> Sequence[Ask]:
        """Return the asks that can be put now, all at once."""
        steps, step = self._ladder.steps, self._step
        if step == len(steps):
            return ()
        self._step = step + 1
        return steps[step]

    def problem(self, case: Case) -> Problem:
        """Return what is to be asked."""
        W0, H0 = self.start
        return made_problem(case.A, case.rank, W0, H0, self.trial.seed, case.objective)

    def take(self, ask: Ask, answer: Answer, judgement: Judgement | None) -> int:
        """Record a stage; return how many later ones its failure spares."""
        if judgement is None:
            reached, stage = False, self._unanswered(ask, answer)
        else:
            outcome, W, H = judgement.outcome, answer.W, answer.H
            reached = reaches(outcome.grade, ask.needs)
            kept = ask.keeps or not reached
            stage = made_stage(
                self.trial, ask, outcome, judgement.explanation, judgement.measures,
                judgement.labels, answer.flags, answer.output, answer.seconds, _digest(W, H),
                W if kept else None, H if kept else None,
            )  # fmt: skip
        self.stages[ask.name] = stage
        if reached or ask.question is not TEST or self._goes_on(stage):
            return 0
        last = len(self._ladder.steps)
        spared, self._step = last - self._step, last
        return spared

    def _goes_on(self, stage: Stage) -> bool:
        """Say whether a stage that did not pass has digits that are right, if that is asked."""
        return stage.ask.lenient and self.family.defect(stage.measures) <= TOLERANCE.loosest

    def _unanswered(self, ask: Ask, answer: Answer) -> Stage:
        """Return the stage of an answer without W and H."""
        return Stage(
            self.trial, ask, answer.outcome, str(answer.error), flags=answer.flags,
            output=answer.output, seconds=answer.seconds,
        )  # fmt: skip

    def result(self) -> TrialResult:
        """Return what came of it, whatever the order in which the answers came."""
        taken = self.stages
        stages = [taken[ask.name] for ask in self._ladder.asks if ask.name in taken]
        return made_result(self.trial, tuple(self.family.finished(stages)))


def judged(
    trials: Sequence[Trial], cases: Sequence[Case], answers: Sequence[Answer]
) -> list[Judgement | None]:
    """Judge answers in batches, one for each family and shape; None where there is no answer."""
    judgements: list[Judgement | None] = [None] * len(answers)
    batches: dict[tuple[str, str, int, int, int], list[int]] = {}
    cell: Cell | None = None
    batch: list[int] = []
    for i, (trial, answer) in enumerate(zip(trials, answers, strict=True)):
        if answer.error is None:
            if trial.cell is not cell:  # many of one cell come in a row
                cell = trial.cell
                alike = cell.family, cell.objective, cell.m, cell.n, cell.k
                batch = batches.setdefault(alike, [])
            batch.append(i)
    for _, places in sorted(batches.items()):
        W, H = stacked([answers[i].W for i in places]), stacked([answers[i].H for i in places])
        batch_judged = trials[places[0]].family.judge([cases[i] for i in places], W, H)
        for i, judgement in zip(places, batch_judged, strict=True):
            judgements[i] = judgement
    return judgements


def _digest(W: Array, H: Array) -> str:
    digest = _EMPTY_DIGEST.copy()  # a third quicker than a new one
    try:
        digest.update(W)  # type: ignore[arg-type]  # arrays are buffers
        digest.update(H)  # type: ignore[arg-type]
    except (BufferError, ValueError):  # one of them does not lie row by row in memory
        return _digest(np.ascontiguousarray(W), np.ascontiguousarray(H))
    return digest.hexdigest()
