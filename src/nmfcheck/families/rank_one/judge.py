"""The judge of rank one: how far the product is from the best one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...judging.grading import graded
from ...judging.judgement import Judgement
from ...judging.measures import (
    as_judged,
    balance,
    largest_entry,
    product_defect,
    without_nan,
)
from ...judging.objectives import FROBENIUS
from ...judging.outcomes import Outcome
from ...judging.sentences import clipping, invalid_entry
from ...judging.tolerances import TOLERANCE
from .cases import RankOneCase

FOUND = 1e-4
"""Up to here the best product is found.

Every right update gets there, given enough iterations. Runs with a penalty, a constant of 1e-3 in
a denominator or another loss do not (docs/theory.md, 13).
"""


def judged(cases: Sequence[RankOneCase], W: Array, H: Array) -> list[Judgement]:
    """Judge a batch of one shape, with sentences."""
    unit = np.array([case.X.max() for case in cases])
    given = W, H
    W, H, valid, clipped = as_judged(W, H, unit)
    A, X = (np.stack([getattr(case, x) for case in cases]) / unit[:, None, None] for x in "AX")
    with np.errstate(over="ignore", invalid="ignore"):  # a run may have diverged to 1e200
        balanced_W, balanced_H = balance(W, H, unit)
        product = product_defect(X, balanced_W, balanced_H)
        WH = balanced_W @ balanced_H
        of_kl = largest_entry(best_for_kl(A) - WH)
        kkt = FROBENIUS.kkt_residual(A, balanced_W, balanced_H)
    without_nan(product, of_kl, kkt)
    found = []
    for i in range(len(cases)):
        if not valid[i]:
            found.append(Judgement(Outcome.INVALID, invalid_entry(given[0][i], given[1][i])))
            continue
        measures = {"product_defect": float(product[i]), "kkt_residual": float(kkt[i])}
        nothing = WH[i].max() <= TOLERANCE.exact
        at_rest = nothing and kkt[i] <= TOLERANCE.stationary
        other = Outcome.COLLAPSED if at_rest else Outcome.UNCONVERGED
        outcome = graded(product[i], FOUND) or other
        labels = {}
        if of_kl[i] <= FOUND < product[i]:
            labels["best_for"] = "the Kullback–Leibler divergence"
        zero = f"WH is 0{', a stationary point' if at_rest else ''}"
        sentence = zero if nothing else _sentence(measures, labels)
        sentence += clipping(given[0][i], given[1][i])
        found.append(Judgement(outcome, f"{sentence}.", measures, labels, bool(clipped[i])))
    return found


def best_for_kl(A: Array) -> Array:
    """Return `r·cᵀ/N`, r and c the sums of rows and columns, N the total (docs/theory.md, 13)."""
    rows, columns = A.sum(axis=2, keepdims=True), A.sum(axis=1, keepdims=True)
    best: Array = rows * columns / A.sum(axis=(1, 2), keepdims=True)
    return best


def _sentence(measures: dict[str, float], labels: dict[str, str]) -> str:
    """Say how far off the product is, and what that may be."""
    defect = measures["product_defect"]
    if defect <= TOLERANCE.exact:
        return f"WH is the best product of rank one, up to {defect:.1g} of its largest entry"
    sentence = f"WH misses the best product of rank one by {defect:.2g} of its largest entry"
    if labels:
        return f"{sentence}, but is the best one for {labels['best_for']}"
    if defect <= FOUND:
        return f"{sentence}, as in single precision or after few sweeps"
    return (
        f"{sentence} (KKT residual {measures['kkt_residual']:.2g}); a right update comes nearer "
        "with every sweep, so either there were few, or they are biased"
    )
