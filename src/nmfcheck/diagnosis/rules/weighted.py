"""It minimises an error in which the rows or the columns of A are weighted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Array
from ...judging.objectives import find
from ...judging.tolerances import TOLERANCE
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly
from .loss import residuals

AT_REST = 1e-6
"""A KKT residual up to this is that of a stationary point."""

FEWEST = 3

OFTEN = 0.3
"""Fewer trials of a family do not end where they should for an error that is not the right one."""

_SIZES: dict[str, Callable[[Array], Array]] = {
    "norms": lambda A: np.sqrt((A * A).sum(axis=1, keepdims=True)),
    "sums": lambda A: A.sum(axis=1, keepdims=True),
    "largest entries": lambda A: A.max(axis=1, keepdims=True),
    "standard deviations": lambda A: A.std(axis=1, keepdims=True),
}


def weighted(evidence: Evidence) -> Finding | None:
    """Say so if answers are stationary where rows or columns are divided by their sizes."""
    loss = find(evidence.part.objective)
    runs = [(A, W, H) for A, W, H in evidence.unconverged.factors if _is_whole(W, H)]
    if loss.beta != 2 or len(runs) < FEWEST or len({A.tobytes() for A, _, _ in runs}) < 2:
        return None
    if evidence.short < OFTEN * evidence.trials:
        return None
    here = residuals(loss, runs)
    turned = [(A.T, H.T, W.T) for A, W, H in runs]
    for what, some in (("rows", runs), ("columns", turned)):
        for how, size in _SIZES.items():
            divided = residuals(loss, [_divided(size, A, W, H) for A, W, H in some])
            if mostly((divided <= AT_REST) & (here > TOLERANCE.stationary)):
                return Finding(
                    Cause.WEIGHTED,
                    f"It minimises a weighted error: its answers are stationary where the {what} "
                    f"of A are divided by their {how} (median KKT residual "
                    f"{np.median(divided):.0e}), and not as it stands ({np.median(here):.0e}). "
                    "Normalising A first and scaling W or H back at the end weighs errors.",
                    evidence=f"{len(runs)} failing runs were looked at",
                )
    return None


def _divided(
    size: Callable[[Array], Array], A: Array, W: Array, H: Array
) -> tuple[Array, Array, Array]:
    """Return the problem, and the answer, with rows divided by their sizes."""
    of = size(A)
    of = np.where(of > 0, of, 1.0)
    return A / of, W / of, H


def _is_whole(W: Array, H: Array) -> bool:
    """Say whether no component is lost: whatever is left of one is easily stationary."""
    return bool(np.linalg.matrix_rank(W @ H) == W.shape[1])
