"""Components are fitted one after another, and not together."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

FEWEST = 3

ALIKE = 1e-6
"""Two columns that differ by less, relative to their largest entry, are one."""

AMISS = 1e-3
"""With a KKT residual below this, components are fitted together as well."""


def greedy(evidence: Evidence) -> Finding | None:
    """Say so if each component is the best for what those before it, or behind it, leave of A."""
    runs = [(A, W, H) for A, W, H in evidence.unconverged.factors if W.shape[1] > 1 and W.any()]
    if len(runs) < FEWEST or not evidence.unconverged.kkt > AMISS:
        return None
    for before, behind, step in (("before", "behind", 1), ("behind", "before", -1)):
        fits = [_one_by_one(A, W[:, ::step], H[::step]) for A, W, H in runs]
        if mostly(fits):
            return Finding(
                Cause.GREEDY,
                f"Each component is fitted to what those {before} it leave of A, as if there were "
                f"none {behind} it: these are left out of its sums, or components are found one by "
                "one and never together.",
                evidence=f"so in {sum(fits)} of {len(fits)} failing runs",
            )
    return None


def _one_by_one(A: Array, W: Array, H: Array) -> bool:
    """Say whether w_j = max(0, R·h_j/h_j·h_j), R = A − Σ_{i<j} w_i·h_i, for each j; so for H."""
    rest = A.astype(np.float64)
    for w, h in zip(W.T, H, strict=True):
        for x, y, R in ((w, h, rest), (h, w, rest.T)):
            if not y.any():
                continue
            best = np.maximum(0.0, R @ y / (y @ y))
            if abs(best - x).max() > ALIKE * max(best.max(), x.max()):
                return False
        rest = rest - np.outer(w, h)
    return True
