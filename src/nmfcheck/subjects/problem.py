"""What a subject is asked, and what it answers."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..arrays import Array
from ..judging.objectives import FROBENIUS
from ..judging.outcomes import Flag, Outcome
from ..records import maker
from ..text import printable

Progress = Callable[[float], None]

LONGEST_LINE = 200

KEYWORDS = ("W0", "H0", "seed")
"""What a subject may take beside A and the rank."""


@dataclass(slots=True)
class Problem:
    """One matrix to factorize, the subject's own copy of everything.

    Attributes
    ----------
    objective : the name of what is to be minimised.
    """

    A: Array
    rank: int
    W0: Array
    H0: Array
    seed: int
    objective: str = FROBENIUS.name

    def copied(self) -> Problem:
        """Return the same for another run, which may write into what it gets."""
        return replace(self, A=self.A.copy(), W0=self.W0.copy(), H0=self.H0.copy())


made_problem = maker(Problem)


def seed_global_states(seed: int) -> None:
    """Seed the random states that careless subjects use."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002


@dataclass(slots=True)
class Answer:
    """What a subject returned for a problem, or why it returned nothing.

    Attributes
    ----------
    W, H : as they came.
    error : what went wrong, where there are no W and H.
    outcome : what such an error amounts to.
    output : the last lines that the subject printed, where something went wrong.
    seconds : how long it took; NaN where nobody measured.
    flags : what else was noticed.
    reports : what the subject says of its run: `error`, `losses`, `iterations`, `converged`.
    """

    W: Any = None
    H: Any = None
    error: str | None = None
    outcome: Outcome = Outcome.ERROR
    output: str = ""
    seconds: float = math.nan
    flags: tuple[Flag, ...] = ()
    reports: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Subject(Protocol):
    """An NMF implementation under test.

    It may have an attribute `takes`, those of W0, H0 and seed that it uses; without one, it takes
    all of them.
    """

    @property
    def name(self) -> str:
        """What it is called in tables and reports."""
        ...

    def solve(self, problems: Sequence[Problem], progress: Progress) -> list[Answer]:
        """Answer each problem, and report the number of problems newly done now and then."""
        ...


class OneByOne:
    """A subject that answers one problem after the other; sees to it that A stays as it was."""

    def answer(self, problem: Problem) -> Answer:
        """Answer one problem."""
        raise NotImplementedError

    def solve(self, problems: Sequence[Problem], progress: Progress) -> list[Answer]:
        """Answer each problem."""
        answers = []
        for problem in problems:
            A, begin = problem.A.tobytes(), time.perf_counter()
            answer = self.answer(problem)
            changed = (Flag.CHANGED_A,) if problem.A.tobytes() != A else ()
            seconds = time.perf_counter() - begin
            answers.append(replace(answer, seconds=seconds, flags=answer.flags + changed))
            progress(1)
        return answers


def last_lines(output: bytes) -> str:
    """Return the last lines of what a subject printed, ten at most."""
    text = output.decode("utf-8", "replace")
    kept = [line.rstrip() for line in text.splitlines() if line.strip()][-10:]
    return printable("\n".join(line[-LONGEST_LINE:] for line in kept))


def raised(error: BaseException) -> str:
    """Return what was raised, in one line, whatever its own `str` does."""
    try:
        text = printable(" ".join(str(error).split()))
    except Exception:
        text = "(its message cannot be shown)"
    return f"raised {type(error).__name__}: {text}" if text else f"raised {type(error).__name__}"


def as_answer(returned: Any) -> Answer:
    """Return what a function gave back as an answer; a third value may report on the run."""
    if isinstance(returned, tuple | list) and len(returned) == 3:
        W, H, reports = returned
        if isinstance(reports, Mapping):
            return Answer(W, H, reports=reports)
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        size = f" of {len(returned)}" if isinstance(returned, tuple | list) else ""
        return Answer(error=f"returned a {type(returned).__name__}{size}, not a pair (W, H)")
    return Answer(*returned)
