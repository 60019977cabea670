"""The mixed family with the Kullback–Leibler divergence (docs/theory.md, 15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...judging.objectives import KL
from ..loss import WithLoss
from ..trial import Cell
from .family import Mixed


class MixedUnderKL(WithLoss, Mixed):
    """Dense matrices of low rank; right algorithms for this objective collapse more often."""

    objective = KL.name
    example = f"{Mixed.example}/loss={KL.name}"
    required = None
    baseline_iterations: ClassVar[Mapping[str, int]] = {}

    def baseline_trials(self, cell: Cell) -> int:
        """Return as many as for families that require what the references reach."""
        return 1000


UNDER_KL = MixedUnderKL()
