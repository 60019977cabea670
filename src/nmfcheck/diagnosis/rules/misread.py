"""Updates that read what they should not: what is out of date, a start, or changed elsewhere."""

from __future__ import annotations

from ..evidence import Evidence
from ..experiments import reads
from ..findings import Cause, Finding
from .early import surely_early
from .followed import first_guess, how_many

READ = (
    (reads.overwritten, Cause.SHARED, "Probably one of them should be a copy."),
    (reads.stale, Cause.UPDATE, "Probably it has to be computed anew before that."),
    (reads.old_start, Cause.UPDATE, "Probably what has become of it is meant."),
)

AT_OLD_VALUES = (
    reads.outdated,
    Cause.AT_ONCE,
    "Probably W and H change at the same time, each with the old value of the other, which they do "
    "not bear: it does not come to rest where it should.",
)


def misread(evidence: Evidence) -> Finding | None:
    """Say so if W and H share memory, or a statement reads what has changed or should have.

    What more work cures for certain is another matter.
    """
    runs = evidence.tried.followed
    if said := reads.shared(runs):
        seen = how_many(runs)
        return Finding(Cause.SHARED, f"{said} Each needs memory of its own.", evidence=seen)
    guess = first_guess(evidence, READ)
    return None if guess is not None and surely_early(evidence) else guess


def at_old_values(evidence: Evidence) -> Finding | None:
    """Say so if a factor is changed by what was computed before the other one changed."""
    return first_guess(evidence, [AT_OLD_VALUES])
