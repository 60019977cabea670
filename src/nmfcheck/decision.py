"""The three-way logic: from the shares of cells to PASS, FAIL or INCONCLUSIVE (docs/verdict.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from .intervals import Share, further_trials, holm

MARGIN = 0.05
"""So far below what is required a share may be."""

FAMILY = 0.01
"""The probability that a subject at the margin everywhere fails at all."""

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
