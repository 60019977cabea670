"""Families of which a fixed share of trials must pass, since right algorithms nearly always do.

A trial is one ask: the matrix from one start. Some cells start near the answer instead of anywhere
(`start=warm`); they are for subjects that can be told where to start.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..arrays import Array, frozen
from ..judging.tolerances import TOLERANCE
from .components import nearest_answer
from .family import Family, Nearest
from .trial import Ask, Cell, Trial

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

WARM = "start=warm"
"""What ids of trials end in that start near the answer."""

REQUIRED = 0.95
"""Accepted algorithms pass 93 to 100 % of trials, other right ones 94 to 99 % (docs/verdict.md)."""

Trials = Mapping[str, Mapping[str, int]]
"""For each suite, the names of its cells, each with a number of trials."""


def growing(
    quick: Mapping[str, int],
    standard: Mapping[str, int] | None = None,
    full: Mapping[str, int] | None = None,
) -> Trials:
    """Return the trials of the suites, of which each has all cells of the one before and more."""
    more = {**quick, **(standard or {})}
    return {"quick": quick, "standard": more, "full": {**more, **(full or {})}}


class FixedFamily(Family):
    """A family whose cells are listed by name, and require a fixed share.

    Attributes
    ----------
    listed : the cells of each suite.
    code : what the generator of warm starts is seeded with, beside shape, rank and seed.
    """

    listed: ClassVar[Trials]
    code: ClassVar[int]
    required: ClassVar[float | None] = REQUIRED
    defect_bound = TOLERANCE.identified
    nearest_called = "the answer"
    baseline_iterations: ClassVar[Mapping[str, int]] = {
        "multiplicative-update": 10**4,
        "als": 10**4,
        "gradient-descent": 10**4,
        "coordinate-descent": 10**4,
    }

    def cells(self, suite: str) -> Mapping[Cell, int]:
        """Return the cells of a suite."""
        return {self.cell(name): trials for name, trials in self.listed[suite].items()}

    def cell(self, name: str) -> Cell:
        """Return the cell of a name such as ``12x10/k=4/dyadic`` or ``…/start=warm``."""
        cold = self.cold_cell(name.removesuffix(f"/{WARM}"))
        start = "near" if (warm := name.endswith(f"/{WARM}")) else "anywhere"
        columns = (*cold.columns, start)
        return replace(cold, name=name, columns=columns, suffix=WARM if warm else "", warm=warm)

    @abstractmethod
    def cold_cell(self, name: str) -> Cell:
        """Return the cell of a name without its start."""

    def start(self, trial: Trial) -> tuple[Array, Array]:
        """Return a start anywhere, or near the answer."""
        if not trial.cell.warm:
            return super().start(trial)
        cell = trial.cell
        return near(self.answer(trial.case(self.asks[0])), (self.code, cell.m, cell.n, cell.k),
                    trial.seed)  # fmt: skip

    def answer(self, case: Any) -> tuple[Array, Array]:
        """Return the W and H that are to be found."""
        answer: tuple[Array, Array] = case.answer
        return answer

    def baseline_trials(self, cell: Cell) -> int:
        """Return fewer than usual: nothing is required by them."""
        return 400

    @property
    def baseline(self) -> Traversable | None:
        """What the references did: nothing is required by it, but it is shown."""
        from importlib import resources  # late: it takes long to import

        return resources.files(type(self).__module__.rpartition(".")[0]) / "baseline.json"

    def nearest(self, case: Any, W: Array, H: Array) -> Nearest | None:
        """Return the answer, ordered and scaled like a run."""
        return nearest_answer(self.answer(case), W, H, self.unit(case))


def near(answer: tuple[Array, Array], key: tuple[int, ...], seed: int) -> tuple[Array, Array]:
    """Return a start near an answer: balanced, and 0.1·uniform(0, 1) added to each entry."""
    W, H = answer
    rng = np.random.Generator(np.random.PCG64([*key, seed, _WARM]))
    size = np.sqrt(W.max(axis=0) * H.max(axis=1))
    W0 = W / W.max(axis=0) * size + 0.1 * rng.random(W.shape)
    H0 = (H.T / H.max(axis=1) * size).T + 0.1 * rng.random(H.shape)
    return frozen(W0), frozen(H0)


_WARM = 1
"""Ends the key of a start, so that it is not the key of the draw."""

IDENTIFIED = Ask("eps=0", "identified", called="ε = 0")
"""What most of them ask: is each component found?"""
