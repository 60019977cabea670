"""An edit: a piece of a file that is replaced by another text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Spot = tuple[int, int]
"""A line, from 1, and a column in bytes, from 0, as Python's syntax trees have them."""


@dataclass(frozen=True)
class Edit:
    """A change of one piece of a subject's source.

    Attributes
    ----------
    file : which is changed.
    begin, end : where the piece begins, and where it ends.
    new : what stands there instead.
    said : what that is, in words that can follow "with".
    rank : which are tried first: the smaller, the sooner.
    """

    file: str
    begin: Spot
    end: Spot
    new: str
    said: str
    rank: int = 0

    @property
    def is_blunt(self) -> bool:
        """Whether it leaves something out, or switches it, and so says less of what is wrong."""
        return self.new in ("pass", "True", "False") or self.new.startswith("not ")

    def applied(self, lines: Sequence[bytes]) -> list[bytes]:
        """Return the lines of the file with the edit in place; they keep their ends."""
        (first, left), (last, right) = self.begin, self.end
        whole = lines[first - 1][:left] + self.new.encode() + lines[last - 1][right:]
        return [*lines[: first - 1], *whole.splitlines(keepends=True), *lines[last:]]

    def as_data(self) -> list[Any]:
        """Return what JSON can hold."""
        return [self.file, *self.begin, *self.end, self.new, self.said, self.rank]

    @classmethod
    def from_data(cls, data: Any) -> Edit:
        """Return the edit that `as_data` wrote down."""
        file, first, left, last, right, new, said, rank = data
        return cls(
            str(file), (int(first), int(left)), (int(last), int(right)), str(new), str(said),
            int(rank),
        )  # fmt: skip
