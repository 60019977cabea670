"""An estimator as a subject: `fit_transform` gives W, `components_` is H, as in scikit-learn."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import InputError
from ..judging.objectives import find
from .function import check_options, numbers_of
from .problem import Answer, OneByOne, Problem, raised

RANK = ("n_components", "rank", "n_factors", "k")
SEED = ("random_state", "seed")
"""What constructors call these."""


class EstimatorSubject(OneByOne):
    """An estimator class, or an instance whose other parameters stay as they are.

    The rank and the seed are set where its parameters have one of the usual names. Where
    `fit_transform` takes W and H, it starts from W0 and H0, with `init="custom"` unless `init` says
    something else.

    Parameters
    ----------
    beside : a function `f(A, rank, W0, H0, **parameters)` that does the same, where there is one.
    """

    def __init__(
        self,
        estimator: Any,
        name: str | None = None,
        options: Mapping[str, Any] | None = None,
        beside: Callable[..., Any] | None = None,
    ) -> None:
        self.estimator = estimator
        self.beside = beside
        self.options = dict(options or {})
        kind = estimator if isinstance(estimator, type) else type(estimator)
        self.name = name or kind.__qualname__
        check_options(self.name, kind, self.options, reserved=RANK)
        self.parameters = _parameters(estimator)
        self.rank_name, self.seed_name = (_first(names, self.parameters) for names in (RANK, SEED))
        own = {} if isinstance(estimator, type) else vars(estimator)
        usual = {name: value for name, value in own.items() if name in self.parameters}
        self.numbers = numbers_of(kind, usual | self.options)
        if self.rank_name is None:
            raise InputError(f"{self.name} has no parameter for the rank, such as n_components")
        self.starts = self._can_start("init" in self.parameters)
        self.takes = ("W0", "H0") * self.starts + ("seed",) * (self.seed_name is not None)

    def _can_start(self, has_init: bool) -> bool:
        try:
            taken = inspect.signature(self.estimator.fit_transform).parameters
        except (TypeError, ValueError):
            return False
        init = self.options.get("init", getattr(self.estimator, "init", None))
        self.custom = {"init": "custom"} if has_init else {}
        return {"W", "H"} <= taken.keys() and init in (None, "custom")

    def answer(self, problem: Problem) -> Answer:
        """Fit a new estimator."""
        try:
            fitted = self.make(problem.rank, problem.seed, self.custom if self.starts else {})
            start = {"W": problem.W0, "H": problem.H0} if self.starts else {}
            return Answer(fitted.fit_transform(problem.A, **start), fitted.components_)
        except (Exception, SystemExit) as error:  # whatever a subject raises is its answer
            return Answer(error=raised(error))

    def make(self, rank: int, seed: int, more: Mapping[str, Any]) -> Any:
        """Return a new estimator; of what is given more than once, the last counts."""
        settings: dict[str, Any] = {str(self.rank_name): rank}
        if self.seed_name is not None:
            settings[self.seed_name] = seed
        settings |= self.options | dict(more)
        if isinstance(self.estimator, type):
            return self.estimator(**settings)
        made = copy.deepcopy(self.estimator)
        for parameter, value in settings.items():
            setattr(made, parameter, value)
        return made


def objective_of_loss(beta_loss: Any) -> str | None:
    """Return the objective that a parameter `beta_loss` means, as scikit-learn has it."""
    if beta_loss is None or isinstance(beta_loss, bool):
        return None
    text = f"beta={beta_loss}" if isinstance(beta_loss, int | float) else str(beta_loss)
    try:
        return find(text).name
    except InputError:  # its own business
        return None


def is_estimator(thing: Any) -> bool:
    """Say whether a class or an instance is an estimator."""
    return callable(getattr(thing, "fit_transform", None))


def _parameters(estimator: Any) -> set[str]:
    """Return the names that can be set; for a constructor that takes any, the usual ones."""
    if not isinstance(estimator, type):
        return set(vars(estimator)) if hasattr(estimator, "__dict__") else set()
    try:
        parameters = inspect.signature(estimator).parameters.values()
    except (TypeError, ValueError):
        return {RANK[0]}
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return {p.name for p in parameters} | {RANK[0]}
    return {p.name for p in parameters}


def _first(names: Iterable[str], known: set[str]) -> str | None:
    return next((name for name in names if name in known), None)
