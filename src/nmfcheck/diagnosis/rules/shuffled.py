"""W·H has the rows or the columns of A in another order."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...judging.turned import misses
from ..evidence import Evidence
from ..findings import MOST, Cause, Finding

FEWEST = 3


def shuffled(evidence: Evidence) -> Finding | None:
    """Say whether rows or columns of W·H are in another order than A's."""
    runs = [(A, W @ H) for A, W, H in evidence.astray]
    if len(runs) < FEWEST:
        return None
    shares = {
        "rows": np.mean([_is_shuffled(A, X) for A, X in runs]),
        "columns": np.mean([_is_shuffled(A.T, X.T) for A, X in runs]),
    }
    best = max(shares.values())
    if best < MOST:
        return None
    what = " or ".join(name for name, share in shares.items() if share == best)
    return Finding(
        Cause.PERMUTED,
        f"W·H is A with its {what} in another order: A was shuffled or sorted, and what came of it "
        "was not put back.",
        evidence=f"so in {best:.0%} of {len(runs)} answers that miss A",
    )


def _is_shuffled(A: Array, X: Array) -> bool:
    from scipy.optimize import linear_sum_assignment  # late: SciPy takes long to import

    with np.errstate(all="ignore"):
        distances = np.nan_to_num(abs(A[:, None] - X[None]).max(axis=2), posinf=1e300)
    order = linear_sum_assignment(distances)[1]
    return misses(A, X[order]) <= min(misses(A, X), 1.0) / 100
