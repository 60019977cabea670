"""The driver: trials through an executor, several in flight, judged in batches, given in order.

A cell's trials are given in the order of their seeds, whichever is answered first, so that the same
stages come out whatever the executor, for any number of workers and after any interruption.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from ..arrays import keep_freed_memory
from ..errors import InputError
from ..executors.inline import InlineExecutor
from ..executors.protocol import Executor, Reply, Request
from ..families import Ask, Case, Trial
from ..judging.measures import same_factors
from ..judging.outcomes import Flag
from ..records import maker, seldom_collected
from ..subjects import Answer, Progress, Subject, as_subject
from .climb import TEST, Climb, Ladder, judged
from .stage import Stage, TrialResult, not_run

IN_A_ROW = 3
"""So many stages in a row without an answer end a cell."""

ENDED = f"not asked: {IN_A_ROW} stages in a row had no answer"

FEWEST = 2
"""So many trials of every cell are in the first round, at least."""

ROUNDS = (0.02, 0.05, *(tenth / 10 for tenth in range(1, 11)))
"""Cells take turns after these parts of their trials, so that every round is a fair sample."""

BATCH, PATIENCE = 64, 0.1
"""So many answers are judged together, and none waits for longer than so many seconds."""


@dataclass
class Plan:
    """The trials of one cell that are still to be run, in order.

    Attributes
    ----------
    unanswered : how many stages in a row had no answer before these trials.
    patience : so many stages in a row without an answer end the cell.
    twice : the trials with a seed below this are asked one thing twice, to see whether the answers
        agree.
    whole : how many trials the cell has, those before these included; as many as these if 0.
    soon : whether all of them belong to the second round: where every trial has to pass, none of
        them can be spared.
    left_out : whether no further trial is to be begun.
    """

    trials: Sequence[Trial]
    unanswered: int = 0
    patience: int = IN_A_ROW
    twice: int = 0
    whole: int = 0
    soon: bool = False
    ended: bool = False
    left_out: bool = False
    ongoing: deque[_Ongoing] = field(default_factory=deque)


def one_by_one(plans: Sequence[Plan]) -> Iterator[tuple[Plan, Trial]]:
    """Return the trials of one cell after the other."""
    return ((plan, trial) for plan in plans for trial in plan.trials)


def in_rounds(plans: Sequence[Plan]) -> Iterator[tuple[Plan, Trial]]:
    """Return the trials in rounds of all cells, each cell's in order."""
    begun = [0] * len(plans)  # of each plan's trials
    for turn, part in enumerate(ROUNDS):
        for number, plan in enumerate(plans):
            whole = plan.whole or len(plan.trials)
            before = whole - len(plan.trials)
            due = whole if plan.soon and turn else math.ceil(part * whole)
            end = max(begun[number], max(FEWEST, due) - before)
            for trial in plan.trials[begun[number] : end]:
                yield plan, trial
            begun[number] = end


class _Ongoing(Climb):
    """A trial in flight.

    Attributes
    ----------
    outstanding : how many answers are still to come.
    twice : what is asked twice, if anything.
    answers : the two answers to that.
    """

    __slots__ = ("answers", "outstanding", "plan", "twice")

    def __init__(self, plan: Plan, trial: Trial, ladder: Ladder) -> None:
        super().__init__(trial, ladder)
        self.plan = plan
        self.outstanding = 0
        self.twice: Ask | None = None
        if trial.seed < plan.twice:
            always = [ask for ask in trial.asks if ask.question is not TEST]
            self.twice = (always or trial.asks)[-1 if always else 0]
            self.answers: list[Answer] = []


@dataclass(slots=True, kw_only=True)
class _Asked(Request):
    """What is asked of a trial in flight, for the first or for the second time."""

    climb: _Ongoing
    ask: Ask
    case: Case
    again: bool


_made_asked = maker(_Asked)


def _asked(number: int, climb: _Ongoing, ask: Ask, case: Case, again: bool) -> _Asked:
    """Return one ask of a trial as a request."""
    trial = climb.trial
    # Asked again with another random state: who does not use the seed shall be found out.
    random = 2 * trial.seed + again
    return _made_asked(
        number, climb.problem(case), random, "C", (trial, ask), "", "", 0.0, False, None,
        climb, ask, case, again,
    )  # fmt: skip


class Driver:
    """Carries the trials of some cells through an executor.

    Iterating over it gives the stages of complete trials, some trials at a time.

    Parameters
    ----------
    progress : called with the number of stages that are newly done or spared by a failure.
    counts : whether stages count when they are done; not if the executor reports that itself.
    rounds : whether all cells take turns; otherwise one comes after the other.
    """

    def __init__(
        self,
        executor: Executor,
        plans: Sequence[Plan],
        progress: Progress | None = None,
        *,
        counts: bool = True,
        rounds: bool = False,
    ) -> None:
        self._executor = executor
        self._plans = list(plans)
        self._progress = progress or (lambda _: None)
        self._counts = counts
        self._fixed = bool(executor.start().takes)
        self._to_begin = iter(in_rounds(self._plans) if rounds else one_by_one(self._plans))
        self._numbers = count()
        self._ladder: Ladder | None = None  # of the last trial that was begun
        self._due: deque[_Asked] = deque()
        self._asked: dict[int, _Asked] = {}
        self._answered: list[tuple[_Asked, Answer]] = []
        self._since = 0.0
        keep_freed_memory()  # for the judge's arrays

    def __iter__(self) -> Iterator[list[Stage]]:
        for results in self.results():
            yield [stage for result in results for stage in result.stages]

    def results(self) -> Iterator[list[TrialResult]]:
        """Give complete trials, some at a time."""
        while True:
            all_asked = self._ask()
            if not (self._asked or self._answered or self._due):
                break
            self._take(self._executor.replies(PATIENCE))
            late = self._answered and time.monotonic() - self._since > PATIENCE
            if len(self._answered) >= BATCH or late or (all_asked and self._answered):
                self._judge()
                if results := self._finished():
                    yield results
        if results := self._finished():
            yield results

    def _ask(self) -> bool:
        """Keep the executor busy; return whether there is nothing left to ask for now."""
        due, submit = self._due, self._executor.submit
        while due or self._begin():
            asked = due[0]
            if not asked.climb.plan.ended:
                if not submit(asked):
                    return False
                self._asked[asked.number] = asked
            due.popleft()
        return True

    def _begin(self) -> bool:
        """Take up the next trial, if there is one."""
        for plan, trial in self._to_begin:
            if not (plan.ended or plan.left_out):
                ladder = self._ladder
                if ladder is None or not ladder.serves(trial):
                    ladder = self._ladder = Ladder(trial)
                ongoing = _Ongoing(plan, trial, ladder)
                plan.ongoing.append(ongoing)
                self._climb(ongoing)
                return True
        return False

    def _climb(self, climb: _Ongoing) -> None:
        """Put down what can be asked of a trial now."""
        for ask in climb.due():
            case = climb.family.case(climb.trial, ask)
            for again in (False, True) if ask is climb.twice else (False,):
                self._due.append(_asked(next(self._numbers), climb, ask, case, again))
                climb.outstanding += 1

    def _take(self, replies: Sequence[Reply]) -> None:
        if replies and not self._answered:
            self._since = time.monotonic()
        asked = self._asked
        self._answered += [
            (asked.pop(reply.number), reply.answer)
            for reply in replies
            if reply.number in asked  # not of a cell that has ended
        ]

    def _judge(self) -> None:
        answered, self._answered = self._answered, []
        for asked, answer in answered:
            climb = asked.climb
            climb.outstanding -= 1
            if climb.twice is asked.ask:
                climb.answers.append(answer)
        first = [pair for pair in answered if not pair[0].again]
        answers = [answer for _, answer in first]
        judgements = judged(
            [asked.climb.trial for asked, _ in first], [asked.case for asked, _ in first], answers
        )
        done = len(first) if self._counts else 0
        for (asked, answer), judgement in zip(first, judgements, strict=True):
            climb, ask = asked.climb, asked.ask
            done += climb.take(ask, answer, judgement)  # which may spare some
            if ask.question is TEST:  # the next ask of the test depends on it
                self._climb(climb)
        self._progress(done)

    def _finished(self) -> list[TrialResult]:
        """Return the trials that are complete, and have none before them that is not."""
        results: list[TrialResult] = []
        for plan in self._plans:
            while plan.ongoing and plan.ongoing[0].outstanding == 0:
                result = self._result(plan.ongoing.popleft())
                results.append(result)
                for stage in result.stages:
                    if stage.outcome.unanswered:
                        plan.unanswered += 1
                        plan.ended |= plan.unanswered >= plan.patience
                    else:
                        plan.unanswered = 0
                if plan.ended:
                    last = plan.trials.index(result.trial)
                    for trial in plan.trials[last + 1 :]:
                        results.append(TrialResult(trial, tuple(not_run(trial, ENDED))))
                        self._progress(len(trial.asks))
                    plan.ongoing.clear()
                    self._executor.forget(self._drop(plan))
        return results

    def _drop(self, plan: Plan) -> set[int]:
        """Forget what was asked of a cell, and return its numbers: no answer is waited for."""
        numbers = {number for number, asked in self._asked.items() if asked.climb.plan is plan}
        for number in numbers:
            del self._asked[number]
        return numbers

    def _result(self, ongoing: _Ongoing) -> TrialResult:
        result = ongoing.result()
        if ongoing.twice is None or _same(ongoing):
            return result
        flag = Flag.DIFFERS if self._fixed else Flag.VARIES

        def flagged(stage: Stage) -> Stage:
            twice = stage.ask == ongoing.twice
            return replace(stage, flags=(*stage.flags, flag)) if twice else stage

        return replace(result, stages=tuple(map(flagged, result.stages)))


def _same(ongoing: _Ongoing) -> bool:
    """Say whether two answers to one ask agree; where there is no answer, nothing differs."""
    if len(ongoing.answers) < 2 or any(answer.error is not None for answer in ongoing.answers):
        return True
    one, other = ongoing.answers
    trial = ongoing.trial
    assert ongoing.twice is not None
    unit = trial.family.unit(trial.case(ongoing.twice))
    return same_factors((one.W, one.H), (other.W, other.H), unit)


def run_trial(subject: Subject | Callable[..., object], trial: Trial) -> TrialResult:
    """Run one trial on a subject, in this process.

    Parameters
    ----------
    subject : a function `f(A, rank, *, W0, H0, seed)` that returns W and H and takes any of these
        keywords, an estimator, or one of `nmfcheck.subjects`.
    """
    if not isinstance(trial, Trial):
        raise InputError(f"expected a Trial, such as Trial.from_id(…), not {trial!r:.60}")
    return run_trials(subject, [trial])[0]


def run_trials(
    subject: Subject | Callable[..., object],
    trials: Iterable[Trial],
    progress: Progress | None = None,
) -> list[TrialResult]:
    """Run trials in this process, so that a subject can work in batches.

    Every trial's result is what `run_trial` gives for it alone.

    Parameters
    ----------
    progress : called now and then with the number of stages that are newly done, fractions of
        stages included; stages that a failure spares count as done.
    """
    plan = Plan(list(trials), patience=sys.maxsize)  # whatever came of one, the next is asked
    with InlineExecutor(as_subject(subject), progress) as executor, seldom_collected():
        driver = Driver(executor, [plan], progress, counts=False)
        return [result for results in driver.results() for result in results]
