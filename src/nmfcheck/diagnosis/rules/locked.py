"""Zeros that cannot grow."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...judging.measures import balance
from ...judging.tolerances import TOLERANCE
from ..evidence import Evidence
from ..experiments import Run
from ..experiments.lines import zeros_come_of_an_update
from ..findings import Cause, Finding, mostly

PULL = 10 * TOLERANCE.stationary
"""So steep the objective falls where an entry is 0 that should grow."""


NEARLY_ALL = 0.9


def locked(evidence: Evidence) -> Finding | None:
    """Say so if runs rest in all positive entries, and only in zeros they do not.

    Who leaves exact factorizations by as much as its runs miss A, or wanders when it is started
    again, has other faults.
    """
    tried = evidence.tried
    if tried.left > evidence.unconverged.typical / 10 or mostly(x.wanders for x in tried.chains):
        return None
    is_locked = [_is_locked(A, W, H) for A, W, H in evidence.unconverged.factors]
    if not mostly(is_locked):
        return None
    if zeros_come_of_an_update(tried.followed):
        return None
    stay = [_stay(each.run) for each in tried.chains]
    if stay and not mostly(stay):
        return None
    known = bool(stay) or not tried.takes_start
    certain = known and sum(is_locked) >= NEARLY_ALL * len(is_locked)
    again = ", and stay 0 when it is started again there" if stay else ""
    return Finding(
        Cause.LOCKED,
        f"{'Zeros' if certain else 'Probably zeros'} are locked: its runs are stationary in all "
        f"entries that are positive, but some that are exactly 0 should grow{again}. A "
        "multiplicative update, or an active set that is never left, cannot leave a 0: does the "
        "start have zeros (NNDSVD has), or is something set to 0 on the way?",
        certain=certain,
        evidence=f"so in {sum(is_locked)} of {len(is_locked)} failing runs",
    )


def _stay(run: Run) -> bool:
    """Say whether all that is 0 in an answer is so when the subject was started there."""
    pairs = ((run.W0, run.W), (run.H0, run.H))
    return all(X is not None and not X[X0 == 0].any() for X0, X in pairs)


def _is_locked(A: Array, W: Array, H: Array) -> bool:
    """Say whether what is positive rests, and what is 0 is pulled away from it."""
    if not (np.isfinite(W).all() and np.isfinite(H).all() and W.any() and H.any()):
        return False
    W, H = (X[0] for X in balance(W[None], H[None], np.array([A.max()])))
    R = W @ H - A / A.max()
    gradients = ((W, R @ H.T), (H, W.T @ R))
    moving = max(float(np.minimum(X, abs(g))[X > 0].max(initial=0.0)) for X, g in gradients)
    # A row of W, or a column of H, that is 0 as a whole may have been left out.
    one = len(H) == 1
    kept = (W.any(axis=1, keepdims=True) | one, H.any(axis=0, keepdims=True) | one)
    zeros = [(X == 0) & some for X, some in zip((W, H), kept, strict=True)]
    pull = max(
        float(-g[where].min(initial=0.0)) for (_, g), where in zip(gradients, zeros, strict=True)
    )
    return moving <= TOLERANCE.stationary and pull > PULL
