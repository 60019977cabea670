"""Trials of a subject through workers: several in flight, judged in batches, recorded in order.

A cell's trials are recorded in the order of their seeds, whichever is answered first, so that the
same rows come out for any number of workers and after any interruption.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from ..measures import same_factors
from ..outcomes import Flag
from ..protocol import Climb, judged
from ..records import Record, not_run, records_of
from ..subjects import Answer
from ..trials import Rung, Stage, Trial, TrialResult
from .workers import Reply, Request, Workers

IN_A_ROW = 3
"""So many stages in a row without an answer end a cell."""

ENDED = f"not asked: {IN_A_ROW} stages in a row had no answer"

ASKED_TWICE = 3
"""So many trials of each size are asked one question twice, to see whether the answers agree."""

BATCH, PATIENCE = 64, 0.1
"""So many answers are judged together, and none waits for longer than so many seconds."""


@dataclass
class Cell:
    """The trials of one size and kind of entries that are still to be run, in order.

    Attributes
    ----------
    unanswered : how many stages in a row had no answer before these trials.
    twice : whether its first trials are asked twice.
    """

    trials: Sequence[Trial]
    unanswered: int = 0
    twice: bool = False
    ended: bool = False
    _ongoing: deque[_Ongoing] = field(default_factory=deque)


@dataclass(eq=False)
class _Ongoing:
    """A trial in flight."""

    cell: Cell
    climb: Climb
    outstanding: int = 0
    twice: Rung | None = None
    answers: list[Answer] = field(default_factory=list)
    """The two answers to the question that is asked twice."""


@dataclass(frozen=True)
class _Question:
    """A rung of a trial in flight, asked for the first or for the second time."""

    trial: _Ongoing
    rung: Rung
    again: bool = False


class IsolatedRun:
    """Runs cells; iterating over it gives the records of trials, a batch at a time."""

    def __init__(self, workers: Workers, cells: Sequence[Cell]) -> None:
        self._workers = workers
        self._cells = list(cells)
        self._fixed = bool(workers.start().takes)
        self._to_begin = iter([(cell, trial) for cell in self._cells for trial in cell.trials])
        self._numbers = count()
        self._due: deque[tuple[Request, _Question]] = deque()
        self._asked: dict[int, _Question] = {}
        self._answered: list[tuple[_Question, Answer]] = []
        self._since = 0.0

    def __iter__(self) -> Iterator[list[Record]]:
        while True:
            all_asked = self._ask()
            if not (self._asked or self._answered or self._due):
                break
            for reply in self._workers.replies(PATIENCE):
                self._take(reply)
            late = self._answered and time.monotonic() - self._since > PATIENCE
            if len(self._answered) >= BATCH or late or (all_asked and self._answered):
                self._judge()
                if records := self._finished():
                    yield records
        if records := self._finished():
            yield records

    def _ask(self) -> bool:
        """Keep the workers busy; return whether there is nothing left to ask for now."""
        while True:
            if not self._due and not self._begin():
                return True
            request, question = self._due[0]
            if question.trial.cell.ended:
                self._due.popleft()
            elif self._workers.submit(request):
                self._due.popleft()
                self._asked[request.number] = question
            else:
                return False

    def _begin(self) -> bool:
        """Take up the next trial, if there is one."""
        for cell, trial in self._to_begin:
            if cell.ended:
                continue
            ongoing = _Ongoing(cell, Climb(trial))
            if cell.twice and trial.seed < ASKED_TWICE:
                always = [rung for rung in trial.ladder if rung.question != 1]
                ongoing.twice = (always or trial.ladder)[-1 if always else 0]
            cell._ongoing.append(ongoing)
            self._climb(ongoing)
            return True
        return False

    def _climb(self, ongoing: _Ongoing) -> None:
        """Put down what can be asked of a trial now."""
        for rung in ongoing.climb.due():
            self._put(_Question(ongoing, rung))
            if rung == ongoing.twice:
                self._put(_Question(ongoing, rung, again=True))

    def _put(self, question: _Question) -> None:
        trial = question.trial
        number, seed = next(self._numbers), trial.climb.trial.seed
        # Asked again with another random state: who does not use the seed shall be found out.
        random = 2 * seed + question.again
        request = Request(number, trial.climb.problem(question.rung), random)
        trial.outstanding += 1
        self._due.append((request, question))

    def _take(self, reply: Reply) -> None:
        question = self._asked.pop(reply.number, None)
        if question is None:  # of a cell that has ended
            return
        if not self._answered:
            self._since = time.monotonic()
        self._answered.append((question, reply.answer))

    def _judge(self) -> None:
        answered, self._answered = self._answered, []
        by_size: dict[int, list[tuple[_Question, Answer]]] = {}
        for question, answer in answered:
            trial = question.trial
            trial.outstanding -= 1
            if question.rung == trial.twice:
                trial.answers.append(answer)
            if not question.again:
                by_size.setdefault(trial.climb.trial.n, []).append((question, answer))
        for group in by_size.values():
            cases = [question.trial.climb.case(question.rung) for question, _ in group]
            judgements = judged(cases, [answer for _, answer in group])
            for (question, answer), judgement in zip(group, judgements, strict=True):
                question.trial.climb.take(question.rung, answer, judgement)
                if question.rung.question == 1:  # the next rung of the test depends on it
                    self._climb(question.trial)

    def _finished(self) -> list[Record]:
        """Return the records of trials that are complete, and have none before them that is not."""
        records: list[Record] = []
        for cell in self._cells:
            while cell._ongoing and cell._ongoing[0].outstanding == 0:
                result = self._result(cell._ongoing.popleft())
                records += records_of(result)
                for stage in result.stages:
                    cell.unanswered = cell.unanswered + 1 if stage.outcome.unanswered else 0
                    cell.ended |= cell.unanswered >= IN_A_ROW
                if cell.ended:
                    last = cell.trials.index(result.trial)
                    records += [
                        record
                        for trial in cell.trials[last + 1 :]
                        for record in not_run(trial, ENDED)
                    ]
                    cell._ongoing.clear()
                    self._workers.forget(self._drop(cell))
        return records

    def _drop(self, cell: Cell) -> set[int]:
        """Forget what was asked of a cell, and return its numbers: no answer is waited for."""
        numbers = {number for number, asked in self._asked.items() if asked.trial.cell is cell}
        for number in numbers:
            del self._asked[number]
        return numbers

    def _result(self, ongoing: _Ongoing) -> TrialResult:
        result = ongoing.climb.result()
        if len(ongoing.answers) < 2 or _same(ongoing.answers, ongoing.climb.trial):
            return result
        flag = Flag.DIFFERS if self._fixed else Flag.VARIES

        def flagged(stage: Stage) -> Stage:
            twice = stage.rung == ongoing.twice
            return replace(stage, flags=(*stage.flags, flag)) if twice else stage

        return replace(result, stages=tuple(map(flagged, result.stages)))


def _same(answers: Sequence[Answer], trial: Trial) -> bool:
    """Say whether two answers to one question agree; where there is no answer, nothing differs."""
    one, other = answers
    if one.error is not None or other.error is not None:
        return True
    unit = trial.case(0.0).a0.max()
    return same_factors((one.W, one.H), (other.W, other.H), unit)
