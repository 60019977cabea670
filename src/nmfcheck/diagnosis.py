"""The diagnosis: what a subject's failures have in common, and what that is usually a sign of.

The verdict says that something is wrong; this says where to look. It reads the outcomes, and W and
H of some failing stages, which the store keeps.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from .arrays import Array
from .baseline import ACCEPTED, Baseline, shipped
from .cases import ONES
from .intervals import Share
from .outcomes import Outcome, reaches
from .records import Record
from .store import Store, StoredSubject
from .tally import CellTally, tally
from .trials import Rung
from .turned import TURNED, misses
from .verdict import MARGIN, Decision, Verdict

SAMPLE = 60
"""So many failing stages are looked at with their matrices."""

FEW = 0.02
"""Fewer unconverged trials than these are not worth a word."""

MOST = 0.6
"""What holds for so many of them is taken as the cause; others may have collapsed on top of it."""

FAR = 0.1
"""A product that misses A by so much, relative to its largest entry, with half as large a KKT
residual, is not on its way to it."""

NARROW = 0.3
"""Defects of which four fifths lie within so many decades are alike."""

CONSTANT = 0.1
"""Within so many decades, a number is one constant."""

CLUSTER = 0.5
"""Within so many decades, defects near the rounding of single precision come from it."""

SINGLE, MOST_SINGLE = (1e-8, 1e-6), 1e-5
"""Where the defects of a run in single precision lie: its rounding is 6e-8."""


class Cause(StrEnum):
    """What failures are usually a sign of."""

    HARD = "hard failure"
    SILENT = "no answer"
    UNMOVED = "does not move"
    ZEROS = "returns zeros"
    TURNED = "turned"
    SCALED = "scaled"
    PERMUTED = "permuted"
    UNRELATED = "unrelated"
    SINGLE = "single precision"
    BIASED = "biased"
    EARLY = "stops early"
    COLLAPSES = "collapses"
    NORMAL = "collapses as usual"
    SOME_SIZES = "some sizes only"
    INEXACT = "converges, but not exactly"


@dataclass(frozen=True)
class Finding:
    """One thing that shows, in a sentence or two."""

    cause: Cause
    sentence: str


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
        found.insert(place, _unconverged(store, subject, sample))
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


@dataclass(frozen=True)
class _Evidence:
    """What unconverged runs left.

    Attributes
    ----------
    factors : A, W and H of some.
    starts : W0 and H0 of the same.
    typical, kkt : their median product defect and KKT residual.
    spread : decades over which the defects of one case lie.
    diagonals : of those at ε = 0 whose components have a row each: for each row, the entries w and
        h whose product is to be a0, and what is left of it.
    """

    factors: Sequence[tuple[Array, Array, Array]]
    starts: Sequence[tuple[Array, Array]]
    typical: float
    kkt: float
    spread: float
    diagonals: Sequence[tuple[Array, Array, Array]]

    def product_is(self, meant: Callable[[Array, Array, Array], Array]) -> bool:
        """Say whether something else than W·H is a hundred times nearer to A, nearly always."""
        near = self.typical / 100
        return self.typical > 1e-6 and _mostly(
            misses(A, meant(A, W, H)) < near for A, W, H in self.factors
        )


def _unconverged(store: Store, subject: StoredSubject, sample: Sequence[Record]) -> Finding:
    """Say why runs end neither at a solution nor at another stationary point."""
    kept = [r for r in sample if r.W is not None and r.H is not None]
    evidence = _Evidence(
        factors=[(r.trial.case(r.eps).A, r.W, r.H) for r in kept],  # type: ignore[misc]
        starts=[r.trial.start() for r in kept],
        typical=float(np.median([r.product_defect for r in sample])) if sample else math.nan,
        kkt=float(np.median([r.kkt_residual for r in sample])) if sample else math.nan,
        spread=_spread(store, subject),
        diagonals=[_diagonal(r) for r in kept if r.eps == 0 and r.permutation],
    )
    looks = (
        _unmoved, _turned, _biased, _scaled, _permuted, _single, _unrelated, _alike, _clustered,
    )  # fmt: skip
    for look in looks:
        with np.errstate(all="ignore"):  # a run may have diverged to 1e200
            finding = look(evidence)
        if finding:
            return finding
    return Finding(
        Cause.EARLY,
        "It stops early: its stopping rule, not its update, fails, unless it rests where nothing "
        f"is stationary. Runs end {evidence.typical:.0e} off in the middle, with a KKT residual of "
        f"{evidence.kkt:.0e}; try a smaller tolerance or more iterations.",
    )


def _diagonal(record: Record) -> tuple[Array, Array, Array]:
    assert record.W is not None
    assert record.H is not None
    rows = np.arange(record.n)
    of = np.array([int(k) for k in record.permutation.split(",")])
    w, h = record.W[rows, of], record.H[of, rows]
    return w, h, record.trial.case(0.0).a0 - (record.W @ record.H)[rows, rows]


def _unmoved(evidence: _Evidence) -> Finding | None:
    if _mostly(
        np.array_equal(W, W0) and np.array_equal(H, H0)
        for (_, W, H), (W0, H0) in zip(evidence.factors, evidence.starts, strict=True)
    ):
        return Finding(Cause.UNMOVED, "It returns its start as it was: the updates never ran.")
    return None


def _turned(evidence: _Evidence) -> Finding | None:
    for name, turn in TURNED.items():
        if evidence.product_is(lambda _, W, H, turn=turn: turn(W, H)):  # type: ignore[misc]
            told = f"W·H is not A, but {name} is: a factor is transposed, or they are swapped."
            return Finding(Cause.TURNED, told)
    if evidence.product_is(lambda _, W, H: (W @ H).T):
        told = "W·H is Aᵀ: A was read as its transpose, or Hᵀ and Wᵀ were returned for W and H."
        return Finding(Cause.TURNED, told)
    return None


def _scaled(evidence: _Evidence) -> Finding | None:
    def scaled(A: Array, W: Array, H: Array) -> Array:
        product: Array = W @ H
        return product * _factor(A, product)

    if not evidence.product_is(scaled):
        return None
    factor = 1 / np.median([_factor(A, W @ H) for A, W, H in evidence.factors])
    return Finding(Cause.SCALED, f"W·H is A but for a factor of about {factor:.3g}.")


def _factor(A: Array, product: Array) -> float:
    """Return the c for which c·WH is nearest to A."""
    square = float((product * product).sum())
    return float((A * product).sum()) / square if square > 0 else 0.0


def _permuted(evidence: _Evidence) -> Finding | None:
    if not evidence.product_is(_in_one_order):
        return None
    told = "The components of W and of H are in different orders: one was permuted alone."
    return Finding(Cause.PERMUTED, told)


def _in_one_order(A: Array, W: Array, H: Array) -> Array:
    """Return the product of W and H with the rows of H put in the order that W has."""
    by_W, by_H = W.argmax(axis=0), H.argmax(axis=1)  # the row that each component explains
    if len(set(by_W.tolist())) < len(by_W) or len(set(by_H.tolist())) < len(by_H):
        return np.full_like(A, np.inf)
    product: Array = W @ H[np.argsort(by_H)[by_W]]
    return product


def _single(evidence: _Evidence) -> Finding | None:
    if evidence.typical > MOST_SINGLE:  # then that is not what is wrong
        return None
    if not _mostly(_is_single(W) and _is_single(H) for _, W, H in evidence.factors):
        return None
    told = "It works in single precision: all entries of W and H are float32 numbers"
    return Finding(Cause.SINGLE, f"{told}, and the product ends about {evidence.typical:.0e} off.")


def _clustered(evidence: _Evidence) -> Finding | None:
    if not (evidence.spread < CLUSTER and SINGLE[0] < evidence.typical < SINGLE[1]):
        return None
    told = f"It looks like single precision: the product is off by about {evidence.typical:.0e}"
    return Finding(Cause.SINGLE, f"{told}, whatever the start.")


def _is_single(X: Array) -> bool:
    """Say whether a matrix has float32 numbers only, and some that would not be so by chance."""
    with np.errstate(over="ignore"):
        return bool((X.astype(np.float32) == X).all() and (X * 2**12 % 1 != 0).any())


def _unrelated(evidence: _Evidence) -> Finding | None:
    if not (evidence.typical > FAR and evidence.kkt > FAR / 2):
        return None
    return Finding(
        Cause.UNRELATED,
        f"W·H is nowhere near A: in the middle it misses it by {evidence.typical:.1g} of its "
        "largest entry. Either W and H do not belong together, or the update is wrong.",
    )


def _biased(evidence: _Evidence) -> Finding | None:
    constant = _constant(evidence.diagonals)
    if constant is None:
        return None
    return Finding(
        Cause.BIASED,
        f"It is biased: runs end with the product about {evidence.typical:.0e} off, just as they "
        f"do with a constant of {constant:.1g} in a denominator, or with a penalty of that size "
        "left on.",
    )


def _alike(evidence: _Evidence) -> Finding | None:
    if not evidence.spread < NARROW or SINGLE[0] < evidence.typical < SINGLE[1]:
        return None
    return Finding(
        Cause.BIASED,
        f"It is biased: runs end with the product about {evidence.typical:.0e} off, from every "
        "start alike; is a penalty left on?",
    )


def _constant(diagonals: Sequence[tuple[Array, Array, Array]]) -> float | None:
    """Return the constant that, added to the denominators, explains what is left of A(i,i).

    Where `w·h` is to be a, and r = a − w·h is left, a division by `h² + δ` (coordinate descent, or
    an L2 penalty) ends at δ = r·h/w, one by `w·h² + δ` (multiplicative update, or an L1 penalty)
    at δ = r·h; and the same with w and h swapped, whichever is updated last.
    """
    if len(diagonals) < 5:
        return None
    w, h, r = (np.concatenate(parts) for parts in zip(*diagonals, strict=True))
    with np.errstate(all="ignore"):
        for delta in (r * h / w, r * w / h, r * h, r * w):
            if (delta > 0).mean() >= MOST:
                low, middle, high = np.quantile(np.log10(delta[delta > 0]), [0.1, 0.5, 0.9])
                if high - low < CONSTANT:
                    return float(10**middle)
    return None


def _mostly(hold: Iterable[object]) -> bool:
    """Say whether something holds for nearly all, and for some at all."""
    listed = [bool(each) for each in hold]
    return bool(listed) and sum(listed) >= MOST * len(listed)


def _spread(store: Store, subject: StoredSubject) -> float:
    """Return over how many decades the defects of runs of one case are spread, in the middle cell.

    Runs of the same case (entries ones, ε = 0) that end where each row has its component.
    """
    rows = store.select(
        subject,
        "n, product_defect",
        "entries = ? AND eps = 0 AND outcome = ? AND permutation != '' AND product_defect > 0",
        ONES,
        str(Outcome.UNCONVERGED),
    )
    by_size: dict[int, list[float]] = {}
    for n, defect in rows:
        by_size.setdefault(n, []).append(math.log10(defect))
    spreads = [
        float(np.subtract(*np.quantile(logs, [0.9, 0.1])))
        for logs in by_size.values()
        if len(logs) >= 5
    ]
    return float(np.median(spreads)) if spreads else math.inf


def _collapsed(
    cells: Sequence[CellTally],
    sample: Sequence[Record],
    test: Sequence[Rung],
    baseline: Baseline,
) -> Finding:
    if _mostly(
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
    if own.value <= high + MARGIN and own.interval[0] <= high:
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
