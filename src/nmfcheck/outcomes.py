"""Outcomes and grades: the words in which a run is judged."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

Grade = Literal["exact", "first-order"]


class Outcome(StrEnum):
    """What became of one run. Each member explains itself in a sentence."""

    EXACT = "exact"
    FIRST_ORDER = "first-order"
    COLLAPSED = "collapsed"
    UNCONVERGED = "unconverged"
    INVALID = "invalid"
    ERROR = "error"

    @property
    def explanation(self) -> str:
        """What this outcome means."""
        return _EXPLANATIONS[self]

    @property
    def grade(self) -> Grade | None:
        """The grade that this outcome amounts to, if any."""
        if self is Outcome.EXACT:
            return "exact"
        return "first-order" if self is Outcome.FIRST_ORDER else None


_EXPLANATIONS = {
    Outcome.EXACT: "W and H lie on the set of exact factorizations, up to 1e-10.",
    Outcome.FIRST_ORDER: (
        "W and H have the form of an exact factorization and miss it by O(ε²), which the paper "
        "calls negligible."
    ),
    Outcome.COLLAPSED: (
        "The rows of A are not matched by components one to one: a row is left out or shared, at "
        "a stationary point far from every solution. Accepted algorithms end there, too, at times."
    ),
    Outcome.UNCONVERGED: (
        "W and H are neither near enough to an exact factorization nor at a stationary point far "
        "from all of them."
    ),
    Outcome.INVALID: "W or H is not a finite, nonnegative real matrix of the right shape.",
    Outcome.ERROR: "The implementation raised an exception instead of returning W and H.",
}


def reaches(grade: str | None, needed: Grade) -> bool:
    """Say whether a grade is at least as good as the one needed."""
    return grade == "exact" or (grade is not None and grade == needed)
