"""The judge of mixed and noisy matrices: the core as bidiagonal, and the product as a whole.

W₁ and H₁ are read off the rows and columns that are pure, and judged as a factorization of the
core. If the whole product is right as well, so is the rest (docs/theory.md, 10): how far mixtures
are from what they should be only tells where a run went wrong.
"""

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
from ...judging.objectives import find as objective_of
from ...judging.outcomes import Outcome
from ...judging.tolerances import TOLERANCE
from ..bidiagonal.judge import Judgements, judge_batch
from ..components import core_factors
from .cases import MixedCase, Side
from .sentences import ROUNDING, explain


def judged(cases: Sequence[MixedCase], W: Array, H: Array) -> list[Judgement]:
    """Judge a batch of one shape and rank, with sentences."""
    unit = np.array([case.core.a0.max() for case in cases])
    given = W, H
    W, H, valid, clipped = as_judged(W, H, unit)
    with np.errstate(over="ignore", invalid="ignore"):  # a run may have diverged to 1e200
        balanced_W, balanced_H = balance(W, H, unit)
        A, X = (
            np.stack([getattr(case, name) for case in cases]) / unit[:, None, None] for name in "AX"
        )
        off_W = _mixtures(balanced_W, [case.rows for case in cases])
        off_H = _mixtures(balanced_H.swapaxes(1, 2), [case.columns for case in cases])
        measures = {
            "product_defect": product_defect(X, balanced_W, balanced_H),
            "padding_defect": np.maximum(largest_entry(off_W), largest_entry(off_H)),
            "kkt_residual": objective_of(cases[0].objective).kkt_residual(
                A, balanced_W, balanced_H
            ),
        }
        core = judge_batch([case.core for case in cases], *core_factors(cases, W, H))
    without_nan(*measures.values())
    return [
        _one(case, (given[0][i], given[1][i]), core, i,
             {"form_defect": float(core.form_defect[i])}
             | {name: float(measure[i]) for name, measure in measures.items()},
             (off_W[i], off_H[i]), valid=bool(valid[i]), clipped=bool(clipped[i]))
        for i, case in enumerate(cases)
    ]  # fmt: skip


def _mixtures(W: Array, sides: Sequence[Side]) -> Array:
    """Return `W − P·W₁`: how far each row is from the mixture of pure rows that it should be."""
    P = np.stack([side.matrix for side in sides])
    core = np.stack([side.core for side in sides])
    off: Array = W - P @ np.take_along_axis(W, core[:, :, None], axis=1)
    return off


def _one(
    case: MixedCase,
    factors: tuple[Array, Array],
    core: Judgements,
    place: int,
    measures: dict[str, float],
    off: tuple[Array, Array],
    *,
    valid: bool,
    clipped: bool,
) -> Judgement:
    """Return the judgement on one run."""
    permutation = core.permutation[place]
    matched = bool(permutation[0] >= 0)
    outcome = _outcome(measures, matched=matched) if valid else Outcome.INVALID
    if valid and case.noise > 0:
        with np.errstate(over="ignore", invalid="ignore"):
            W, H = (np.maximum(factor, 0.0) for factor in factors)
            measures["residual_over_noise"] = float(np.linalg.norm(case.A - W @ H)) / case.noise
    below = measures.get("residual_over_noise", 1.0) < 1 - ROUNDING
    if below:
        outcome = Outcome.UNCONVERGED
    explanation = explain(
        case, *factors, outcome, measures=measures, M=core.explained[place], matched=matched,
        off=off,
    )  # fmt: skip
    if not valid:
        return Judgement(outcome, explanation)
    labels = {"permutation": ",".join(map(str, permutation.tolist()))} if matched else {}
    if below:
        labels["below"] = "below the least possible"
    return Judgement(outcome, explanation, measures, labels, clipped)


def _outcome(measures: dict[str, float], *, matched: bool) -> Outcome:
    """Grade the larger of form and product defect, and by the KKT residual where that is none."""
    defect = max(measures["form_defect"], measures["product_defect"])
    if matched and (grade := graded(defect)):
        return grade
    if not matched and measures["kkt_residual"] <= TOLERANCE.stationary:
        return Outcome.COLLAPSED
    return Outcome.UNCONVERGED
