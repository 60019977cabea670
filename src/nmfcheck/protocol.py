"""The paper's protocol (its section IV): one draw of entries and one seed through a ladder of ε.

At ε = 0 the run must give monomial factors with `WH = A`, and P is read off them. At ε > 0, from
the same start, W and H must have the form under that P; where they do not, P is looked for again,
and that it changed is recorded. Then the form and the product decide.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from .arrays import Array
from .cases import Case
from .errors import InputError
from .factors import UnusableError, as_factor
from .judge import Judgement, judge_each
from .outcomes import reaches
from .subjects import Answer, Problem, Progress, Subject, as_subject
from .trials import Rung, Stage, Trial, TrialResult, starting_point


def run_trial(subject: Subject | Callable[..., object], trial: Trial) -> TrialResult:
    """Run one trial on a subject.

    Parameters
    ----------
    subject : a function `f(A, rank, *, W0, H0, seed)` that returns W and H and takes any of these
        keywords, or one of `nmfcheck.subjects`.
    """
    if not isinstance(trial, Trial):
        raise InputError(f"expected a Trial, such as Trial.from_id(…), not {trial!r:.60}")
    return run_trials(subject, [trial])[0]


def run_trials(
    subject: Subject | Callable[..., object],
    trials: Iterable[Trial],
    progress: Progress | None = None,
) -> list[TrialResult]:
    """Run trials of one size together, so that a subject can work in batches.

    Every trial's result is what `run_trial` gives for it alone.

    Parameters
    ----------
    progress : called now and then with the number of stages that are newly done, fractions of
        stages included; stages that a failure spares count as done.
    """
    solver = as_subject(subject)
    climbs = [Climb(trial) for trial in trials]
    report = progress or (lambda _: None)
    while due := [(climb, rung) for climb in climbs for rung in climb.due()]:
        answers = solver.solve([climb.problem(rung) for climb, rung in due], report)
        judgements = judged([climb.case(rung) for climb, rung in due], answers)
        for (climb, rung), answer, judgement in zip(due, answers, judgements, strict=True):
            report(climb.take(rung, answer, judgement))
    return [climb.result() for climb in climbs]


class Climb:
    """A trial on its way up the ladder."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.start = _start(trial.n, trial.seed)
        self.stages: dict[Rung, Stage] = {}
        self.test = [rung for rung in trial.ladder if rung.question == 1]
        self.rest = [rung for rung in trial.ladder if rung.question != 1]

    def due(self) -> list[Rung]:
        """Return the rungs that can be asked now, all at once."""
        due, self.test, self.rest = self.test[:1] + self.rest, self.test[1:], []
        return due

    def case(self, rung: Rung) -> Case:
        """Return the case of a rung."""
        return self.trial.case(rung.eps)

    def problem(self, rung: Rung) -> Problem:
        """Return what is to be asked on a rung."""
        W0, H0 = self.start
        case = self.case(rung)
        return Problem(case.A.copy(), case.rank, W0.copy(), H0.copy(), self.trial.seed)

    def take(self, rung: Rung, answer: Answer, judgement: Judgement | None) -> int:
        """Record a stage; return how many later ones its failure spares."""
        stage = self._stage(rung, answer, judgement)
        self.stages[rung] = stage
        if stage.passed or rung.question != 1:
            return 0
        spared, self.test = len(self.test), []
        return spared

    def _stage(self, rung: Rung, answer: Answer, judgement: Judgement | None) -> Stage:
        case = self.case(rung)
        factors = None if judgement is None else _factors(case, answer)
        outcome = answer.outcome if judgement is None else judgement.outcome
        W, H = factors or (None, None)
        kept = rung.question == 3 or not reaches(outcome.grade, rung.needs)
        return Stage(
            rung=rung,
            case=case,
            outcome=outcome,
            message=str(answer.error) if judgement is None else judgement.explanation,
            judgement=judgement,
            permutation_changed=None,  # known when all stages are
            flags=answer.flags,
            output=answer.output,
            seconds=answer.seconds,
            digest="" if factors is None else _digest(*factors),
            W=W if kept else None,
            H=H if kept else None,
        )

    def result(self) -> TrialResult:
        """Return what came of it, whatever the order in which the answers came."""
        stages = (self.stages[rung] for rung in self.trial.ladder if rung in self.stages)
        return TrialResult(
            self.trial,
            tuple(replace(s, permutation_changed=self._permutation_changed(s)) for s in stages),
        )

    def _permutation_changed(self, stage: Stage) -> bool | None:
        """Say whether P had to be looked for again.

        Where W, H have the form under the P of ε = 0, M shows that P and no other (robust form of
        Theorem 1): it fits if and only if it is the permutation that the run itself shows.
        """
        first = next((other for other in self.stages.values() if other.rung.eps == 0), None)
        if stage.rung.eps == 0 or first is None or not (first.judgement and stage.judgement):
            return None
        before, now = first.judgement.permutation, stage.judgement.permutation
        return None if before is None or now is None else before != now


@lru_cache(maxsize=1024)
def _start(n: int, seed: int) -> tuple[Array, Array]:
    """Return W0 and H0, which are not to be written to: many trials share them."""
    return starting_point(n, seed)


def judged(cases: Sequence[Case], answers: Sequence[Answer]) -> list[Judgement | None]:
    """Judge the answers that there are, all to cases of one size."""
    there = [i for i, answer in enumerate(answers) if answer.error is None]
    found = judge_each([cases[i] for i in there], [(answers[i].W, answers[i].H) for i in there])
    judgements: list[Judgement | None] = [None] * len(answers)
    for i, judgement in zip(there, found, strict=True):
        judgements[i] = judgement
    return judgements


def _factors(case: Case, answer: Answer) -> tuple[Array, Array] | None:
    """Return W and H as matrices, if they are."""
    shape = (case.n, case.rank)
    try:
        return as_factor("W", answer.W, shape), as_factor("H", answer.H, shape[::-1])
    except UnusableError:
        return None


def _digest(W: Array, H: Array) -> str:
    return hashlib.blake2b(W.tobytes() + H.tobytes(), digest_size=8).hexdigest()
