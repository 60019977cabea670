"""A bias: a constant in a denominator, a penalty, errors that are the same from every start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..experiments.record import stage_of
from ..findings import MOST, Cause, Finding
from .single import SINGLE

NARROW = 0.3
"""Defects of which four fifths lie within so many decades are alike."""

CONSTANT = 0.1
"""Within so many decades, a number is one constant."""


FEWEST = 4
"""Fewer runs than these do not show it."""


def biased(evidence: Evidence) -> Finding | None:
    """Say which constant explains what is left of A, if one does."""
    runs = evidence.unconverged
    constant = _constant(runs.products)
    if constant is None and evidence.tried.left > runs.typical / 10:
        constant = _constant(_at_the_answer(evidence))
    if constant is None:
        return None
    return Finding(
        Cause.BIASED,
        f"It is biased: runs end with the product about {runs.typical:.0e} off, just as they do "
        f"with a constant of {constant:.1g} in a denominator, with a penalty of that size left on, "
        "or with as much taken off A.",
        evidence=f"what is left of A's entries is that of one constant, {constant:.2g}",
    )


def _at_the_answer(evidence: Evidence) -> list[tuple[Array, Array, Array]]:
    """Return the same entries of runs that were started at exact factorizations."""
    stages = [stage_of(run) for run in evidence.tried.exact]
    entries = (s.trial.family.single_products(s) for s in stages if s is not None)
    return [each for each in entries if each is not None]


def alike(evidence: Evidence) -> Finding | None:
    """Say so if runs of one case end with the same error from every start."""
    runs = evidence.unconverged
    if not runs.spread < NARROW or SINGLE[0] < runs.typical < SINGLE[1]:
        return None
    return Finding(
        Cause.BIASED,
        f"It is probably biased: runs end with the product about {runs.typical:.0e} off, from "
        "every start alike, and so it is not chance where they end. A penalty may be left on, "
        "entries be weighted, A be changed before, or an update have a wrong fixed point.",
        certain=False,
        evidence=f"the errors of one case lie within {runs.spread:.1g} decades",
    )


def _constant(products: Sequence[tuple[Array, Array, Array]]) -> float | None:
    """Return the constant that, added to the denominators, explains what is left of A.

    Where `w·h` is to be a, and r = a − w·h is left, a division by `h² + δ` (coordinate descent, or
    an L2 penalty) ends at δ = r·h/w, one by `w·h² + δ` (multiplicative update, or an L1 penalty)
    at δ = r·h; and the same with w and h swapped, whichever is updated last.
    """
    if len(products) < FEWEST:
        return None
    w, h, r = (np.concatenate(parts) for parts in zip(*products, strict=True))
    with np.errstate(all="ignore"):
        for delta in (r * h / w, r * w / h, r * h, r * w):
            if (delta > 0).mean() >= MOST:
                low, middle, high = np.quantile(np.log10(delta[delta > 0]), [0.1, 0.5, 0.9])
                if high - low < CONSTANT:
                    return float(10**middle)
    return None
