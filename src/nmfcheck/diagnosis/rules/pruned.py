"""Whole components are set to 0."""

from __future__ import annotations

import numpy as np

from ...arrays import Array, Bools
from ...judging.outcomes import Outcome
from ..evidence import Evidence
from ..experiments.lines import (
    emptied_at_the_end,
    emptied_on_the_way,
    zeros_come_of_an_update,
)
from ..findings import Cause, Finding

FEWEST, NEARLY_ALL = 3, 0.8
"""So many failing runs must show it, and so many of them."""

ROUNDING = 1e-6
"""Less than this, relative to A's largest entry, is nothing."""


def pruned(evidence: Evidence) -> Finding | None:
    """Say so if small components of exact factorizations come back as 0, and no others."""
    dropped: list[float] = []
    left: list[float] = []
    asked: set[str] = set()
    losing: set[str] = set()
    for run in evidence.tried.exact:
        assert run.W is not None and run.H is not None
        sizes = np.linalg.norm(run.W0, axis=0) * np.linalg.norm(run.H0, axis=1)
        gone = alive(run.W0, run.H0) & ~alive(run.W, run.H)
        dropped += (sizes[gone] / sizes.max()).tolist()
        left += (sizes[~gone] / sizes.max()).tolist()
        name = f"{run.trial.id}/{run.ask.name}"
        asked.add(name)
        if gone.any():
            losing.add(name)
    if not losing or not left or max(dropped) >= min(left):
        return None
    return Finding(
        Cause.PRUNED,
        "Whole components come back as 0: started at exact factorizations, it drops all that are "
        f"up to {max(dropped):.0%} of the largest one's size, and none that is larger. A needs "
        "them. Probably small components are taken for dead, a penalty is too strong, or a wrong "
        "update makes them 0.",
        certain=False,
        evidence=f"start at the answer: in {len(losing)} of {len(asked)} factorizations",
    )


def emptied(evidence: Evidence) -> Finding | None:
    """Say so if what W·H misses of A is just what the components were that come back as 0."""
    runs = evidence.unconverged.factors
    missing = [_is_missing(A, W, H) for A, W, H in runs]
    if sum(missing) < max(FEWEST, NEARLY_ALL * len(runs)):
        return None
    followed = evidence.tried.followed
    if emptied_on_the_way(followed) or zeros_come_of_an_update(followed):
        return None
    # Otherwise an update, or a solver for one factor, may be wrong.
    certain = emptied_at_the_end(followed) and not evidence.ended[Outcome.INVALID]
    why = (
        "They are set to 0 after the fit, and the others are not fitted again: small ones are "
        "probably taken for dead."
        if certain
        else "Probably small ones are taken for dead after the fit, or an update or a solver for "
        "one factor gives 0 for all of a component."
    )
    return Finding(
        Cause.PRUNED,
        "Whole components come back as 0, and with as many more W·H would be A: what is missing is "
        f"nonnegative, and has as many components as are 0. {why}",
        certain=certain,
        evidence=f"so in {sum(missing)} of {len(runs)} failing runs",
    )


def _is_missing(A: Array, W: Array, H: Array) -> bool:
    """Say whether A − W·H is nonnegative, and of the rank of what is 0 in W and H."""
    dead = int((~alive(W, H)).sum())
    missed = A - W @ H
    unit = float(A.max())
    if not 0 < dead < min(len(H), *A.shape) or missed.min() < -ROUNDING * unit:
        return False
    sizes = np.linalg.svd(missed, compute_uv=False)
    return bool(sizes[dead - 1] > 1e3 * ROUNDING * unit and sizes[dead] <= ROUNDING * unit)


def alive(W: Array, H: Array) -> Bools:
    """Say which components are not 0 in W, nor in H."""
    return np.logical_and((W > 0).any(axis=0), (H > 0).any(axis=1))
