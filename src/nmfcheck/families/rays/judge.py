"""The judge of rays: components matched to the true ones, and compared entry by entry."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...judging.grading import graded
from ...judging.judgement import Judgement
from ...judging.measures import as_judged, balance, product_defect, without_nan
from ...judging.objectives import find as objective_of
from ...judging.outcomes import Outcome
from ...judging.sentences import clipping, counted, invalid_entry, product_miss
from ...judging.tolerances import TOLERANCE
from ..components import matched
from .cases import RaysCase

LEAST_COSINE = 0.9
"""A component is one of the answer's if the cosine between them is at least this."""


def judged(cases: Sequence[RaysCase], W: Array, H: Array) -> list[Judgement]:
    """Judge a batch of one shape and rank, with sentences."""
    unit = np.array([case.A.max() for case in cases])
    given = W, H
    W, H, valid, clipped = as_judged(W, H, unit)
    A = np.stack([case.A for case in cases]) / unit[:, None, None]
    true_W, true_H = (np.stack([case.answer[i] for case in cases]) for i in (0, 1))
    true_W, true_H = balance(true_W, true_H, unit)
    with np.errstate(over="ignore", invalid="ignore"):  # a run may have diverged to 1e200
        balanced_W, balanced_H = balance(W, H, unit)
        product = product_defect(A, balanced_W, balanced_H)
        kkt = objective_of(cases[0].objective).kkt_residual(A, balanced_W, balanced_H)
    without_nan(product, kkt)
    judgements = []
    for i, case in enumerate(cases):
        if not valid[i]:
            judgements.append(Judgement(Outcome.INVALID, invalid_entry(given[0][i], given[1][i])))
            continue
        of, cosines = matched(case.answer, balanced_W[i], balanced_H[i])
        with np.errstate(over="ignore", invalid="ignore"):
            form = max(
                np.abs(true_W[i] - balanced_W[i][:, of]).max(),
                np.abs(true_H[i] - balanced_H[i][of]).max(),
            )
        measures = {
            "form_defect": np.inf if np.isnan(form) else float(form),
            "product_defect": float(product[i]),
            "cosine": float(cosines.min()),
            "kkt_residual": float(kkt[i]),
        }
        outcome = _outcome(measures)
        sentence = _sentence(case, W[i], H[i], outcome, measures, cosines)
        sentence += clipping(given[0][i], given[1][i])
        labels = {"permutation": ",".join(map(str, of.tolist()))}
        judgements.append(Judgement(outcome, f"{sentence}.", measures, labels, bool(clipped[i])))
    return judgements


def _outcome(measures: dict[str, float]) -> Outcome:
    """Grade the larger defect; where that is none, by the worst component and the KKT residual."""
    if grade := graded(max(measures["form_defect"], measures["product_defect"])):
        return grade
    if measures["cosine"] < LEAST_COSINE and measures["kkt_residual"] <= TOLERANCE.stationary:
        return Outcome.COLLAPSED
    return Outcome.UNCONVERGED


def _sentence(
    case: RaysCase, W: Array, H: Array, outcome: Outcome, measures: dict[str, float], cosines: Array
) -> str:
    """Say why."""
    form, product = measures["form_defect"], measures["product_defect"]
    if outcome.grade is not None:
        return f"each component is found: form defect {form:.2g}, product defect {product:.2g}"
    lost = np.flatnonzero(cosines < LEAST_COSINE).tolist()
    kkt = f"KKT residual {measures['kkt_residual']:.2g}"
    with np.errstate(over="ignore", invalid="ignore"):
        missed = product_miss(case.A - W @ H)
    if len(lost) == 0:
        return f"each component is nearly found (form defect {form:.2g}), but {missed} ({kkt})"
    verb = "is" if len(lost) == 1 else "are"
    sentence = (
        f"{counted('component', lost)} of the answer {verb} not found: what is nearest has cosine "
        f"{cosines.min():.2f}, and {missed}"
    )
    if outcome is Outcome.COLLAPSED:
        return f"{sentence}, at a stationary point ({kkt})"
    return f"{sentence} ({kkt}, above {TOLERANCE.stationary:g})"
