"""The paper's protocol (its section IV): one draw of entries and one seed through a ladder of ε.

At ε = 0 the run must give monomial factors with `WH = A`, and P is read off them. At ε > 0, from
the same start, W and H must have the form under that P; where they do not, P is looked for again,
and that it changed is recorded. Then the form and the product decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .arrays import Array, whole_number
from .cases import ENTRIES, FAMILY, ONES, Case, case_of
from .errors import InputError
from .judge import Judgement, judge_each
from .outcomes import Grade, Outcome, reaches
from .subjects import Answer, Problem, Progress, Subject, as_subject


class Rung(NamedTuple):
    """One ε of a ladder, and the question that it belongs to.

    Question 1 is the paper's test: its rungs are climbed in order, exact at ε = 0, first-order or
    better above, and the first failure ends it. Question 2, exactness, is asked in any case.
    """

    eps: float
    question: int

    @property
    def needs(self) -> Grade:
        """The grade that a run has to reach on this rung."""
        return "first-order" if self.question == 1 and self.eps > 0 else "exact"


LADDER = (Rung(0.0, 1), Rung(1e-3, 1), Rung(0.25, 2))


@dataclass(frozen=True)
class Trial:
    """One draw of a0, a1 and one seed, to be carried through the ladder.

    Attributes
    ----------
    n : size of A.
    entries : ``ones``, or ``loguniform#i`` for draw i.
    seed : of the starting point.
    ladder : the rungs, in the order in which they are climbed.
    """

    n: int
    entries: str
    seed: int
    ladder: tuple[Rung, ...] = field(default=LADDER, repr=False)

    def __post_init__(self) -> None:
        whole_number("n", self.n, 1)
        whole_number("seed", self.seed, 0)
        if not (self.ladder and all(isinstance(rung, Rung) for rung in self.ladder)):
            raise InputError(f"a ladder is one Rung or more, not {self.ladder!r}")
        if re.fullmatch(ENTRIES, str(self.entries)) is None:
            raise InputError(f"no entries {self.entries!r}; expected 'ones' or 'loguniform#7'")

    @classmethod
    def of_cell(cls, n: int, kind: str, i: int, ladder: tuple[Rung, ...] = LADDER) -> Trial:
        """Return trial i of a cell (a size and a kind of entries): draw i and seed i."""
        return cls(n, kind if kind == ONES else f"{kind}#{i}", i, ladder)

    @classmethod
    def from_id(cls, id: str) -> Trial:
        """Return the trial that has this id, such as ``bidiagonal/n=3/loguniform#7/seed=7``."""
        form = rf"{FAMILY}/n=(\d{{1,4}})/({ENTRIES})/seed=(\d{{1,18}})"
        match = re.fullmatch(form, str(id))
        if match is None:
            raise InputError(
                f"no trial {id!r}; expected an id such as 'bidiagonal/n=3/ones/seed=7'"
            )
        return cls(int(match[1]), match[2], int(match[3]))

    @property
    def id(self) -> str:
        """Stable name of the trial."""
        return f"{FAMILY}/n={self.n}/{self.entries}/seed={self.seed}"

    @property
    def kind(self) -> str:
        """Kind of entries: ``ones`` or ``loguniform``."""
        return self.entries.partition("#")[0]

    def case(self, eps: float) -> Case:
        """Return the case of one rung."""
        return case_of(self.n, self.entries, eps)

    def start(self) -> tuple[Array, Array]:
        """Return W0 and H0, the same on every rung, for every subject and on every machine."""
        return starting_point(self.n, self.seed)


@dataclass(frozen=True)
class Stage:
    """What came of one rung of a trial.

    Attributes
    ----------
    rung, case : what was asked.
    outcome, message : what became of it, and why, in a sentence.
    judgement : None where the subject gave no answer to judge.
    permutation_changed : whether P is another one than at ε = 0; None where either is not known.
    """

    rung: Rung
    case: Case
    outcome: Outcome
    message: str
    judgement: Judgement | None
    permutation_changed: bool | None

    @property
    def passed(self) -> bool:
        """Whether the grade that the rung needs was reached."""
        return reaches(self.outcome.grade, self.rung.needs)


@dataclass(frozen=True)
class TrialResult:
    """The stages of one trial, in the ladder's order; those after a failure are missing."""

    trial: Trial
    stages: tuple[Stage, ...]

    @property
    def passed(self) -> bool:
        """Whether the trial passed the paper's test (question 1), if it was asked."""
        return self._passed(1)

    @property
    def exact(self) -> bool:
        """Whether the trial passed the test of exactness (question 2), if it was asked."""
        return self._passed(2)

    def _passed(self, question: int) -> bool:
        asked = [rung for rung in self.trial.ladder if rung.question == question]
        passed = {stage.rung for stage in self.stages if stage.passed}
        return bool(asked) and passed.issuperset(asked)

    def stage(self, eps: float) -> Stage | None:
        """Return the stage of this ε, if it was run."""
        return next((stage for stage in self.stages if stage.rung.eps == eps), None)


def starting_point(n: int, seed: int) -> tuple[Array, Array]:
    """Return W0 and then H0, uniform in (0, 1), from `default_rng([n, seed])`."""
    rng = np.random.Generator(np.random.PCG64([n, seed]))
    return rng.random((n, n)), rng.random((n, n))


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
    climbs = [_Climb(trial) for trial in trials]
    report = progress or (lambda _: None)
    while due := [(climb, rung) for climb in climbs for rung in climb.due()]:
        answers = solver.solve([climb.problem(rung) for climb, rung in due], report)
        judgements = _judged([climb.case(rung) for climb, rung in due], answers)
        for (climb, rung), answer, judgement in zip(due, answers, judgements, strict=True):
            report(climb.take(rung, answer, judgement))
    return [climb.result() for climb in climbs]


class _Climb:
    """A trial on its way up the ladder."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.start = trial.start()
        self.stages: dict[Rung, Stage] = {}
        self.test = [rung for rung in trial.ladder if rung.question == 1]
        self.rest = [rung for rung in trial.ladder if rung.question != 1]

    def due(self) -> list[Rung]:
        """Return the rungs that can be asked now, all at once."""
        due, self.test, self.rest = self.test[:1] + self.rest, self.test[1:], []
        return due

    def case(self, rung: Rung) -> Case:
        return self.trial.case(rung.eps)

    def problem(self, rung: Rung) -> Problem:
        W0, H0 = self.start
        case = self.case(rung)
        return Problem(case.A.copy(), case.rank, W0.copy(), H0.copy(), self.trial.seed)

    def take(self, rung: Rung, answer: Answer, judgement: Judgement | None) -> int:
        """Record a stage; return how many later ones its failure spares."""
        case = self.case(rung)
        if judgement is None:
            stage = Stage(rung, case, Outcome.ERROR, str(answer.error), None, None)
        else:
            changed = self._permutation_changed(rung, judgement)
            stage = Stage(rung, case, judgement.outcome, judgement.explanation, judgement, changed)
        self.stages[rung] = stage
        if stage.passed or rung.question != 1:
            return 0
        spared, self.test = len(self.test), []
        return spared

    def _permutation_changed(self, rung: Rung, judgement: Judgement) -> bool | None:
        """Say whether P had to be looked for again.

        Where W, H have the form under the P of ε = 0, M shows that P and no other (robust form of
        Theorem 1): it fits if and only if it is the permutation that the run itself shows.
        """
        first = next((stage for stage in self.stages.values() if stage.rung.eps == 0), None)
        if rung.eps == 0 or first is None or first.judgement is None:
            return None
        before, now = first.judgement.permutation, judgement.permutation
        return None if before is None or now is None else before != now

    def result(self) -> TrialResult:
        stages = (self.stages[rung] for rung in self.trial.ladder if rung in self.stages)
        return TrialResult(self.trial, tuple(stages))


def _judged(cases: Sequence[Case], answers: Sequence[Answer]) -> list[Judgement | None]:
    """Judge the answers that there are."""
    there = [i for i, answer in enumerate(answers) if answer.error is None]
    found = judge_each([cases[i] for i in there], [(answers[i].W, answers[i].H) for i in there])
    judgements: list[Judgement | None] = [None] * len(answers)
    for i, judgement in zip(there, found, strict=True):
        judgements[i] = judgement
    return judgements
