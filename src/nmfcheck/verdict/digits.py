"""Correct digits: the largest d for which the verdict at the tolerance 10⁻ᵈ is PASS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..families import Ask
from ..intervals import Share
from ..judging.outcomes import Grade
from ..trials.suites import Part
from .baseline import Baseline
from .decision import Decision, Question, decide
from .levels import Levels
from .regrading import MOST_DIGITS, Graded, has_digits, tolerance_of
from .sequential import e_value, rejects
from .tally import CellTally

Asking = Callable[[Part, Sequence[CellTally], Baseline, tuple[Ask, ...]], Question]
"""Makes the question of the test about a family: of its cells, with what its asks need."""


@dataclass(frozen=True)
class Digits:
    """To how many digits a family's answers are right.

    Attributes
    ----------
    digits : the largest d, up to 10, for which the family passes at 10⁻ᵈ; 0 where there is none.
    certain : whether that is settled; otherwise more trials might show more.
    trials : how many were counted.
    curve : for d = 1, …, 10 the share of trials that pass at 10⁻ᵈ, and the decision.
    """

    digits: int
    certain: bool
    trials: int
    curve: tuple[tuple[Share, Decision], ...]

    @property
    def is_settled(self) -> bool:
        """Whether one digit more fails, or ten are right."""
        return self.digits == MOST_DIGITS or self.curve[self.digits][1] is Decision.FAIL

    @property
    def in_words(self) -> str:
        """How many, or about how many so far."""
        number = "1 digit" if self.digits == 1 else f"{self.digits or 'no'} digits"
        return number if self.certain else f"about {number} so far ({self.trials} trials)"


def digits_of(
    part: Part,
    cells: Sequence[CellTally],
    graded: Graded,
    baseline: Baseline,
    asking: Asking,
    levels: Levels,
) -> Digits | None:
    """Return the digits of a family; None where trials were not run so that they can be told.

    All asks of the test are looked at with each tolerance, those that need *identified* as well,
    against the same bar.
    """
    if not (has_digits(part.test) and cells):
        return None
    asks = tuple(replace(ask, needs=_needed(ask)) for ask in part.test)
    curve = []
    for digits in range(1, MOST_DIGITS + 1):
        tolerance = tolerance_of(digits)
        regraded = [graded.at(tolerance, cell, asks) for cell in cells]
        question = asking(part, regraded, baseline.at(tolerance, asks), asks)
        (answer,) = decide([question], levels)
        fails = rejects(e_value(question.cells), levels.fail_early, 1)
        curve.append((answer.pool.share, Decision.FAIL if fails else answer.decision))
    best = max((d for d, (_, each) in enumerate(curve, 1) if each is Decision.PASS), default=0)
    counted = Digits(best, False, sum(len(cell.seeds) for cell in cells), tuple(curve))
    return replace(counted, certain=counted.is_settled)


def _needed(ask: Ask) -> Grade:
    return "first-order" if ask.needs == "first-order" else "exact"
