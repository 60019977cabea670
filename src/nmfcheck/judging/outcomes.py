"""Outcomes and grades: the words in which a run is judged."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, get_args

Grade = Literal["exact", "exact-in-single", "first-order", "identified"]
"""The best first."""


class Outcome(StrEnum):
    """What became of one run. Each member explains itself in a sentence."""

    EXACT = "exact"
    SINGLE = "exact-in-single"
    FIRST_ORDER = "first-order"
    IDENTIFIED = "identified"
    COLLAPSED = "collapsed"
    UNCONVERGED = "unconverged"
    INVALID = "invalid"
    ERROR = "error"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    NOT_RUN = "not-run"

    grade: Grade | None
    """The grade that this outcome amounts to, if any."""
    unanswered: bool
    """Whether there was no answer at all, not even an exception."""

    @property
    def explanation(self) -> str:
        """What this outcome means."""
        return _EXPLANATIONS[self]

    @property
    def letter(self) -> str:
        """A letter for it, where there is no room for a word."""
        return _LETTERS[self]

    @property
    def leaves_open(self) -> bool:
        """Whether its trial counts neither way; a crash fails it."""
        return self in (Outcome.TIMEOUT, Outcome.NOT_RUN)


class Flag(StrEnum):
    """Something about a stage that W and H do not show. All but the last are hard failures."""

    CHANGED_A = "changed-A"
    DIFFERS = "differs-for-same-seed"
    VARIES = "varies"

    @property
    def explanation(self) -> str:
        """What this flag means."""
        return _FLAGS[self]


NOT_ASKED = "."
"""Stands for the outcome of a stage that was spared by a failure before it."""

_GRADES: dict[Outcome, Grade] = {
    Outcome.EXACT: "exact",
    Outcome.SINGLE: "exact-in-single",
    Outcome.FIRST_ORDER: "first-order",
    Outcome.IDENTIFIED: "identified",
}

for _outcome in Outcome:  # once: every stage is looked at for both
    _outcome.grade = _GRADES.get(_outcome)
    _outcome.unanswered = _outcome in (Outcome.CRASHED, Outcome.TIMEOUT, Outcome.NOT_RUN)

_LETTERS = {
    Outcome.EXACT: "e",
    Outcome.SINGLE: "s",
    Outcome.FIRST_ORDER: "f",
    Outcome.IDENTIFIED: "d",
    Outcome.COLLAPSED: "c",
    Outcome.UNCONVERGED: "u",
    Outcome.INVALID: "i",
    Outcome.ERROR: "x",
    Outcome.CRASHED: "k",
    Outcome.TIMEOUT: "t",
    Outcome.NOT_RUN: "n",
}

_EXPLANATIONS = {
    Outcome.EXACT: "W and H are the known answer, or one of them, up to 1e-10.",
    Outcome.SINGLE: "W and H are the known answer up to 1e-5, as far as single precision gets.",
    Outcome.FIRST_ORDER: (
        "W and H have the form of an exact factorization and miss it by a second-order term, which "
        "the paper calls negligible."
    ),
    Outcome.IDENTIFIED: ("W and H are the known answer up to 1e-2: each component is found."),
    Outcome.COLLAPSED: (
        "A stationary point far from every solution: typically two components explain one row, and "
        "another row is left out. Accepted algorithms end there, too, at times."
    ),
    Outcome.UNCONVERGED: (
        "W and H are neither near enough to a known answer nor at a stationary point far from all "
        "of them."
    ),
    Outcome.INVALID: "W or H is not a finite, nonnegative real matrix of the right shape.",
    Outcome.ERROR: "The implementation raised an exception instead of returning W and H.",
    Outcome.CRASHED: "The process that the implementation ran in ended without an answer.",
    Outcome.TIMEOUT: "There was no answer within the time limit.",
    Outcome.NOT_RUN: ("Not asked: too many stages in a row of the same cell had no answer."),
}

_FLAGS = {
    Flag.CHANGED_A: "It wrote into the A that it was given.",
    Flag.DIFFERS: "Asked twice with the same start and seed, it gave two answers.",
    Flag.VARIES: "Asked twice, it gave two answers; it takes no seed and no start to fix them.",
}


def reaches(grade: str | None, needed: Grade) -> bool:
    """Say whether a grade is at least as good as the one needed."""
    return grade in _RANKS and _RANKS[grade] <= _RANKS[needed]


def short_of(needed: Grade) -> tuple[Outcome, ...]:
    """Return the outcomes of runs that ended before they were good enough, at no other point.

    They are unconverged, or have a grade that is not the one needed.
    """
    lower = (o for o in Outcome if o.grade is not None and not reaches(o.grade, needed))
    return (Outcome.UNCONVERGED, *lower)


_RANKS: dict[str | None, int] = {grade: rank for rank, grade in enumerate(get_args(Grade))}
