"""Spoiled: a factorization that was better comes back worse, or is made so again and again."""

from __future__ import annotations

from ..evidence import Evidence
from ..experiments import lines
from ..findings import Cause, Finding
from .early import surely_early
from .floor import floor
from .followed import first_guess, how_many
from .misread import at_old_values, misread
from .parted import parted
from .pruned import pruned
from .threshold import cut_off, threshold

HOW = (floor, threshold, pruned, cut_off, parted)
"""What statements behind a loop do to W and H, where it shows what that is."""

ON_THE_WAY = (misread, at_old_values)
"""What statements of a loop may do."""

STILL = (
    (lines.frozen, Cause.UNMOVED, "Probably they are never updated."),
    (lines.seldom, Cause.UNMOVED, "Probably it is not updated often enough."),
)

HELD = (lines.held, Cause.UNMOVED, "Probably a loop leaves them out.")

WORSENED = (lines.worse, Cause.UPDATE, "Probably that update is wrong, or sees something that is.")

WRONG = (
    Cause.UPDATE,
    "Probably that update is wrong, its step is too long, or it reads what is wrong.",
)


def spoiled(evidence: Evidence) -> Finding | None:
    """Say which statement it is, where runs that fail were followed line by line."""
    runs = evidence.tried.followed
    said = lines.spoiled(runs) or lines.better(runs)
    if not said:
        return None
    rules = (*ON_THE_WAY, *HOW) if lines.spoiled_on_the_way(runs) else HOW
    how = next(filter(None, (rule(evidence) for rule in rules)), None)
    if how is not None:
        return how
    on_the_way = f"W and H are better on the way than what comes back. {said}"
    return Finding(
        Cause.SPOILED,
        on_the_way if lines.spoiled(runs) else said,
        evidence=how_many(runs),
    )


def worsened(evidence: Evidence) -> Finding | None:
    """Say so if one statement makes W·H worse nearly each time that it runs."""
    return first_guess(evidence, [WORSENED]) if lines.strong_rise(evidence.tried.followed) else None


def still(evidence: Evidence) -> Finding | None:
    """Say so if some components do not change, or a factor hardly ever does."""
    return first_guess(evidence, STILL)


def held(evidence: Evidence) -> Finding | None:
    """Say so if some rows or columns no longer change, while others do."""
    return first_guess(evidence, [HELD])


def leaping(evidence: Evidence) -> Finding | None:
    """Say so if one statement makes W·H much worse in one go, where nothing else shows."""
    return first_guess(evidence, [(lines.leap, *WRONG)])


def wavering(evidence: Evidence) -> Finding | None:
    """Say so if one statement makes W·H worse now and then, and nothing shows that it ends early.

    Updates of one factor by least squares, by multiplication or by gradients never do that.
    """
    found = first_guess(evidence, [(lines.worse, *WRONG)])
    if found is None:
        return None
    return None if surely_early(evidence) else found
