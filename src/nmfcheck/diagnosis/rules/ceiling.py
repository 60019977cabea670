"""A ceiling: entries of W and H never grow beyond a number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

FEWEST = 5

ALIKE = 1e-9
"""Norms that differ by less, relative to the largest, are one."""


def ceiling(evidence: Evidence) -> Finding | None:
    """Say so if the largest entry of W or of H is the same number in nearly all failing runs."""
    runs = evidence.unconverged.factors
    if len(runs) < FEWEST:
        return None
    for name, factors in (("W", [W for _, W, _ in runs]), ("H", [H for _, _, H in runs])):
        largest = [float(X.max()) for X in factors]
        middle = float(np.median(largest))
        components = [X if name == "W" else X.T for X in factors]
        if middle > 0 and mostly(x == middle for x in largest) and not _normalised(components):
            return Finding(
                Cause.CEILING,
                f"No entry of {name} is larger than {middle:g}, and some are exactly that in "
                "nearly every run that fails: probably entries are clipped there.",
                certain=False,
                evidence=f"the largest entry of {name} is {middle:g} in "
                f"{sum(x == middle for x in largest)} of {len(largest)} failing runs",
            )
    return None


def _normalised(factors: Sequence[Array]) -> bool:
    """Say whether all columns have one norm in nearly all of these: that is not a ceiling."""
    several = [X for X in factors if X.shape[1] > 1]
    for order in (1, 2):
        norms = [np.linalg.norm(X, order, axis=0) for X in several]
        if mostly(of.max() - of[of > 0].min(initial=of.max()) <= ALIKE * of.max() for of in norms):
            return True
    return mostly(_each_largest(X) for X in several)


def _each_largest(X: Array) -> bool:
    """Say whether each column that is not 0 has the same largest entry, and has it once."""
    largest = X.max(axis=0)
    once = (largest == X).sum(axis=0) == 1
    return bool(((largest == X.max()) & once)[largest > 0].all())
