"""Tests that may be looked at while a run goes on.

**FAIL** by e-values. If each trial of a cell passes with a probability of at least the bar b, then

    E = r^passed · ((1 − r·b)/(1 − b))^failed,    0 ≤ r < 1,

the likelihood ratio of r·b against b, is a nonnegative supermartingale that starts at 1; so are its
products over cells and its means over r. By Ville's inequality it ever reaches 1/α with a
probability of at most α, whenever it is looked at (A. Ramdas, P. Grünwald, V. Vovk and G. Shafer,
"Game-theoretic statistics and safe anytime-valid inference", Statistical Science 2023). It depends
on the counts alone, and not on the order in which results came.

**PASS** at a few looks that are fixed in advance: after each tenth of the trials of every cell, by
the exact binomial bound, with the level shared out to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .decision import CellVerdict

RATIOS = (0.0, 0.25, 0.5, 0.75, 0.9)
"""The shares, relative to the bar, of the alternatives that are averaged."""

LOOKS = 10
"""A PASS is looked for after each tenth of a suite; the last is its end."""


def e_value(cells: Sequence[CellVerdict]) -> float:
    """Return the logarithm of a family's e-value against "every cell meets its bar".

    Half of it is of all cells together, half the mean of the cells.
    """
    counting = [cell for cell in cells if cell.counts and cell.bar > 0]
    if not counting:
        return 0.0
    together = _mixed(counting)
    alone = _mean([_mixed([cell]) for cell in counting])
    return _mean([together, alone])


def worst(cells: Sequence[CellVerdict]) -> CellVerdict | None:
    """Return the cell that says most against that; None where all of them together say more."""
    counting = [cell for cell in cells if cell.counts and cell.bar > 0]
    if not counting:
        return None
    alone = max(counting, key=lambda cell: _mixed([cell]))
    return alone if _mixed([alone]) > _mixed(counting) else None


def rejects(log_e: float, level: float, families: int) -> bool:
    """Say whether an e-value is large enough, one of those of so many families."""
    return level > 0 and log_e >= math.log(families / level)


def _mixed(cells: Sequence[CellVerdict]) -> float:
    """Return the logarithm of the mean over the alternatives of the product over cells."""
    return _mean([sum(_ratio(cell, r) for cell in cells) for r in RATIOS])


def _ratio(cell: CellVerdict, r: float) -> float:
    """Return the logarithm of the likelihood ratio of r·b against b."""
    b, passed = cell.bar, cell.share.part
    failed = cell.share.whole - passed
    ratio = 0.0
    if failed:
        ratio += failed * (math.log((1 - r * b) / (1 - b)) if b < 1 else math.inf)
    if passed:
        ratio += passed * (math.log(r) if r > 0 else -math.inf)
    return -math.inf if math.isnan(ratio) else ratio


def _mean(logarithms: Sequence[float]) -> float:
    """Return the logarithm of the mean of numbers whose logarithms these are."""
    top = max(logarithms)
    if math.isinf(top):
        return top
    return top + math.log(sum(math.exp(x - top) for x in logarithms) / len(logarithms))
