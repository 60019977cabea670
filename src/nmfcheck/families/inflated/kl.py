"""The inflated family with the Kullback–Leibler divergence (docs/theory.md, 15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ...arrays import Array
from ...judging.judgement import Judgement
from ...judging.objectives import KL
from ..bidiagonal.local_minima import exactness_up_to, marked
from ..loss import WithLoss
from ..trial import Ask, Cell
from .cases import InflatedCase
from .family import Inflated


class InflatedUnderKL(WithLoss, Inflated):
    """Rectangular matrices of low rank with a bidiagonal core."""

    objective = KL.name
    example = f"{Inflated.example}/loss={KL.name}"
    exactness = "runs that did not collapse are exact, up to rank 4"
    counted_labels = ("word", "local_minimum")
    baseline_iterations: ClassVar[Mapping[str, int]] = {}

    def asked(self, cell: Cell, asks: tuple[Ask, ...]) -> tuple[Ask, ...]:
        """Only measure, from rank 5 on, what is a question of exactness before."""
        return exactness_up_to(4, cell, asks)

    def asks_of(self, cell: Cell) -> tuple[Ask, ...]:
        """Return what a trial of a cell asks, unless told otherwise."""
        return self.asked(cell, self.asks)

    def judge(self, cases: Sequence[InflatedCase], W: Array, H: Array) -> list[Judgement]:
        """Judge the core as bidiagonal, and name local minima."""
        judged = zip(cases, super().judge(cases, W, H), strict=True)
        return [marked(judgement, case.core.eps) for case, judgement in judged]


UNDER_KL = InflatedUnderKL()
