"""The judge of optima: how far the residual is above the least one that is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...judging.grading import graded
from ...judging.judgement import Judgement
from ...judging.measures import as_judged, balance, without_nan
from ...judging.objectives import FROBENIUS
from ...judging.outcomes import Outcome
from ...judging.sentences import clipping, invalid_entry
from ...judging.tolerances import TOLERANCE
from .cases import OptimumCase

DEFECT_BOUND = 1e-3
"""Up to here the least residual is reached. The excess is of second order: the square of how far W
and H are off."""

ROUNDING = 1e-12
"""An excess below minus this is more than rounding: then the arithmetic is wrong, where the least
residual is certified."""

KNOWN = 1e-8
"""The same where it is only the best known, and was found by a computation of that exactness."""


def judged(cases: Sequence[OptimumCase], W: Array, H: Array) -> list[Judgement]:
    """Judge a batch of one matrix and rank, with sentences."""
    unit = np.array([case.A.max() for case in cases])
    given = W, H
    W, H, valid, clipped = as_judged(W, H, unit)
    A = np.stack([case.A for case in cases])
    with np.errstate(over="ignore", invalid="ignore"):  # a run may have diverged to 1e200
        residual = np.linalg.norm(A - W @ H, axis=(1, 2))
        kkt = FROBENIUS.kkt_residual(A / unit[:, None, None], *balance(W, H, unit))
        optimum = np.array([case.optimum.residual for case in cases])
        excess = (residual**2 - optimum**2) / (A**2).sum(axis=(1, 2))
    without_nan(excess, kkt)
    return [
        _one(case, given[0][i], given[1][i], float(residual[i]), float(excess[i]), float(kkt[i]),
             valid=bool(valid[i]), clipped=bool(clipped[i]))
        for i, case in enumerate(cases)
    ]  # fmt: skip


def _one(
    case: OptimumCase,
    W: Array,
    H: Array,
    residual: float,
    excess: float,
    kkt: float,
    *,
    valid: bool,
    clipped: bool,
) -> Judgement:
    """Return the judgement on one run."""
    if not valid:
        return Judgement(Outcome.INVALID, invalid_entry(W, H))
    measures = {
        "residual": residual,
        "residual_defect": max(excess, 0.0),
        "kkt_residual": kkt,
    }
    outcome = graded(excess, DEFECT_BOUND)
    if outcome is None:
        at_rest = kkt <= TOLERANCE.stationary
        outcome = Outcome.COLLAPSED if at_rest else Outcome.UNCONVERGED
    known = case.optimum
    least = "the least possible" if known.certified else "the least known"
    labels = {}
    sentence = f"the residual is {residual:.10g}; {least} is {known.residual:.10g}"
    if excess < -ROUNDING and known.certified:
        outcome, labels["below"] = Outcome.UNCONVERGED, "below the least possible"
        measures["residual_defect"] = -excess
        sentence += ", so this is an error in arithmetic"
    elif excess < -KNOWN:
        labels["below"] = "below the best known"
        sentence += ", so this is news: please report W and H"
    elif outcome is Outcome.IDENTIFIED:
        sentence += f", and its square is {excess:.2g}·‖A‖² above"
    elif outcome is Outcome.COLLAPSED:
        sentence += f", and this is another stationary point (KKT residual {kkt:.2g})"
    elif outcome is Outcome.UNCONVERGED:
        sentence += f", and no stationary point is here (KKT residual {kkt:.2g})"
    return Judgement(outcome, f"{sentence}{clipping(W, H)}.", measures, labels, clipped)
