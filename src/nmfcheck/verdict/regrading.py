"""Outcomes at another tolerance than the paper's 1e-10: what counts as exact there.

Defects are kept for every stage, so that nothing has to be run again. Asks that need *exact* or
*first-order* depend on the tolerance, and those that need *exact in single* on one that is looser
than that; *identified* stays what it is (docs/verdict.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..arrays import real_number
from ..errors import InputError
from ..families import Ask
from ..judging.outcomes import Outcome, reaches
from ..judging.tolerances import TOLERANCE
from ..store import Results
from ..trials.suites import Suite
from .tally import CellTally

MOST_DIGITS = 10
"""The paper's 1e-10."""

EXACT = Outcome.EXACT.letter
_JUDGED = {o.letter for o in Outcome if o.grade or o in (Outcome.UNCONVERGED, Outcome.COLLAPSED)}


def tolerance_of(digits: int) -> float:
    """Return the tolerance of so many digits."""
    return float(f"1e-{digits}")


def checked_tolerance(tolerance: float) -> float:
    """Return a tolerance that the questions of exactness can be asked with."""
    if not TOLERANCE.exact <= real_number("tolerance", tolerance) <= TOLERANCE.loosest:
        low, high = TOLERANCE.exact, TOLERANCE.loosest
        raise InputError(
            f"the tolerance is {tolerance:g}; expected a number from {low:g} to {high:g}"
        )
    return float(tolerance)


def depends_on_tolerance(ask: Ask) -> bool:
    """Say whether a looser tolerance can make an ask pass."""
    return ask.needs != "identified"


def asked_for(ask: Ask, tolerance: float) -> float | None:
    """Return the largest defect with which an ask passes, where that depends on the tolerance."""
    if not depends_on_tolerance(ask):
        return None
    return max(tolerance, TOLERANCE.single) if ask.needs == "exact-in-single" else tolerance


def passes(ask: Ask, outcome: Outcome, defect: float, tolerance: float) -> bool:
    """Say whether a stage passes its ask, where what is within the tolerance is exact."""
    if reaches(outcome.grade, ask.needs):
        return True
    return depends_on_tolerance(ask) and outcome.letter in _JUDGED and defect <= tolerance


@dataclass(frozen=True)
class Graded:
    """The defect that each stage is graded by: for cell and ask, by the trial's seed."""

    of: Mapping[tuple[str, str], Mapping[int, float]]

    @classmethod
    def read(cls, results: Results, suite: Suite) -> Graded:
        """Read the defects of all stages of a subject."""
        defects: dict[tuple[str, str], dict[int, float]] = {}
        for part in suite.parts:
            for cell, ask, seed, x in results.graded_defects(part.family, part.room.graded_by):
                defects.setdefault((cell, ask), {})[seed] = x
        return cls(defects)

    def at(self, tolerance: float, cell: CellTally, asks: Sequence[Ask]) -> CellTally:
        """Return the outcomes of a cell, where what is within the tolerance is exact.

        Parameters
        ----------
        asks : whose outcomes are to be looked at again; others stay.
        """
        letters = dict(cell.letters)
        for ask in asks:
            if ask.name in letters:
                of = self.of.get((cell.cell.id, ask.name), {})
                defects = [of.get(seed) for seed in cell.seeds]
                letters[ask.name] = regraded(letters[ask.name], defects, tolerance)
        return replace(cell, letters=letters)


def regraded(letters: str, defects: Sequence[float | None], tolerance: float) -> str:
    """Return outcomes of which those within a tolerance are exact."""
    return "".join(
        EXACT if letter in _JUDGED and x is not None and x <= tolerance else letter
        for letter, x in zip(letters, defects, strict=True)
    )


def has_digits(asks: Sequence[Ask]) -> bool:
    """Say whether trials were run so that their digits can be told.

    Where the first ask that is not exact ends a trial, nothing is known of the others.
    """
    return len(asks) == 1 or all(ask.lenient for ask in asks)
