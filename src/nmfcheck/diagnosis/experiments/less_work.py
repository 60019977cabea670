"""Less work: the failing runs again, with one iteration only, or with ten.

It is for those who give the same answers with more work. Whoever does so with less, too, makes no
more iterations, whatever its options say, or has come to rest by then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...trials.stage import Stage
from .more_work import ITERATIONS, LONGEST
from .record import Run

NAME = "less work"

FEW = (1, 10)
"""So many iterations are tried."""

RUNS = 6
"""So many failing runs are made again."""


def less(parameters: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return the option that allows so few iterations; none where the usual ones are not more."""
    for name, value in parameters.items():
        known = name in ITERATIONS and isinstance(value, int) and not isinstance(value, bool)
        if known and number < value <= LONGEST:
            return {name: number}
    return {}


def as_before(runs: Sequence[Run], stages: Sequence[Stage]) -> bool:
    """Say whether all runs have the answers of these stages, bit for bit."""
    before = {(stage.trial.id, stage.ask.name): stage for stage in stages}
    pairs = [(run, before[run.trial.id, run.ask.name]) for run in runs]
    return bool(pairs) and all(
        run.W is not None
        and run.H is not None
        and np.array_equal(run.W, stage.W)  # type: ignore[arg-type]
        and np.array_equal(run.H, stage.H)  # type: ignore[arg-type]
        for run, stage in pairs
    )
