"""What statements read: products of W and H that are no longer those, and arrays with a bound.

After a statement, what it has set is compared with the products that updates are made of, WᵀW or
A − W·H, say. Where a later statement reads it, and W or H have changed since, it is out of date.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...arrays import Array
from .factors import Sizes, candidates, matrix
from .place import Function, Place
from .source import Line, Touched, parameters, returns

SAME = 1e-10
"""What agrees up to this part of it is the same but for rounding."""

CHANGED = 1e-3
"""What is off by this part of it is not."""

FEWEST, OFTEN = 3, 0.1
"""What holds so many times, and so often, is worth a word."""

MANY, SOME = 0.2, 3
"""An array of which so many entries are its largest or its least one has a bound."""

TINY = 1e-6
"""A bound of so little, beside the largest entry, only keeps zeros out of a denominator."""

W_ONLY, H_ONLY, BOTH = "W", "H", "W and H"
SINCE = {
    "Wᵀ·W": W_ONLY,
    "H·Hᵀ": H_ONLY,
    "A·Hᵀ": H_ONLY,
    "Wᵀ·A": W_ONLY,
    "W·H": BOTH,
    "A − W·H": BOTH,
    "W·H − A": BOTH,
    "the gradient in W": W_ONLY,
    "the gradient in H": H_ONLY,
}
"""What updates are made of, and whose change makes it out of date. Gradients in W and in H may be
computed at once, and W be changed before H: only their own factor counts."""


def forms(A: Array, W: Array, H: Array) -> Mapping[str, Array]:
    """Return all that updates are made of."""
    R = W @ H - A
    each = (W.T @ W, H @ H.T, A @ H.T, W.T @ A, W @ H, -R, R, R @ H.T, W.T @ R)
    return dict(zip(SINCE, each, strict=True))


@dataclass(frozen=True)
class Known:
    """A variable that was one of the forms when it was set."""

    form: str
    names: tuple[str, str]
    W: Array
    H: Array
    X: Array


@dataclass
class Count:
    """How often something was looked at, and how often it was so."""

    of: int = 0
    so: int = 0

    @property
    def often(self) -> bool:
        """Whether that is worth a word."""
        return self.so >= max(FEWEST, OFTEN * self.of)


@dataclass
class Reads:
    """What was read, in a whole run.

    Attributes
    ----------
    stale : by statement, variable, the form that it was and whose change it does not know.
    bounds : by statement, variable and bound.
    """

    stale: dict[tuple[Place, str, str, str], Count] = field(default_factory=dict)
    bounds: dict[tuple[Place, str, float], Count] = field(default_factory=dict)


@dataclass(frozen=True)
class Stale:
    """A statement that reads what W and H were like before, `times` of `of` times.

    Attributes
    ----------
    name, form : of the variable, and what it was when it was set.
    since : whose change it does not know.
    """

    line: Line
    name: str
    form: str
    since: str
    times: int
    of: int

    def as_data(self) -> list[Any]:
        """Return what JSON can hold."""
        return [self.line.as_data(), self.name, self.form, self.since, self.times, self.of]

    @classmethod
    def from_data(cls, data: Any) -> Stale:
        """Return what `as_data` wrote down."""
        line, name, form, since, times, of = data
        return cls(Line.from_data(line), str(name), str(form), str(since), int(times), int(of))


@dataclass(frozen=True)
class Bound:
    """A statement that reads a variable of which many entries are exactly `value`."""

    line: Line
    name: str
    value: float

    def as_data(self) -> list[Any]:
        """Return what JSON can hold."""
        return [self.line.as_data(), self.name, self.value]

    @classmethod
    def from_data(cls, data: Any) -> Bound:
        """Return what `as_data` wrote down."""
        line, name, value = data
        return cls(Line.from_data(line), str(name), float(value))


def stale(reads: Reads) -> Stale | None:
    """Return the statement that most often reads what is out of date."""
    often = {key: count for key, count in reads.stale.items() if count.often}
    if not often:
        return None
    (function, number), name, form, since = key = max(often, key=lambda key: often[key].so)
    return Stale(function.line(number), name, form, since, often[key].so, often[key].of)


def bound(reads: Reads) -> Bound | None:
    """Return the statement that most often reads an array with a bound."""
    often = {key: count for key, count in reads.bounds.items() if count.often}
    if not often:
        return None
    (function, number), name, value = max(often, key=lambda key: often[key].so)
    return Bound(function.line(number), name, value)


class Reading:
    """Looks at what the statements of one call set and read."""

    def __init__(self, A: Array, sizes: Sizes, function: Function, reads: Reads) -> None:
        self._A, self._sizes, self._reads = A, sizes, reads
        self._returned, self._given = function.returned, parameters(function.code)
        self._known: dict[str, Known] = {}

    def behind(self, names: Touched, found: Mapping[str, Any]) -> None:
        """Look at what a statement has set."""
        Ws, Hs = candidates(found, self._sizes, self._returned)
        for name in names.set:
            self._known.pop(name, None)
            X = matrix(found.get(name))
            if X is None or name in self._returned:
                continue
            for w, W in Ws.items():
                for h, H in Hs.items():
                    form = self._form_of(X, W, H) if name not in (w, h) else None
                    if form is not None:
                        pair = W.copy(), H.copy()
                        self._known.setdefault(name, Known(form, (w, h), *pair, X.copy()))

    def before(self, place: Place, names: Touched, found: Mapping[str, Any]) -> None:
        """Look at what a statement is about to read."""
        for name in names.read:
            X = matrix(found.get(name))
            if X is None or name in self._returned:
                continue
            self._look_at_bounds(place, name, X)
            known = self._known.get(name)
            if known is None:
                continue
            if not np.array_equal(X, known.X):
                del self._known[name]
                continue
            if name in names.set or not self._moves_on(place, names, found):
                continue  # it is kept up to date, or what is computed is a number
            since = SINCE[known.form]
            count = self._reads.stale.setdefault((place, name, known.form, since), Count())
            count.of += 1
            again = (self._known.get(other) for other in names.read - {name})
            fresh = any(
                k and k.form == known.form and not self._is_stale(k, found) for k in again
            )  # then it is compared with what it is now
            count.so += self._is_stale(known, found) and not fresh

    @staticmethod
    def _moves_on(place: Place, names: Touched, found: Mapping[str, Any]) -> bool:
        """Say whether a statement computes a matrix."""
        function, number = place
        leaves = number in returns(function.code.co_filename)
        return leaves or any(matrix(found.get(name)) is not None for name in names.set)

    def _form_of(self, X: Array, W: Array, H: Array) -> str | None:
        for form, Y in forms(self._A, W, H).items():
            if any(X.shape == Z.shape and _off(X, Z) <= SAME for Z in (Y, Y.T)):
                return form
        return None

    def _is_stale(self, known: Known, found: Mapping[str, Any]) -> bool:
        """Say whether W or H have changed since, and no variable keeps what they were.

        A start that was given is not kept for that.
        """
        Ws, Hs = candidates(found, self._sizes, self._returned)
        W, H = (of.get(name) for of, name in zip((Ws, Hs), known.names, strict=True))
        since = SINCE[known.form]
        if W is None or H is None:
            return False
        own = {W_ONLY: (W, known.H), H_ONLY: (known.W, H), BOTH: (W, H)}[since]
        was, now = (forms(self._A, *pair)[known.form] for pair in ((known.W, known.H), own))
        if _off(was, now) <= CHANGED:
            return False
        kept = {W_ONLY: [(Ws, known.W)], H_ONLY: [(Hs, known.H)]}.get(
            since, [(Ws, known.W), (Hs, known.H)]
        )
        return not all(
            any(name not in self._given and np.array_equal(X, old) for name, X in each.items())
            for each, old in kept
        )

    def _look_at_bounds(self, place: Place, name: str, X: Array) -> None:
        sizes = self._sizes
        if np.isin(X, (0, 1)).all():
            return  # which entries count, and no bound
        if not sizes.telling or (sizes.as_W(X) is None and sizes.as_H(X) is None):
            return
        for bound in {float(X.min()), float(X.max())}:
            number = int(np.count_nonzero(bound == X))
            if not np.isfinite(bound) or abs(bound) <= TINY * float(np.abs(X).max()):
                continue
            count = self._reads.bounds.setdefault((place, name, bound), Count())
            count.of += 1
            count.so += max(SOME, MANY * X.size) <= number < X.size


def _off(X: Array, Y: Array) -> float:
    """Return how far two arrays differ, as a part of the first."""
    with np.errstate(all="ignore"):
        size, off = float(np.linalg.norm(X)), float(np.linalg.norm(X - Y))
    return off / size if size > 0 and np.isfinite(off) else np.inf
