"""What statements read that they should not, in sentences: what is out of date, bounded, a start.

And what is changed under another name, or with the other factor.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import lines
from .lines import ANSWERED, Followed, at_line, common, most_failing


def stale(runs: Sequence[Followed]) -> str:
    """Say which statement reads what W and H were like before."""
    failing = most_failing(runs, lambda watched: watched.stale is not None, ANSWERED)
    each = [run.watched.stale for run in failing if run.watched.stale]
    key = common((one.line, one.name, one.form, one.since) for one in each)
    if key is None:
        return ""
    line, name, form, since = key
    same = [one for one in each if (one.line, one.name) == (line, name)]
    return (
        f"At {at_line(line, failing)}, `{name}` is {form} of an earlier {since}, in "
        f"{sum(one.times for one in same)} of the {sum(one.of for one in same)} times that were "
        "looked at."
    )


def bound(runs: Sequence[Followed]) -> str:
    """Say which array has many entries that are the same number, its largest or its least one."""
    failing = most_failing(runs, lambda watched: watched.bound is not None, ANSWERED)
    seen = common(run.watched.bound for run in failing)
    if seen is None:
        return ""
    return (
        f"Many entries of `{seen.name}` are exactly {seen.value:g}, as if bounded by that, where "
        f"line {seen.line.number} reads it: `{seen.line.text}`."
    )


def outdated(runs: Sequence[Followed]) -> str:
    """Say which statement changes a factor by what was computed before the other one changed."""
    failing = most_failing(runs, lambda watched: watched.outdated is not None, ANSWERED)
    seen = common(run.watched.outdated for run in failing)
    if seen is None:
        return ""
    return (
        f"What `{seen.name}` is at {at_line(seen.line, failing)}, was computed from `{seen.other}` "
        "before that changed."
    )


def old_start(runs: Sequence[Followed]) -> str:
    """Say which statement of a loop reads the start that was given."""
    failing = most_failing(runs, lambda watched: watched.old_start is not None, ANSWERED)
    seen = common(run.watched.old_start for run in failing)
    if seen is None:
        return ""
    line, name = seen
    return (
        f"Again and again, `{name}`, the start that was given, is read at {at_line(line, failing)}."
    )


def shared(runs: Sequence[Followed]) -> str:
    """Say that W and H are in the same memory."""
    failing = most_failing(runs, lambda watched: watched.shared is not None, ANSWERED)
    seen = common(run.watched.shared for run in failing)
    if seen is None:
        return ""
    return (
        f"`{seen[0]}` and `{seen[1]}` share memory: they overlap, so that what changes one changes "
        "the other."
    )


def overwritten(runs: Sequence[Followed]) -> str:
    """Say which variable is changed under another name, where it is read afterwards."""
    failing = most_failing(runs, lambda watched: watched.overwritten is not None, ANSWERED)
    seen = common(run.watched.overwritten for run in failing)
    if seen is None:
        return ""
    return (
        f"`{seen.name}` and `{seen.other}` are one array at {at_line(seen.line, failing)}, which "
        f"changes both; line {seen.read.number} reads `{seen.name}` then: `{seen.read.text}`."
    )


def pointed_at(runs: Sequence[Followed]) -> str:
    """Say all that shows."""
    facts = (
        lines.raised, lines.not_finite, lines.negative, lines.spoiled, lines.better, lines.worse,
        lines.leap, shared, overwritten, stale, outdated, old_start, bound, lines.start,
        lines.frozen, lines.held, lines.seldom, lines.zeros, lines.emptied, lines.left,
        lines.only_failing,
    )  # fmt: skip
    return " ".join(filter(None, (fact(runs) for fact in facts)))
