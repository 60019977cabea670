"""Memory: W and H in the same place, and variables that change under another name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...arrays import Array
from .factors import Names, Sizes, matrix
from .place import Place
from .source import Line, Touched, returns

FEWEST = 3
"""What is read so many times after it has changed under another name is worth a word."""


@dataclass(frozen=True)
class Overwritten:
    """A statement that changes `name` under the name of `other`; `read` reads `name` afterwards."""

    line: Line
    name: str
    other: str
    read: Line

    def as_data(self) -> list[Any]:
        """Return what JSON can hold."""
        return [self.line.as_data(), self.name, self.other, self.read.as_data()]

    @classmethod
    def from_data(cls, data: Any) -> Overwritten:
        """Return what `as_data` wrote down."""
        line, name, other, read = data
        return cls(Line.from_data(line), str(name), str(other), Line.from_data(read))


Change = tuple[Place, str]
"""Where a variable was changed, and under which name."""


@dataclass
class Memories:
    """What was seen in a whole run.

    Attributes
    ----------
    shared : the names of W and H where they are in the same memory.
    reads : how often a statement read a variable that had changed under another name.
    """

    shared: tuple[str, str] | None = None
    reads: dict[tuple[Change, str, Place], int] = field(default_factory=dict)


def overwritten(memories: Memories) -> Overwritten | None:
    """Return the variable that is read most often after it has changed under another name."""
    often = {key: number for key, number in memories.reads.items() if number >= FEWEST}
    if not often:
        return None
    key = max(often, key=lambda key: often[key])
    ((function, number), other), name, (reader, read) = key
    return Overwritten(function.line(number), name, other, reader.line(read))


class Memory:
    """Looks at the variables of one call that are one array."""

    def __init__(self, sizes: Sizes, returned: Names, memories: Memories) -> None:
        self._sizes, self._returned, self._memories = sizes, returned, memories
        self._changed: dict[str, Change] = {}
        self._before: list[tuple[str, Array, Array, Change]] = []
        self._place: Place | None = None
        self._twins: set[frozenset[str]] = set()
        """Names that were given to one array by one statement: the results that it is for."""

    def before(self, place: Place, names: Touched, found: Mapping[str, Any]) -> None:
        """Look at what a statement is about to read, and keep what it may change."""
        function, number = place
        leaves = number in returns(function.code.co_filename)  # to whom it may mean nothing
        for name in () if leaves else names.read & self._changed.keys():
            key = self._changed[name], name, place
            self._memories.reads[key] = self._memories.reads.get(key, 0) + 1
        self._place = place
        self._before = [
            (name, X, X.copy(), (place, target))
            for target in sorted(names.set)
            if (own := matrix(found.get(target))) is not None
            for name, X in found.items()
            if X is own and name not in names.set and not self._may_be_factor(name, own)
            if name not in names.read  # or its old value is used, and it is changed on purpose
            if not (names.again and frozenset((name, target)) in self._twins)
        ]

    def behind(self, place: Place, names: Touched, found: Mapping[str, Any]) -> None:
        """Look at what a statement has changed."""
        for name in names.set:
            self._changed.pop(name, None)
        self._twins |= {frozenset((one, two)) for one in names.set for two in names.set}
        if place != self._place:
            return  # it was not looked at before
        for name, X, was, change in reversed(self._before):  # the first name stays
            if found.get(name) is X and not np.array_equal(X, was, equal_nan=True):
                self._changed[name] = change
        self._place, self._before = None, []

    def _may_be_factor(self, name: str, X: Array) -> bool:
        """Say whether a variable may be W or H, which are often changed under another name."""
        shaped = self._sizes.as_W(X) is not None or self._sizes.as_H(X) is not None
        return name in self._returned or (shaped and name[:1].lower() in "wh")


def share(W: Array, H: Array) -> bool:
    """Say whether two arrays overlap."""
    return np.may_share_memory(W, H) and np.shares_memory(W, H)
