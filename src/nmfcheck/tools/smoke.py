"""A look at a subject before a long run is spent on it: a few tiny problems, and what shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ..arrays import Array
from ..executors.local import LocalExecutor, request_all
from ..executors.protocol import Reply, Request
from ..families import Trial, house
from ..families.judge import judge
from ..judging.measures import same_factors
from ..judging.objectives import FROBENIUS, Objective
from ..judging.outcomes import Flag, Outcome
from ..judging.turned import TURNED, misses
from ..subjects import Answer, Problem
from ..subjects.names import COMMAND

TRIAL, OTHER_SEED, SMALLER = map(
    Trial.from_id, next(room.smoke_trials for room in house() if room.smoke_trials)
)
ASK = TRIAL.asks[-1].name
"""The ask with the most to see."""

NEAR = 0.01
"""A product this near to A, relative to its largest entry, is meant to be A."""


class Status(StrEnum):
    """What a check came to."""

    GOOD = "ok"
    NOTE = "note"
    BAD = "bad"


@dataclass(frozen=True)
class Check:
    """One question about a subject, and the answer in a sentence."""

    name: str
    status: Status
    sentence: str


@dataclass(frozen=True)
class Look:
    """What a first look at a subject showed.

    Attributes
    ----------
    checks : a line each.
    answered : whether there was any answer at all.
    """

    checks: list[Check]
    answered: bool

    @property
    def bad(self) -> list[Check]:
        """What is wrong."""
        return [check for check in self.checks if check.status is Status.BAD]


def smoke(workers: LocalExecutor, objective: Objective = FROBENIUS) -> Look:
    """Ask a subject a few things and return what shows; raise `SubjectError` if it cannot start.

    Parameters
    ----------
    objective : what it is to minimise.
    """
    takes = workers.start().takes
    problem, other, smaller = (_problem(t, objective) for t in (TRIAL, OTHER_SEED, SMALLER))
    requests = [
        Request(0, problem, random=0),
        Request(1, problem, random=1),
        Request(2, problem, random=0, order="F"),
        Request(3, other, random=2),
        Request(4, smaller, random=0),
    ]
    replies = _asked(workers, requests)
    is_program = workers.subject.name.startswith(COMMAND)
    loaded = "there is such a program" if is_program else f"loaded {_version(workers)}".rstrip()
    checks = [
        Check("starts", Status.GOOD, loaded),
        _takes(takes),
        *_answers([replies[i] for i in range(len(requests))], is_program=is_program),
        *_compared(replies, takes, {0: problem, 3: other, 4: smaller}),
    ]
    if is_program:  # it gets numbers, not memory, and W0, H0 and seed come with every request
        checks = [check for check in checks if check.name not in ("takes", "memory order")]
    return Look(checks, not all(_is_silent(reply.answer) for reply in replies.values()))


def _asked(workers: LocalExecutor, requests: Sequence[Request]) -> dict[int, Reply]:
    """Ask one after the other; who is silent from the start is not waited for again and again."""
    *first, last = requests  # the last is of another size
    replies: dict[int, Reply] = {}
    for request in first:
        replies |= request_all(workers, [request])
        outcomes = [reply.answer.outcome for reply in replies.values() if reply.answer.error]
        if outcomes == [Outcome.TIMEOUT] * 2 and len(replies) == 2:
            silent = replies[request.number]
            replies = {each.number: replace(silent, number=each.number) for each in first}
            break
    return replies | request_all(workers, [last])


def _problem(trial: Trial, objective: Objective) -> Problem:
    """Return the case of a trial; without zeros, where the objective would be infinite."""
    case, (W0, H0) = trial.case(ASK), trial.start()
    A = case.A + 0.25 * objective.needs_positive
    return Problem(A, case.rank, W0, H0, trial.seed, objective.name)


def _version(workers: LocalExecutor) -> str:
    assert workers.about is not None
    version = workers.about.identity.get("version", "")
    return f"({version})" if version else ""


def _takes(takes: Sequence[str]) -> Check:
    if {"W0", "H0"} <= set(takes):
        return Check("takes", Status.GOOD, f"{', '.join(takes)}: it can start where others do")
    if "seed" in takes:
        return Check("takes", Status.GOOD, "seed, but no starting point")
    sentence = "neither a starting point nor a seed"
    return Check("takes", Status.NOTE, f"{sentence}; if it is random, its runs cannot be repeated")


def _answers(replies: Sequence[Reply], *, is_program: bool) -> Iterator[Check]:
    silent = [reply.answer for reply in replies if _is_silent(reply.answer)]
    if silent:
        answer = silent[0]
        which = "none" if len(silent) == len(replies) else "not all"
        printed = f"; it printed: {' / '.join(answer.output.splitlines())}" if answer.output else ""
        sentence = f"{which} of {len(replies)} problems answered: {answer.error}{printed}"
        yield Check("answers", Status.BAD, sentence)
    unusable = [reply.answer for reply in replies if reply.answer.outcome is Outcome.INVALID]
    if unusable:
        yield Check("returns", Status.BAD, str(unusable[0].error))
    answering = [reply for reply in replies if reply.answer.error is None]
    if answering:
        slowest = 1e3 * max(reply.answer.seconds for reply in answering)
        W, H = answering[0].returned
        kinds = "" if is_program else f"W: {W}; H: {H}; "
        yield Check("returns", Status.GOOD, f"{kinds}within {max(slowest, 1):.0f} ms")
    if any(Flag.CHANGED_A in reply.answer.flags for reply in replies):
        yield Check("leaves A alone", Status.BAD, Flag.CHANGED_A.explanation)
    elif answering and not is_program:
        yield Check("leaves A alone", Status.GOOD, "A is as it was")


def _is_silent(answer: Answer) -> bool:
    """Say whether nothing was returned; what is not a pair of matrices is something."""
    return answer.error is not None and answer.outcome is not Outcome.INVALID


def _compared(
    replies: dict[int, Reply], takes: Sequence[str], problems: dict[int, Problem]
) -> Iterator[Check]:
    problem = problems[0]
    factors = {
        number: (reply.answer.W, reply.answer.H)
        for number, reply in replies.items()
        if reply.answer.error is None
    }
    if 0 not in factors:
        return
    unit, first = float(problem.A.max()), factors[0]
    same = {i: same_factors(first, factors[i], unit) for i in (1, 2) if i in factors}
    if not same.get(1, True):
        status = Status.BAD if takes else Status.NOTE
        flag = Flag.DIFFERS if takes else Flag.VARIES
        yield Check("repeats itself", status, flag.explanation)
    elif 1 in same:
        yield Check("repeats itself", Status.GOOD, "the same question has the same answer")
    if not same.get(2, True) and same.get(1, True):
        sentence = (
            "A in Fortran order gives another answer than in C order: it misreads one of them"
        )
        yield Check("memory order", Status.BAD, sentence)
    elif same.get(2):
        yield Check("memory order", Status.GOOD, "C and Fortran order give the same answer")
    for number, trial in ((0, TRIAL), (3, OTHER_SEED), (4, SMALLER)):
        if number in factors:
            judgement = judge(trial.case(ASK), *factors[number])
            if judgement.outcome is Outcome.INVALID:
                yield Check("is nonnegative", Status.BAD, judgement.explanation)
                break
    W, H = first
    if takes and 3 in factors and all(map(np.array_equal, first, factors[3])):
        sentence = "another start and seed give the same answer, bit by bit"
        yield Check("uses its start", Status.NOTE, sentence)
    if np.array_equal(W, problem.W0) and np.array_equal(H, problem.H0):
        yield Check("moves", Status.BAD, "it returns W0 and H0 as they were")
    shown = [number for number in problems if number in factors]
    yield _product([problems[i] for i in shown], [factors[i] for i in shown])


def _product(problems: Sequence[Problem], factors: Sequence[tuple[Array, Array]]) -> Check:
    """Look which way the factors have to be turned for their product to be A.

    The best of several runs counts: any one of them may have ended in a local minimum.
    """

    def least(turn: Callable[[Array, Array], Array], *, transpose: bool = False) -> float:
        with np.errstate(all="ignore"):  # there may be infinities
            return min(
                misses(problem.A.T if transpose else problem.A, turn(W, H))
                for problem, (W, H) in zip(problems, factors, strict=True)
            )

    direct = least(np.matmul)
    if direct <= NEAR:
        return Check("product", Status.GOOD, f"W·H is A up to {direct:.1g}")
    if least(np.matmul, transpose=True) <= NEAR:
        sentence = "W·H is Aᵀ: A was read as its transpose, or Hᵀ, Wᵀ were returned for W, H"
        return Check("product", Status.BAD, sentence)
    for name, turn in TURNED.items():
        if least(turn) <= NEAR:
            sentence = f"W·H misses A by {direct:.1g}, but {name} is A: they are turned or swapped"
            return Check("product", Status.BAD, sentence)
    sentence = f"W·H misses A by {direct:.1g} of its largest entry; it may not have converged"
    return Check("product", Status.NOTE, sentence)
