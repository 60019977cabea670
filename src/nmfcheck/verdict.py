"""The verdict: whether a subject does what the accepted algorithms do, and whether it is exact.

Two questions, each answered PASS, FAIL or INCONCLUSIVE (docs/verdict.md):

1. Of its trials, how many pass the paper's test (ε = 0 exact, then ε = 1e-3 first-order or
   better), compared with the lowest share of five accepted algorithms on the same cell? This
   decides.
2. Of its runs at ε = 0.25 that did not collapse, are 95 % exact? By Theorem 2, they are if they
   converge.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .baseline import Baseline, shipped
from .decision import CellVerdict, Decision, QuestionVerdict, decide
from .intervals import Share
from .outcomes import NOT_ASKED, Flag, Outcome
from .store import Store, StoredSubject
from .tally import CellTally, tally
from .trials import LADDER, Rung, Trial

EXACT_SHARE = 0.95
"""Required of the runs of question two."""


@dataclass(frozen=True)
class HardFailure:
    """Something of which once is enough: how often it happened, and the first trial."""

    kind: str
    explanation: str
    count: int
    trial: str


@dataclass(frozen=True)
class Verdict:
    """What is to be said of a subject.

    Attributes
    ----------
    paper, exactness : the two questions; the first decides.
    hard : hard failures.
    unanswered_all : whether there was no answer at all: then it could not be run.
    notes : what else a reader should know.
    """

    paper: QuestionVerdict
    exactness: QuestionVerdict
    hard: tuple[HardFailure, ...] = ()
    unanswered_all: bool = False
    notes: tuple[str, ...] = ()

    @property
    def decision(self) -> Decision:
        """The verdict."""
        return self.paper.decision


def verdict_of(
    store: Store,
    subject: StoredSubject,
    baseline: Baseline | None = None,
    cells: Sequence[CellTally] | None = None,
) -> Verdict:
    """Return the verdict on a subject whose results are in a store.

    Parameters
    ----------
    cells : its outcomes, where they have been read already.
    """
    known = tally(store, subject) if cells is None else cells
    marked, suite = marks(store, subject), store.suite
    references = baseline or shipped()
    if references.suite_version != suite.version:
        references = replace(references, algorithms={})
    return verdict(
        known,
        suite.ladder,
        references,
        [hard for hard in marked if hard.kind != Flag.VARIES],
        varies=any(mark.kind == Flag.VARIES for mark in marked),
        left=len(suite.cells()) * suite.trials - sum(len(cell.seeds) for cell in known),
    )


def verdict(
    cells: Sequence[CellTally],
    ladder: Sequence[Rung],
    baseline: Baseline,
    hard: Sequence[HardFailure] = (),
    *,
    varies: bool = False,
    left: int = 0,
) -> Verdict:
    """Return the verdict on outcomes.

    Parameters
    ----------
    ladder : the rungs that were climbed.
    hard : hard failures.
    varies : whether it gave two answers to one question, having been given nothing to fix them.
    left : how many trials of the suite have not been run.
    """
    counting = [cell.first_only() if cell.one_answer else cell for cell in cells]
    letters = "".join(text for cell in cells for text in cell.letters.values())
    silent = {o.letter for o in Outcome if o.unanswered} | {Outcome.ERROR.letter, NOT_ASKED}
    first = _first(counting, ladder, baseline, hard)
    second = _second(counting, ladder)
    return Verdict(
        _unfinished(first, left),
        _unfinished(second, left),
        tuple(hard),
        unanswered_all=bool(letters) and set(letters) <= silent,
        notes=tuple(_notes(cells, first, varies=varies, left=left)),
    )


def _notes(
    cells: Sequence[CellTally], first: QuestionVerdict, *, varies: bool, left: int
) -> Iterator[str]:
    """Say what else a reader should know."""
    if left:
        there = sum(len(cell.seeds) for cell in cells)
        yield f"Of {there + left} trials of the suite, {there} have been run."
    if fixed := [str(cell.n) for cell in cells if cell.one_answer]:
        yield (
            "Its answers do not depend on the start or the seed where the case is the same "
            f"(entries ones, n = {', '.join(fixed)}): each of these cells counts as one trial."
        )
    if varies:
        yield Flag.VARIES.explanation
    unknown = {str(cell.n) for cell in first.cells if math.isnan(cell.required)}
    if unknown and len(unknown) < len({cell.n for cell in first.cells}):
        sizes = ", ".join(sorted(unknown, key=int))
        yield f"The baseline does not have n = {sizes}, which does not count for the verdict."


def _unfinished(question: QuestionVerdict, left: int) -> QuestionVerdict:
    """Take back a PASS where not all of the suite was run: what is left might fail."""
    if not left or question.decision is not Decision.PASS:
        return question
    told = f"{left} trials of the suite were not run, and no PASS is given without them."
    return replace(question, decision=Decision.INCONCLUSIVE, reason=told)


def _first(
    cells: Sequence[CellTally],
    ladder: Sequence[Rung],
    baseline: Baseline,
    hard: Sequence[HardFailure],
) -> QuestionVerdict:
    """Answer question one."""
    test = [rung for rung in ladder if rung.question == 1]
    comparable = test == [rung for rung in LADDER if rung.question == 1]
    asked = []
    for cell in cells:
        passed = cell.climbed(test)
        share = Share(passed.count(True), len(passed) - passed.count(None))
        required = baseline.required(cell.n, cell.entries, test) if comparable else None
        asked.append(
            CellVerdict(
                cell.n,
                cell.entries,
                share,
                required.share if required else math.nan,
                required.of if required else "",
                passed.count(None),
                cell.share(test, exactly=True),
            )
        )
    missing = (
        "nothing has been run"
        if not cells
        else "the paper's test was not run: it is ε = 0, then 1e-3"
        if not comparable
        else "the baseline is of another version of the suites"
        if not baseline.algorithms
        else "no size that was run is in the baseline"
    )
    found = decide(asked, missing)
    if not hard:
        return found
    told = "; ".join(f"{h.explanation.rstrip('.')} ({_times(h.count)})" for h in hard)
    return replace(found, decision=Decision.FAIL, reason=f"Hard failure: {told}.", further=None)


def _second(cells: Sequence[CellTally], ladder: Sequence[Rung]) -> QuestionVerdict:
    """Answer question two."""
    rung = next(rung for rung in LADDER if rung.question == 2)
    asked = []
    for cell in cells if rung in ladder else ():
        letters = cell.letters[rung.eps]
        silent = sum(letters.count(outcome.letter) for outcome in Outcome if outcome.leaves_open)
        share = cell.uncollapsed(rung)
        asked.append(CellVerdict(cell.n, cell.entries, share, EXACT_SHARE, "", silent))
    return decide(asked, "nothing was run at ε = 0.25", "runs that did not collapse are exact")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def marks(store: Store, subject: StoredSubject) -> list[HardFailure]:
    """Return what was invalid or flagged: how often, and where first. All but `varies` is hard."""
    rows = store.select(
        subject, "n, entries, seed, outcome, flags", "flags != '' OR outcome = ?", "invalid"
    )
    kinds: dict[str, str] = {Outcome.INVALID: Outcome.INVALID.explanation}
    kinds |= {flag: flag.explanation for flag in Flag}
    found = []
    for kind, explanation in kinds.items():
        marked = [row for row in rows if kind == row[3] or kind in row[4].split(",")]
        if marked:
            trial = Trial(*marked[0][:3]).id
            found.append(HardFailure(str(kind), explanation, len(marked), trial))
    return found
