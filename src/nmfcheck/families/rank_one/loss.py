"""Rank one with any β-divergence: each has one best product, and the wrong loss shows."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import ClassVar

from ...judging.objectives import find
from ...text import decimal
from ..family import Family
from ..fixed import Trials
from ..loss import WithLoss
from ..trial import Ask, Case, Cell, Trial
from .family import RankOne

MEASURED = {"4x3/tiny": 20}
"""Entries near 1e-9: whether constants that do not depend on the units of A are in the way."""


class RankOneWithLoss(WithLoss, RankOne):
    """Positive matrices and one component."""

    listed: ClassVar[Trials] = {
        suite: {**cells, **MEASURED} for suite, cells in RankOne.listed.items()
    }

    def __init__(self, objective: str) -> None:
        self.objective = objective
        beta = decimal(find(objective).beta)
        self._asks = (Ask(f"beta={beta}", "identified", called=f"β = {beta}"),)
        self._example = f"{RankOne.example}/{self.loss}"

    @property
    def asks(self) -> tuple[Ask, ...]:  # type: ignore[override]
        """What a trial asks: the best product for this divergence."""
        return self._asks

    @property
    def example(self) -> str:  # type: ignore[override]
        """The id of one trial."""
        return self._example

    def required_of(self, cell: Cell) -> float | None:
        """Return nothing for the cell in other units: only measured."""
        return math.nan if cell.unit != 1 else super().required_of(cell)

    def case_from_id(self, id: str) -> Case:
        """Return the case that has this id."""
        entries, _, ask = id.removesuffix(f"/{self.loss}").rpartition("/")
        if not ask.startswith("beta="):
            entries, ask = f"{entries}/{ask}", self.asks[0].name
        return Trial.from_id(f"{entries}/seed=0/{self.loss}").case(self.ask(ask))


@lru_cache
def under(objective: str) -> Family:
    """Return the family for an objective."""
    return RankOneWithLoss(objective)
