"""A family with another objective: the same matrices and starts, ids that end in ``/loss=kl``.

The exact factorizations of a matrix do not depend on what is minimised. What does is which points
are stationary, so the judges measure that by the case's objective, which algorithms are accepted,
and with them the baseline (docs/theory.md, 15).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from .family import Family
from .trial import Ask, Case, Cell, Trial

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

AnyCase = TypeVar("AnyCase", bound=Case)


@lru_cache(maxsize=8192)
def with_objective(case: AnyCase, id: str, objective: str) -> AnyCase:
    """Return a case whose objective is another one, under an id of its own."""
    return replace(case, id=id, objective=objective)


class WithLoss(Family):
    """What a class for a family with another objective derives from, before the family itself."""

    @property
    def loss(self) -> str:
        """What its ids end in."""
        return f"loss={self.objective}"

    def cell(self, name: str) -> Cell:
        """Return the cell of a name; the loss at its end may be left out."""
        plain = super().cell(name.removesuffix(f"/{self.loss}"))  # type: ignore[safe-super]
        return replace(
            plain,
            name=f"{plain.name}/{self.loss}",
            suffix=f"{plain.suffix}/{self.loss}".removeprefix("/"),
            objective=self.objective,
        )

    def cells(self, suite: str) -> Mapping[Cell, int]:
        """Return the cells of a suite."""
        return self._under(super().cells(suite))  # type: ignore[safe-super]

    def _under(self, cells: Mapping[Cell, int]) -> Mapping[Cell, int]:
        return {self.cell(cell.name): trials for cell, trials in cells.items()}

    def select(
        self, cells: Mapping[Cell, int], asks: tuple[Ask, ...], chosen: Mapping[str, Any]
    ) -> tuple[Mapping[Cell, int], tuple[Ask, ...]]:
        """Return the cells and asks that some of its options choose."""
        selected, asked = super().select(cells, asks, chosen)
        return self._under(selected), asked

    def case(self, trial: Trial, ask: Ask) -> Any:
        """Return the same matrix, to be factorized for another objective."""
        plain = super().case(trial, ask)  # type: ignore[safe-super]
        return with_objective(plain, self.case_id(trial, ask), self.objective)

    def case_id(self, trial: Trial, ask: Ask) -> str:
        """Return the id of the case of one ask of a trial."""
        return f"{super().case_id(trial, ask)}/{self.loss}"

    def case_from_id(self, id: str) -> Any:
        """Return the case that has this id."""
        plain = super().case_from_id(id.removesuffix(f"/{self.loss}"))
        return with_objective(plain, f"{plain.id.removesuffix(f'/{self.loss}')}/{self.loss}",
                              self.objective)  # fmt: skip

    @property
    def baseline(self) -> Traversable | None:
        """What the references for this objective did."""
        from importlib import resources  # late: it takes long to import

        room = type(self).__module__.rpartition(".")[0]
        return resources.files(room) / f"baseline-{self.objective}.json"
