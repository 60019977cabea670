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
    product_defect,
    without_nan,
)
from ...judging.objectives import OBJECTIVES, Objective, find
from ...judging.outcomes import Outcome
from ...judging.sentences import clipping, invalid_entry
from ...judging.tolerances import TOLERANCE
from .best import best_product
from .cases import RankOneCase

DEFECT_BOUND = 1e-4
"""Up to here the best product is found.

Every right update gets there, given enough iterations. Runs with a penalty, a constant of 1e-3 in
a denominator or another loss do not (docs/theory.md, 13).
"""


def judged(cases: Sequence[RankOneCase], W: Array, H: Array) -> list[Judgement]:
    """Judge a batch of one shape, with sentences."""
    unit = np.array([case.X.max() for case in cases])
    objective = find(cases[0].objective)
    given = W, H
    W, H, valid, clipped = as_judged(W, H, unit)
    A, X = (np.stack([getattr(case, x) for case in cases]) / unit[:, None, None] for x in "AX")
    with np.errstate(over="ignore", invalid="ignore"):  # a run may have diverged to 1e200
        balanced_W, balanced_H = balance(W, H, unit)
        product = product_defect(X, balanced_W, balanced_H)
        WH = balanced_W @ balanced_H
        kkt = objective.kkt_residual(A, balanced_W, balanced_H)
    without_nan(product, kkt)
    judgements = []
    for i in range(len(cases)):
        if not valid[i]:
            judgements.append(Judgement(Outcome.INVALID, invalid_entry(given[0][i], given[1][i])))
            continue
        measures = {"product_defect": float(product[i]), "kkt_residual": float(kkt[i])}
        nothing = WH[i].max() <= TOLERANCE.exact
        at_rest = nothing and kkt[i] <= TOLERANCE.stationary
        other = Outcome.COLLAPSED if at_rest else Outcome.UNCONVERGED
        outcome = graded(product[i], DEFECT_BOUND) or other
        labels = {}
        if product[i] > DEFECT_BOUND and (loss := _best_for(A[i], WH[i], objective)):
            labels["best_for"] = loss
        zero = f"WH is 0{', a stationary point' if at_rest else ''}"
        sentence = zero if nothing else _sentence(measures, labels)
        sentence += clipping(given[0][i], given[1][i])
        judgements.append(Judgement(outcome, f"{sentence}.", measures, labels, bool(clipped[i])))
    return judgements


def _best_for(A: Array, WH: Array, asked: Objective) -> str:
    """Return the loss that a product is the best one for, if it is another than was asked."""
    for other in OBJECTIVES.values():
        if other is not asked and np.abs(best_product(A, other.beta) - WH).max() <= DEFECT_BOUND:
            return other.title
    return ""


def _sentence(measures: dict[str, float], labels: dict[str, str]) -> str:
    """Say how far off the product is, and what that may be."""
    defect = measures["product_defect"]
    if defect <= TOLERANCE.exact:
        return f"WH is the best product of rank one, up to {defect:.1g} of its largest entry"
    sentence = f"WH misses the best product of rank one by {defect:.2g} of its largest entry"
    if labels:
        return f"{sentence}, but is the best one for {labels['best_for']}"
    if defect <= DEFECT_BOUND:
        return f"{sentence}, as in single precision or after few sweeps"
    return (
        f"{sentence} (KKT residual {measures['kkt_residual']:.2g}); a right update comes nearer "
        "with every sweep, so either there were few, or they are biased"
    )
