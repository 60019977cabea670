"""The family of optima: which cells there are, and how they are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ...arrays import Array
from ...judging.judgement import Judgement
from ...judging.outcomes import Outcome
from ...text import decimal
from ..dyadic import NUMBER, parts_of
from ..family import Nearest
from ..fixed import FixedFamily, growing
from ..trial import Ask, Cell, Trial
from .cases import MATRICES, NAME, OptimumCase, case_of, optimum_of
from .judge import DEFECT_BOUND, judged

SINGLE_SINCE = 6
"""From this version of the suites on the least residual has to be reached up to 1e-5·‖A‖²."""


class Optima(FixedFamily):
    """Matrices that nothing fits, and their least residuals."""

    name = NAME
    summary = "nothing fits, and the least residual is known"
    example = "optima/hexagon/k=2/shuffled#7/seed=7"
    asks = (Ask("residual", "exact-in-single", called="the least residual"),)
    test = "trials reached the least residual"
    defect_bound = DEFECT_BOUND
    shown_defect = "residual_defect"
    meanings: ClassVar[Mapping[Outcome, str]] = {
        Outcome.EXACT: "The square of the residual is the least that is known, up to 1e-10·‖A‖².",
        Outcome.SINGLE: "The square of the residual is the least that is known, up to 1e-5·‖A‖².",
        Outcome.IDENTIFIED: "The square of the residual is the least that is known, up to "
        f"{decimal(DEFECT_BOUND)}·‖A‖².",
        Outcome.COLLAPSED: "A stationary point whose residual is not the least.",
        Outcome.UNCONVERGED: "The residual is not the least, and this is no stationary point.",
    }
    headings = ("matrix", "rank")
    listed = growing(
        quick={
            "thomas/k=1/shuffled": 100,
            "thomas/k=2/shuffled": 150,
            "hexagon/k=1/shuffled": 100,
            "hexagon/k=2/shuffled": 150,
        },
        standard={
            "thomas/k=3/shuffled": 50,
            "hexagon/k=3/shuffled": 50,
            "hexagon/k=4/shuffled": 50,
        },
    )

    def asks_of_version(self, version: int) -> tuple[Ask, ...]:
        """Return the same ask, which needed only *identified* in earlier versions."""
        if version >= SINGLE_SINCE:
            return self.asks
        return tuple(replace(ask, needs="identified") for ask in self.asks)

    def cold_cell(self, name: str) -> Cell:
        """Return the cell of a name such as ``hexagon/k=2/shuffled``."""
        form = rf"({'|'.join(MATRICES)})/k={NUMBER}/shuffled"
        match = parts_of(name, form, NAME, "hexagon/k=2/shuffled")
        m, n = MATRICES[match[1]].shape
        optimum_of(match[1], int(match[2]))
        return Cell(NAME, name, m, n, int(match[2]), (match[1], match[2]))

    def cell(self, name: str) -> Cell:
        """Return the cell of a name; there is no answer to start near, for there are several."""
        return self.cold_cell(name)

    def required_of(self, cell: Cell) -> float | None:
        """Return what is required where the optimum is certified; elsewhere nothing is."""
        optimum = optimum_of(cell.columns[0], cell.k)
        return self.required if optimum.certified else float("nan")

    def case(self, trial: Trial, ask: Ask) -> OptimumCase:
        """Return the matrix of a draw."""
        cell = trial.cell
        assert trial.draw is not None
        return case_of(cell.columns[0], cell.k, trial.draw, self.case_id(trial, ask))

    def target(self, case: Any) -> None:
        """Return nothing: several products have the least residual."""

    def judge(self, cases: Sequence[OptimumCase], W: Array, H: Array) -> list[Judgement]:
        """Compare the residual with the least one."""
        return judged(cases, W, H)

    def nearest(self, case: Any, W: Array, H: Array) -> Nearest | None:
        """Return nothing: there are several answers."""
        return None

    def described(self, case: Any, judgement: Judgement) -> Iterator[tuple[str, str]]:
        """Say what was measured, and what it means."""
        if judgement.outcome is Outcome.INVALID:
            return
        measures = judgement.measures
        least = "the least possible" if case.optimum.certified else "the least known"
        yield (
            "residual",
            f"{measures['residual']:.10g}  (‖A − WH‖; {least}: {case.optimum.residual:.10g})",
        )
        yield "excess", f"{measures['residual_defect']:.3g}  (of its square, over ‖A‖²)"
        yield "KKT residual", f"{measures['kkt_residual']:.3g}  (0 at a stationary point)"


FAMILY = Optima()
