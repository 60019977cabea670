"""One factor is that of an exact factorization, and the other one is not; or not of the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...judging.objectives import find
from ...judging.turned import misses
from ..evidence import ASTRAY, Evidence
from ..findings import MOST, Cause, Finding, mostly
from .refitted import refitted
from .rescaled import inner

FEWEST = 3

RIGHT, TIMES = 1e-8, 1e4
"""A factor is right if the other can be chosen so that W·H misses A by no more than the first, and
by so many times less than it does."""


EACH, FAR = 1e-3, 1e-2
"""Both are right, each with another partner, if W·H misses A by more than the second, and with the
best partner of either by no more than the first part of that."""

SOME = 0.2
"""In so many runs other sizes of their components must not be enough."""

SMALLER = 0.95
"""So many entries of a factor are smaller than the best ones where something shrinks it."""


def parted(evidence: Evidence) -> Finding | None:
    """Say which factor is right, if the other one alone keeps W·H from being A.

    A W with fewer columns than A has rows must have A's columns in its span. One with as many may
    be nearly anything, and a best H that fits shows nothing.
    """
    if find(evidence.part.objective).beta != 2:
        return None
    runs = [
        (A, W, H)
        for A, W, H in evidence.own_answers
        if misses(A, W @ H) > ASTRAY and np.isfinite(W).all() and np.isfinite(H).all()
    ]
    if len(runs) < max(FEWEST, MOST * len(evidence.own_answers)):
        return None
    both = {
        "H": [(A.T, H.T, W.T) for A, W, H in runs if W.shape[1] < A.shape[1]],
        "W": [(A, W, H) for A, W, H in runs if W.shape[1] < A.shape[0]],
    }
    found = {right: _right(right, telling) for right, telling in both.items()}
    named = [finding for finding in found.values() if finding is not None]
    return named[0] if len(named) == 1 else _apart(runs)


def _right(right: str, runs: Sequence[tuple[Array, Array, Array]]) -> Finding | None:
    """Say that a factor is right, if it is; it stands for W here."""
    off = [misses(A, W @ H) for A, W, H in runs]
    least = [_least(A, W) for A, W, _ in runs]
    fits = [x <= min(RIGHT, y / TIMES) for x, y in zip(least, off, strict=True)]
    if len(runs) < FEWEST or not mostly(fits):
        return None
    wrong = "W" if right == "H" else "H"
    return Finding(
        Cause.HALF,
        f"{right} is that of an exact factorization, and {wrong} is not: with {right} as it is and "
        f"the best {wrong}, the median error is {np.median(least):.0e}, but as they are it is "
        f"{np.median(off):.0e}. {_why(wrong, right, runs)}",
        certain=False,
        evidence=f"{wrong} fitted again: so in {sum(fits)} of {len(fits)} answers that miss A",
    )


def _apart(runs: Sequence[tuple[Array, Array, Array]]) -> Finding | None:
    """Say so if W and H are each right, but not together, even if components are scaled."""
    telling = [(A, W, H) for A, W, H in runs if W.shape[1] < min(A.shape)]
    off = np.array([misses(A, W @ H) for A, W, H in telling])
    with_W = np.array([_least(A, W) for A, W, _ in telling])
    with_H = np.array([_least(A.T, H.T) for A, _, H in telling])
    sized = np.array([misses(A, inner(A, W, H)) for A, W, H in telling])
    apart = (off > FAR) & (np.maximum(with_W, with_H) <= EACH * off)
    if apart.sum() < FEWEST or not mostly(apart) or np.mean(sized > EACH * off) < SOME:
        return None
    return Finding(
        Cause.APART,
        "W and H do not belong together: as they are, the median error is "
        f"{np.median(off):.0e}, but with W and the best H for it, it is {np.median(with_W):.0e}, "
        f"and with H and the best W {np.median(with_H):.0e}. They may come from different runs or "
        "iterations (the best and the last, say), or one of them is permuted, scaled or changed "
        "alone.",
        evidence=f"W and H fitted again: so in {int(apart.sum())} of {len(apart)} answers that "
        "miss A",
    )


def _why(wrong: str, right: str, runs: Sequence[tuple[Array, Array, Array]]) -> str:
    """Say what may be wrong with the other factor: whether it is too small nearly everywhere."""
    lost = [(best - H)[best > 0] / best.max() for A, W, H in runs
            if (best := refitted(A, W)) is not None and best.any()]  # fmt: skip
    if lost and mostly((x > 0).mean() >= SMALLER for x in lost):
        return f"{wrong} is too small in nearly all entries: probably a penalty shrinks it."
    return (
        f"{wrong} may belong to another {right} (from an earlier iteration, or an average), have a "
        "penalty or a constraint, not be updated to the end, or be changed afterwards."
    )


def _least(A: Array, W: Array) -> float:
    """Return by how much W·H misses A with the best H."""
    H = refitted(A, W)
    return np.inf if H is None else float(misses(A, W @ H))
