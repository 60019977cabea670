"""Which line a finding is about: a sentence behind the first finding, where runs were followed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..subjects.watching import Watched
from .experiments import Tried, lines, reads
from .experiments.lines import Followed
from .findings import Cause, Finding
from .invalid import may_have_grown

Fact = Callable[[Sequence[Followed]], str]

OPTIONS = (
    "max_iter", "n_iter", "max_iterations", "iterations", "maxiter", "niter", "num_iter", "tol",
    "tolerance", "eps", "epsilon", "W0", "H0", "init",
)  # fmt: skip
SEEDS = ("seed", "random_state")
"""Parameters that ought to be read, if they are there; seeds, where no start is given."""

OF_UPDATES = (
    Cause.UNSTABLE, Cause.LEAVES, Cause.FIXED_POINT, Cause.UNRELATED, Cause.UNKNOWN, Cause.DIVERGES,
    Cause.HALF, Cause.APART, Cause.AT_ONCE, Cause.BIASED, Cause.OTHER_LOSS, Cause.COLLAPSES,
    Cause.FLOOR, Cause.UNSIGNED, Cause.LAW, Cause.WEIGHTED, Cause.CONSTRAINED, Cause.PRUNED,
    Cause.RESCALED, Cause.SCALED, Cause.MISSING, Cause.CHANGED_A, Cause.LOCKED, Cause.ZEROS,
)  # fmt: skip
"""Causes that may lie in an update, so that the line says more which makes W·H worse."""

MAY_MISREAD = (
    *OF_UPDATES, Cause.UPDATE, Cause.EARLY, Cause.HARD, Cause.SPOILED, Cause.UNMOVED,
)  # fmt: skip
"""Causes that may lie in what an update reads."""

AT_EXACT = (
    Cause.LEAVES, Cause.UNSTABLE, Cause.FIXED_POINT, Cause.UNRELATED, Cause.UNKNOWN, Cause.BIASED,
    Cause.HALF, Cause.APART, Cause.FLOOR, Cause.DIVERGES, Cause.UPDATE, Cause.LAW,
)  # fmt: skip
"""Causes of which the line says most that takes W·H away from A where it should stay."""

LAST = (Cause.UNRELATED, Cause.UNKNOWN, Cause.DIVERGES, Cause.LAW)
"""Causes of which the line says something that makes W·H worse by most, if nothing else does."""


def with_lines(findings: Sequence[Finding], tried: Tried) -> list[Finding]:
    """Say behind the first finding which line shows it."""
    runs = tried.followed
    if not (findings and runs):
        return list(findings)
    first, *others = findings
    said = _said(first, runs, tried.followed_from_answers)
    options = OPTIONS if tried.takes_start else (*OPTIONS, *SEEDS)
    said = " ".join(filter(None, (said, lines.unread(runs, options))))
    if not said:
        return list(findings)
    return [replace(first, sentence=f"{first.sentence} {said}"), *others]


def _said(finding: Finding, runs: Sequence[Followed], exact: Sequence[Watched]) -> str:
    def leaves(_: Sequence[Followed]) -> str:
        of_law = finding.cause is Cause.LAW
        said = lines.leaves(exact) if of_law else lines.leaves_for_good(exact)
        return _unless_told(said, finding)

    in_the_end: tuple[Fact, ...] = (lines.spoiled, lines.better)
    left: tuple[Fact, ...] = (leaves,) if finding.cause in AT_EXACT else ()
    facts: tuple[Fact, ...]
    if finding.cause is Cause.SHARED:
        facts = ()
    elif finding.cause in (Cause.SPOILED, Cause.UPDATE):
        facts = left  # all else is what it says
    elif finding.cause is Cause.SILENT:
        facts = (lines.raised,)
    elif finding.cause is Cause.HARD:
        facts = (lines.not_finite, lines.negative, *in_the_end)
    elif finding.cause is Cause.EARLY:
        facts = (*in_the_end, lines.left)
    elif finding.cause is Cause.ZEROS:
        facts = (lines.spoiled, lines.zeros, lines.worse, lines.emptied)
    elif finding.cause in OF_UPDATES:
        leap: tuple[Fact, ...] = (lines.leap,) if finding.cause in LAST else ()
        facts = (*in_the_end, *left, lines.worse, lines.emptied, *leap)
    else:
        facts = (*in_the_end, lines.worse)
    said = next(filter(None, (fact(runs) for fact in facts)), "")
    if not (said or finding.certain):
        said = lines.only_failing(runs)
    read = _read(finding, runs)
    grown = lines.worse(runs) if may_have_grown(finding) else ""
    return " ".join(filter(None, (said, read, grown)))


def _read(finding: Finding, runs: Sequence[Followed]) -> str:
    """Say what updates read that they should not, and how large they start, where that may be why.

    What is certain of W and H, or of A, is not due to updates.
    """
    if finding.cause is Cause.COLLAPSES and (large := lines.start(runs)):
        return large
    if finding.cause not in MAY_MISREAD:
        return ""
    facts = (reads.shared, reads.overwritten, reads.stale, reads.old_start, reads.bound)
    told = (fact(runs) for fact in facts)
    return next((each for each in told if each and each not in finding.sentence), "")


def _unless_told(sentence: str, finding: Finding) -> str:
    """Return a sentence, unless its line is the one that the finding is about."""
    line = re.search(r"line \d+ of ", sentence)
    return "" if line and line.group() in finding.sentence else sentence
