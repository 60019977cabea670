"""In which order findings are told: what explains a failure first, and what is usual last."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .findings import Cause, Finding

NO_FAULT = (Cause.NORMAL, Cause.INEXACT)

GENERAL = (Cause.UNSTABLE, Cause.LEAVES, Cause.FIXED_POINT)
"""What may have many causes."""

SEEN = (Cause.EARLY, Cause.COLLAPSES, Cause.SOME_CELLS, Cause.UNRELATED, Cause.UNKNOWN)
"""What is seen, and hardly says why; each family has them in an order of its own."""

LEAST = (Cause.UNRELATED, Cause.UNKNOWN)
"""What says least of all."""

LAWS = (Cause.LAW, Cause.LAW_ASIDE)

SAYS_WHY_TWO = (Cause.REMEMBERS, Cause.RANDOM)
"""Why one question may have two answers."""

Named = tuple[list[str], Finding]
"""The families that show something, and what it is."""


def in_order(shown: Sequence[Named], failing: Collection[str]) -> list[Named]:
    """Put what explains failing families first, then what is specific, then what is certain."""

    def key(each: Named) -> tuple[float, ...]:
        names, finding = each
        says = _says(finding.cause)
        elsewhere = bool(failing) and not set(names) & set(failing)
        if elsewhere:
            # What is certain of another family says more than a guess, or what has many causes.
            rank = 0.5 if finding.certain and not says else LITTLE + 1
            if finding.cause is Cause.AT_ONCE:
                rank = LITTLE  # which was tried, and says more than what is only seen
        else:
            rank = float(says or not finding.certain)
        return (
            finding.cause in NO_FAULT,
            rank,
            says,
            finding.cause is not Cause.OTHER_LOSS,
            says < LITTLE and not finding.certain,
            finding.cause in LEAST,
        )

    return sorted(shown, key=key)


LITTLE = 3


def _says(cause: Cause) -> int:
    """Return how much a cause says, from 0, what is wrong, to 3, hardly anything."""
    if cause in SEEN or cause is Cause.ZEROS:
        return LITTLE
    return 2 if cause in GENERAL else int(cause in (Cause.HALF, Cause.APART))


def with_laws(
    shown: list[Finding], laws: list[Finding], telling: list[Finding], *, alone: bool
) -> list[Finding]:
    """Put broken laws behind what explains failures, and before what is usual or unknown.

    Parameters
    ----------
    telling : laws whose breach says more than that runs leave the answer, or collapse.
    alone : whether no family fails, so that it is the laws that have to be told.
    """
    if alone:
        return telling + laws + shown
    behind = (*NO_FAULT, Cause.LEAVES, Cause.FIXED_POINT, *SEEN)
    specific = _leading(shown, behind) if telling else 0
    leading = max(specific, _leading(shown, (*NO_FAULT, Cause.UNKNOWN)))
    return shown[:specific] + telling + shown[specific:leading] + laws + shown[leading:]


def with_symptoms(
    shown: list[Finding],
    symptoms: list[Finding],
    telling: Sequence[Finding] = (),
    differs: Sequence[Finding] = (),
) -> list[Finding]:
    """Put hard failures that have a cause behind it where that is certain, and before all else.

    That runs move away, diverge, or end above their start (`telling`) is told before, too, where it
    comes first: it may be why. But where one question has two answers (`differs`), that is first:
    it may be why runs do, and what else answers seem to show may come from earlier calls. Only what
    says why there are two comes before.
    """
    others = (*LAWS, *NO_FAULT, *GENERAL, Cause.UNITS)
    names = [f.certain and f.cause not in others and _says(f.cause) < LITTLE for f in shown]
    named = names.index(True) + 1 if True in names else 0
    behind = named or _leading_to(shown, telling)
    told = [*shown[:behind], *symptoms, *shown[behind:]]
    if not differs:
        return told
    why = [finding for finding in told if finding.cause in SAYS_WHY_TWO and finding.certain]
    return [*why, *differs, *(finding for finding in told if finding not in why)]


def _leading_to(shown: Sequence[Finding], telling: Sequence[Finding]) -> int:
    """Count the findings at the beginning that say why numbers may grow without bound."""
    reasons = (Cause.DIVERGES, Cause.UNSTABLE, Cause.AT_ONCE, Cause.HALF)
    why = (f.cause in reasons or f in telling for f in shown)
    return next((i for i, leads in enumerate(why) if not leads), len(shown))


def _leading(shown: Sequence[Finding], others: Collection[Cause]) -> int:
    """Count the findings before the first of some others."""
    places = (i for i, finding in enumerate(shown) if finding.cause in others)
    return next(places, len(shown))
