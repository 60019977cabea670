"""The family of rays: which cells there are, and how they are called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ...arrays import Array
from ...errors import InputError
from ...judging.judgement import Judgement
from ...judging.objectives import KL
from ...judging.outcomes import Outcome
from ..dyadic import DYADIC, NUMBER, parts_of
from ..family import Family
from ..fixed import FixedFamily, growing
from ..trial import Ask, Cell, Trial, check_size
from .cases import ALPHA, CODE, NAME, RaysCase, case_of, check_rank
from .judge import judged


class Rays(FixedFamily):
    """Matrices with one answer and nothing pure."""

    name = NAME
    summary = "one answer, and no pure row or column: picking columns cannot pass"
    headings = ("shape", "rank", "start")
    example = "rays/k=4/alpha=0.25/extra=0x3/dyadic#7/seed=7"
    asks = (Ask("answer", "identified", called="the answer"),)
    test = "trials found the components"
    listed = growing(
        quick={
            "k=3/alpha=0.25/extra=0x4/dyadic": 200,
            "k=3/alpha=0.25/extra=4x0/dyadic": 200,
            "k=4/alpha=0.25/extra=0x3/dyadic": 50,
            "k=3/alpha=0.25/extra=0x4/dyadic/start=warm": 150,
        },
        standard={"k=4/alpha=0.25/extra=3x0/dyadic": 100},
        full={"k=5/alpha=0.25/extra=0x4/dyadic": 60},
    )
    code = CODE

    def under(self, objective: str) -> Family | None:
        """Return the family for the Kullback–Leibler divergence, or itself."""
        if objective != KL.name:
            return super().under(objective)
        from .kl import UNDER_KL  # which is made from this

        return UNDER_KL

    def cold_cell(self, name: str) -> Cell:
        """Return the cell of a name such as ``k=4/alpha=0.25/extra=0x3/dyadic``."""
        form = rf"k={NUMBER}/alpha={re.escape(str(ALPHA))}/extra={NUMBER}x{NUMBER}/{DYADIC}"
        match = parts_of(name, form, NAME, "k=4/alpha=0.25/extra=0x3/dyadic")
        k, rows, columns = (int(match[i]) for i in (1, 2, 3))
        check_rank(k)
        m, n = k * (k - 1) + rows, k * (k - 1) + columns
        check_size(m, n)
        return Cell(NAME, name, m, n, k, (f"{m}×{n}", str(k)))

    def case_id(self, trial: Trial, ask: Ask) -> str:
        """Return the id of a draw: there is one matrix, whatever is asked."""
        return f"{NAME}/{trial.drawn}"

    def case_from_id(self, id: str) -> RaysCase:
        """Return the case that has this id."""
        trial = f"{id.removesuffix(f'/{self.asks[0].name}')}/seed=0"
        try:
            return self.case(Trial.from_id(trial), self.asks[0])
        except InputError as error:
            if repr(trial) not in str(error):
                raise
            example = self.example.rpartition("/")[0]
            raise InputError(f"no case {id!r}; expected an id such as {example!r}") from None

    def case(self, trial: Trial, ask: Ask) -> RaysCase:
        """Return the matrix of a draw."""
        cell = trial.cell
        assert trial.draw is not None
        rays = cell.k * (cell.k - 1)
        return case_of(cell.k, cell.m - rays, cell.n - rays, trial.draw, self.case_id(trial, ask))

    def judge(self, cases: Sequence[RaysCase], W: Array, H: Array) -> list[Judgement]:
        """Match components to the true ones, and compare."""
        return judged(cases, W, H)

    def described(self, case: Any, judgement: Judgement) -> Iterator[tuple[str, str]]:
        """Say what was measured, and what it means."""
        if judgement.outcome is Outcome.INVALID:
            return
        meanings = {
            "product_defect": "max|A − WH| / max A; identified up to 1e-2, exact up to 1e-10",
            "form_defect": "largest balanced difference from the answer",
            "cosine": "of the worst component with the one that it should be",
            "kkt_residual": "0 at a stationary point",
        }
        for name, meaning in meanings.items():
            shown = name.replace("_", " ").replace("kkt", "KKT")
            yield shown, f"{judgement.measures[name]:.3g}  ({meaning})"


FAMILY = Rays()
