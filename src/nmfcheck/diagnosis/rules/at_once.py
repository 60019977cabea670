"""All components are updated at once, from old values."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...judging.turned import misses
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

FEWEST = 3
AWAY, BACK = 1e-2, 1e-3
"""So far one sweep must lead away, and so much of that two at most."""


def at_once(evidence: Evidence) -> Finding | None:
    """Say so if a sweep over all components at once leads away from its answers, and a second back.

    Coordinate descent that uses the old values of all other components ends in such cycles.
    """
    runs = [(A, W, H) for A, W, H in evidence.unconverged.factors if W.shape[1] > 1]
    cycles = [_has_cycle(A, W, H) for A, W, H in runs]
    telling = sum(one and bool((W @ H).any()) for one, (_, W, H) in zip(cycles, runs, strict=True))
    if telling < FEWEST or not mostly(cycles):
        return None
    return Finding(
        Cause.AT_ONCE,
        "It does not come to rest. Probably all components of W, or of H, are updated at once from "
        "old values, where each should see the others as they are by then: one sweep of that kind "
        "leads away from its answers, and a second one back to them.",
        certain=False,
        evidence=f"so in {sum(cycles)} of {len(cycles)} failing runs",
    )


def _has_cycle(A: Array, W: Array, H: Array) -> bool:
    """Say whether the second sweep ends where the first began, and the first does not."""
    here = W @ H
    one = _swept(A, W, H)
    two = _swept(A, *one)
    away, back = (misses(A, A + X @ Y - here) for X, Y in (one, two))
    return away > AWAY and back <= BACK * away


def _swept(A: Array, W: Array, H: Array) -> tuple[Array, Array]:
    """Return W and H after a sweep of coordinate descent over all components at once."""
    W = _moved(A, W, H)
    return W, _moved(A.T, H.T, W.T).T


def _moved(A: Array, W: Array, H: Array) -> Array:
    gram = H @ H.T
    size = np.diag(gram)
    step = (A @ H.T - W @ gram) / np.where(size > 0, size, 1.0)
    return np.asarray(np.maximum(0.0, W + np.where(size > 0, step, 0.0)))
