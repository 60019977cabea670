"""The inflated family: which cells there are, and how they are called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...judging.judgement import Judgement
from ...judging.measures import balance
from ...judging.objectives import KL
from ...judging.outcomes import Outcome
from ..bidiagonal.family import LADDER, described, eps_of
from ..bidiagonal.judge import BidiagonalJudgement
from ..bidiagonal.nearest import nearest_exact
from ..components import core_factors
from ..family import Family, Nearest, Option
from ..trial import Ask, Case, Cell, Trial
from .cases import (
    DYADIC,
    NAME,
    ZEROS,
    InflatedCase,
    case_of,
    check_shape,
    inflated_factors,
)
from .judge import judged

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_SMALL = ("6x4/k=1/dyadic", "5x4/k=2/dyadic", "9x6/k=3/dyadic", "4x7/k=3/dyadic", "6x5/k=2/zeros")
_MORE = (*_SMALL, "12x10/k=4/dyadic", "8x9/k=3/zeros")
_ALL = (*_MORE, "5x12/k=4/dyadic", "15x13/k=5/dyadic")
CELLS = {"quick": _SMALL, "standard": _MORE, "full": _ALL}
"""Tall and wide, of low rank; zero rows and columns in cells of their own."""

TRIALS = {"quick": 250, "standard": 200, "full": 150}
"""So that an algorithm at what is required everywhere passes in 95 % of runs (docs/verdict.md)."""


class Inflated(Family):
    """Rectangular matrices of low rank with a bidiagonal core."""

    name = NAME
    summary = "rectangular, of low rank: rows and columns of a bidiagonal matrix, repeated"
    headings = ("shape", "rank", "entries")
    example = "inflated/9x6/k=3/dyadic#7/seed=7"
    asks = LADDER
    judgement = BidiagonalJudgement
    nearest_called = "nearest exact"
    counted_labels: ClassVar[tuple[str, ...]] = ("word",)
    # A tenth of the paper's numbers: of 400 trials, one passed with more that had not with fewer.
    baseline_iterations: ClassVar[Mapping[str, int]] = {
        "multiplicative-update": 10**5,
        "als": 10**5,
    }
    options = (
        Option(
            "shapes", "The cells of the inflated family, such as 9x6/k=3,6x5/k=2/zeros.", "CELLS"
        ),
    )

    def under(self, objective: str) -> Family | None:
        """Return the family for the Kullback–Leibler divergence, or itself."""
        if objective != KL.name:
            return super().under(objective)
        from .kl import UNDER_KL  # which is made from this

        return UNDER_KL

    @property
    def baseline(self) -> Traversable | None:
        """What the references did."""
        from importlib import resources  # late: it takes long to import

        return resources.files(__package__) / "baseline.json"

    def cells(self, suite: str) -> Mapping[Cell, int]:
        """Return the shapes of a suite."""
        return {self.cell(name): TRIALS[suite] for name in CELLS[suite]}

    def cell(self, name: str) -> Cell:
        """Return the cell of a name such as ``9x6/k=3/dyadic``."""
        size = r"(0|[1-9]\d{0,3})"
        match = re.fullmatch(rf"{size}x{size}/k={size}/({DYADIC}|{ZEROS})", name)
        if match is None:
            expected = "'9x6/k=3/dyadic' or '6x5/k=2/zeros'"
            raise InputError(f"no cell {name!r} of {NAME}; expected one such as {expected}")
        m, n, k = (int(match[i]) for i in (1, 2, 3))
        check_shape(m, n, k, match[4])
        return Cell(NAME, name, m, n, k, (f"{m}×{n}", str(k), match[4]))

    def case(self, trial: Trial, ask: Ask) -> InflatedCase:
        """Return the matrix of a draw at an ε."""
        cell = trial.cell
        kind = cell.matrices.rpartition("/")[2]
        assert trial.draw is not None
        id = self.case_id(trial, ask)
        return case_of(cell.m, cell.n, cell.k, kind, trial.draw, eps_of(ask), id)

    def unit(self, case: Case) -> float:
        """Return the largest entry of the core's diagonal."""
        assert isinstance(case, InflatedCase)
        return float(case.core.a0.max())

    def judge(self, cases: Sequence[InflatedCase], W: Array, H: Array) -> list[Judgement]:
        """Judge the core as bidiagonal, and the other rows and columns as multiples."""
        return judged(cases, W, H)

    def described(self, case: Any, judgement: Judgement) -> Iterator[tuple[str, str]]:
        """Say what was measured of the core, and of the other rows and columns."""
        if judgement.outcome is Outcome.INVALID:
            return
        for name, text in described(case.core, BidiagonalJudgement.of(judgement)):
            yield f"core's {name}" if name in ("form defect", "permutation") else name, text
        padding = judgement.measures["padding_defect"]
        meaning = "largest balanced difference from the right multiple of the core's row or column"
        yield "padding defect", f"{padding:.3g}  ({meaning})"

    def nearest(self, case: Any, W: Array, H: Array) -> Nearest:
        """Return the nearest exact factorization of the core, inflated."""
        core_W, core_H = core_factors([case], W[None], H[None])
        core = nearest_exact(case.core, core_W[0], core_H[0]).as_answer()
        inflated = inflated_factors(case, core.W, core.H)
        unit = np.array([self.unit(case)])
        given, answer = (
            np.concatenate([X.ravel() for X in balance(first[None], second[None], unit)])
            for first, second in ((np.maximum(W, 0.0), np.maximum(H, 0.0)), inflated)
        )
        distance = float(np.linalg.norm(given - answer) / np.linalg.norm(answer))
        return replace(core, W=inflated[0], H=inflated[1], distance=distance)

    def select(
        self, cells: Mapping[Cell, int], asks: tuple[Ask, ...], chosen: Mapping[str, Any]
    ) -> tuple[Mapping[Cell, int], tuple[Ask, ...]]:
        """Return other shapes."""
        shapes = chosen.get("shapes")
        if shapes is None:
            return cells, asks
        names = [s.strip() for s in shapes.split(",")] if isinstance(shapes, str) else list(shapes)
        trials = next(iter(cells.values()), 1)
        whole = [name if name.count("/") > 1 else f"{name}/{DYADIC}" for name in names]
        return {self.cell(name): trials for name in whole}, asks

    def selection(
        self, cells: Mapping[Cell, int], asks: tuple[Ask, ...], extra: Sequence[Cell] = ()
    ) -> Mapping[str, str]:
        """Return the shapes as an option."""
        return {"shapes": ",".join(cell.matrices for cell in cells)}


FAMILY = Inflated()
