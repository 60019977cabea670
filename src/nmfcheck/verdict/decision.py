"""The three-way logic: from the shares of cells to PASS, FAIL or INCONCLUSIVE (docs/verdict.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ..families import Cell, Family
from ..intervals import Share, further_trials, holm
from ..text import percent
from .levels import WHOLE, Levels

MARGIN = Family.margin
"""So far below what is required a share may be, unless a family says otherwise."""

NOTHING = Share(0, 0)


class Decision(StrEnum):
    """What a question came to."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True)
class CellVerdict:
    """A question about the trials of one cell, or of all cells of a family together.

    Attributes
    ----------
    cell : None for the pool of a family's cells.
    share : passed, of those that count.
    required : the share that is asked for, before the margin; NaN where there is none.
    margin : so far below what is required the share may be; 0 where every trial has to pass.
    of : the algorithm that has it; "" where it is fixed or a mean.
    unanswered : trials that are left open.
    exactly : those that passed with the grade exact throughout; for the test.
    p_value : probability of so few passes for a subject at the bar.
    decision : FAIL if Holm's method rejects that; PASS if the lower bound of the share is at the
        bar or above, or if all passed where all have to; None where the cell does not count.
    """

    cell: Cell | None
    share: Share
    required: float = math.nan
    of: str = ""
    unanswered: int = 0
    exactly: Share = NOTHING
    margin: float = MARGIN
    p_value: float = 1.0
    decision: Decision | None = None

    @property
    def counts(self) -> bool:
        """Whether there is a requirement, and a trial that it can be held against."""
        return not math.isnan(self.required) and self.share.whole > 0

    @property
    def bar(self) -> float:
        """The share that must not be missed."""
        return max(self.required - self.margin, 0.0)


@dataclass(frozen=True)
class Question:
    """A question about a family, before it is decided.

    Attributes
    ----------
    cells : what came of each of its cells, and what is required there.
    did : what a share counts, in words.
    missing : the reason where no cell has a requirement.
    left : how many trials of the suite it still lacks.
    """

    family: str
    cells: Sequence[CellVerdict]
    did: str = "trials passed"
    missing: str = "nothing was asked"
    left: int = 0


@dataclass(frozen=True)
class QuestionVerdict:
    """The answer to one question about a family.

    Attributes
    ----------
    reason : in a sentence.
    cells : of each cell.
    pool : of all cells that count.
    further : how many more trials would settle it, at the share seen; None where none would.
    did : what a share counts, in words.
    """

    family: str
    decision: Decision
    reason: str
    cells: tuple[CellVerdict, ...]
    pool: CellVerdict
    further: int | None = None
    did: str = "trials passed"


def decide(questions: Sequence[Question], levels: Levels = WHOLE) -> list[QuestionVerdict]:
    """Answer a question about several families, from the shares of their cells.

    A family fails if Holm's method, over all cells and the pools of all families, rejects one of
    its cells or its pool. It passes if its own pool reaches its bar: all families have to, so there
    is nothing to correct for.

    Parameters
    ----------
    levels : of the two errors.
    """
    groups = [[cell for cell in question.cells if cell.counts] for question in questions]
    pools = [pooled(group) for group in groups]
    hypotheses = [
        cell for group, pool in zip(groups, pools, strict=True) for cell in (*group, pool)
    ]
    p_values = [cell.share.p_value(cell.bar) for cell in hypotheses]
    rejected = holm(p_values, levels.fail)
    decided = iter(
        [
            replace(cell, p_value=p, decision=_alone(cell, levels.passing, failed=failed))
            for cell, p, failed in zip(hypotheses, p_values, rejected, strict=True)
        ]
    )
    tests = len(hypotheses)
    verdicts = []
    for question, group in zip(questions, groups, strict=True):
        counting = {cell.cell: next(decided) for cell in group}
        pool = next(decided)
        cells = tuple(counting.get(cell.cell, cell) for cell in question.cells)
        verdicts.append(_answer(question, cells, pool, len(group), tests, levels))
    return verdicts


def _answer(
    question: Question,
    cells: tuple[CellVerdict, ...],
    pool: CellVerdict,
    counting: int,
    tests: int,
    levels: Levels,
) -> QuestionVerdict:
    unanswered = sum(cell.unanswered for cell in cells if not math.isnan(cell.required))
    failing = [cell for cell in (*cells, pool) if cell.decision is Decision.FAIL]
    did, further = question.did, None
    decision = Decision.INCONCLUSIVE
    if failing:
        decision, reason = Decision.FAIL, _why_failed(failing, pool, did)
    elif cells and not any(cell.share.whole or cell.unanswered for cell in cells):
        reason = f"There are no {did.split(' ', 1)[0]} to count."
    elif not counting and not unanswered:
        reason = f"{question.missing[0].upper()}{question.missing[1:]}."
    elif unanswered:
        left = "1 trial was" if unanswered == 1 else f"{unanswered} trials were"
        reason = f"{left} left unanswered, and no PASS is given without them."
    elif pool.decision is Decision.PASS:
        decision = Decision.PASS
        low = pool.share.bound(levels.passing)
        sure = f", at least {percent(low)} with {100 * (1 - levels.passing):g} % confidence"
        reason = f"{_counted(pool, did)}{sure if pool.bar < 1 else ''}; {bar_in_words(pool)}."
    else:
        further, reason = _undecided(pool, question.left, counting, tests, levels, did)
    return QuestionVerdict(question.family, decision, reason, cells, pool, further, did)


def failed_early(answer: QuestionVerdict, worst: CellVerdict | None = None) -> QuestionVerdict:
    """Return the answer FAIL that an e-value gives, where the exact test does not give it.

    Parameters
    ----------
    worst : the cell that says so by itself, where all of them together say less.
    """
    if answer.decision is Decision.FAIL:
        return answer
    reason = f"{_below(answer, worst)}. That was certain enough to end the run."
    return replace(answer, decision=Decision.FAIL, reason=reason, further=None)


def _below(answer: QuestionVerdict, worst: CellVerdict | None) -> str:
    """Say what is below its bar: all cells together, or one of them."""
    if worst is None:
        return f"Of all cells together, {in_words(answer)}"
    of = "" if worst.cell is None else f" of {worst.cell.name}"
    return (
        f"Not all cells meet their bars:{of}, {_counted(worst, answer.did)}; {bar_in_words(worst)}"
    )


def in_words(answer: QuestionVerdict) -> str:
    """Say what came of all cells together, and what the bar is."""
    return f"{_counted(answer.pool, answer.did)}; {bar_in_words(answer.pool)}"


def pooled(cells: Iterable[CellVerdict]) -> CellVerdict:
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
    margin = max((cell.margin for cell in listed), default=MARGIN)
    return CellVerdict(None, share, required, name, unanswered, exactly, margin)


def _alone(cell: CellVerdict, level: float, *, failed: bool) -> Decision:
    if failed:
        return Decision.FAIL
    # Where next to nothing is required, passing nothing is not a merit.
    reached = cell.share.bound(level) >= cell.bar > 0 or (cell.bar == 1 and cell.share.value == 1)
    return Decision.PASS if reached and not cell.unanswered else Decision.INCONCLUSIVE


def _why_failed(failing: Sequence[CellVerdict], pool: CellVerdict, did: str) -> str:
    worst = min(failing, key=lambda cell: (cell.p_value, cell.share.value))
    where = "Of all cells together" if worst.cell is None else f"In {worst.cell.name}"
    others = len([cell for cell in failing if cell not in (worst, pool)])
    more = f" {others} more {'cell fails' if others == 1 else 'cells fail'}, too." if others else ""
    if worst.cell is None and others:
        alone = "1 of its cells fails" if others == 1 else f"{others} of its cells fail"
        more = f" {alone} by itself, too." if others == 1 else f" {alone} by themselves, too."
    if worst.bar == 1:
        return f"{where}, {_counted(worst, did)}; {bar_in_words(worst)}.{more}"
    chance = "below 1e-12" if worst.p_value < 1e-12 else f"{worst.p_value:.1g}"
    return (
        f"{where}, {_counted(worst, did)}; {bar_in_words(worst)}. If it met the bar, a result this "
        f"bad would have probability {chance}.{more}"
    )


def _undecided(
    pool: CellVerdict, left: int, cells: int, tests: int, levels: Levels, did: str
) -> tuple[int | None, str]:
    """Return how many trials would settle it, and the reason why it is not.

    Trials that are added are tested at a level of their own, which is smaller.

    Parameters
    ----------
    left : how many the suite still has.
    tests : how many hypotheses share the level.
    """
    if pool.bar <= 0:
        return None, f"{_counted(pool, did)}. So little is required that passing it says nothing."
    low, high = pool.share.interval
    sentence = f"{_counted(pool, did)}, 95 % interval {percent(low)} to {percent(high)}; "
    sentence += f"{bar_in_words(pool)}. "
    if left or not levels.fail:  # the exact test is for the end
        of = f"{left} of its trials" if left else "trials of other families"
        return left or None, f"{sentence}Not certain yet: {of} have not been run."
    then = levels.of_more
    if pool.share.value >= pool.bar:
        towards = "a PASS"
        further = further_trials(pool.share, lambda share: share.bound(then.passing) >= pool.bar)
    else:
        towards = "a FAIL"
        fail = then.fail / tests
        further = further_trials(pool.share, lambda share: share.p_value(pool.bar) <= fail)
    if further is None:
        return (
            None,
            sentence + "The share is so near the bar that more trials would hardly settle it.",
        )
    each = math.ceil(further / cells)
    further = each * cells
    adding = "" if levels == WHOLE else "; --trials N on the same store adds them"
    return further, sentence + (
        f"If the share stays as it is, about {further} more trials ({each} more per cell) "
        f"would give {towards}{adding}."
    )


def _counted(cell: CellVerdict, did: str) -> str:
    return f"{cell.share.part} of {cell.share.whole} {did} ({percent(cell.share.value)})"


def bar_in_words(cell: CellVerdict) -> str:
    """Say what the bar is, and where it comes from."""
    if cell.bar == 1:
        return "every trial has to pass"
    required, margin = round(cell.required, 3), cell.margin  # so that what is printed adds up
    return (
        f"the bar is {percent(max(required - margin, 0))} ({percent(required)} minus a margin of "
        f"{100 * margin:g} points)"
    )
