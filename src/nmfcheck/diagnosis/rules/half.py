"""One factor is the best for the other, and not the other way round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...judging.measures import balance
from ...judging.objectives import OBJECTIVES, Objective, find
from ...judging.tolerances import TOLERANCE
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

AT_REST = 1e-6
"""A factor whose residual is up to this is the best for the other one."""

NEARLY, TIMES = 0.02, 30
"""One whose residual is up to the first, and the other's so many times as large, is nearly that."""

FEWEST = 3

POSITIVE = 1e-6
"""Entries above this, relative to the largest, are positive."""


def half(evidence: Evidence) -> Finding | None:
    """Say which update is wrong, if the other one is right, and runs do not stop early.

    Where it cannot be started at its own answers, only another loss explains why it rests there.
    """
    # Where a factor is 0, any other one is the best for it.
    runs = [(A, W, H) for A, W, H in evidence.unconverged.factors if (W @ H).any()]
    chains = evidence.chains
    if len(runs) < FEWEST or mostly(x.improved or x.creeps for x in chains):
        return None
    if find(evidence.part.objective).beta != 2:
        return None
    both = np.array([residuals(A, W, H) for A, W, H in runs])
    for certain in (True, False):
        for place, right in enumerate("WH"):
            here, other = both[:, place], both[:, 1 - place]
            near = here <= (AT_REST if certain else np.minimum(NEARLY, other / TIMES))
            alone = near & (other > TOLERANCE.stationary)
            if mostly(alone):
                seen = f"so in {int(alone.sum())} of {len(runs)} failing runs"
                sizes = float(np.median(here)), float(np.median(other))
                rests = not mostly(each.wanders for each in chains)
                if (loss := _other_loss(right, runs)) is not None:
                    return _of_another_loss(right, loss, sizes, seen)
                if not chains:
                    return None
                return _finding(right, sizes, seen, certain=certain and rests)
    return None


def _other_loss(right: str, runs: Sequence[tuple[Array, Array, Array]]) -> Objective | None:
    """Return the loss for which the other factor is the best for this one, if there is one."""
    turned = [(A.T, H.T, W.T) if right == "H" else (A, W, H) for A, W, H in runs]
    for loss in OBJECTIVES.values():
        if loss.beta != 2 and mostly(_rests_for(loss, A, W, H) for A, W, H in turned):
            return loss
    return None


def _rests_for(loss: Objective, A: Array, W: Array, H: Array) -> bool:
    """Say whether the positive entries of H rest at N/P = 1, as a multiplicative update says it."""
    X = W @ H
    if not (X > 0).all() or (loss.needs_positive and (A == 0).any()):
        return False
    slope, ratio = X ** (loss.beta - 1), A * X ** (loss.beta - 2)
    off = abs(W.T @ ratio / (W.T @ slope) - 1)
    return bool(off[POSITIVE * H.max() < H].max(initial=0.0) <= AT_REST)


def _of_another_loss(right: str, loss: Objective, sizes: tuple[float, float], seen: str) -> Finding:
    wrong = "H" if right == "W" else "W"
    return Finding(
        Cause.HALF,
        f"The update of {wrong} is that of another loss: {right} is the best for its {wrong} in "
        f"the Frobenius norm (median KKT residual {sizes[0]:.0e}), but {wrong} is not the best for "
        f"its {right} ({sizes[1]:.0e}), and would be for {loss.title}.",
        evidence=seen,
    )


def _finding(right: str, sizes: tuple[float, float], seen: str, *, certain: bool) -> Finding:
    wrong, weighed = ("H", "rows") if right == "W" else ("W", "columns")
    begin = "The" if certain else "Probably the"
    nearly = "" if sizes[0] <= AT_REST else "nearly "
    return Finding(
        Cause.HALF,
        f"{begin} trouble is in {wrong}: {right} is {nearly}the best for its {wrong} (median KKT "
        f"residual {sizes[0]:.0e}), but {wrong} is not the best for its {right} ({sizes[1]:.0e}), "
        f"and starting again there does not help. The update of {wrong} may be made too seldom, "
        "have a wrong sign, step or formula, be that of another loss, use something old, have a "
        f"penalty, a constraint or a threshold, or weigh the {weighed} of A; or {wrong} is changed "
        f"after it, or A before, in a way that {right} does not see.",
        certain=certain,
        evidence=seen,
    )


def residuals(A: Array, W: Array, H: Array) -> tuple[float, float]:
    """Return the KKT residuals of W and of H, balanced in units of A."""
    unit = float(A.max())
    (W,), (H,) = balance(np.maximum(W, 0.0)[None], np.maximum(H, 0.0)[None], np.array([unit]))
    R = W @ H - A / unit
    both = ((W, R @ H.T), (H, W.T @ R))
    in_W, in_H = (float(abs(np.minimum(X, gradient)).max()) for X, gradient in both)
    return in_W, in_H
