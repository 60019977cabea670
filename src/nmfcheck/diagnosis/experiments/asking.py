"""Puts runs to an executor, until they are answered or the time is up."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from ...executors.protocol import Executor, Reply, Request
from ...subjects import Problem
from .record import Run

FIRST = 1 << 40
"""Numbers from here on are not those of a suite's requests, whose late answers may still come."""

WAIT = 0.05

NO_SOURCE = "there is no source that could be followed"


class Clock:
    """The time that is left for experiments."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left; 0 where there are none."""
        return max(0.0, self._until - time.monotonic())

    def part(self, share: float) -> Clock:
        """Return a clock for a part of the time that is left."""
        return Clock(share * self.left)


class Asking:
    """Asks one subject, as long as there is time.

    Parameters
    ----------
    usual : the seconds that a run usually takes; a run that would take longer than what is left is
        not begun. An executor that is not ready yet is waited for within the same time.
    """

    _numbers = count(FIRST)

    def __init__(self, executor: Executor, clock: Clock, usual: float = 0.0) -> None:
        self._executor = executor
        self._clock = clock
        self._usual = usual
        executor.forget(range(FIRST))  # what the suite's run has left behind

    def ask(self, runs: Sequence[Run], *, watched: bool = False) -> list[Run]:
        """Return the runs with their answers; those that were not answered in time are missing.

        Parameters
        ----------
        watched : whether they are followed line by line; then answers are not looked at.
        """
        due = deque((next(self._numbers), run) for run in runs)
        pending: dict[int, Run] = {}
        answered: dict[int, Run] = {}
        numbers = [number for number, _ in due]
        while (due or pending) and self._clock.left > 0:
            while due and self._clock.left > self._usual and self._put(*due[0], watched):
                number, run = due.popleft()
                pending[number] = run
            if not pending and self._clock.left <= self._usual:
                break
            for reply in self._executor.replies(min(WAIT, self._clock.left)):
                if (asked := pending.pop(reply.number, None)) is not None:
                    answered[reply.number] = answered_by(asked, reply)
        self._executor.forget(set(pending))
        return [answered[number] for number in numbers if number in answered]

    def _put(self, number: int, run: Run, watched: bool) -> bool:
        return self._executor.submit(replace(request_of(number, run), watched=watched))


def in_each(executors: Sequence[Executor], runs: Sequence[Run], clock: Clock) -> list[Run]:
    """Put a run to each of some executors, which get ready side by side.

    Those that were not answered in time are missing.
    """
    due = set(range(len(executors)))
    pending: set[int] = set()
    answered: dict[int, Run] = {}
    while (due or pending) and clock.left > 0:
        for place in sorted(due):
            if executors[place].submit(request_of(FIRST + place, runs[place])):
                due.remove(place)
                pending.add(place)
        for place in sorted(due | pending):
            for reply in executors[place].replies(min(WAIT, clock.left)):
                pending.discard(place)
                answered[place] = answered_by(runs[place], reply)
    return [answered[place] for place in sorted(answered)]


def request_of(number: int, run: Run) -> Request:
    """Return a run as a request."""
    case = run.trial.case(run.ask)
    problem = Problem(
        case.A.copy(), case.rank, run.W0.copy(), run.H0.copy(), run.seed, case.objective
    )
    return Request(number, problem, random=2 * run.seed + run.again, asked=(run.trial, run.ask))


def answered_by(run: Run, reply: Reply) -> Run:
    """Return a run with what came of it."""
    answer = reply.answer
    if reply.watched is not None:
        return replace(run, watched=reply.watched)
    if answer.error is None and answer.W is None:
        return replace(run, error=NO_SOURCE)
    if answer.error is not None:
        return replace(run, error=answer.error)
    finite = all(np.isfinite(X).all() for X in (answer.W, answer.H))
    if not finite:
        return replace(run, error="W or H has entries that are not finite")
    return replace(run, W=np.array(answer.W), H=np.array(answer.H))
