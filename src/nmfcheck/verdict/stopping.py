"""When a run may end before its suite does: as soon as its verdict is certain."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from ..families import Cell
from ..judging.tolerances import TOLERANCE
from ..trials.suites import Part, Suite
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
    Why.FAILS: "it fails at every tolerance; more trials would not change that (--all runs all)",
    Why.DIGITS: "it failed; after that only its digits were looked for (--all runs all)",
    Why.PASSES: "it passed; more trials would not change that (--all runs all)",
    Why.BUDGET: "the time that was given to it is over (the same command goes on)",
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
    may_pass : whether it may end because it passes: not before all laws have been tried.
    """

    suite: Suite
    baselines: Mapping[str, Baseline]
    levels: Levels
    tolerance: float = TOLERANCE.exact
    may_pass: bool = True

    def of(self, cells: Sequence[CellTally], graded: Graded) -> tuple[Why, int] | None:
        """Return why a run may end now, and the look at which it passes; None if it goes on.

        Of a subject that fails only some digits are wanted: then DIGITS is returned as soon as that
        is certain, and `has_its_digits` says when there are enough trials for them.
        """
        done = self._done(cells)
        if min(done.values()) < FEWEST_FOR_FAIL:
            return None
        asked = Asked(cells, self.suite.parts, self.baselines, graded, self.levels)
        if asked.fails_early(self.tolerance):
            hopeless = asked.fails_early(TOLERANCE.loosest) or not self._has_digits
            return Why.FAILS if hopeless else Why.DIGITS, 0
        look = self._look(done, self._sparing)
        if look and self.may_pass and self.passes(cells, graded, look, self.tolerance):
            return Why.PASSES, look
        return None

    @property
    def _sparing(self) -> dict[Cell, int]:
        """The cells of which a part may do; of the others, all trials have to be there."""
        strict = self.suite.not_to_be_spared
        return {cell: n for cell, n in self.suite.cells.items() if cell not in strict}

    @property
    def first(self) -> Part:
        """The family whose digits are the subject's."""
        return self.suite.parts[0]

    def has_its_digits(self, cells: Sequence[CellTally], graded: Graded) -> bool:
        """Say whether the first family passes with some digits, and fails with one more."""
        asked = Asked(cells, [self.first], self.baselines, graded, self.levels)
        look = self._look(self._done(cells), self.first.cells)
        for digits in range(MOST_DIGITS, 0, -1):
            if not asked.fails_early(tolerance := tolerance_of(digits)):
                return bool(look) and self._pass([self.first], cells, graded, look, tolerance)
        return True

    def first_passes(self, cells: Sequence[CellTally], graded: Graded) -> bool:
        """Say whether the first family passes with the trials that there are of it."""
        look = self._look(self._done(cells), self.first.cells)
        return bool(look) and self._pass([self.first], cells, graded, look, self.tolerance)

    def passes(
        self, cells: Sequence[CellTally], graded: Graded, look: int, tolerance: float
    ) -> bool:
        """Say whether all families pass with the trials of so many tenths of the suite."""
        return self._pass(self.suite.parts, cells, graded, look, tolerance)

    def _pass(
        self,
        parts: Sequence[Part],
        cells: Sequence[CellTally],
        graded: Graded,
        look: int,
        tolerance: float,
    ) -> bool:
        strict = self.suite.not_to_be_spared
        numbers = {
            cell.id: trials if cell in strict else trials * look // LOOKS
            for part in parts
            for cell, trials in part.cells.items()
        }
        cells = [cell for cell in cells if cell.cell.id in numbers]
        if any(len(c.seeds) < numbers[c.cell.id] for c in cells if c.cell in strict):
            return False
        first = [cell.first(numbers[cell.cell.id]) for cell in cells]
        level = self.levels.pass_early / (LOOKS - 1)
        levels = replace(self.levels, passing=level, fail_early=0.0)
        asked = Asked(first, parts, self.baselines, graded, levels)
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

    @staticmethod
    def _look(done: Mapping[str, int], cells: Mapping[Cell, int]) -> int:
        """Return how many tenths of every cell are there; 0 where that is too little, or all."""
        if not cells:
            return 0
        tenths = min(LOOKS * done[c.id] // n for c, n in cells.items())
        fewest = min(n * tenths // LOOKS for n in cells.values())
        return tenths if tenths < LOOKS and fewest >= FEWEST_FOR_PASS else 0

    @property
    def _has_digits(self) -> bool:
        return all(has_digits(part.test) for part in self.suite.parts)
