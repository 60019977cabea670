"""The bidiagonal family with the Kullback–Leibler divergence (docs/theory.md, 15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ...arrays import Array
from ...judging.judgement import Judgement
from ...judging.objectives import KL
from ..loss import WithLoss
from ..trial import Ask, Cell
from .cases import BidiagonalCase
from .family import SLOPES, Bidiagonal
from .local_minima import exactness_up_to, marked


class BidiagonalUnderKL(WithLoss, Bidiagonal):
    """The paper's matrices; stationary points of the right form need not be exact from n = 5 on."""

    objective = KL.name
    example = f"{Bidiagonal.example}/loss={KL.name}"
    exactness = "runs that did not collapse are exact, up to n = 4"
    options = tuple(option for option in Bidiagonal.options if option.name != SLOPES)
    counted_labels = ("word", "local_minimum")
    baseline_iterations: ClassVar[Mapping[str, int]] = {}

    def asked(self, cell: Cell, asks: tuple[Ask, ...]) -> tuple[Ask, ...]:
        """Only measure, from n = 5 on, what is a question of exactness before."""
        return exactness_up_to(4, cell, asks)

    def asks_of(self, cell: Cell) -> tuple[Ask, ...]:
        """Return what a trial of a cell asks, unless told otherwise."""
        return self.asked(cell, self.asks)

    def judge(self, cases: Sequence[BidiagonalCase], W: Array, H: Array) -> list[Judgement]:
        """Judge against the complete solution set, and name local minima."""
        judged = zip(cases, super().judge(cases, W, H), strict=True)
        return [marked(judgement, case.eps) for case, judgement in judged]


UNDER_KL = BidiagonalUnderKL()
