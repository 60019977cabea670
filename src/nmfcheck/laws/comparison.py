"""Looking at answers: whether one is valid, whether two agree, how good one is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..judging.measures import validity
from ..subjects.capabilities import Fit, Handle, Offer, Start
from ..subjects.refusals import InvalidError, RefusedError
from .law import BrokenError, DoesNotApplyError, Example, beyond

FEW = 20
"""So many iterations magnify rounding little on the laws' examples: docs/laws.md has numbers."""

AGREE = 1e-6
"""Products of two runs that do the same differ by less, relative to A's largest entry."""

TOO_LARGE = "the objective of its answers is infinite, so that they cannot be compared"

CHANCE = 1e-2
"""Values of the objective, relative to A's own, that differ by less may do so by chance."""

TOSSES = 10
"""So many draws, where two starts have nothing to do with each other: see `draws`."""


def fitted(handle: Handle, A: Any, rank: int, **how: Any) -> Fit:
    """Factorize what everybody has to accept; whatever is raised breaks the law."""
    try:
        fit = handle.fit(A, rank, **how)
    except RefusedError as error:
        raise BrokenError(f"it {error}") from None
    except InvalidError as error:
        raise BrokenError(f"{error}") from None
    check_finite(fit)
    return fit


def accepted(
    handle: Handle,
    A: Any,
    rank: int,
    what: str,
    *,
    lenient: bool = False,
    value: str = "",
    **how: Any,
) -> Fit:
    """Factorize what may be refused; a clear refusal is an answer, or any if that will do.

    Parameters
    ----------
    value : what may not be known: a KeyError that names it is clear.
    """
    try:
        return handle.fit(A, rank, **how)
    except RefusedError as error:
        if error.clear or lenient or (value and error.names(value)):
            raise DoesNotApplyError(f"it refuses {what}: it {error}") from None
        raise BrokenError(f"{what}: it {error}") from None
    except InvalidError as error:
        raise BrokenError(f"{what}: {error}") from None


def check_finite(fit: Fit, what: str = "") -> None:
    """Say what is wrong with W and H, if they are not finite."""
    for name, X in (("W", fit.W), ("H", fit.H)):
        if np.isnan(X).any():
            raise BrokenError(f"{what}{name} has {int(np.isnan(X).sum())} entries that are NaN")
        if np.isinf(X).any():
            raise BrokenError(f"{what}{name} is not finite")


def check_valid(A: Array, fit: Fit, what: str) -> None:
    """Say what is wrong with W and H, if they are not finite and nonnegative."""
    unit = float(np.abs(A).max()) if np.size(A) else 1.0
    valid, _ = validity(fit.W[None], fit.H[None], np.array([unit or 1.0]))
    if valid[0]:
        return
    check_finite(fit, f"{what}: ")
    for name, X in (("W", fit.W), ("H", fit.H)):
        if (X < 0).any():
            raise BrokenError(f"{what}: {name} has a negative entry, {X.min():.3g}")
    raise BrokenError(f"{what}: W or H is not a finite nonnegative matrix")


def few(handle: Handle) -> dict[str, Any]:
    """Return the settings for few iterations, where a subject takes a limit."""
    return {"limit": FEW} if Offer.LIMIT in handle.offers else {}


def difference(A: Array, X: Array, Y: Array) -> float:
    """Return the largest difference of two products, relative to A's largest entry."""
    if np.array_equal(X, Y):
        return 0.0
    with np.errstate(all="ignore"):
        largest = float(np.abs(X - Y).max() / (np.abs(A).max() or 1.0))
    if np.isnan(largest) and not np.isnan(X).any() and not np.isnan(Y).any():
        raise DoesNotApplyError(TOO_LARGE)
    return largest


def minus(value: float, other: float) -> float:
    """Return the difference of two values of an objective, of which one may be infinite."""
    if np.isinf(value) and value == other:
        raise DoesNotApplyError(TOO_LARGE)
    return value - other


def worse(handle: Handle, A: Array, X: Array, Y: Array) -> float:
    """Return how much worse X is than Y: the objective's difference, relative to A's own."""
    if np.array_equal(X, Y):
        return 0.0
    return minus(handle.value(A, X), handle.value(A, Y)) / handle.size(A)


def draws(handle: Handle, example: Example) -> list[Example]:
    """Return draws of an example, which a law looks at together.

    From related starts three will do. Who takes no start has unrelated ones for two problems that
    are the same, and where its quality is random, which of them ends worse is the toss of a coin.
    The same side is worse in n draws with probability 2·2⁻ⁿ at most: 0.2 % for ten, and less than
    1 % for all examples that are looked at like this (two permutations, a transposition, and a row
    with a weight).
    """
    count = 3 if Offer.START in handle.offers else TOSSES
    return [replace(example, draw=number) for number in range(count)]


def unanimous(losses: Iterable[float]) -> list[float]:
    """Return losses if all are worse than by chance, or all better; otherwise none.

    They are looked at one after the other, up to the first that contradicts.
    """
    seen: list[float] = []
    for loss in losses:
        seen.append(loss)
        if min(seen) <= CHANCE and max(seen) >= -CHANCE:
            return []
    return seen


def apart(handle: Handle, A: Array, X: Array, Y: Array) -> tuple[float, float]:
    """Return how far two answers that should agree are apart, and how far they may be.

    After few iterations products are compared. Where a subject takes no limit, rounding may have
    been magnified, and only their quality can be.
    """
    if Offer.LIMIT in handle.offers:
        return difference(A, X, Y), AGREE
    return abs(worse(handle, A, X, Y)), CHANCE


def check_agree(handle: Handle, A: Array, X: Array, Y: Array, sentence: str) -> float:
    """Return how far two answers are apart, or say that it is too far."""
    off, most = apart(handle, A, X, Y)
    if not off <= most:
        amount = beyond(off, most)
        raise BrokenError(f"{sentence} (they differ by {amount}; at most {most:g})", off)
    return off


def scaled(start: Start, factor: float, exponent: float = 0.5) -> Start:
    """Return a start whose product is so many times as large: H takes factor**exponent of it."""
    W0, H0 = start
    return W0 * factor ** (1 - exponent), H0 * factor**exponent


def converging(handle: Handle, limit: int = 2000, tol: float = 1e-10) -> Mapping[Any, Any]:
    """Return options that let a subject converge, where it has them; its usual limit is kept."""
    options: dict[Any, Any] = {}
    if Offer.LIMIT in handle.offers:
        options[Offer.LIMIT] = max(handle.usual_limit or 0, limit)
    if Offer.TOLERANCE in handle.offers:
        options[Offer.TOLERANCE] = tol
    return options
