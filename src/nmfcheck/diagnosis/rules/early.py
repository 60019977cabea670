"""It stops early: more of the same makes it better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...text import option_as_text
from ..evidence import Evidence
from ..experiments.lines import left, left_inside, passes
from ..experiments.tried import LEFT, Chain, Worked
from ..findings import Cause, Finding, mostly
from .diverged import HUGE

NOT_MADE = "no experiments were made: these are for subjects that fail"
NOTHING = (
    "nothing could be tried: it uses no start, and more work was not possible (no option for it is "
    "known, or it would have taken too long)"
)

CLEARLY, RIGHT = 30.0, 1e-9
"""Ten times the work that brings the error down so much, or to this, was what was missing."""

BY_WORK = 0.25
"""Ten times the work that brings the error down to this part of it or less shows something: even
errors that fall like 1/t fall to a tenth."""

AT_ONCE = 1e-3
"""Who gets so much nearer by starts at its own answers than by ten times the work was held back by
what it had kept from its first start."""

NEARLY_ALL = 0.75
"""So many of them must show it, so that nothing else is the matter."""

MANY = 100
"""Who makes so many iterations may also be slow."""

SOME = 3
"""Of fewer runs nothing is said that holds for all."""

NEAR = 1e-3
"""Runs that miss A by more than this are hardly on their way to it."""


def hurried(evidence: Evidence) -> Finding | None:
    """Say so if runs with an iteration or ten end where those with many do, to the last bit.

    Who comes to rest, or has nothing to begin with, may do so as well, and not stop early.
    """
    runs, few = evidence.unconverged, evidence.tried.hurried
    if not _unheeded(few) or mostly(each.stayed for each in evidence.chains):
        return None
    if not (runs.kkt > NEAR and mostly((W @ H).any() for _, W, H in runs.factors)):
        return None
    ((name, number),) = few[0].run.options.items()
    if number > 1 and not evidence.chains:
        return None  # who solves each half exactly may have come to rest by then
    said, soon = f"{name} makes no difference", "at once"
    if number > 1:
        said, soon = f"More than {number} iterations make no difference", "by then"
    return Finding(
        Cause.EARLY,
        f"{said}: with {name}={number} all {len(few)} runs that were looked at end at the same "
        f"error as before, to the last bit, and not where they should. Its stopping rule is met "
        f"{soon}, a return is in the loop, {name} does not reach it, or an early iterate is what "
        "comes back (as the best, by a wrong measure, say).",
        evidence=f"less work: {len(few)} runs end as before with {name}={number}",
    )


def early(evidence: Evidence) -> Finding | None:
    """Say so if runs improve when they are continued, or given more iterations."""
    worked, chains = evidence.worked, evidence.chains
    if mostly(each.after <= BY_WORK * each.before for each in worked):
        before, after = (_median([getattr(x, of) for x in worked]) for of in ("before", "after"))
        changes = f"the median error {_changes(before, after, '.0e')}"
        falls = f"with {_options(worked[0].run.options)} {changes}"
        nearly_all = np.mean([x.after <= BY_WORK * x.before for x in worked]) >= NEARLY_ALL
        far = bool(nearly_all) and after <= max(before / CLEARLY, RIGHT)
        stops = left_inside(evidence.tried.followed)
        if not (far or stops) and (again := _falls_at_once(evidence)):
            return Finding(
                Cause.EARLY,
                "Probably it returns an average over its iterations, or keeps sums or steps from "
                f"the start of a run: {falls}, while {again}.",
                certain=False,
                evidence=f"more work: {_how_many(worked)}; continue: {_how_many(chains)}",
            )
        slow = "" if far or stops else ", or something from the start of a run holds it back"
        return Finding(
            Cause.EARLY,
            f"It {'' if far else 'probably '}{_why_early(evidence)}{slow}: {falls}.",
            certain=far,
            evidence=f"more work: {_how_many(worked)}",
        )
    if mostly(each.improved for each in chains) and not _leaves(evidence):
        first, last = (_median([x.points[i].defect for x in chains]) for i in (0, -1))
        if first > HUGE or last >= first:
            return None
        if _unheeded(worked):
            return Finding(
                Cause.EARLY,
                f"It probably stops early, whatever its options say: with "
                f"{_options(worked[0].run.options)} all {len(worked)} runs end at the same "
                "error as before, and started again at its own answers it improves them; the "
                f"median error {_changes(first, last, '.0e')}. Its stopping rule may be met after "
                "an iteration or two, the options may not reach its loop, a limit or a tolerance "
                "that is no option may end it, or something from the start of a run may hold it "
                "back.",
                certain=False,
                evidence=f"more work: {_how_many(worked)}; continue: {_how_many(chains)}",
            )
        return Finding(
            Cause.EARLY,
            f"It probably {_why_early(evidence)}, or is held back by what it keeps from the start "
            "of a run (sums, an average, a step that shrinks, something that is computed once): "
            f"started again at its own answers, it improves them; the median error "
            f"{_changes(first, last, '.0e')}. Try a smaller tolerance or more iterations; if these "
            "hardly help, look for the second.",
            certain=False,
            evidence=f"continue: {_how_many(chains)}",
        )
    return None


def surely_early(evidence: Evidence) -> bool:
    """Say whether more work shows for certain that it stops early."""
    stops = next(filter(None, (rule(evidence) for rule in (hurried, early))), None)
    return stops is not None and stops.certain


def _why_early(evidence: Evidence) -> str:
    """Say that it stops early; where its loop goes round to its end, it may also be slow."""
    runs = evidence.tried.followed
    if not left(runs) or left_inside(runs) or passes(runs) < MANY:
        return "stops early"
    return "stops early, or its steps are too small"


def _unheeded(worked: Sequence[Worked]) -> bool:
    """Say whether runs end at the same error, to the last bit, however much work is allowed."""
    return len(worked) >= SOME and all(each.after == each.before for each in worked)


def _falls_at_once(evidence: Evidence) -> str:
    """Say how far errors fall from its own answers, if that is far below what more work does."""
    worked, chains = evidence.worked, evidence.chains
    by_work = _median([each.after / each.before for each in worked if each.before > 0])
    ends = [(each.points[0].defect, each.points[-1].defect) for each in chains]
    if not (ends and _median([b / a for a, b in ends if a > 0]) <= AT_ONCE * by_work):
        return ""
    first, last = (_median([each[i] for each in ends]) for i in (0, 1))
    links = max(len(each.points) for each in chains) - 1
    return (
        f"started again at its own answers, {links} times at most and with no more work each "
        f"time, the median error {_changes(first, last, '.0e')}"
    )


def _changes(first: float, last: float, digits: str) -> str:
    """Say from what to what an error changes; that it falls only where the digits show it."""
    before, after = format(first, digits), format(last, digits)
    if before == after:
        return f"is {before} before and after"
    falls = float(after) < float(before)
    return f"falls from {before} to {after}" if falls else f"is {before} before and {after} after"


def _leaves(evidence: Evidence) -> bool:
    """Say whether it is farther from A after a start at an exact factorization than in the end."""
    last = _median([each.points[-1].defect for each in evidence.chains])
    return evidence.tried.left > max(last, LEFT)


def creeping(evidence: Evidence) -> Finding | None:
    """Say that it may be so if runs improve whenever they are continued, but little."""
    chains = evidence.chains
    if not mostly(each.creeps for each in chains):
        return None
    first, last = (_median([x.points[i].defect for x in chains]) for i in (0, -1))
    links = max(len(each.points) for each in chains) - 1
    return Finding(
        Cause.EARLY,
        "It probably stops early, or is very slow: each time that it is started again at its own "
        f"answer, the objective falls a little; in {links} times the median error "
        f"{_changes(first, last, '.2g')}. Is its tolerance absolute, is its step too small, or is "
        "another iterate returned than the last?",
        certain=False,
        evidence=f"continue: in {sum(c.creeps for c in chains)} of {len(chains)} runs the "
        "objective fell each time",
    )


def untried(evidence: Evidence) -> Finding | None:
    """Say what is likely where nothing could be tried."""
    tried = evidence.tried
    if tried.chains or tried.worked or tried.exact:
        return None
    runs = evidence.unconverged
    if not runs.typical < NEAR:
        return None
    return Finding(
        Cause.UNKNOWN,
        f"The cause is unknown: the median error is {runs.typical:.0e}, and the median KKT "
        f"residual, which is 0 at a stationary point, {runs.kkt:.0e}. It may stop early: try a "
        "smaller tolerance or more iterations. If that changes nothing, it fits something else "
        "than A, or minimises something else.",
        certain=False,
        evidence=NOT_MADE if not tried.experiments else NOTHING,
    )


def _options(options: Mapping[str, Any]) -> str:
    return " and ".join(f"{name}={option_as_text(value)}" for name, value in options.items())


def _how_many(tried: Sequence[Chain] | Sequence[Worked]) -> str:
    return f"{sum(each.improved for each in tried)} of {len(tried)} runs improved"


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if len(values) else float("nan")
