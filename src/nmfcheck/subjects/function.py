"""A Python function as a subject."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import InputError
from .problem import Answer, Problem, Progress, Subject

KEYWORDS = ("W0", "H0", "seed")


class FunctionSubject:
    """A function `f(A, rank, *, W0, H0, seed)` that takes any of these keywords."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = getattr(function, "__qualname__", type(function).__qualname__)
        self.takes = _keywords(function)

    def solve(self, problems: Sequence[Problem], progress: Progress) -> list[Answer]:
        """Call the function once for each problem."""
        answers = []
        for problem in problems:
            answers.append(self._answer(problem))
            progress(1)
        return answers

    def _answer(self, problem: Problem) -> Answer:
        offered = {"W0": problem.W0, "H0": problem.H0, "seed": problem.seed, "rank": problem.rank}
        keywords = {name: offered[name] for name in self.takes}
        positional = () if "rank" in keywords else (problem.rank,)
        try:
            returned = self.function(problem.A, *positional, **keywords)
        except (Exception, SystemExit) as error:  # whatever a subject raises is its answer
            told = " ".join(str(error).split())  # one line
            return Answer(error=f"raised {type(error).__name__}: {told}")
        if not isinstance(returned, tuple | list) or len(returned) != 2:
            size = f" of {len(returned)}" if isinstance(returned, tuple | list) else ""
            return Answer(error=f"returned a {type(returned).__name__}{size}, not a pair (W, H)")
        return Answer(*copy.deepcopy(returned))  # a subject may use its arrays again


def as_subject(subject: Subject | Callable[..., Any]) -> Subject:
    """Return a subject as it is, and a function as a subject."""
    if isinstance(subject, Subject):
        return subject
    if callable(subject):
        return FunctionSubject(subject)
    raise InputError(f"{subject!r} is no subject; expected a function f(A, rank, …) -> (W, H)")


def _keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return those of W0, H0 and seed that the function takes, and rank if only by name."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature to look at
        return ()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return KEYWORDS
    by_name = {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    only_by_name = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
    return tuple(name for name in KEYWORDS if name in by_name) + ("rank",) * (
        "rank" in only_by_name
    )
