"""The judge of inflated matrices: the core as bidiagonal, and every other row as a multiple.

W₁ and H₁ are read off the rows and columns that carry the largest weight of each class. They are
judged as a factorization of the core. Every other row of W, and column of H, must be the right
multiple of the one of its class; of a zero row it must be zero (docs/theory.md, 9).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...judging.judgement import Judgement
from ...judging.measures import (
    as_judged,
    balance,
    largest_entry,
    product_defect,
    without_nan,
)
from ...judging.objectives import find as objective_of
from ...judging.outcomes import Outcome
from ...judging.tolerances import TOLERANCE
from ..bidiagonal.judge import BidiagonalJudgement, Judgements, judge_batch
from ..bidiagonal.tolerances import FORM
from ..components import core_factors
from .cases import InflatedCase, Side
from .sentences import explain


def judged(cases: Sequence[InflatedCase], W: Array, H: Array) -> list[Judgement]:
    """Judge a batch of one shape and rank, with sentences."""
    unit = np.array([case.core.a0.max() for case in cases])
    given = W, H
    W, H, valid, clipped = as_judged(W, H, unit)
    with np.errstate(over="ignore", invalid="ignore"):  # a run may have diverged to 1e200
        balanced_W, balanced_H = balance(W, H, unit)
        A = np.stack([case.A for case in cases]) / unit[:, None, None]
        product = product_defect(A, balanced_W, balanced_H)
        kkt = objective_of(cases[0].objective).kkt_residual(A, balanced_W, balanced_H)
        off_W = _multiples(balanced_W, [case.rows for case in cases])
        off_H = _multiples(balanced_H.swapaxes(1, 2), [case.columns for case in cases])
        padding = np.maximum(largest_entry(off_W), largest_entry(off_H))
    core_W, core_H = core_factors(cases, W, H)
    core = judge_batch([case.core for case in cases], core_W, core_H)
    without_nan(product, kkt, padding)
    return [
        _one(case, (given[0][i], given[1][i]), core, i, bool(valid[i]), bool(clipped[i]),
             {"form_defect": float(core.form_defect[i]), "product_defect": float(product[i]),
              "padding_defect": float(padding[i]), "kkt_residual": float(kkt[i])},
             (off_W[i], off_H[i].T))
        for i, case in enumerate(cases)
    ]  # fmt: skip


def _multiples(W: Array, sides: Sequence[Side]) -> Array:
    """Return `W − P·W₁`: how far each row is from the right multiple of its class's row."""
    of_class = np.stack([side.core[side.classes] for side in sides])  # of a zero row: any
    weights = np.stack([side.weights for side in sides])
    off: Array = W - weights[:, :, None] * np.take_along_axis(W, of_class[:, :, None], axis=1)
    return off


def _one(
    case: InflatedCase,
    factors: tuple[Array, Array],
    core: Judgements,
    place: int,
    valid: bool,
    clipped: bool,
    measures: dict[str, float],
    off: tuple[Array, Array],
) -> Judgement:
    """Return the judgement on one run."""
    outcome = _outcome(case, core, place, valid, measures)
    word = str(core.word[place])
    explanation = explain(
        case,
        *factors,
        outcome,
        word=word or None,
        measures=measures,
        M=core.explained[place],
        permutation=core.permutation[place],
        off=off,
    )
    if not valid:
        return BidiagonalJudgement(outcome, explanation)
    labels = {}
    if core.permutation[place][0] >= 0:
        labels["permutation"] = ",".join(map(str, core.permutation[place].tolist()))
    if word:
        labels["word"] = word
    if core.type[place]:
        labels["type"] = str(core.type[place])
    return BidiagonalJudgement(outcome, explanation, measures, labels, clipped)


def _outcome(
    case: InflatedCase, core: Judgements, place: int, valid: bool, measures: dict[str, float]
) -> Outcome:
    """Grade the largest of the three defects, and by M and the KKT residual where that is none."""
    if not valid:
        return Outcome.INVALID
    defect = max(measures[name] for name in ("form_defect", "product_defect", "padding_defect"))
    if defect <= TOLERANCE.exact:
        return Outcome.EXACT
    if defect <= FORM.first_order(case.core.a0[None], case.core.e[None])[0]:
        return Outcome.FIRST_ORDER
    unmatched = core.permutation[place][0] < 0
    if unmatched and measures["kkt_residual"] <= TOLERANCE.stationary:
        return Outcome.COLLAPSED
    return Outcome.UNCONVERGED
