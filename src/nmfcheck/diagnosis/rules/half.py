"""One factor is the best for the other, and not the other way round."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...judging.measures import balance
from ...judging.objectives import find
from ...judging.tolerances import TOLERANCE
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

AT_REST = 1e-6
"""A factor whose residual is up to this is the best for the other one."""

NEARLY, TIMES = 0.02, 30
"""One whose residual is up to the first, and the other's so many times as large, is nearly that."""

FEWEST = 3


def half(evidence: Evidence) -> Finding | None:
    """Say which update is wrong, if the other one is right, and runs do not stop early."""
    runs, chains = evidence.unconverged.factors, evidence.chains
    if len(runs) < FEWEST or not chains or mostly(x.improved or x.creeps for x in chains):
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
                return _finding(right, sizes, seen, certain=certain and rests)
    return None


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
