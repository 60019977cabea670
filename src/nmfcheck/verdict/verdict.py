"""The verdict: whether a subject does what the accepted algorithms do, and whether it is exact.

Two questions about each family, each answered PASS, FAIL or INCONCLUSIVE (docs/verdict.md):

1. Of its trials, how many pass the family's test, compared with what is required in the same cell?
   This decides.
2. Of its runs in asks of exactness that did not collapse, are 95 % exact?
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..families import Ask, Trial
from ..families import Question as Asks
from ..intervals import Share
from ..judging.outcomes import NOT_ASKED, Flag, Outcome
from ..laws import LawResult, State
from ..store import Results
from ..text import in_list
from ..trials.suites import Part, Suite
from .baseline import Baseline, Baselines, empty, required_of, shipped_for
from .decision import CellVerdict, Decision, Question, QuestionVerdict, decide
from .tally import CellTally, tally


@dataclass(frozen=True)
class HardFailure:
    """Something of which once is enough: how often it happened, and the first trial."""

    kind: str
    explanation: str
    count: int
    trial: str

    @property
    def in_words(self) -> str:
        """What happened, and how often."""
        times = "once" if self.count == 1 else f"{self.count} times"
        return f"{self.explanation.rstrip('.')} ({times})"


@dataclass(frozen=True)
class FamilyVerdict:
    """The two questions about one family; the first decides."""

    family: str
    test: QuestionVerdict
    exactness: QuestionVerdict | None


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
    """

    families: tuple[FamilyVerdict, ...]
    hard: tuple[HardFailure, ...] = ()
    unanswered_all: bool = False
    notes: tuple[str, ...] = ()
    laws: tuple[LawResult, ...] = ()

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
        found = {each.exactness.decision for each in self.families if each.exactness}
        if not found:
            return None
        if Decision.FAIL in found:
            return Decision.FAIL
        return Decision.PASS if found == {Decision.PASS} else Decision.INCONCLUSIVE

    @property
    def share(self) -> Share:
        """How many trials of all families passed, of those that count."""
        return sum((each.test.pool.share for each in self.families), Share(0, 0))

    def of(self, family: str) -> FamilyVerdict:
        """Return the verdict on one family."""
        return next(each for each in self.families if each.family == family)


def verdict_of(
    results: Results,
    suite: Suite,
    baselines: Baselines | None = None,
    cells: Sequence[CellTally] | None = None,
) -> Verdict:
    """Return the verdict on a subject whose results are in a store.

    Parameters
    ----------
    cells : its outcomes, where they have been read already.
    """
    known = tally(results, suite) if cells is None else cells
    marked = marks(results, suite)
    found = verdict(
        known,
        suite.parts,
        shipped_for(suite) if baselines is None else baselines,
        [hard for hard in marked if hard.kind != Flag.VARIES],
        varies=any(mark.kind == Flag.VARIES for mark in marked),
        left=suite.trials - sum(len(cell.seeds) for cell in known),
    )
    laws = tuple(results.laws())
    return replace(found, laws=laws, notes=(*found.notes, *_untried(laws)))


def _untried(laws: Sequence[LawResult]) -> Iterator[str]:
    """Say which laws were not tried, and why."""
    reasons: dict[str, list[str]] = {}
    for law in laws:
        if law.state is State.NOT_TRIED:
            reasons.setdefault(law.sentence, []).append(law.law)
    for reason, names in reasons.items():
        yield f"Not tried: {in_list(names)} ({reason})."


def verdict(
    cells: Sequence[CellTally],
    parts: Sequence[Part],
    baselines: Mapping[str, Baseline],
    hard: Sequence[HardFailure] = (),
    *,
    varies: bool = False,
    left: int = 0,
) -> Verdict:
    """Return the verdict on outcomes.

    Parameters
    ----------
    parts : what was asked of each family.
    hard : hard failures.
    varies : whether it gave two answers to one ask, having been given nothing to fix them.
    left : how many trials of the suite have not been run.
    """
    counting = [cell.first_only() if cell.one_answer else cell for cell in cells]
    letters = "".join(text for cell in cells for text in cell.letters.values())
    silent = {o.letter for o in Outcome if o.unanswered} | {Outcome.ERROR.letter, NOT_ASKED}
    of_family = {
        part.family: [c for c in counting if c.cell.family == part.family] for part in parts
    }
    tests = decide(
        [
            _test(part, of_family[part.family], baselines.get(part.family) or empty(part.room))
            for part in parts
        ]
    )
    second = [q for part in parts if (q := _exactness(part, of_family[part.family]))]
    exactness = {each.family: each for each in decide(second)}
    found = tuple(
        FamilyVerdict(
            test.family,
            _unfinished(test, left),
            _unfinished(exactness[test.family], left) if test.family in exactness else None,
        )
        for test in tests
    )
    return Verdict(
        found,
        tuple(hard),
        unanswered_all=bool(letters) and set(letters) <= silent,
        notes=tuple(_notes(cells, parts, found, varies=varies, left=left)),
    )


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
    """Take back a PASS where not all of the suite was run: what is left might fail."""
    if not left or question.decision is not Decision.PASS:
        return question
    reason = f"{left} trials of the suite were not run, and no PASS is given without them."
    return replace(question, decision=Decision.INCONCLUSIVE, reason=reason)


def _test(part: Part, cells: Sequence[CellTally], baseline: Baseline) -> Question:
    """Return the first question about a family."""
    room = part.room
    comparable = part.test == tuple(ask for ask in room.asks if ask.question is Asks.TEST)
    if baseline.version != part.version:
        baseline = baseline.without()
    asked = []
    for cell in cells:
        passed = cell.climbed(part.test)
        share = Share(passed.count(True), len(passed) - passed.count(None))
        required, of = math.nan, ""
        if comparable and (needed := required_of(part, cell.cell, baseline)):
            required, of = needed.share, needed.of
        exactly = cell.share(part.test, exactly=True)
        open_ = passed.count(None)
        asked.append(CellVerdict(cell.cell, share, required, of, open_, exactly, room.margin))
    names = ", then ".join(ask.title for ask in room.asks if ask.question is Asks.TEST)
    missing = (
        "nothing has been run"
        if not cells
        else f"the test was not run: it is {names}"
        if not comparable
        else "nothing is required of the cells that were run"
        if room.required is not None
        else f"there is no baseline of version {part.version} of {part.family}"
        if not baseline.algorithms
        else "no cell that was run is in the baseline"
    )
    return Question(part.family, asked, room.test, missing)


def _exactness(part: Part, cells: Sequence[CellTally]) -> Question | None:
    """Return the second question about a family, if it has one."""
    room = part.room
    own = [ask for ask in room.asks if ask.question is Asks.EXACTNESS]
    if not own:
        return None
    asks = [ask for ask in own if ask in part.asks]
    asked = []
    for cell in cells:
        exact = [ask for ask in asks if ask in part.asked(cell.cell)]
        if not exact:
            continue
        share = sum((cell.uncollapsed(ask) for ask in exact), Share(0, 0))
        silent = sum(_left_open(cell, ask) for ask in exact)
        asked.append(CellVerdict(cell.cell, share, room.exact_share, "", silent))
    missing = f"nothing was run at {', '.join(ask.title for ask in own)}"
    return Question(part.family, asked, room.exactness, missing)


def _left_open(cell: CellTally, ask: Ask) -> int:
    return sum(number for outcome, number in cell.counts(ask).items() if outcome.leaves_open)


def marks(results: Results, suite: Suite) -> list[HardFailure]:
    """Return what was invalid or flagged: how often, and where first. All but `varies` is hard.

    What was only measured besides the suite does not count.
    """
    kinds: dict[str, str] = {Outcome.INVALID: Outcome.INVALID.explanation}
    kinds |= {flag: flag.explanation for flag in Flag}
    own = {cell.id for cell in suite.cells}
    flagged = [(row, flags) for row, flags in results.flagged() if row.cell in own]
    found = []
    for kind, explanation in kinds.items():
        marked = [row for row, flags in flagged if kind == row.outcome or kind in flags]
        if marked:
            first = marked[0]
            family, _, name = first.cell.partition("/")
            room = suite.part(family).room
            trial = Trial(room.cell(name), first.draw, first.seed, room.asks)
            found.append(HardFailure(str(kind), explanation, len(marked), trial.id))
    return found
