"""Noise: from the same start, another seed ends elsewhere."""

from __future__ import annotations

import numpy as np

from ...judging.outcomes import Flag
from ..evidence import Evidence
from ..experiments.tried import LEFT
from ..findings import Cause, Finding

FEWEST = 2
"""So many exact factorizations must be left in two ways."""


def random(evidence: Evidence) -> Finding | None:
    """Say so if runs from one exact factorization leave it, each seed in another way."""
    apart, off = [], []
    for one, other in evidence.tried.pairs():
        if one.product is not None and other.product is not None:
            unit = one.A.max()
            apart.append(float(abs(one.product - other.product).max() / unit))
            off.append(max(float(abs(run.product - run.A).max() / unit) for run in (one, other)))  # type: ignore[operator]
    differing = [(x, y) for x, y in zip(apart, off, strict=True) if x > LEFT and x > 0.1 * y]
    if len(differing) < FEWEST:
        return None
    apart, off = [x for x, _ in differing], [y for _, y in differing]
    if np.median(apart) < evidence.unconverged.typical / 100:  # then that is not what is wrong
        return None
    # Two answers to one start and one seed: workers that remember different things give such, too.
    certain = not any(Flag.DIFFERS in flags for _, flags in evidence.results.flagged())
    is_random = "It is random" if certain else "It is probably random, or keeps what it was asked"
    return Finding(
        Cause.RANDOM,
        f"{is_random}: started at an exact factorization, it goes {np.median(off):.0e} away from "
        "it, and with another seed elsewhere. Noise may be added, entries be left out at random, "
        "components be drawn anew, random steps never become small, or runs begin at random, and "
        "not where they are told to (and be averaged, say).",
        certain=certain,
        evidence=f"start at the answer: W·H of two seeds differ by {np.median(apart):.0e}",
    )
