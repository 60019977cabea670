"""Why runs end neither at a solution nor at another stationary point.

Each look takes what the runs left, and gives a finding or nothing; the first finding counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Array
from .cases import ONES
from .findings import MOST, Cause, Finding, mostly
from .outcomes import Outcome
from .records import Record
from .store import Store, StoredSubject
from .turned import TURNED, misses

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
        return self.typical > 1e-6 and mostly(
            misses(A, meant(A, W, H)) < near for A, W, H in self.factors
        )


def why_unconverged(store: Store, subject: StoredSubject, sample: Sequence[Record]) -> Finding:
    """Say why the runs of a sample did not converge."""
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
    if mostly(
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
    if not mostly(_is_single(W) and _is_single(H) for _, W, H in evidence.factors):
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
