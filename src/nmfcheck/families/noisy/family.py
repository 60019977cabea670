"""The noisy family: which cells there are. All else is as in the mixed family."""

from __future__ import annotations

from typing import ClassVar

from ..fixed import Trials
from ..mixed.family import Mixed
from ..trial import Ask, Trial
from .cases import CODE, NAME, NoisyCase, case_of, check_shape

QUICK = {
    "6x5/k=2/dyadic": 150,
    "6x8/k=3/dyadic": 200,
    "12x10/k=4/dyadic": 100,
    "8x6/k=3/dyadic/start=warm": 150,
}
STANDARD = {**QUICK, "10x12/k=4/dyadic": 150, "15x13/k=5/dyadic": 100}
FULL = {**STANDARD, "13x15/k=5/dyadic/start=warm": 100, "30x20/k=6/dyadic": 60}


class Noisy(Mixed):
    """Positive matrices that nothing fits exactly."""

    name = NAME
    summary = "positive and noisy: nothing fits exactly, and the best W and H are known"
    example = "noisy/12x10/k=4/dyadic#7/seed=7"
    listed: ClassVar[Trials] = {"quick": QUICK, "standard": STANDARD, "full": FULL}
    code = CODE

    def check_shape(self, m: int, n: int, k: int) -> None:
        """Raise `InputError` where there is no room for noise."""
        check_shape(m, n, k)

    def case(self, trial: Trial, ask: Ask) -> NoisyCase:
        """Return the matrix of a draw."""
        cell = trial.cell
        assert trial.draw is not None
        return case_of(cell.m, cell.n, cell.k, trial.draw, self.case_id(trial, ask))


FAMILY = Noisy()
