"""W·H is right for another matrix, which A suggests: normalised, rounded, a function of A."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...judging.objectives import Objective, find
from ...judging.turned import misses
from ..evidence import AMISS, Evidence, explains
from ..findings import MOST, Cause, Finding
from .candidates import CANDIDATES, Candidate, Kind
from .loss import residuals

FEWEST = 3
"""Fewer runs than these, of at least two matrices, do not show it."""

PROBED = 6
"""A candidate that fits none of so many runs is not looked at any further."""

Factors = Sequence[tuple[Array, Array, Array]]


def transformed(evidence: Evidence) -> Finding | None:
    """Say which matrix was factorized instead of A, if it is one of those that are known."""
    runs = evidence.answers
    if not _enough(runs):
        return None
    loss = find(evidence.part.objective)
    telling = [i for i, (A, _, _) in enumerate(runs) if (A > 0).sum() > max(A.shape)]
    shares = [(0.0, CANDIDATES[0])]
    probe = runs[:: -(-len(runs) // PROBED)]
    for each in CANDIDATES:
        if not any(_fits(each, A, W, H, loss) for A, W, H in probe):
            continue  # as nearly always
        fits = np.array([_fits(each, A, W, H, loss) for A, W, H in runs])
        of_telling = float(fits[telling].mean()) if len(telling) > 1 else 1.0
        shares.append((min(float(fits.mean()), of_telling), each))
    best = max(share for share, _ in shares)
    if best < MOST:
        return _shifted(evidence.astray)
    fitting = [each for share, each in shares if share == best]
    kind = fitting[0].kind
    names = " or ".join(each.called for each in fitting if each.kind is kind)
    return Finding(
        Cause.CHANGED_A,
        f"W·H is not A, but {'the nearest to ' * (kind is Kind.CENTRED)}{names}. {kind.advice}",
        evidence=f"so in {best:.0%} of {len(runs)} answers that miss A",
    )


def _enough(runs: Factors) -> bool:
    return len(runs) >= FEWEST and len({A.tobytes() for A, _, _ in runs}) > 1


def _fits(candidate: Candidate, A: Array, W: Array, H: Array, loss: Objective) -> bool:
    """Say whether W·H is a candidate, or the best that its rank allows."""
    with np.errstate(all="ignore"):
        B, product = candidate.of(A), W @ H
    if not np.isfinite(B).all() or misses(A, B) <= AMISS:  # then it cannot be what is wrong
        return False
    if explains(A, product, B):
        return True
    negative = bool((B < 0).any())
    if B.max() <= 0 or (negative and loss.beta != 2):
        return False
    if W.shape[1] >= min(A.shape) and not negative:
        return False
    of_B, of_A = (residuals(loss, [(X, W, H)])[0] for X in (B, A))
    return bool(of_B <= 1e-6 and of_A > 1e4 * of_B)


def _shifted(runs: Factors) -> Finding | None:
    """Say so if something was added to all entries of A."""
    added = [W @ H - A for A, W, H in runs if W.shape[1] >= min(A.shape)]
    if len(added) < FEWEST:
        return None
    middles = np.array([np.median(X) for X in added])
    alike = [abs(X - x).max() <= 0.01 * abs(x) for X, x in zip(added, middles, strict=True)]
    if np.mean(alike) < MOST:
        return None
    low, high = np.quantile(middles, [0.1, 0.9])
    size = f"{low:.3g}" if high - low <= 0.01 * abs(high) else f"{low:.2g} to {high:.2g}"
    return Finding(
        Cause.CHANGED_A,
        f"W·H is not A, but A with {size} added to each entry, zeros included: is something added "
        "to A (against zeros, or by a shift) and not taken off again?",
        evidence=f"so in {sum(alike)} of {len(added)} answers that miss A",
    )
