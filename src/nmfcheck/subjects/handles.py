"""Handles: how laws call functions, estimators, programs and references."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..judging.objectives import find
from .capabilities import Fit, Handle, Offer, Start, drawn_start, quiet, random_state
from .command import ANSWERED, Command
from .estimator import EstimatorSubject
from .function import FunctionSubject, parameters_of
from .problem import Answer, Problem, Subject
from .references import ReferenceSubject
from .refusals import CrashedError, InvalidError, RefusedError, is_clear

ERROR = ("reconstruction_err_", "error_", "err_", "loss_")
LOSSES = ("losses_", "loss_curve_", "errors_", "error_history_", "loss_history_")
ITERATIONS, CONVERGED = ("n_iter_",), ("converged_",)
"""What fitted estimators call what they report."""

ATTRIBUTES = {"error": ERROR, "losses": LOSSES, "iterations": ITERATIONS, "converged": CONVERGED}


def handle_of(subject: Subject, objective: str) -> Handle:
    """Return a handle of a subject, which is to minimise an objective."""
    if isinstance(subject, EstimatorSubject):
        return EstimatorHandle(subject, objective)
    if isinstance(subject, FunctionSubject):
        if subject.model is not None:
            return EstimatorHandle(subject.model(), objective)
        return FunctionHandle(subject, objective)
    if isinstance(subject, Command):
        return CommandHandle(subject, objective)
    if isinstance(subject, ReferenceSubject):
        return ReferenceHandle(subject, objective)
    return SolvingHandle(subject, objective)


class SolvingHandle(Handle):
    """Anything that solves problems."""

    def __init__(self, subject: Subject, objective: str) -> None:
        super().__init__(subject.name, find(objective))
        self.subject = subject
        takes = set(getattr(subject, "takes", ("W0", "H0", "seed")))
        self.offers |= {Offer.START} if {"W0", "H0"} <= takes else {Offer.OWN_START}
        self.offers |= {Offer.SEED} if "seed" in takes else set()

    def call(
        self, A: Any, rank: int, start: Start | None, seed: int, settings: Mapping[str, Any]
    ) -> tuple[Any, Any, Mapping[str, Any], Any]:
        """Solve one problem."""
        W0, H0 = start or (np.empty((0, 0)), np.empty((0, 0)))
        answer = self.answer(Problem(A, rank, W0, H0, seed, self.objective.name), settings)
        return (*_factors(answer), answer.reports, None)

    def answer(self, problem: Problem, settings: Mapping[str, Any]) -> Answer:  # noqa: ARG002
        """Ask the subject."""
        (answer,) = self.subject.solve([problem], lambda _: None)
        return answer


class ReferenceHandle(SolvingHandle):
    """A reference algorithm: it starts where it is told, and runs as long as it is told."""

    def __init__(self, subject: ReferenceSubject, objective: str) -> None:
        super().__init__(subject, objective)
        self.reference = subject
        self.offers = {Offer.START, Offer.LIMIT}
        self.own[Offer.LIMIT] = "iterations"
        self.promises = subject.name != "als"

    def usual(self, offer: Offer) -> Any:
        """Return its number of iterations."""
        return self.reference.iterations if offer is Offer.LIMIT else None

    def answer(self, problem: Problem, settings: Mapping[str, Any]) -> Answer:
        """Run it, or let it say what is wrong with the problem."""
        from dataclasses import replace

        if problem.rank < 1 or np.ndim(problem.A) != 2:
            raise InputError(f"no factorization of rank {problem.rank} of {np.shape(problem.A)}")
        chosen = replace(self.reference, iterations=settings["iterations"], threads=1)
        (answer,) = chosen.solve([problem], lambda _: None)
        return answer


class FunctionHandle(Handle):
    """A function; options are its keywords, and a third value may report on the run."""

    def __init__(self, subject: FunctionSubject, objective: str) -> None:
        super().__init__(subject.name, find(objective))
        self.subject = subject
        self.offers.add(Offer.MEMORY)
        needed = parameters_of(subject.function)
        takes = set(subject.takes)
        self.offers |= {Offer.START} if {"W0", "H0"} <= takes else set()
        self._needs_start = any(
            needed.get(word, True) is inspect.Parameter.empty for word in ("W0", "H0")
        )
        if not self._needs_start:
            self.offers.add(Offer.OWN_START)
        self.offers |= {Offer.SEED} if "seed" in takes else set()
        self.look_for(set(needed))
        self._defaults = needed | subject.options
        if Offer.FIXED in self.offers and Offer.START not in self.offers:
            self.offers.discard(Offer.FIXED)

    def usual(self, offer: Offer) -> Any:
        """Return the default of a keyword."""
        value = self._defaults.get(self.own[offer])
        return None if value is inspect.Parameter.empty else value

    def call(
        self, A: Any, rank: int, start: Start | None, seed: int, settings: Mapping[str, Any]
    ) -> tuple[Any, Any, Mapping[str, Any], Any]:
        """Call the function; one that wants W0 or H0 alone has it from the seed."""
        if start is None and self._needs_start:
            start = drawn_start(np.shape(A), rank, seed)
        W, H, reports = self.subject.called(A, rank, start, seed, self.objective.name, settings)
        return W, H, reports, None


class EstimatorHandle(Handle):
    """An estimator with scikit-learn's names."""

    def __init__(self, subject: EstimatorSubject, objective: str) -> None:
        super().__init__(subject.name, find(objective))
        self.subject = subject
        estimator = subject.estimator
        self.offers |= {Offer.MEMORY, Offer.REFIT, Offer.OWN_START}
        self.offers |= {Offer.START} if subject.starts else set()
        self.offers |= {Offer.SEED} if subject.seed_name is not None else set()
        methods = {
            "transform": Offer.TRANSFORM,
            "inverse_transform": Offer.INVERSE,
            "get_params": Offer.PARAMETERS,
        }
        for name, offer in methods.items():
            self.offers |= {offer} if callable(getattr(estimator, name, None)) else set()
        self._of_fit = set(parameters_of(estimator.fit_transform))
        self.look_for(subject.parameters | (self._of_fit & {"weights", "mask"}))
        if subject.beside is not None:
            self.offers.add(Offer.FUNCTION)

    def usual(self, offer: Offer) -> Any:
        """Return a parameter's value as it is made."""
        try:
            return getattr(self.make(2, 0, {}), self.own[offer], None)
        except Exception:  # its own business
            return None

    def make(self, rank: int, seed: int, settings: Mapping[str, Any]) -> Any:
        """Return a new estimator."""
        return self.subject.make(rank, seed, settings)

    def call(
        self, A: Any, rank: int, start: Start | None, seed: int, settings: Mapping[str, Any]
    ) -> tuple[Any, Any, Mapping[str, Any], Any]:
        """Fit a new estimator."""
        of_fit = {
            k: v for k, v in settings.items() if k in self._of_fit and k in ("weights", "mask")
        }
        others = {k: v for k, v in settings.items() if k not in of_fit}
        model = self.make(rank, seed, (self.subject.custom if start else {}) | others)
        return self.fitted(model, A, start, of_fit)

    def fitted(
        self, model: Any, A: Any, start: Start | None, of_fit: Mapping[str, Any] | None = None
    ) -> tuple[Any, Any, Mapping[str, Any], Any]:
        """Fit an estimator, and read what it says."""
        given = {} if start is None else {"W": start[0], "H": start[1]}
        W = model.fit_transform(A, **given, **(of_fit or {}))
        return copy.deepcopy(W), copy.deepcopy(model.components_), reported(model), model

    def transform(self, fit: Fit, A: Any) -> Array:
        """Transform, with all that a call is kept from."""
        return guarded(lambda: _matrix(fit.model.transform(A)))

    def inverse(self, fit: Fit, W: Any) -> Array:
        """Transform back."""
        return guarded(lambda: _matrix(fit.model.inverse_transform(W)))


class CommandHandle(Handle):
    """A program; what it offers it says in its first answer."""

    def __init__(self, subject: Command, objective: str) -> None:
        super().__init__(subject.name, find(objective))
        self.subject = subject
        if not subject.is_running:
            subject.start()
        takes = set(subject.takes)
        self.offers |= {Offer.START} if {"W0", "H0"} <= takes else {Offer.OWN_START}
        self.offers |= {Offer.SEED} if "seed" in takes else set()
        self.look_for(set(subject.capabilities))
        self.offers -= {Offer.WEIGHTS, Offer.MASK, Offer.FIXED}

    def call(
        self, A: Any, rank: int, start: Start | None, seed: int, settings: Mapping[str, Any]
    ) -> tuple[Any, Any, Mapping[str, Any], Any]:
        """Ask the program; one that takes no start is given one all the same, as in a run."""
        W0, H0 = start or drawn_start(np.shape(A), rank, seed)
        problem = Problem(A, rank, W0, H0, seed, self.objective.name)
        answer = self.subject.answer(problem, settings)
        return (*_answered(answer), answer.reports, None)


def _factors(answer: Answer) -> tuple[Any, Any]:
    """Return W and H, or raise what a subject said in their place."""
    if answer.error is not None:
        raise RefusedError(answer.error, clear=is_clear(answer.error.removeprefix("raised ")))
    return answer.W, answer.H


def _answered(answer: Answer) -> tuple[Any, Any]:
    """Return W and H; an error that a program answers is a refusal, anything else a crash."""
    if answer.error is None:
        return answer.W, answer.H
    if answer.error.startswith(ANSWERED):
        raise RefusedError(answer.error, clear=is_clear(answer.error.removeprefix(ANSWERED)))
    crashed = answer.error.startswith("the program")
    raise CrashedError(answer.error if crashed else f"it {answer.error}")


def reported(model: Any) -> dict[str, Any]:
    """Return what a fitted estimator says of its run."""
    values = {}
    for word, names in ATTRIBUTES.items():
        value = next((getattr(model, name) for name in names if hasattr(model, name)), None)
        if value is not None:
            values[word] = value
    return values


def guarded(work: Callable[[], Array]) -> Array:
    """Do something with a subject; whatever it raises is a refusal."""
    try:
        with quiet(), random_state(0):
            return work()
    except InvalidError:
        raise
    except (Exception, SystemExit) as error:
        raise RefusedError.by(error) from None


def _matrix(value: Any) -> Array:
    value = value.toarray() if hasattr(value, "toarray") else value
    array = np.array(value, dtype=np.float64)
    if array.ndim != 2:
        raise InvalidError(f"an array of shape {array.shape} is not a matrix")
    return array
