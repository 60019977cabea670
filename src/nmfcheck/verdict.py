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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from .baseline import Baseline, shipped
from .intervals import Share, further_trials, holm
from .outcomes import NOT_ASKED, Flag, Outcome
from .store import Store, StoredSubject
from .tally import CellTally, tally
from .trials import LADDER, Rung, Trial

MARGIN = 0.05
"""So far below what is required a share may be."""

FAMILY = 0.01
"""The probability that a subject at the margin everywhere fails at all."""

EXACT_SHARE = 0.95
"""Required of the runs of question two."""


NOTHING = Share(0, 0)


class Decision(StrEnum):
    """What a question came to."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True)
class CellVerdict:
    """A question about the trials of one size and kind of entries, or of several together.

    Attributes
    ----------
    n, entries : the cell; `entries` is "all" for both kinds together.
    share : passed, of those that count.
    required : the share that is asked for, before the margin; NaN where there is none.
    of : the algorithm that has it.
    unanswered : trials that are left open.
    exactly : those that passed with the grade exact throughout; for question one.
    p_value : probability of so few passes for a subject at `required − MARGIN`.
    decision : FAIL if Holm's method rejects that; PASS if the lower bound of the share is above;
        None where the cell does not count.
    """

    n: int
    entries: str
    share: Share
    required: float = math.nan
    of: str = ""
    unanswered: int = 0
    exactly: Share = NOTHING
    p_value: float = 1.0
    decision: Decision | None = None

    @property
    def bound(self) -> float:
        """The share that must not be missed."""
        return max(self.required - MARGIN, 0.0)


@dataclass(frozen=True)
class HardFailure:
    """Something of which once is enough: how often it happened, and the first trial."""

    kind: str
    explanation: str
    count: int
    trial: str


@dataclass(frozen=True)
class QuestionVerdict:
    """The answer to one question.

    Attributes
    ----------
    reason : in a sentence.
    cells : of each size and kind of entries.
    sizes : of each size.
    pool : of all cells that count.
    further : how many more trials would settle it, at the share seen; None where none would.
    """

    decision: Decision
    reason: str
    cells: tuple[CellVerdict, ...]
    sizes: tuple[CellVerdict, ...]
    pool: CellVerdict
    further: int | None = None


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
        notes=tuple(_notes(cells, first, varies=varies)),
    )


def _notes(cells: Sequence[CellTally], first: QuestionVerdict, *, varies: bool) -> Iterator[str]:
    """Say what else a reader should know."""
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
        "the paper's test was not run: it is ε = 0, then 1e-3"
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


def decide(
    cells: Sequence[CellVerdict], missing: str = "nothing was asked", did: str = "trials passed"
) -> QuestionVerdict:
    """Answer a question from the shares of the cells and what is required of them.

    Parameters
    ----------
    missing : the reason where no cell has a requirement.
    did : what a share counts, in words.
    """
    counting = [cell for cell in cells if not math.isnan(cell.required) and cell.share.whole]
    pool = pooled(counting, 0)
    p_values = [cell.share.p_value(cell.bound) for cell in (*counting, pool)]
    rejected = holm(p_values, FAMILY)
    decided = {
        (cell.n, cell.entries): replace(cell, p_value=p, decision=_alone(cell, failed=failed))
        for cell, p, failed in zip((*counting, pool), p_values, rejected, strict=True)
    }
    pool = decided[pool.n, pool.entries]
    cells = tuple(decided.get((cell.n, cell.entries), cell) for cell in cells)
    sizes = tuple(_size(n, cells) for n in dict.fromkeys(cell.n for cell in cells))
    unanswered = sum(cell.unanswered for cell in cells)
    failing = [cell for cell in (*cells, pool) if cell.decision is Decision.FAIL]
    further = None
    if failing:
        decision, reason = Decision.FAIL, _why_failed(failing, pool, did)
    elif cells and not any(cell.share.whole or cell.unanswered for cell in cells):
        decision, reason = Decision.INCONCLUSIVE, f"There are no {did.split(' ', 1)[0]} to count."
    elif not counting and not unanswered:
        decision, reason = Decision.INCONCLUSIVE, f"{missing[0].upper()}{missing[1:]}."
    elif unanswered:
        told = f"{unanswered} {'trial was' if unanswered == 1 else 'trials were'} left unanswered"
        decision, reason = Decision.INCONCLUSIVE, f"{told}, and no PASS is given without them."
    elif pool.decision is Decision.PASS:
        decision = Decision.PASS
        reason = (
            f"{_counted(pool, did)}, at least {_percent(pool.share.lower)} with 95 % confidence"
        )
        reason += f"; {_bound(pool)} are required."
    else:
        decision = Decision.INCONCLUSIVE
        further, reason = _undecided(pool, len(counting), did)
    return QuestionVerdict(decision, reason, cells, sizes, pool, further)


def pooled(cells: Iterable[CellVerdict], n: int) -> CellVerdict:
    """Return cells as one; what is required of it is their mean, weighted by trials.

    The sum of passes has a smaller spread than a binomial with the mean share has (Hoeffding
    1956), so that the binomial test of the pool errs on the safe side.
    """
    listed = [cell for cell in cells if not math.isnan(cell.required)]
    share = sum((cell.share for cell in listed), NOTHING)
    weights = sum(cell.share.whole * cell.required for cell in listed)
    required = weights / share.whole if share.whole else math.nan
    of = {cell.of for cell in listed}
    unanswered = sum(cell.unanswered for cell in listed)
    exactly = sum((cell.exactly for cell in listed), NOTHING)
    name = of.pop() if len(of) == 1 else ""
    return CellVerdict(n, "all", share, required, name, unanswered, exactly)


def _size(n: int, cells: Sequence[CellVerdict]) -> CellVerdict:
    """Return the cells of one size as one; it fails if one of them does."""
    members = [cell for cell in cells if cell.n == n]
    size = pooled(members, n)
    if not size.share.whole:
        whole = sum((cell.share for cell in members), NOTHING)
        unanswered = sum(cell.unanswered for cell in members)
        return replace(size, share=whole, unanswered=unanswered)
    failed = any(cell.decision is Decision.FAIL for cell in members)
    p_value = size.share.p_value(size.bound)
    return replace(size, p_value=p_value, decision=_alone(size, failed=failed))


def _alone(cell: CellVerdict, *, failed: bool) -> Decision:
    if failed:
        return Decision.FAIL
    # Where next to nothing is required, passing nothing is no merit.
    enough = not cell.unanswered and cell.share.lower >= cell.bound > 0
    return Decision.PASS if enough else Decision.INCONCLUSIVE


def _why_failed(failing: Sequence[CellVerdict], pool: CellVerdict, did: str) -> str:
    worst = min(failing, key=lambda cell: (cell.p_value, cell.share.value))
    if worst.entries == pool.entries:
        where = "Of all sizes together, "
    else:
        where = f"At n = {worst.n}, entries {worst.entries}, "
    others = len([cell for cell in failing if cell not in (worst, pool)])
    more = f" {others} more {'cell fails' if others == 1 else 'cells fail'}, too." if others else ""
    chance = "below 1e-12" if worst.p_value < 1e-12 else f"{worst.p_value:.1g}"
    return (
        f"{where}{_counted(worst, did)}, and {_bound(worst)} are "
        f"required; a subject at that bound does so badly with probability {chance}.{more}"
    )


def _undecided(pool: CellVerdict, cells: int, did: str) -> tuple[int | None, str]:
    """Return how many trials would settle it, and the reason why it is not."""
    if pool.share.value >= pool.bound:
        towards = "a PASS"
        further = further_trials(pool.share, lambda share: share.lower >= pool.bound)
    else:
        towards = "a FAIL"
        level = FAMILY / (cells + 1)
        further = further_trials(pool.share, lambda share: share.p_value(pool.bound) <= level)
    low, high = pool.share.interval
    told = f"{_counted(pool, did)}, 95 % interval {_percent(low)} to {_percent(high)}; "
    told += f"{_bound(pool)} are required. "
    if further is None:
        return None, told + "The share is so near to that that more trials would hardly settle it."
    each = math.ceil(further / cells)
    return further, told + (
        f"If the share stays as it is, about {further} more trials ({each} more per cell) "
        f"would give {towards}."
    )


def _counted(cell: CellVerdict, did: str) -> str:
    return f"{cell.share.part} of {cell.share.whole} {did} ({_percent(cell.share.value)})"


def _bound(cell: CellVerdict) -> str:
    points = f"{100 * MARGIN:g}"
    return f"{_percent(cell.required)} less {points} points"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


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
