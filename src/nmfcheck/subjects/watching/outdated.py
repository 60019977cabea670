"""What was computed from one factor before that changed, and moves the other one afterwards.

Who changes W and H at the same time, each with the old value of the other, does that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .factors import Names, Sizes, matrix
from .place import Place
from .source import Line, Touched

FEWEST, OFTEN = 3, 0.8
"""What is so in so many of the times, and so many times at least, is worth a word."""


@dataclass(frozen=True)
class Outdated:
    """A statement that changes a factor by `name`, made before the `other` factor changed."""

    line: Line
    name: str
    other: str

    def as_data(self) -> list[Any]:
        """Return what JSON can hold."""
        return [self.line.as_data(), self.name, self.other]

    @classmethod
    def from_data(cls, data: Any) -> Outdated:
        """Return what `as_data` wrote down."""
        line, name, other = data
        return cls(Line.from_data(line), str(name), str(other))


@dataclass
class Moves:
    """How often a statement moved a factor by a variable, and how often that was out of date."""

    of: dict[tuple[Place, str, str], int] = field(default_factory=dict)
    old: dict[tuple[Place, str, str], int] = field(default_factory=dict)


def outdated(moves: Moves) -> Outdated | None:
    """Return the statement that most often changes a factor by what is out of date."""
    often = {
        key: number
        for key, number in moves.old.items()
        if number >= max(FEWEST, OFTEN * moves.of[key])
    }
    if not often:
        return None
    (function, number), name, other = max(often, key=lambda key: often[key])
    return Outdated(function.line(number), name, other)


class Ages:
    """Knows of the variables of one call which factors they were made of, and which are older."""

    def __init__(self, sizes: Sizes, returned: Names, moves: Moves) -> None:
        self._sizes, self._moves = sizes, moves
        self._factors = frozenset(name for name in returned if name is not None)
        self._made_of: dict[str, frozenset[str]] = {}
        self._old: dict[str, frozenset[str]] = {}

    def before(self, place: Place, names: Touched, found: Mapping[str, Any]) -> None:
        """Look at what a statement reads that changes a factor."""
        moved = names.set & self._factors
        if len(moved) != 1 or len(self._factors) != 2 or not self._sizes.telling:
            return
        (other,) = self._factors - moved
        for name in names.read - self._factors:
            X = matrix(found.get(name))
            if X is None or other not in self._made_of.get(name, ()):
                continue
            if self._sizes.as_W(X) is None and self._sizes.as_H(X) is None:
                continue  # a residual is often kept up to date component by component
            key = place, name, other
            self._moves.of[key] = self._moves.of.get(key, 0) + 1
            self._moves.old[key] = self._moves.old.get(key, 0) + (other in self._old[name])

    def behind(self, names: Touched) -> None:
        """Note what a statement has set, and what is older than that now."""
        read = names.read - names.set
        made_of = (read & self._factors).union(*(self._made_of.get(x, ()) for x in read))
        old = frozenset[str]().union(*(self._old.get(x, ()) for x in read))
        for name in names.set - self._factors:
            self._made_of[name], self._old[name] = made_of, old
        for name in names.given:  # which may be filled anew there
            self._made_of.pop(name, None)
            self._old.pop(name, None)
        for factor in names.set & self._factors:
            for name, factors in self._made_of.items():
                if factor in factors:
                    self._old[name] |= {factor}
