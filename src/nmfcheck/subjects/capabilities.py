"""What a subject offers beside W and H, and one way to call any subject: for the laws.

What there is, is found by looking: at names of parameters and methods, at what comes back. Nothing
is demanded. docs/subjects.md has the table.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array
from ..judging.factors import UnusableError, as_factor
from ..judging.measures import same_factors
from ..judging.objectives import Objective
from .problem import raised, seed_global_states
from .refusals import CrashedError, InvalidError, RefusedError

Start = tuple[Array, Array]

LONG = 500
"""A law gives a subject at most so many iterations, where it takes a limit."""


class Offer(StrEnum):
    """What a subject may offer, in the words of tables."""

    START = "a start"
    OWN_START = "a start of its own"
    SEED = "a seed"
    TRANSFORM = "transform"
    INVERSE = "inverse_transform"
    FIXED = "a fixed factor"
    REFIT = "an object that is fitted again"
    PARAMETERS = "get_params"
    FUNCTION = "a function beside its class"
    LIMIT = "max_iter"
    TOLERANCE = "tol"
    INIT = "init"
    PENALTY = "a penalty"
    WEIGHTS = "weights"
    MASK = "a mask"
    MEMORY = "arrays in memory"


USUAL_NAMES: Mapping[Offer, tuple[str, ...]] = {
    Offer.LIMIT: (
        "max_iter", "maxiter", "maxiters", "max_iters", "n_iter_max", "max_iterations",
        "iterations", "n_iter", "niter", "num_iter", "n_iterations",
    ),
    Offer.TOLERANCE: ("tol", "tolerance"),
    Offer.INIT: ("init",),
    Offer.WEIGHTS: ("weights",),
    Offer.MASK: ("mask",),
    Offer.FIXED: ("update_H",),
}  # fmt: skip
"""What parameters are called that mean these."""

PENALTIES = ("alpha_W", "alpha_H", "alpha", "l1", "l2", "ridge", "lasso")
"""What penalties are called: the larger, the more; 0 is none."""


@dataclass(frozen=True)
class Reports:
    """What a subject says of its own run; None where it says nothing.

    Attributes
    ----------
    error : of the result, by a definition of its own.
    losses : a number after each iteration.
    iterations : how many it ran.
    converged : whether it says that it did.
    warned : whether it warned that it did not.
    touched : whether it used or set the caller's random state.
    """

    error: float | None = None
    losses: tuple[float, ...] | None = None
    iterations: int | None = None
    converged: bool | None = None
    warned: bool = False
    touched: bool = False

    @classmethod
    def of(cls, named: Mapping[str, Any]) -> Reports:
        """Read what was reported under the names `error`, `losses`, `iterations`, `converged`."""
        trace = named.get("losses")
        losses = None if trace is None else tuple(map(float, np.ravel(np.asarray(trace, float))))
        iterations, converged = named.get("iterations"), named.get("converged")
        return cls(
            _number(named.get("error")),
            losses or None,
            None if iterations is None else int(iterations),
            None if converged is None else bool(converged),
        )


def _number(value: Any) -> float | None:
    if value is None:
        return None
    array = np.asarray(value, dtype=float)
    return float(array.reshape(-1)[-1]) if array.size else None


@dataclass(frozen=True)
class Fit:
    """What came of one call.

    Attributes
    ----------
    W, H : as float64 matrices.
    reports : what it says of the run.
    model : the fitted object, where there is one.
    """

    W: Array
    H: Array
    reports: Reports = field(default_factory=Reports)
    model: Any = None

    @property
    def product(self) -> Array:
        """The matrix that was found for A."""
        with np.errstate(all="ignore"):
            return self.W @ self.H


@dataclass(frozen=True)
class Call:
    """One call of a subject, for those who want to see it.

    Attributes
    ----------
    how : the settings, in words.
    said : what it raised instead of returning W and H.
    """

    A: Any
    rank: int
    how: str
    W: Array | None = None
    H: Array | None = None
    said: str = ""


class Handle:
    """A subject as laws call it. Subclasses know how to call one kind.

    Attributes
    ----------
    name : what it is called.
    objective : what it minimises.
    offers : what it offers.
    own : what it calls the options that it has.
    penalties : the names of its penalties.
    promises : whether it promises that no step raises the objective; None where nothing is known.
    calls : what was asked so far.
    least : the tolerance that lets it run to its limit.
    """

    def __init__(self, name: str, objective: Objective) -> None:
        self.name = name
        self.objective = objective
        self.offers: set[Offer] = set()
        self.own: dict[Offer, str] = {}
        self.penalties: tuple[str, ...] = ()
        self.promises: bool | None = None
        self.calls: list[Call] = []
        self.least = 0.0

    def call(
        self, A: Any, rank: int, start: Start | None, seed: int, settings: Mapping[str, Any]
    ) -> tuple[Any, Any, Mapping[str, Any], Any]:
        """Call the subject; return W, H, what it reports, and the fitted object if there is one."""
        raise NotImplementedError

    def usual(self, offer: Offer) -> Any:  # noqa: ARG002 - nothing is known here
        """Return the value that an option has if nobody sets it; None where that is not known."""
        return None

    def transform(self, fit: Fit, A: Any) -> Array:
        """Return W for further rows, H being what was fitted."""
        raise NotImplementedError

    def inverse(self, fit: Fit, W: Any) -> Array:
        """Return the matrix for W."""
        raise NotImplementedError

    def look_for(self, names: set[str]) -> None:
        """Note which options there are among the names of parameters."""
        for offer, usual in USUAL_NAMES.items():
            known = [name for name in usual if name in names]
            if known:
                self.own[offer] = known[0]
                self.offers.add(offer)
        self.penalties = tuple(name for name in PENALTIES if name in names)
        if self.penalties:
            self.offers.add(Offer.PENALTY)

    def fit(
        self,
        A: Any,
        rank: int,
        *,
        start: Start | None = None,
        seed: int = 0,
        world: int | None = None,
        own_start: bool = False,
        lend: bool = False,
        limit: int | None = None,
        options: Mapping[Offer | str, Any] | None = None,
    ) -> Fit:
        """Factorize A; raise `RefusedError` or `InvalidError` where there are no W and H.

        A process that ends raises `CrashedError`.

        Parameters
        ----------
        A : anything; a matrix, mostly.
        start : where to start, for a subject that takes a start; drawn from the seed if not given.
        world : what the global random state is seeded with; the seed if not given.
        own_start : whether the subject is left to start where it likes.
        lend : whether the subject gets the start itself, and not a copy.
        limit : so many iterations, with its stopping rule off where it can be.
        options : further ones; offers stand for the subject's own names.
        """
        if start is None and Offer.START in self.offers and not own_start:
            start = drawn_start(np.shape(A), rank, seed)
        if Offer.START not in self.offers:
            start = None
        if start is not None and not lend:
            start = start[0].copy(order="K"), start[1].copy(order="K")
        chosen = dict(options or {})
        if limit is not None:
            chosen |= {Offer.LIMIT: limit} if Offer.LIMIT in self.offers else {}
            chosen |= {Offer.TOLERANCE: self.least} if Offer.TOLERANCE in self.offers else {}
        elif Offer.LIMIT in self.offers and Offer.LIMIT not in chosen:
            usual = self.usual_limit
            chosen |= {Offer.LIMIT: LONG} if usual is None or usual > LONG else {}
        try:
            return self._fit(A, rank, start, seed, chosen, world)
        except RefusedError:
            if limit is None or Offer.TOLERANCE not in self.offers or self.least > 0:
                raise
            self.least = 1e-300  # some want a positive one
            return self._fit(A, rank, start, seed, chosen | {Offer.TOLERANCE: self.least}, world)

    def _fit(
        self,
        A: Any,
        rank: int,
        start: Start | None,
        seed: int,
        chosen: Mapping[Any, Any],
        world: int | None,
    ) -> Fit:
        settings = {self.own.get(key, key): value for key, value in chosen.items()}
        words = [f"{key}={value!r:.40}" for key, value in settings.items()]
        words += ["from a given start"] if start is not None else ["from a start of its own"]
        call = Call(_copied(A), rank, ", ".join(words))
        try:
            with quiet() as caught, random_state(seed if world is None else world) as touched:
                W, H, named, model = self.call(A, rank, start, seed, settings)
                was_touched = touched()
            if len(np.shape(A)) != 2:
                raise InvalidError(f"W and H were returned for an A of shape {np.shape(A)}")
            m, n = np.shape(A)
            W, H = as_factor("W", W, (m, rank)), as_factor("H", H, (rank, n))
            reports = replace(
                Reports.of(named),
                warned=any("onverge" in str(w.message) for w in caught),
                touched=was_touched,
            )
        except UnusableError as error:
            self.calls.append(replace(call, said=str(error)))
            raise InvalidError(str(error)) from None
        except (RefusedError, CrashedError) as error:
            self.calls.append(replace(call, said=str(error)))
            raise
        except (InvalidError, SystemExit, Exception) as error:
            self.calls.append(replace(call, said=raised(error)))
            if isinstance(error, InvalidError):
                raise
            raise RefusedError.by(error) from None
        self.calls.append(replace(call, W=W, H=H))
        return Fit(W, H, reports, model)

    @cached_property
    def usual_limit(self) -> int | None:
        """The number of iterations that it has if nobody sets it, where that is known."""
        usual = self.usual(Offer.LIMIT)
        known = isinstance(usual, int | float | np.number) and math.isfinite(usual)
        return int(usual) if known else None

    @cached_property
    def repeats(self) -> bool:
        """Whether the same call gives the same answer twice."""
        A = drawn_matrix(6, 5, 2)
        try:
            one, other = (self.fit(A, 2) for _ in range(2))
        except (RefusedError, InvalidError):
            return True
        return same_factors((one.W, one.H), (other.W, other.H), float(A.max()))

    def value(self, A: Array, X: Array) -> float:
        """Return the objective of X, which is W·H."""
        with np.errstate(all="ignore"):
            return float(self.objective.divergence(A[None], np.asarray(X)[None])[0])

    def size(self, A: Array) -> float:
        """Return what values of the objective are measured by: that of A's mean for A.

        For the Frobenius norm `½‖A‖²`, which is the usual unit.
        """
        if self.objective.beta == 2:
            return float((A**2).sum()) / 2
        return self.value(A, np.full_like(A, A.mean())) or 1.0


def drawn_matrix(m: int, n: int, k: int, draw: int = 0) -> Array:
    """Return a positive matrix, a product of rank k with noise on it."""
    rng = np.random.default_rng([m, n, k, draw])
    A: Array = rng.random((m, k)) @ rng.random((k, n)) + 0.05 * rng.random((m, n)) + 0.01
    return A


def drawn_start(shape: tuple[int, ...], rank: int, seed: int = 0) -> Start:
    """Return W0 and H0, uniform in (0.1, 1.1)."""
    m, n = (*shape, 1, 1)[:2]
    rng = np.random.default_rng([m, n, rank, seed, 1])
    return rng.random((m, rank)) + 0.1, rng.random((rank, n)) + 0.1


def _copied(A: Any) -> Any:
    try:
        return as_factor("A", A, np.shape(A))
    except Exception:  # whatever it is, it is not to be shown
        return None


@contextmanager
def quiet() -> Iterator[list[Any]]:
    """Collect what the subject warns of."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        yield caught


@contextmanager
def random_state(seed: int) -> Iterator[Any]:
    """Seed the random states that careless subjects use, and put them back afterwards."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    seed_global_states(seed)
    begin = (random.getstate(), np.random.get_state())  # noqa: NPY002

    def touched() -> bool:
        now = np.random.get_state()  # noqa: NPY002
        same = all(np.array_equal(x, y) for x, y in zip(now, begin[1], strict=True))
        return not same or random.getstate() != begin[0]

    try:
        yield touched
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002


def finite(x: float | None) -> bool:
    """Say whether something is reported, and a number."""
    return x is not None and math.isfinite(x)
