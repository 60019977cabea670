"""Each entry of W·H depends on the entry of A alone."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding

FEWEST = 15
"""So many entries of different sizes are needed to see a function in them."""

SMOOTH = 0.02
"""What is between two neighbours may be so far from the line between them, relative to what is
changed, in nearly all places."""


def entrywise(evidence: Evidence) -> Finding | None:
    """Say which entries become which, if W·H is a function of A, entry by entry."""
    runs = [(A, W @ H) for A, W, H in evidence.astray if W.shape[1] >= min(A.shape)]
    if len({A.tobytes() for A, _ in runs}) < 4:
        return None
    entries = (np.stack([A.ravel(), X.ravel()], axis=1) for A, X in runs)
    pairs = np.concatenate(list(entries))
    a, x = _medians(pairs)
    if len(a) < FEWEST or not _is_function(a, x):
        return None
    places = [0, len(a) // 4, len(a) // 2, 3 * len(a) // 4, len(a) - 1]
    listed = ", ".join(f"{a[i]:.3g} → {x[i]:.3g}" for i in places)
    return Finding(
        Cause.CHANGED_A,
        f"W·H is not A, but a function of it, entry by entry ({listed}): A is transformed before "
        "it is factorized.",
        evidence=f"so in {len(a)} entries of different sizes, of {len(runs)} answers that miss A",
    )


def _medians(pairs: Array) -> tuple[Array, Array]:
    """Return the different entries of A, and the median of what each became."""
    sizes, places = np.unique(pairs[:, 0], return_inverse=True)
    became = np.array([np.median(pairs[places == i, 1]) for i in range(len(sizes))])
    return sizes, became


def _is_function(a: Array, x: Array) -> bool:
    """Say whether what lies between two neighbours is near the line between them."""
    if abs(x - a).max() <= 0.01 * a.max():
        return False
    left, right = a[:-2], a[2:]
    line = x[:-2] + (x[2:] - x[:-2]) * (a[1:-1] - left) / (right - left)
    off = abs(x[1:-1] - line)
    changed = float(np.median(abs(x - a)))
    return bool(np.quantile(off[1:], 0.9) <= SMOOTH * changed) and bool(np.ptp(x) > SMOOTH)
