"""The family of rays with the Kullback–Leibler divergence (docs/theory.md, 15)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ...judging.objectives import KL
from ..loss import WithLoss
from ..trial import Cell
from .family import Rays


class RaysUnderKL(WithLoss, Rays):
    """Matrices with one answer and nothing pure."""

    objective = KL.name
    example = f"{Rays.example}/loss={KL.name}"
    required = None
    baseline_iterations: ClassVar[Mapping[str, int]] = {}

    def baseline_trials(self, cell: Cell) -> int:
        """Return as many as for families that require what the references reach."""
        return 1000


UNDER_KL = RaysUnderKL()
