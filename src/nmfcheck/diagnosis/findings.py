"""What a diagnosis can come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

MOST = 0.6
"""What holds for so many of them is taken as the cause; others may have collapsed on top of it."""


class Cause(StrEnum):
    """What failures are usually a sign of."""

    HARD = "hard failure"
    LAW = "broken law"
    LAW_ASIDE = "broken law that does not decide"
    SILENT = "no answer"
    UNMOVED = "does not move"
    ZEROS = "returns zeros"
    TURNED = "turned"
    SCALED = "scaled"
    PERMUTED = "permuted"
    UNRELATED = "unrelated"
    SINGLE = "single precision"
    BIASED = "biased"
    OTHER_LOSS = "another loss"
    UNITS = "depends on units"
    LOCKED = "locked zeros"
    EARLY = "stops early"
    COLLAPSES = "collapses"
    NORMAL = "collapses as usual"
    SOME_CELLS = "some cells only"
    INEXACT = "not exact"


@dataclass(frozen=True)
class Finding:
    """One thing that shows, in a sentence or two."""

    cause: Cause
    sentence: str


def mostly(hold: Iterable[object]) -> bool:
    """Say whether something holds for nearly all, and for some at all."""
    listed = [bool(each) for each in hold]
    return bool(listed) and sum(listed) >= MOST * len(listed)
