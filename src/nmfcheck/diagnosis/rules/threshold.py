"""A threshold: small entries of the answer are set to 0."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ...judging.objectives import find
from ..evidence import Evidence
from ..experiments.lines import spoiled, worse
from ..findings import Cause, Finding, mostly
from .refitted import refitted

FEWEST = 2

RUNS = 4
"""So many answers must show that something was cut off at the end."""

FALLS = 10
"""So much the error falls where what was cut off is put back."""

LEAST = 1e-9
"""What comes back is more than this, relative to the largest entry."""


def threshold(evidence: Evidence) -> Finding | None:
    """Say which entries are dropped, where a run is started at an exact factorization."""
    dropped: list[float] = []
    left: list[float] = []
    runs = 0
    for run in evidence.tried.exact:
        assert run.W is not None and run.H is not None
        some = False
        for X0, X in ((run.W0, run.W), (run.H0, run.H)):
            dropped += X0[(X0 > 0) & (X == 0)].tolist()
            left += X[X > 0].tolist()
            some |= bool(((X0 > 0) & (X == 0)).any())
        runs += some
    if runs < FEWEST or not left or not mostly(x < min(left) for x in dropped):
        return None
    return Finding(
        Cause.THRESHOLD,
        "Small entries are set to 0: started at exact factorizations, it drops some that are "
        f"positive there (half of them up to {np.median(dropped):.1g}), and leaves none between 0 "
        f"and {min(left):.1g}. A threshold is in the way, or a penalty that makes small entries 0, "
        "or the start or A is cut off before.",
        evidence=f"start at the answer: {len(dropped)} entries dropped in {runs} runs, "
        f"of sizes {min(dropped):.0e} to {max(dropped):.0e}",
    )


def cut_off(evidence: Evidence) -> Finding | None:
    """Say so if small entries of W or H alone are missing, and with them W·H is far nearer to A."""
    runs = evidence.unconverged.factors
    if len(runs) < RUNS or find(evidence.part.objective).beta != 2:
        return None
    followed = evidence.tried.followed
    if worse(followed) or any(chain.worsened for chain in evidence.tried.chains):
        return None  # then an update may leave them at 0
    certain = bool(spoiled(followed))
    why = (
        "They are set to 0 at the end, or small entries of A are before."
        if certain
        else "Probably they are set to 0, or small entries of A are before, or the updates keep "
        "them at 0."
    )
    if followed and not certain:
        why += " In the runs that were followed, no statement at the end sets them to 0."
    both = {
        "H": [_put_back(A, W, H) for A, W, H in runs],
        "W": [_put_back(A.T, H.T, W.T) for A, W, H in runs],
    }
    for name, entries in both.items():
        back = [x for x in entries if x is not None]
        if mostly(x is not None for x in entries):
            return Finding(
                Cause.THRESHOLD,
                f"Small entries of {name} are missing: in most failing runs, some that are 0 "
                f"should be up to {np.median(back):.1g} of its largest, which is less than all "
                f"that are left, and with these the error is less than a tenth. {why}",
                certain=certain,
                evidence=f"so in {len(back)} of {len(entries)} failing runs, {name} fitted again "
                "with the other factor as it is",
            )
    return None


def _put_back(A: Array, W: Array, H: Array) -> float | None:
    """Return the largest entry of H that was cut off, relative to its largest; None if none was."""
    if not (np.isfinite(W).all() and H.any()) or (H > 0).all():
        return None
    best = refitted(A, W)
    if best is None:
        return None
    off, left = (float(abs(A - W @ X).max()) for X in (H, best))
    back = float(best[H == 0].max())
    if back <= LEAST * H.max() or back >= H[H > 0].min() or left > off / FALLS:
        return None
    return back / float(H.max())
