"""A ceiling: entries of W and H never grow beyond a number."""

from __future__ import annotations

import numpy as np

from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

FEWEST = 5


def ceiling(evidence: Evidence) -> Finding | None:
    """Say so if the largest entry of W or of H is the same number in nearly all failing runs."""
    runs = evidence.unconverged.factors
    if len(runs) < FEWEST:
        return None
    for name, factors in (("W", [W for _, W, _ in runs]), ("H", [H for _, _, H in runs])):
        largest = [float(X.max()) for X in factors]
        middle = float(np.median(largest))
        if middle > 0 and mostly(x == middle for x in largest):
            return Finding(
                Cause.CEILING,
                f"No entry of {name} is larger than {middle:g}, and some are exactly that in "
                "nearly every run that fails: probably entries are clipped there.",
                certain=False,
                evidence=f"the largest entry of {name} is {middle:g} in "
                f"{sum(x == middle for x in largest)} of {len(largest)} failing runs",
            )
    return None
