"""The family of rank one: which cells there are, and how they are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...arrays import Array
from ...judging.judgement import Judgement
from ...judging.objectives import find
from ...judging.outcomes import Outcome
from ...text import decimal
from ..dyadic import DYADIC, NUMBER, parts_of
from ..family import Family
from ..fixed import FixedFamily, growing
from ..trial import Ask, Case, Cell, Trial
from .cases import CODE, NAME, ONE, TINY, UNITS, RankOneCase, case_of, check_shape
from .judge import DEFECT_BOUND, judged


class RankOne(FixedFamily):
    """Positive matrices and one component."""

    name = NAME
    summary = "one component for a positive matrix: every run finds the same product"
    headings = ("shape", "entries")
    example = "rank-one/9x6/dyadic#7/seed=7"
    asks = (Ask("beta=2", "identified", called="β = 2"),)
    test = "trials found the best product"
    # One cell has one matrix, draw 0: errors that are the same from every start are a bias.
    listed = growing(
        quick={"4x3/dyadic": 40, "3x4/dyadic": 40, "9x6/dyadic": 40, "4x3/one": 20},
        standard={"20x15/dyadic": 50},
        full={"30x40/dyadic": 50},
    )
    code = CODE
    required: ClassVar[float | None] = 1.0
    margin = 0.0
    defect_bound = DEFECT_BOUND
    meanings: ClassVar[Mapping[Outcome, str]] = {
        Outcome.EXACT: "WH is the best product, up to 1e-10 of its largest entry.",
        Outcome.SINGLE: "WH is the best product, up to 1e-5 of its largest entry, as far as single "
        "precision gets.",
        Outcome.IDENTIFIED: f"WH is the best product, up to {decimal(DEFECT_BOUND)} of its largest "
        "entry, which is what is asked.",
        Outcome.COLLAPSED: "WH is 0, a stationary point that is no minimum.",
        Outcome.UNCONVERGED: "WH is not near enough to the best product.",
    }

    def under(self, objective: str) -> Family | None:
        """Return the family for any other β-divergence, or itself."""
        if objective == self.objective:
            return self
        from .loss import under  # which is made from this

        return under(objective)

    def cold_cell(self, name: str) -> Cell:
        """Return the cell of a name such as ``9x6/dyadic``, or ``4x3/one`` with one matrix."""
        match = parts_of(name, rf"{NUMBER}x{NUMBER}/({DYADIC}|{ONE}|{TINY})", NAME, "9x6/dyadic")
        m, n, entries = int(match[1]), int(match[2]), match[3]
        check_shape(m, n)
        return Cell(NAME, name, m, n, 1, (f"{m}×{n}", entries), one_case=entries == ONE,
                    unit=UNITS.get(entries, 1.0))  # fmt: skip

    def cell(self, name: str) -> Cell:
        """Return the cell of a name; where to start is no question, as every start will do."""
        return self.cold_cell(name)

    def case(self, trial: Trial, ask: Ask) -> RankOneCase:
        """Return the matrix of a draw."""
        cell, id = trial.cell, self.case_id(trial, ask)
        return case_of(cell.m, cell.n, trial.draw or 0, id, self.objective, cell.unit)

    def case_from_id(self, id: str) -> Case:
        """Return the case that has this id; ``beta=1`` says the loss, too."""
        beta = id.rpartition("/")[2]
        if beta.startswith("beta=") and (other := self.under(find(beta).name)) is not self:
            assert other is not None
            return other.case_from_id(id)
        return super().case_from_id(id)

    def answer(self, case: Any) -> tuple[Array, Array]:
        """Return the best w and h."""
        peak = np.unravel_index(np.argmax(case.X), case.X.shape)
        return case.X[:, [peak[1]]], case.X[[peak[0]]] / case.X[peak]

    def unit(self, case: Case) -> float:
        """Return the largest entry of the best product."""
        assert isinstance(case, RankOneCase)
        return float(case.X.max())

    def target(self, case: Any) -> Array:
        """Return the best product."""
        target: Array = case.X
        return target

    def judge(self, cases: Sequence[RankOneCase], W: Array, H: Array) -> list[Judgement]:
        """Compare the product with the best one."""
        return judged(cases, W, H)

    def described(self, case: Any, judgement: Judgement) -> Iterator[tuple[str, str]]:
        """Say what was measured, and what it means."""
        if judgement.outcome is Outcome.INVALID:
            return
        meaning = f"max|X − WH| / max X, X the best product; {DEFECT_BOUND:g} is asked for"
        yield "product defect", f"{judgement.product_defect:.3g}  ({meaning})"
        yield "KKT residual", f"{judgement.kkt_residual:.3g}  (0 at a stationary point)"


FAMILY = RankOne()
