"""A function of a subject, and its statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType

from .factors import Names
from .source import Line, statements


@dataclass(eq=False)
class Function:
    """A function of the subject, and what was seen of it in the first run.

    Attributes
    ----------
    starts : for each of its lines, the first one of its statement.
    counts : how often each statement ran, by its first line.
    moves : how often one statement followed another in one call; `RETURN` is the last.
    returned : the variables that it returned as W and H, the last time.
    """

    code: CodeType
    starts: Mapping[int, int]
    counts: dict[int, int] = field(default_factory=dict)
    moves: dict[tuple[int, int], int] = field(default_factory=dict)
    returned: Names = (None, None)

    def line(self, number: int) -> Line:
        """Return a statement."""
        return statements(self.code.co_filename).get(number, Line(number, ""))


Place = tuple[Function, int]
"""A statement, by its first line."""
