"""The verdict on a subject whose results are in a store, wherever its run ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..judging.outcomes import Flag
from ..judging.tolerances import TOLERANCE
from ..laws import LawResult, State
from ..store import Results
from ..text import in_list
from ..trials.suites import Suite
from .baseline import Baselines, shipped_for
from .decision import Decision, in_words
from .hard import marks
from .levels import EARLY_SINCE, WHOLE
from .levels import levels as levels_of
from .regrading import MOST_DIGITS, Graded, tolerance_of
from .stopping import Certainty, Stopped, Why
from .tally import CellTally, tally
from .verdict import FamilyVerdict, Verdict, verdict


def verdict_of(
    results: Results,
    suite: Suite,
    baselines: Baselines | None = None,
    cells: Sequence[CellTally] | None = None,
    *,
    tolerance: float = TOLERANCE.exact,
    stopped: Stopped | None = None,
    extensions: int = 0,
) -> Verdict:
    """Return the verdict on a subject whose results are in a store.

    Parameters
    ----------
    cells : its outcomes, where they have been read already.
    tolerance : what counts as exact.
    stopped : that its run ended before the suite did.
    extensions : how often trials were added to the suite.
    """
    spent = levels_of(extensions) if suite.version >= EARLY_SINCE else WHOLE
    baselines = shipped_for(suite) if baselines is None else baselines
    known = tally(results, suite) if cells is None else cells
    graded = Graded.read(results, suite)
    marked = marks(results, suite)
    decided = verdict(
        known,
        suite.parts,
        baselines,
        [hard for hard in marked if hard.kind != Flag.VARIES],
        varies=any(mark.kind == Flag.VARIES for mark in marked),
        left=_left(suite, known),
        graded=graded,
        tolerance=tolerance,
        levels=spent,
    )
    decided = _with_laws(decided, results.laws())
    if stopped is None:
        return decided
    certainty = Certainty(suite, baselines, spent, tolerance)
    decided = _of_the_first(decided, stopped.why, certainty, known, graded)
    ended = _ended_early(decided, stopped, certainty.passing_at(known, graded, stopped.look))
    return _with_laws(ended, ended.laws)


def _left(suite: Suite, cells: Sequence[CellTally]) -> Counter[str]:
    """Return how many trials of each family have not been run."""
    left = Counter({part.family: part.trials for part in suite.parts})
    for cell in cells:
        left[cell.cell.family] -= len(cell.seeds)
    return +left  # what one family has too many of does not stand for what another lacks


def _of_the_first(
    decided: Verdict, why: Why, certainty: Certainty, cells: Sequence[CellTally], graded: Graded
) -> Verdict:
    """Say what is certain of the first family, which may have run on for its digits."""
    first, *others = decided.families
    ran_on = why is Why.DIGITS
    if ran_on and not decided.hard and certainty.first_passes(cells, graded):
        first = _passed(first)
    if first.digits is not None and certainty.has_its_digits(cells, graded):
        first = replace(first, digits=replace(first.digits, certain=first.digits.is_settled))
    return replace(decided, families=(first, *others))


def _with_laws(decided: Verdict, laws: Sequence[LawResult]) -> Verdict:
    """Return a verdict with what came of the laws: one that is broken fails at every tolerance."""
    notes = tuple(note for note in _untried(laws) if note not in decided.notes)
    whole = replace(decided, laws=tuple(laws), notes=(*decided.notes, *notes))
    return replace(whole, passes_at=0) if whole.broken and whole.passes_at else whole


def _untried(laws: Sequence[LawResult]) -> Iterator[str]:
    """Say which laws were not tried, and why."""
    reasons: dict[str, list[str]] = {}
    for law in laws:
        if law.state is State.NOT_TRIED:
            reasons.setdefault(law.sentence, []).append(law.law)
    for reason, names in reasons.items():
        yield f"Not tried: {in_list(names)} ({reason})."


def _ended_early(decided: Verdict, stopped: Stopped, passing: Sequence[float]) -> Verdict:
    """Return the verdict on a run that ended before its suite did.

    Parameters
    ----------
    passing : the tolerances at which everything passes with what was looked at.
    """
    if decided.tolerance in passing and not decided.hard:
        decided = replace(decided, families=tuple(map(_passed, decided.families)))
    digits = [d for d in range(1, MOST_DIGITS + 1) if tolerance_of(d) in passing]
    known = stopped.look or stopped.why is Why.FAILS
    ended = f"The run ended after {stopped.stages} stages: {stopped.why.explanation}."
    return replace(
        decided,
        notes=(*decided.notes, ended),
        stopped=stopped,
        passes_at=(0 if decided.hard else max(digits, default=0)) if known else None,
    )


def _passed(family: FamilyVerdict) -> FamilyVerdict:
    """Return a family that passed with some of its trials, where the others were not needed.

    What fails stays so, and what was left unanswered rules out a PASS.
    """
    test = family.test
    if test.decision is not Decision.INCONCLUSIVE or test.pool.unanswered:
        return family
    reason = f"{in_words(test)}; that is certain with these trials."
    return replace(family, test=replace(test, decision=Decision.PASS, reason=reason, further=None))
