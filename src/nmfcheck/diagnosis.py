"""The diagnosis: what a subject's failures have in common, and what that is usually a sign of.

The verdict says that something is wrong; this says where to look. It reads the outcomes, and W and
H of some failing stages, which the store keeps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .baseline import ACCEPTED, Baseline, shipped
from .decision import Decision
from .findings import Cause, Finding, mostly
from .intervals import Share
from .outcomes import Outcome, reaches
from .records import Record
from .store import Store, StoredSubject
from .tally import CellTally, tally
from .trials import Rung
from .unconverged import why_unconverged
from .verdict import Verdict

SAMPLE = 60
"""So many failing stages are looked at with their matrices."""

FEW = 0.02
"""Fewer unconverged trials than these are not worth a word."""


def diagnose(
    store: Store,
    subject: StoredSubject,
    verdict: Verdict,
    baseline: Baseline | None = None,
    cells: Sequence[CellTally] | None = None,
) -> list[Finding]:
    """Return what a subject's failures are a sign of, what matters most first.

    Parameters
    ----------
    cells : its outcomes, where they have been read already.
    """
    cells = tally(store, subject) if cells is None else cells
    test = [rung for rung in store.suite.ladder if rung.question == 1]
    found = [Finding(Cause.HARD, f"{h.explanation} First in {h.trial}.") for h in verdict.hard]
    failing = _failing(cells, test)
    asked = sum(len(cell.seeds) for cell in cells)
    silent = sum(failing[o] for o in (Outcome.ERROR, Outcome.CRASHED, Outcome.TIMEOUT))
    if silent:
        found.append(_silence(store, subject))
    if failing[Outcome.COLLAPSED]:
        sample = _sample(store, subject, test, Outcome.COLLAPSED)
        found.append(_collapsed(cells, sample, test, baseline or shipped()))
    if failing[Outcome.UNCONVERGED] > FEW * asked:
        more = failing[Outcome.UNCONVERGED] > failing[Outcome.COLLAPSED]
        usual = bool(found) and found[-1].cause is Cause.NORMAL
        place = len(found) - 1 if usual or (more and failing[Outcome.COLLAPSED]) else len(found)
        sample = _sample(store, subject, test, Outcome.UNCONVERGED)
        found.insert(place, why_unconverged(store, subject, sample))
    found += _some_sizes(verdict)
    if not found or found[0].cause is Cause.NORMAL or verdict.decision is Decision.PASS:
        found += _inexact(store, subject, verdict)
    return found


def _failing(cells: Sequence[CellTally], test: Sequence[Rung]) -> Counter[Outcome]:
    """Count the outcomes that ended trials of the paper's test."""
    ended: Counter[Outcome] = Counter()
    for cell in cells:
        for rung in test:
            letters = cell.letters.get(rung.eps, "")
            for outcome in Outcome:
                if not reaches(outcome.grade, rung.needs):
                    ended[outcome] += letters.count(outcome.letter)
    del ended[Outcome.NOT_RUN]
    return ended


def _sample(
    store: Store, subject: StoredSubject, test: Sequence[Rung], outcome: Outcome
) -> list[Record]:
    """Return some stages of the paper's test that came to this, with W and H, from all sizes."""
    marks = ", ".join("?" * len(test))
    keys = store.select(
        subject,
        "rowid",
        f"W IS NOT NULL AND eps IN ({marks}) AND outcome = ?",
        *(rung.eps for rung in test),
        str(outcome),
    )
    step = max(1, len(keys) // SAMPLE)
    return list(store.records_at([key for (key,) in keys[::step]]))


def _silence(store: Store, subject: StoredSubject) -> Finding:
    outcomes = (Outcome.ERROR, Outcome.CRASHED, Outcome.TIMEOUT)
    rows = store.select(subject, "message", "outcome IN (?, ?, ?)", *map(str, outcomes))
    (message, number), *rest = Counter(message for (message,) in rows).most_common()
    often = f"{number} of {len(rows)} times" if rest else f"{number} times"
    return Finding(Cause.SILENT, f"It gave no answer; {often}: {message.rstrip('.')}.")


def _collapsed(
    cells: Sequence[CellTally],
    sample: Sequence[Record],
    test: Sequence[Rung],
    baseline: Baseline,
) -> Finding:
    if mostly(
        not r.W.any() or not r.H.any() for r in sample if r.W is not None and r.H is not None
    ):
        return Finding(Cause.ZEROS, "It returns zeros: W·H is 0, and so explains nothing of A.")

    def collapses(cell: CellTally) -> Share:
        """Count the trials that a collapse ended."""
        ends = zip(*(cell.letters[rung.eps] for rung in test), strict=True)
        return Share(sum(Outcome.COLLAPSED.letter in e for e in ends), len(cell.seeds))

    known = {rung.eps for rung in test} <= set(baseline.ladder)
    own, usual = Share(0, 0), dict.fromkeys(ACCEPTED, 0.0)
    for cell in cells if known else ():
        there = [baseline.algorithms.get(name) for name in ACCEPTED]
        if all(a is not None and (cell.n, cell.entries) in a.cells for a in there):
            own += collapses(cell)
            for name, a in zip(ACCEPTED, there, strict=True):
                assert a is not None
                share = collapses(a.cells[cell.n, cell.entries].tally)
                usual[name] += share.value * len(cell.seeds)
    if not own.whole:
        return Finding(Cause.COLLAPSES, "Some runs collapse; the baseline has none like them.")
    low, high = (of(usual.values()) / own.whole for of in (min, max))
    told = f"{100 * own.value:.0f} % of its trials end in a collapse"
    theirs = f"of the references' on these cells {100 * low:.0f} to {100 * high:.0f} % do"
    if own.value <= high:
        return Finding(Cause.NORMAL, f"{told}, which is normal: {theirs}.")
    if own.interval[0] <= high:
        return Finding(Cause.NORMAL, f"{told}, which may be chance: {theirs}.")
    return Finding(
        Cause.COLLAPSES,
        f"{told}; {theirs}. Components die or share a row: look at how it starts, and at "
        "what sets entries to 0.",
    )


def _some_sizes(verdict: Verdict) -> list[Finding]:
    """Say so if all failing cells are of a few sizes, and the others are in order."""
    cells = [cell for cell in verdict.paper.cells if cell.decision is not None]
    failing = {cell.n for cell in cells if cell.decision is Decision.FAIL}
    others = [cell for cell in cells if cell.n not in failing]
    if not failing or not others or any(cell.share.value < cell.bound for cell in others):
        return []
    sizes = ", ".join(map(str, sorted(failing)))
    return [Finding(Cause.SOME_SIZES, f"Only n = {sizes} fails; the other sizes are in order.")]


def _inexact(store: Store, subject: StoredSubject, verdict: Verdict) -> list[Finding]:
    """Say why a subject that does what the paper asks for is not exact."""
    question = verdict.exactness
    if question.decision is not Decision.FAIL:
        return []
    rows = store.select(
        subject,
        "product_defect",
        "eps = 0.25 AND outcome IN (?, ?) AND product_defect IS NOT NULL",
        str(Outcome.UNCONVERGED),
        str(Outcome.FIRST_ORDER),
    )
    if not rows:
        return []
    typical = float(np.median([defect for (defect,) in rows]))
    share = question.pool.share
    return [
        Finding(
            Cause.INEXACT,
            f"At ε = 0.25, {share.part} of {share.whole} runs that did not collapse are exact; the "
            f"others end {typical:.0e} off in the middle. A run that converges is exact there "
            "(Theorem 2), so these have not converged: it is slow, it stops, or it ends where no "
            "stationary point is.",
        )
    ]
