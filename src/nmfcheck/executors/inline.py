"""The inline executor: a subject in this process, problems of one shape together.

The references run here, for they solve many problems at once. So do other subjects if isolation is
not wanted; then nothing protects this process from them.
"""

from __future__ import annotations

import random
import signal
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array, copies
from ..errors import SubjectError
from ..judging.factors import FLOAT64, UnusableError, as_factor, is_factor
from ..judging.outcomes import Outcome
from ..subjects import Answer, Command, Problem, Progress, Subject
from ..subjects.children import dying_with_parent
from ..subjects.precision import declared
from ..subjects.problem import KEYWORDS, made_problem, seed_global_states
from ..subjects.watching import watch
from .lawful import carried_out
from .protocol import About, Reply, Request, made_reply

if TYPE_CHECKING:
    from concurrent.futures import Future

PLAIN = ("ndarray", "ndarray")
"""The kinds of W and H that are returned nearly always."""

REPORT_EVERY = 0.1
"""Seconds between two looks at what other processes have done."""


class InlineExecutor:
    """Runs a subject in this process.

    Parameters
    ----------
    subject : it solves as many problems at a time as its attribute `together` says, or one.
    progress : called now and then with the number of problems that are newly done.
    processes : with more than one, batches are shared out to so many processes; for a subject that
        can be sent there, as the references can. Results do not depend on it.
    """

    def __init__(
        self, subject: Subject, progress: Progress | None = None, processes: int = 1
    ) -> None:
        self.subject = subject
        self._progress = progress or (lambda _: None)
        self._together = int(getattr(subject, "together", 1))
        self._waiting: defaultdict[tuple[object, ...], list[Request]] = defaultdict(list)
        """Those that are solved together, under what they have in common; the first come first."""
        self._number = 0  # of all that wait
        self._pool = _Pool(processes) if processes > 1 else None

    def __enter__(self) -> InlineExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> About:
        """Say what the subject takes: it is loaded."""
        parameters = dict(getattr(self.subject, "numbers", {}))
        if isinstance(self.subject, Command) and not self.subject.is_running:
            with suppress(SubjectError):  # its stages will say so
                self.subject.start()  # which says what it takes, and how it computes
        takes = tuple(getattr(self.subject, "takes", KEYWORDS))
        return About(takes, declared(self.subject), parameters)

    def submit(self, request: Request) -> bool:
        """Put a request down, until there are as many as are solved together."""
        if self._number >= self._together:
            return False
        problem = request.problem
        # Those that are solved together have this in common; laws are tried one by one.
        alike = (
            ("law", request.number)
            if request.law
            else ("watched or mended", request.number)
            if request.watched or request.mending
            else (problem.A.shape, problem.rank, problem.objective)
        )
        self._waiting[alike].append(request)
        self._number += 1
        return True

    def replies(self, timeout: float) -> list[Reply]:  # noqa: ARG002 - nothing is waited for
        """Solve what was put down, of the shape of the first."""
        if not self._waiting:
            return []
        due = self._waiting.pop(next(iter(self._waiting)))
        self._number -= len(due)
        if due[0].law:
            return [self._tried(request) for request in due]
        if due[0].mending:  # what an edit may do is not for this process
            refused = Answer(error="a subject in this process is not changed")
            return [Reply(request.number, refused) for request in due]
        if due[0].watched:
            return [_watched(self.subject, request) for request in due]
        problems = _copied(due)
        if self._pool is not None:
            answers = self._pool.solve(self.subject, problems, self._progress)
        elif self._together == 1:
            with _random_state(due[0].random):
                answers = self.subject.solve(problems, self._progress)
        else:
            answers = self.subject.solve(problems, self._progress)
        return _replies(due, answers)

    def _tried(self, request: Request) -> Reply:
        asked = {
            "law": request.law,
            "example": request.example,
            "seconds": request.seconds,
            "objective": request.problem.objective,
        }
        result, calls = carried_out(self.subject, asked)
        return Reply(request.number, Answer(), law_result=result, calls=tuple(calls))

    def forget(self, numbers: Container[int]) -> None:
        """Drop requests that were put down."""
        for alike, waiting in list(self._waiting.items()):
            kept = [request for request in waiting if request.number not in numbers]
            self._number -= len(waiting) - len(kept)
            self._waiting[alike] = kept
            if not kept:
                del self._waiting[alike]

    def close(self) -> None:
        """End the processes, if there are any."""
        if self._pool is not None:
            self._pool.close()


def _watched(subject: Subject, request: Request) -> Reply:
    """Follow a subject line by line; what it answers is not looked at."""
    with _random_state(request.random):
        seen = watch(subject, request.problem, request.random)
    return Reply(request.number, Answer(), watched=seen)


def _copied(due: Sequence[Request]) -> list[Problem]:
    """Return problems of one shape as the subject gets them, with copies of its own.

    One that gets them one by one owns their memory, too, and may resize them.
    """
    problems = [request.problem for request in due]
    if len(due) == 1:
        (p,) = problems
        return [replace(p, A=_laid_out(due[0]), W0=p.W0.copy(), H0=p.H0.copy())]
    rank, objective = problems[0].rank, problems[0].objective
    matrices = copies([p.A for p in problems])
    if {request.order for request in due} != {"C"}:
        matrices = [_laid_out(request) for request in due]
    starts_W, starts_H = copies([p.W0 for p in problems]), copies([p.H0 for p in problems])
    return [
        made_problem(A, rank, W0, H0, p.seed, objective)
        for p, A, W0, H0 in zip(problems, matrices, starts_W, starts_H, strict=True)
    ]


def _laid_out(request: Request) -> Array:
    """Return a copy of A in the order that is asked for."""
    return request.problem.A.copy(order="C" if request.order == "C" else "F")


def _replies(due: Sequence[Request], answers: Sequence[Answer]) -> list[Reply]:
    """Return the replies to requests of one shape."""
    (m, n), k = due[0].problem.A.shape, due[0].problem.rank
    shape_W, shape_H = (m, k), (k, n)
    replies = []
    for request, answer in zip(due, answers, strict=True):
        W, H = answer.W, answer.H
        if (
            type(W) is np.ndarray is type(H)
            and W.dtype is FLOAT64 is H.dtype
            and W.shape == shape_W
            and H.shape == shape_H
            and answer.error is None
        ):  # as nearly always; subjects give copies of their own
            replies.append(made_reply(request.number, answer, PLAIN, None, (), "", None, None))
        else:
            known = usable(request.problem, answer)
            replies.append(Reply(request.number, known, _kinds(answer)))
    return replies


def usable(problem: Problem, answer: Answer) -> Answer:
    """Return an answer with W and H as float64 matrices, or as one that is invalid."""
    if answer.error is not None:
        return answer
    (m, n), k = problem.A.shape, problem.rank
    if is_factor(answer.W, (m, k)) and is_factor(answer.H, (k, n)):
        return answer
    try:
        W, H = as_factor("W", answer.W, (m, k)), as_factor("H", answer.H, (k, n))
    except UnusableError as reason:
        return replace(answer, W=None, H=None, error=f"{reason}.", outcome=Outcome.INVALID)
    return replace(answer, W=W, H=H)


def _kinds(answer: Answer) -> tuple[str, ...]:
    if answer.error is not None:
        return ()
    return type(answer.W).__name__, type(answer.H).__name__


@contextmanager
def _random_state(seed: int) -> Iterator[None]:
    """Seed the random states that careless subjects use, and put them back afterwards."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    seed_global_states(seed)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


class _Pool:
    """Processes that solve parts of a batch side by side."""

    def __init__(self, processes: int) -> None:
        import multiprocessing  # late: few need it
        from concurrent.futures import ProcessPoolExecutor

        self._processes = processes
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(processes, context, initializer=_start_process)

    def solve(
        self, subject: Subject, problems: Sequence[Problem], progress: Progress
    ) -> list[Answer]:
        """Solve problems, in as many parts as there are processes."""
        from concurrent.futures import FIRST_COMPLETED, wait

        length = -(-len(problems) // self._processes)
        parts = [problems[i : i + length] for i in range(0, len(problems), length)]
        futures: list[Future[list[Answer]]] = [
            self._pool.submit(_solve, subject, part) for part in parts
        ]
        waiting: set[Future[Any]] = set(futures)
        while waiting:
            done, waiting = wait(waiting, timeout=REPORT_EVERY, return_when=FIRST_COMPLETED)
            progress(sum(len(future.result()) for future in done))
        return [answer for future in futures for answer in future.result()]

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        for process in list((self._pool._processes or {}).values()):
            process.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _solve(subject: Subject, problems: Sequence[Problem]) -> list[Answer]:
    nothing: Callable[[float], None] = lambda _: None  # noqa: E731
    return subject.solve(problems, nothing)


def _start_process() -> None:
    """Take Ctrl-C as the parent's business, and end with it."""
    dying_with_parent()()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
