"""The verdict: whether a subject does what the accepted algorithms do, and whether it is exact.

Two questions about each family, each answered PASS, FAIL or INCONCLUSIVE (docs/verdict.md):

1. Of its trials, how many pass the family's test, compared with what is required in the same cell?
   This decides.
2. Of its runs in asks of exactness that did not collapse, are 95 % exact?
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..intervals import Share
from ..judging.outcomes import NOT_ASKED, Flag, Outcome
from ..judging.tolerances import TOLERANCE
from ..laws import LawResult
from ..text import decimal, in_list
from ..trials.suites import Part
from .baseline import Baseline
from .decision import Decision, QuestionVerdict, decide
from .digits import Digits
from .hard import HardFailure
from .levels import WHOLE, Levels
from .questions import Asked, exactness_question
from .regrading import Graded, asked_for, tolerance_of
from .stopping import Stopped, Why
from .tally import CellTally

THRESHOLDS = {
    TOLERANCE.exact: " (the paper's threshold)",
    TOLERANCE.single: " (exact in single precision)",
}
"""What those tolerances are called that are asked for without being told."""


@dataclass(frozen=True)
class FamilyVerdict:
    """The two questions about one family; the first decides.

    Attributes
    ----------
    digits : to how many digits its answers are right; None where that cannot be told.
    """

    family: str
    test: QuestionVerdict
    exactness: QuestionVerdict | None
    digits: Digits | None = None


@dataclass(frozen=True)
class Verdict:
    """What is to be said of a subject.

    Attributes
    ----------
    families : of each family of the suite.
    hard : hard failures.
    unanswered_all : whether there was no answer at all: then it could not be run.
    notes : what else a reader should know.
    laws : what came of each law that was tried.
    tolerance : what counts as exact.
    passes_at : the largest d for which the decision at the tolerance 10⁻ᵈ is PASS, 0 where there is
        none; None where that cannot be told.
    stopped : that the run ended before its suite did.
    asked_for : the tightest tolerance that a family's test asks for; None where all ask for
        *identified* only, so that the decision does not depend on the tolerance.
    """

    families: tuple[FamilyVerdict, ...]
    hard: tuple[HardFailure, ...] = ()
    unanswered_all: bool = False
    notes: tuple[str, ...] = ()
    laws: tuple[LawResult, ...] = ()
    tolerance: float = TOLERANCE.exact
    passes_at: int | None = None
    stopped: Stopped | None = None
    asked_for: float | None = TOLERANCE.exact

    @property
    def broken(self) -> tuple[LawResult, ...]:
        """The broken laws that fail the subject."""
        return tuple(law for law in self.laws if law.decides)

    @property
    def decision(self) -> Decision:
        """FAIL if a family, a law or anything hard fails, PASS if every family passes."""
        decisions = {each.test.decision for each in self.families}
        if self.hard or self.broken or Decision.FAIL in decisions:
            return Decision.FAIL
        return Decision.PASS if decisions == {Decision.PASS} else Decision.INCONCLUSIVE

    @property
    def headline(self) -> str:
        """What it comes to in a line: at which tolerance it passes, and how many digits are right.

        "" where digits cannot be told.
        """
        first = self.families[0]
        if not self._has_digits or first.digits is None:
            return ""
        right = f": correct to {first.digits.in_words}" if self.digits else ""
        here = str(self.decision)
        if self.asked_for is not None:
            here += f" at {decimal(self.asked_for)}{THRESHOLDS.get(self.asked_for, '')}"
        if self.decision is Decision.PASS or self.asked_for is None:
            return f"{here}{right}"
        if self.passes_at is None and self.digits:
            of = "" if len(self.families) == 1 else f"{first.family} "
            return f"{here}; {of}{Decision.PASS} at {decimal(tolerance_of(self.digits))}{right}"
        if self.fails_at_every_tolerance:
            return f"{self.decision} at every tolerance"
        if self.passes_at and tolerance_of(self.passes_at) > self.asked_for:
            passes = f"{Decision.PASS} at {decimal(tolerance_of(self.passes_at))}"
            of = "" if self.digits == self.passes_at else f", {first.family}"
            return f"{here}; {passes}{of}{right}"
        return here

    @property
    def fails_at_every_tolerance(self) -> bool:
        """Whether it fails, and no tolerance is known at which it passes."""
        if not self._has_digits or self.decision is not Decision.FAIL or self.asked_for is None:
            return False
        if self.hard or self.broken:
            return True
        first = self.families[0].digits
        if self.passes_at is None:  # only the first family ran on
            return first is not None and first.certain and not first.digits
        return not self.passes_at

    @property
    def _has_digits(self) -> bool:
        """Whether digits can be told: of all families, or of the first, which ran on for them."""
        for_digits = self.stopped is not None and self.stopped.why is Why.DIGITS
        return self.digits is not None and (self.passes_at is not None or for_digits)

    @property
    def digits(self) -> int | None:
        """To how many digits its answers are right: those of its first family, the paper's.

        0 where something fails at every tolerance that is not a share: a law, or a hard failure.
        """
        if self.hard or self.broken:
            return 0
        first = self.families[0].digits
        return None if first is None else first.digits

    @property
    def reason(self) -> str:
        """Why, in a sentence or one for each family that it hangs on."""
        if self.hard:
            return f"Hard failure: {'; '.join(hard.in_words for hard in self.hard)}."
        if self.broken:
            return " ".join([self.laws_in_words, *self._failing_families()])
        if len(self.families) == 1:
            return self.families[0].test.reason
        deciding = [each.test for each in self.families if each.test.decision is self.decision]
        if self.decision is Decision.PASS:
            lawful = " No law that decides is broken." if self.laws else ""
            return f"All families pass: {in_list(each.family for each in deciding)}.{lawful}"
        return " ".join(f"{each.family}: {each.reason}" for each in deciding)

    @property
    def laws_in_words(self) -> str:
        """Which laws are broken that fail the subject."""
        if not self.broken:
            return ""
        first, *others = self.broken
        more = f" (and {in_list(law.law for law in others)})" if others else ""
        return f"It breaks the law '{first.law}'{more}: {first.sentence}."

    def _failing_families(self) -> Iterator[str]:
        for each in self.families:
            if each.test.decision is Decision.FAIL:
                yield f"{each.family}: {each.test.reason}"

    @property
    def exact(self) -> Decision | None:
        """What the second question came to over all families; None where it was not asked."""
        decisions = {each.exactness.decision for each in self.families if each.exactness}
        if not decisions:
            return None
        if Decision.FAIL in decisions:
            return Decision.FAIL
        return Decision.PASS if decisions == {Decision.PASS} else Decision.INCONCLUSIVE

    @property
    def share(self) -> Share:
        """How many trials of all families passed, of those that count."""
        return sum((each.test.pool.share for each in self.families), Share(0, 0))

    def of(self, family: str) -> FamilyVerdict:
        """Return the verdict on one family."""
        return next(each for each in self.families if each.family == family)


def verdict(
    cells: Sequence[CellTally],
    parts: Sequence[Part],
    baselines: Mapping[str, Baseline],
    hard: Sequence[HardFailure] = (),
    *,
    varies: bool = False,
    left: Mapping[str, int] | None = None,
    graded: Graded | None = None,
    tolerance: float = TOLERANCE.exact,
    levels: Levels = WHOLE,
) -> Verdict:
    """Return the verdict on outcomes.

    Parameters
    ----------
    parts : what was asked of each family.
    hard : hard failures.
    varies : whether it gave two answers to one ask, having been given nothing to fix them.
    left : how many trials of each family of the suite have not been run, if there are such.
    graded : the defects that stages are graded by; without them no digits can be told.
    tolerance : what counts as exact.
    levels : of the two errors.
    """
    letters = "".join(text for cell in cells for text in cell.letters.values())
    silent = {o.letter for o in Outcome if o.unanswered} | {Outcome.ERROR.letter, NOT_ASKED}
    whole = Asked(cells, parts, baselines, graded, levels)
    due = Counter(left or {})
    if due.total() and levels.fail_early:  # the exact test is for the end, e-values for any time
        levels = replace(levels, fail=0.0)
    asked = Asked(cells, parts, baselines, graded, levels, due)
    asked_of_each = [asked_for(ask, tolerance) for part in parts for ask in part.test]
    tests = asked.tests(tolerance)
    second = [q for part in parts if (q := exactness_question(part, asked.cells(part, tolerance)))]
    open_ = [replace(question, left=due[question.family]) for question in second]
    exactness = {each.family: each for each in decide(open_)}
    families = tuple(
        FamilyVerdict(
            test.family,
            _unfinished(test, due[test.family]),
            _unfinished(exactness[test.family], due[test.family])
            if test.family in exactness
            else None,
            _so_far(asked.digits(part)) if due[part.family] else whole.digits(part),
        )
        for part, test in zip(parts, tests, strict=True)
    )
    return Verdict(
        families,
        tuple(hard),
        unanswered_all=bool(letters) and set(letters) <= silent,
        notes=tuple(_notes(cells, parts, families, varies=varies, left=due.total())),
        tolerance=tolerance,
        passes_at=None if due.total() else asked.passes_at(hard=bool(hard)),
        asked_for=min(filter(None, asked_of_each), default=None),
    )


def _so_far(digits: Digits | None) -> Digits | None:
    """Return the digits of a family of which trials are left."""
    return replace(digits, certain=False) if digits else digits


def _notes(
    cells: Sequence[CellTally],
    parts: Sequence[Part],
    families: Sequence[FamilyVerdict],
    *,
    varies: bool,
    left: int,
) -> Iterator[str]:
    """Say what else a reader should know."""
    if left:
        run = sum(len(cell.seeds) for cell in cells)
        yield f"Of {run + left} trials of the suite, {run} have been run."
    if fixed := [cell.cell.name for cell in cells if cell.one_answer]:
        yield (
            "Its answers do not depend on the start or the seed where the case is the same "
            f"({', '.join(fixed)}): each of these cells counts as one trial."
        )
    if varies:
        yield Flag.VARIES.explanation
    for part, each in zip(parts, families, strict=True):
        unknown = [c.cell.name for c in each.test.cells if c.cell and math.isnan(c.required)]
        relative = part.room.required is None
        if relative and unknown and len(unknown) < len(each.test.cells):
            yield (
                f"The baseline does not have {', '.join(unknown)}, which "
                f"{'does' if len(unknown) == 1 else 'do'} not count for the verdict."
            )


def _unfinished(question: QuestionVerdict, left: int) -> QuestionVerdict:
    """Take back a PASS where not all of the family's trials were run: what is left might fail."""
    if not left or question.decision is not Decision.PASS:
        return question
    were = "1 of its trials was" if left == 1 else f"{left} of its trials were"
    reason = f"{were} not run, and no PASS is given without them."
    return replace(question, decision=Decision.INCONCLUSIVE, reason=reason, further=left)
