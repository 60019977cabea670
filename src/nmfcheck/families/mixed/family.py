"""The mixed family: which cells there are, and how they are called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ...arrays import Array
from ...judging.judgement import Judgement
from ...judging.objectives import KL
from ...judging.outcomes import Outcome
from ..dyadic import DYADIC, SHAPE, parts_of
from ..family import Drawn, Family
from ..fixed import IDENTIFIED, FixedFamily, growing
from ..trial import Ask, Case, Cell, Trial
from .cases import CODE, NAME, MixedCase, case_of, check_shape
from .judge import judged


class Mixed(FixedFamily):
    """Dense matrices of low rank with a diagonal core."""

    name = NAME
    summary = "dense, tall and wide, of low rank: mixtures of a few pure rows and columns"
    headings = ("shape", "rank", "start")
    example = "mixed/12x10/k=4/dyadic#7/seed=7"
    asks = (IDENTIFIED,)
    test = "trials found the components"
    listed = growing(
        quick={
            "6x5/k=2/dyadic": 150,
            "6x8/k=3/dyadic": 200,
            "12x10/k=4/dyadic": 100,
            "8x6/k=3/dyadic/start=warm": 150,
        },
        standard={"10x12/k=4/dyadic": 150, "15x13/k=5/dyadic": 100},
        full={"13x15/k=5/dyadic/start=warm": 100, "30x20/k=6/dyadic": 60},
    )
    code = CODE
    graded_by = ("form_defect", "product_defect")
    starts_at_answer: ClassVar[tuple[Drawn, ...]] = (  # dense
        Drawn("6x8/k=3/dyadic", 0, (IDENTIFIED.name,)),
        Drawn("6x5/k=2/dyadic", 1, (IDENTIFIED.name,)),
    )
    without_start: ClassVar[tuple[Drawn, ...]] = tuple(
        Drawn("6x8/k=3/dyadic", i, (IDENTIFIED.name,)) for i in range(3)
    )

    def under(self, objective: str) -> Family | None:
        """Return the family for the Kullback–Leibler divergence, or itself."""
        if objective != KL.name:
            return super().under(objective)
        from .kl import UNDER_KL  # which is made from this

        return UNDER_KL

    def cold_cell(self, name: str) -> Cell:
        """Return the cell of a name such as ``12x10/k=4/dyadic``."""
        match = parts_of(name, f"{SHAPE}/{DYADIC}", self.name, "12x10/k=4/dyadic")
        m, n, k = (int(match[i]) for i in (1, 2, 3))
        self.check_shape(m, n, k)
        return Cell(self.name, name, m, n, k, (f"{m}×{n}", str(k)))

    def check_shape(self, m: int, n: int, k: int) -> None:
        """Raise `InputError` where there is no such matrix."""
        check_shape(m, n, k)

    def case(self, trial: Trial, ask: Ask) -> MixedCase:
        """Return the matrix of a draw."""
        cell = trial.cell
        assert trial.draw is not None
        return case_of(cell.m, cell.n, cell.k, trial.draw, self.case_id(trial, ask))

    def unit(self, case: Case) -> float:
        """Return the largest entry of the core's diagonal."""
        assert isinstance(case, MixedCase)
        return float(case.core.a0.max())

    def target(self, case: Any) -> Array:
        """Return the product of the right W and H: of a noisy matrix, what is not noise."""
        target: Array = case.X
        return target

    def exact_answer(self, case: Any) -> tuple[Array, Array] | None:
        """Return the only factorization, where there is no noise."""
        answer: tuple[Array, Array] | None = case.answer if case.noise == 0 else None
        return answer

    def judge(self, cases: Sequence[MixedCase], W: Array, H: Array) -> list[Judgement]:
        """Judge the core as bidiagonal, and the product as a whole."""
        return judged(cases, W, H)

    def described(self, case: Any, judgement: Judgement) -> Iterator[tuple[str, str]]:
        """Say what was measured, and what it means."""
        if judgement.outcome is Outcome.INVALID:
            return
        noisy = case.noise > 0
        of = "max|X − WH| / max X, X the best product" if noisy else "max|A − WH| / max A"
        meanings = {
            "product_defect": f"{of}; identified up to 1e-2, exact up to 1e-10",
            "form_defect": "largest balanced entry of pure rows and columns off the pattern",
            "padding_defect": "largest balanced difference of a row or column from its mixture",
            "kkt_residual": "0 at a stationary point",
            "residual_over_noise": "‖A − WH‖ over the least there is",
        }
        for name, meaning in meanings.items():
            if name in judgement.measures:
                shown = name.replace("_", " ").replace("kkt", "KKT")
                yield shown, f"{judgement.measures[name]:.3g}  ({meaning})"


FAMILY = Mixed()
