"""When a run may end before its suite does: as soon as its verdict is certain."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from ..judging.tolerances import TOLERANCE
from ..trials.suites import Suite
from .baseline import Baseline
from .decision import Decision
from .levels import Levels
from .questions import Asked
from .regrading import MOST_DIGITS, Graded, has_digits, tolerance_of
from .sequential import LOOKS
from .tally import CellTally

STOPPED = "stopped"
"""Under this key a store keeps that a run ended early."""

FEWEST_FOR_FAIL = 2
"""So many trials of each cell are run before a FAIL ends a run: the diagnosis needs some."""

FEWEST_FOR_PASS = 10
"""… and before a PASS does: one invalid answer among them would be a failure."""


class Why(StrEnum):
    """Why a run ended before its suite did."""

    FAILS = "fails"
    DIGITS = "digits"
    PASSES = "passes"
    BUDGET = "budget"

    @property
    def explanation(self) -> str:
        """What that means, in words."""
        return _EXPLANATIONS[self]


_EXPLANATIONS = {
    Why.FAILS: "it fails at every tolerance, and more trials would not change that",
    Why.DIGITS: "it fails at this tolerance, and how many digits are right is certain",
    Why.PASSES: "it passes, and more trials would not change that",
    Why.BUDGET: "the time that was given to it is over",
}


@dataclass(frozen=True)
class Stopped:
    """That a run ended before its suite did.

    Attributes
    ----------
    why : the reason.
    stages : how many had been run.
    look : where it passes, the tenths of the suite after which that was certain.
    """

    why: Why
    stages: int
    look: int = 0

    def as_text(self) -> str:
        """Write it down for a store."""
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> Stopped:
        """Read what `as_text` wrote; raise KeyError, TypeError or ValueError for anything else."""
        document = json.loads(text)
        return cls(Why(document["why"]), int(document["stages"]), int(document["look"]))


@dataclass(frozen=True)
class Certainty:
    """What is certain of a subject after some of its trials.

    Attributes
    ----------
    suite : of which there are trials.
    levels : of the two errors.
    tolerance : what counts as exact.
    """

    suite: Suite
    baselines: Mapping[str, Baseline]
    levels: Levels
    tolerance: float = TOLERANCE.exact

    def of(self, cells: Sequence[CellTally], graded: Graded) -> tuple[Why, int] | None:
        """Return why a run may end now, and the look at which it passes; None if it goes on."""
        done = self._done(cells)
        if min(done.values()) < FEWEST_FOR_FAIL:
            return None
        asked = Asked(cells, self.suite.parts, self.baselines, graded, self.levels)
        look = self._look(done)
        if asked.fails_early(self.tolerance):
            if asked.fails_early(TOLERANCE.loosest) or not self._has_digits:
                return Why.FAILS, 0
            if look and self._digits_are_certain(asked, cells, graded, look):
                return Why.DIGITS, look
            return None
        if look and self.passes(cells, graded, look, self.tolerance):
            return Why.PASSES, look
        return None

    def _digits_are_certain(
        self, asked: Asked, cells: Sequence[CellTally], graded: Graded, look: int
    ) -> bool:
        """Say whether it passes with some number of digits, and fails with one more."""
        for digits in range(MOST_DIGITS, 0, -1):
            tolerance = tolerance_of(digits)
            if tolerance > self.tolerance and not asked.fails_early(tolerance):
                return self.passes(cells, graded, look, tolerance)
        return False

    def passes(
        self, cells: Sequence[CellTally], graded: Graded, look: int, tolerance: float
    ) -> bool:
        """Say whether all families pass with the trials of so many tenths of the suite."""
        numbers = {cell.id: trials * look // LOOKS for cell, trials in self.suite.cells.items()}
        first = [cell.first(numbers[cell.cell.id]) for cell in cells]
        level = self.levels.pass_early / (LOOKS - 1)
        levels = replace(self.levels, passing=level, fail_early=0.0)
        asked = Asked(first, self.suite.parts, self.baselines, graded, levels)
        return {each.decision for each in asked.tests(tolerance)} == {Decision.PASS}

    def passing_at(self, cells: Sequence[CellTally], graded: Graded, look: int) -> list[float]:
        """Return the tolerances at which all families pass with so many tenths of the suite."""
        if not look:
            return []
        tolerances = {self.tolerance, *map(tolerance_of, range(1, MOST_DIGITS + 1))}
        return [each for each in sorted(tolerances) if self.passes(cells, graded, look, each)]

    def _done(self, cells: Sequence[CellTally]) -> dict[str, int]:
        known = {cell.cell.id: len(cell.seeds) for cell in cells}
        return {cell.id: known.get(cell.id, 0) for cell in self.suite.cells}

    def _look(self, done: Mapping[str, int]) -> int:
        """Return how many tenths of every cell are there; 0 where that is too little, or all."""
        tenths = min(LOOKS * done[c.id] // n for c, n in self.suite.cells.items())
        fewest = min(n * tenths // LOOKS for n in self.suite.cells.values())
        return tenths if tenths < LOOKS and fewest >= FEWEST_FOR_PASS else 0

    @property
    def _has_digits(self) -> bool:
        return all(has_digits(part.test) for part in self.suite.parts)
