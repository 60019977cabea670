"""What a diagnosis can come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

MOST = 0.6
"""What holds for so many of them is taken as the cause; others may have collapsed on top of it."""


class Cause(StrEnum):
    """What failures are usually a sign of."""

    HARD = "hard failure"
    LAW = "broken law"
    LAW_ASIDE = "broken law that does not decide"
    SILENT = "no answer"
    MENDED = "mended by a change"
    REMEMBERS = "depends on earlier calls"
    UNMOVED = "does not move"
    ZEROS = "returns zeros"
    TURNED = "turned"
    SCALED = "scaled"
    RESCALED = "scaling not undone"
    CHANGED_A = "another matrix"
    MISSING = "missing values"
    PERMUTED = "permuted"
    UNRELATED = "unrelated"
    DIVERGES = "diverges"
    UNSIGNED = "signs thrown away"
    WEIGHTED = "weighted"
    GREEDY = "one component after another"
    AT_ONCE = "updated at once"
    HALF = "one factor is wrong"
    APART = "do not belong together"
    SINGLE = "single precision"
    ROUNDED = "rounded"
    RANDOM = "random"
    FLOOR = "floor"
    THRESHOLD = "threshold"
    PRUNED = "components dropped"
    CEILING = "ceiling"
    BIASED = "biased"
    OTHER_LOSS = "another loss"
    UNITS = "depends on units"
    LOCKED = "locked zeros"
    CONSTRAINED = "constrained"
    SHARED = "shared memory"
    SPOILED = "spoiled"
    UPDATE = "makes it worse"
    EARLY = "stops early"
    UNSTABLE = "moves away"
    LEAVES = "leaves the answer"
    FIXED_POINT = "wrong fixed point"
    UNKNOWN = "unknown"
    COLLAPSES = "collapses"
    NORMAL = "collapses as usual"
    SOME_CELLS = "some cells only"
    INEXACT = "not exact"


@dataclass(frozen=True)
class Finding:
    """One thing that shows, in a sentence or two.

    Attributes
    ----------
    certain : whether what was seen leaves no other cause; otherwise the sentence says "probably",
        or that the cause is unknown.
    evidence : what was seen, in a few words.
    about_matrix : whether it says that something is A, or is not: that may be false of families in
        which no product is.
    """

    cause: Cause
    sentence: str
    certain: bool = True
    evidence: str = ""
    about_matrix: bool = field(
        default=False, compare=False, repr=False, metadata={"internal": True}
    )


def mostly(hold: Iterable[object]) -> bool:
    """Say whether something holds for nearly all, and for some at all."""
    listed = [bool(each) for each in hold]
    return bool(listed) and sum(listed) >= MOST * len(listed)
