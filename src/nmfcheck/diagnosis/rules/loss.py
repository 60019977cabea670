"""It minimises another loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...judging.measures import balance
from ...judging.objectives import OBJECTIVES, Objective, find
from ...judging.tolerances import TOLERANCE
from ...judging.turned import misses
from ..evidence import Evidence
from ..findings import MOST, Cause, Finding, mostly

AT_REST = TOLERANCE.stationary / 10
"""A KKT residual up to this is that of a stationary point; above ten times as much, of none."""

FEWEST = 3
"""Fewer runs than these do not show it."""

OFF = 1e-2
"""Only runs that miss A by so much are looked at: near an exact factorization all losses are nearly
stationary. Where they are at rest, the residual is below a hundredth of what they miss A by."""


def other_loss(evidence: Evidence) -> Finding | None:
    """Say so if runs are stationary for another loss, and not for the one that was asked."""
    asked = find(evidence.part.objective)
    factors = [(A, W, H) for A, W, H in evidence.unconverged.factors if _is_judged(A, W, H)]
    if len(factors) < FEWEST:
        return _best_for_another(evidence, asked)
    off = np.array([misses(A, W @ H) for A, W, H in factors])
    for other in OBJECTIVES.values():
        if other is asked or (other.needs_positive and any((A == 0).any() for A, _, _ in factors)):
            continue
        of_asked, of_other = (residuals(loss, factors) for loss in (asked, other))
        at_rest = of_other <= np.minimum(AT_REST, off / 100)
        if mostly(at_rest & (of_asked > TOLERANCE.stationary)):
            return Finding(
                Cause.OTHER_LOSS,
                f"This looks like {other.name}: its answers are stationary for {other.title} "
                f"(median KKT residual {np.median(of_other):.0e}) and not for {asked.title} "
                f"({np.median(of_asked):.0e}). If that is what it minimises, run it with "
                f"--objective {other.name}.",
            )
    return _best_for_another(evidence, asked)


def _is_judged(A: Array, W: Array, H: Array) -> bool:
    """Say whether there is something to measure."""
    return bool((W @ H).any()) and OFF < misses(A, W @ H) < np.inf


def residuals(loss: Objective, factors: Sequence[tuple[Array, Array, Array]]) -> Array:
    """Return the KKT residual of each run, balanced in units of A."""
    kkt = []
    for A, W, H in factors:
        unit = np.array([A.max()])
        balanced = balance(np.maximum(W, 0.0)[None], np.maximum(H, 0.0)[None], unit)
        kkt.append(loss.kkt_residual(A[None] / unit, *balanced))
    return np.concatenate(kkt) if kkt else np.empty(0)


def _best_for_another(evidence: Evidence, asked: Objective) -> Finding | None:
    """Say which loss its products are the best ones for, where a family knows that."""
    labels = [labels.get("best_for", "") for labels in evidence.unconverged.labels]
    (loss, number), *_ = Counter(labels).most_common() or [("", 0)]
    if not loss or number < MOST * len(labels):
        return None
    return Finding(
        Cause.OTHER_LOSS,
        f"It minimises another loss: where the best product is known, it finds the one for {loss}, "
        f"not the one for {asked.title}.",
    )
