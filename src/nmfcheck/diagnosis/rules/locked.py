"""Zeros that cannot grow."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...judging.measures import balance
from ...judging.tolerances import TOLERANCE
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

PULL = 10 * TOLERANCE.stationary
"""So steep the objective falls where an entry is 0 that should grow."""


def locked(evidence: Evidence) -> Finding | None:
    """Say so if runs rest in all positive entries, and only in zeros they do not.

    Who leaves exact factorizations by as much as its runs miss A, or wanders when it is started
    again, has other faults.
    """
    tried = evidence.tried
    if tried.left > evidence.unconverged.typical / 10 or mostly(x.wanders for x in tried.chains):
        return None
    if not mostly(_is_locked(A, W, H) for A, W, H in evidence.unconverged.factors):
        return None
    return Finding(
        Cause.LOCKED,
        "Zeros are locked: its runs are stationary in all entries that are positive, but some that "
        "are exactly 0 should grow, and never do. A multiplicative update cannot leave a 0: does "
        "the start have zeros (NNDSVD has), or is something set to 0 on the way?",
        evidence="stationary in all positive entries, and not in zeros",
    )


def _is_locked(A: Array, W: Array, H: Array) -> bool:
    """Say whether what is positive rests, and what is 0 is pulled away from it."""
    if not (np.isfinite(W).all() and np.isfinite(H).all() and W.any() and H.any()):
        return False
    W, H = (X[0] for X in balance(W[None], H[None], np.array([A.max()])))
    R = W @ H - A / A.max()
    gradients = ((W, R @ H.T), (H, W.T @ R))
    moving = max(float(np.minimum(X, abs(g))[X > 0].max(initial=0.0)) for X, g in gradients)
    pull = max(float(-g[X == 0].min(initial=0.0)) for X, g in gradients)
    return moving <= TOLERANCE.stationary and pull > PULL
