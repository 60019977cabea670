"""Laws through an executor: one request each, and what its process did if it did not answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..judging.outcomes import Outcome
from ..laws import Law, LawResult, State, find, try_law
from ..laws.trying import shown, unable
from ..subjects import Problem, Subject
from ..subjects.handles import handle_of
from .protocol import Executor, Reply, Request

BUDGET = 60.0
"""Seconds for all laws together, unless told otherwise."""

EACH = 10.0
"""Seconds after which no further example of one law is begun; more with a larger budget."""


def carried_out(
    subject: Subject, asked: Mapping[str, Any], tell: Callable[[str], None] = lambda _: None
) -> tuple[LawResult, list[dict[str, Any]]]:
    """Try a law in this process; return what came of it, and the calls if it is of one example.

    Parameters
    ----------
    asked : law, example, seconds and objective of a request.
    tell : called with each example before it is tried.
    """
    law = find(asked["law"])
    try:
        handle = handle_of(subject, asked["objective"])
        result = try_law(law, handle, only=asked["example"], seconds=asked["seconds"], tell=tell)
        return result, shown(handle.calls) if asked["example"] else []
    except Exception as error:  # a law that is wrong itself says nothing of the subject
        return unable(law, error), []


def request_of(number: int, law: str, objective: str, example: str = "") -> Request:
    """Return a request to try a law."""
    nothing = Problem(np.zeros((1, 1)), 1, np.zeros((1, 1)), np.zeros((1, 1)), 0, objective)
    return Request(number, nothing, law=law, example=example, seconds=EACH)


def try_laws(
    executor: Executor, names: Sequence[str], objective: str, budget: float = BUDGET
) -> Iterator[LawResult]:
    """Try laws one after the other, for so many seconds; of the rest, say whether they apply."""
    begin = time.monotonic()
    each = EACH * max(budget / BUDGET, 1.0)
    for number, name in enumerate(names):
        law = find(name)
        left = max(budget - (time.monotonic() - begin), 0.0)
        request = replace(request_of(number, name, objective), seconds=min(each, left))
        result = result_of(law, answered(executor, request))
        if left <= 0 and result.state is State.NOT_TRIED:
            result = replace(result, sentence=f"the time for all laws, {budget:g} s, was used up")
        yield result


def answered(executor: Executor, request: Request) -> Reply:
    """Have one request answered."""
    sent = False
    while True:
        sent = sent or executor.submit(request)
        for reply in executor.replies(1.0):
            if reply.number == request.number:
                return reply


def result_of(law: Law, reply: Reply) -> LawResult:
    """Return what came of a law; a process that ended breaks it, one that hangs only some."""
    if reply.law_result is not None:
        return reply.law_result
    hangs = reply.answer.outcome is Outcome.TIMEOUT
    state = State.NOT_TRIED if hangs and not law.in_time else State.BROKEN
    said = str(reply.answer.error)
    sentence = said if said.startswith("its ") else f"it {said}"
    return LawResult(law.name, law.severity, state, sentence, reply.trying)
