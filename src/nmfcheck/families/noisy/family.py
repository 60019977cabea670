"""The noisy family: its cells, its judge and all else are as in the mixed family."""

from __future__ import annotations

from ..family import Family
from ..mixed.family import Mixed
from ..trial import Ask, Trial
from .cases import CODE, NAME, NoisyCase, case_of, check_shape


class Noisy(Mixed):
    """Positive matrices that nothing fits exactly."""

    name = NAME
    summary = "positive and noisy: nothing fits exactly, and the best W and H are known"
    example = "noisy/12x10/k=4/dyadic#7/seed=7"
    code = CODE
    starts_at_answer = ()  # W·H is not A there
    without_start = ()

    def under(self, objective: str) -> Family | None:
        """Return itself: for other objectives than the Frobenius norm its answers are not known."""
        return self if objective == self.objective else None

    def check_shape(self, m: int, n: int, k: int) -> None:
        """Raise `InputError` where there is no room for noise."""
        check_shape(m, n, k)

    def case(self, trial: Trial, ask: Ask) -> NoisyCase:
        """Return the matrix of a draw."""
        cell = trial.cell
        assert trial.draw is not None
        return case_of(cell.m, cell.n, cell.k, trial.draw, self.case_id(trial, ask))


FAMILY = Noisy()
