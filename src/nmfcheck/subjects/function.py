"""A Python function as a subject."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .problem import KEYWORDS, Answer, OneByOne, Problem, as_answer, raised

if TYPE_CHECKING:
    from .estimator import EstimatorSubject


class FunctionSubject(OneByOne):
    """A function `f(A, rank, *, W0, H0, seed)` that takes any of these keywords.

    If it takes `objective`, it is told the name of what is to be minimised.

    Parameters
    ----------
    function : returns W and H.
    name : what it is called; its own name if not given.
    options : further keywords for every call.
    model : makes the estimator that the function calls, for laws about what else that offers.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None = None,
        options: Mapping[str, Any] | None = None,
        model: Callable[[], EstimatorSubject] | None = None,
    ) -> None:
        self.function = function
        self.model = model
        self.name = name or str(getattr(function, "__qualname__", type(function).__qualname__))
        self.options = dict(options or {})
        keywords = _keywords(function)
        self.takes = tuple(word for word in keywords if word in KEYWORDS)
        self._rank_by_name = "rank" in keywords
        self._objective_by_name = "objective" in keywords
        check_options(self.name, function, self.options)
        self.numbers = numbers_of(function, self.options)

    def answer(self, problem: Problem) -> Answer:
        """Call the function once."""
        start = (problem.W0, problem.H0)
        try:
            W, H, reports = self.called(
                problem.A, problem.rank, start, problem.seed, problem.objective, {}
            )
        except NoPairError as error:
            return Answer(error=str(error))
        except (Exception, SystemExit) as error:  # whatever a subject raises is its answer
            return Answer(error=raised(error))
        return Answer(W, H, reports=reports)

    def called(
        self,
        A: Any,
        rank: int,
        start: tuple[Any, Any] | None,
        seed: int,
        objective: str,
        settings: Mapping[str, Any],
    ) -> tuple[Any, Any, Mapping[str, Any]]:
        """Return W, H and what the function reports; raise whatever it raises.

        Parameters
        ----------
        start : W0 and H0, for a function that takes them; None leaves them to the function.
        settings : further keywords, for this call.
        """
        W0, H0 = start or (None, None)
        offered = {"W0": W0, "H0": H0, "seed": seed}
        keywords: dict[str, Any] = {
            name: offered[name] for name in self.takes if name == "seed" or start is not None
        }
        keywords |= self.options
        positional = (A,) if self._rank_by_name else (A, rank)
        if self._rank_by_name:
            keywords["rank"] = rank
        if self._objective_by_name:
            keywords.setdefault("objective", objective)
        answer = as_answer(self.function(*positional, **(keywords | dict(settings))))
        if answer.error:
            raise NoPairError(answer.error)
        return _kept(answer.W), _kept(answer.H), answer.reports


class NoPairError(Exception):
    """A function that did not return a pair (W, H)."""


def _kept(returned: Any) -> Any:
    """Return a copy, for a subject may use its arrays again; or itself, if it cannot be copied."""
    try:
        return copy.deepcopy(returned)
    except Exception:  # PyTorch refuses for results of a computation that it keeps track of
        return returned


def parameters_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the parameters that can be given by name, with their defaults."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return {p.name: p.default for p in parameters if p.kind in named}


def numbers_of(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are numbers, with what was given or their default values."""
    values = parameters_of(function) | dict(options)
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def is_factory(function: Callable[..., Any]) -> bool:
    """Say whether a callable need not be given anything, and so makes a subject, being none."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return False
    return not positional or positional[0].default is not inspect.Parameter.empty


def check_options(
    name: str,
    function: Callable[..., Any],
    options: Mapping[str, Any],
    reserved: Sequence[str] = (*KEYWORDS, "rank"),
) -> None:
    """Say which option a function does not take, or must not be given."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return
    known = [p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for option in options:
        if option in reserved or option not in known:
            others = [word for word in known if word not in (*reserved, "A")]
            takes = f"it takes {', '.join(others)}" if others else "it takes none"
            raise InputError(f"{name} has no option {option!r}; {takes}")


def _keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return those of W0, H0 and seed that the function takes; rank if only by name; objective."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature to look at
        return ()
    by_name = {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    anything = any(p.kind is p.VAR_KEYWORD for p in parameters)
    rank = (
        ("rank",) if any(p.name == "rank" and p.kind is p.KEYWORD_ONLY for p in parameters) else ()
    )
    objective = ("objective",) if "objective" in by_name else ()
    return tuple(word for word in KEYWORDS if anything or word in by_name) + rank + objective
