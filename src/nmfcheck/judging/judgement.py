"""What one run is worth, and why: the same shape for every family."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from .outcomes import Grade, Outcome


@dataclass(slots=True)
class Judgement:
    """What one run is worth, and why.

    Attributes
    ----------
    outcome : what became of the run; `outcome.explanation` says it in general.
    explanation : what is wrong, and where, in one sentence (rows and components count from 1).
    measures : named numbers. Every family has `kkt_residual`, how far from stationary, and a
        measure whose name ends in `_defect`; nearly all have `product_defect`, the largest entry of
        A − WH, or of what WH should be − WH, in units of the case. An invalid run has none.
    labels : named texts, such as the word of a bidiagonal solution. A label `permutation`, such as
        ``2,0,1``, says which component (from 0) explains which row.
    clipped : whether negative entries of rounding size were set to 0 before judging.
    """

    outcome: Outcome
    explanation: str
    measures: dict[str, float] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    clipped: bool = False

    @property
    def grade(self) -> Grade | None:
        """The grade that the outcome amounts to, if any."""
        return self.outcome.grade

    @property
    def product_defect(self) -> float:
        """The largest entry of A − WH in units of the case; NaN for an invalid run."""
        return self.measures.get("product_defect", math.nan)

    @property
    def kkt_residual(self) -> float:
        """How far from stationary; NaN for an invalid run."""
        return self.measures.get("kkt_residual", math.nan)


def permutation_of(labels: Mapping[str, str]) -> tuple[int, ...] | None:
    """Return the permutation among the labels of a run, if it has one."""
    text = labels.get("permutation")
    return tuple(map(int, text.split(","))) if text else None
