"""What a subject's runs on one family left: the evidence that rules look at."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from ..arrays import Array
from ..families import Case, Question
from ..judging.outcomes import Outcome, reaches, short_of
from ..judging.turned import misses
from ..store import Results
from ..trials.stage import Stage
from ..trials.suites import Part
from ..verdict.baseline import Baseline
from ..verdict.decision import Decision
from ..verdict.tally import CellTally
from ..verdict.verdict import FamilyVerdict
from .experiments import Run, Tried
from .experiments.tried import Chain, Worked
from .findings import MOST, mostly

SAMPLE = 60
"""So many failing stages are looked at with their matrices."""

AMISS = 1e-9
"""A product that misses A by more than this, relative to its largest entry, is not A."""

HUGE = 1e100
"""Of what misses A by more than this, relative to its largest entry, no square is looked at."""

AnyTried = TypeVar("AnyTried", Chain, Worked)

FEWEST = 3
"""Where a family has fewer runs that were looked at again, those of others count as well."""

ASTRAY = 1e-5
"""One that misses it by more than this is another matrix, and not A with fewer digits."""


@dataclass(frozen=True)
class Evidence:
    """What a subject did on one family.

    Attributes
    ----------
    part : what was asked.
    cells : its outcomes.
    verdict, decision : on this family, and on all of them.
    tried : what experiments showed.
    """

    results: Results
    part: Part
    cells: Sequence[CellTally]
    verdict: FamilyVerdict
    decision: Decision
    baseline: Baseline
    tried: Tried = field(default_factory=Tried)

    @cached_property
    def ended(self) -> Counter[Outcome]:
        """Count the outcomes that ended trials of the test."""
        ended: Counter[Outcome] = Counter()
        for cell in self.required:
            for ask in self.part.test:
                for outcome, number in cell.counts(ask).items():
                    if not reaches(outcome.grade, ask.needs):
                        ended[outcome] += number
        del ended[Outcome.NOT_RUN]
        return ended

    @property
    def short(self) -> int:
        """How many trials ended short of what is needed: unconverged, or with a lower grade."""
        return sum(
            number
            for outcome, number in self.ended.items()
            if outcome is Outcome.UNCONVERGED or outcome.grade is not None
        )

    @cached_property
    def required(self) -> list[CellTally]:
        """The cells of which something is required; all of them where that is not known of any."""
        none = {c.cell for c in self.verdict.test.cells if math.isnan(c.required)}
        return [cell for cell in self.cells if cell.cell not in none] or list(self.cells)

    @property
    def trials(self) -> int:
        """The number of trials that were run."""
        return sum(len(cell.seeds) for cell in self.required)

    @property
    def passes(self) -> bool:
        """Whether the family passes: then a run that fails is within what is allowed."""
        return self.verdict.test.decision is Decision.PASS

    def sample(self, outcome: Outcome) -> list[Stage]:
        """Return some stages of the test that came to this, with W and H, from all cells."""
        return self._kept({ask.name: (outcome,) for ask in self.part.test})

    def short_sample(self) -> list[Stage]:
        """Return some stages of the test that ended short of what is needed, in the same way."""
        return self._kept({ask.name: short_of(ask.needs) for ask in self.part.test})

    def _kept(self, wanted: Mapping[str, Collection[Outcome]]) -> list[Stage]:
        names = {cell.cell.name for cell in self.required}
        ids = self.results.kept(self.part.family, wanted, names)
        step = max(1, len(ids) // SAMPLE)
        return self.results.stages(ids[::step])

    @cached_property
    def unconverged(self) -> Unconverged:
        """What the runs left that ended short of what is needed."""
        sample = self.short_sample()
        kept = [stage for stage in sample if stage.W is not None and stage.H is not None]
        products = (self.part.room.single_products(stage) for stage in kept)
        return Unconverged(
            factors=[(stage.case.A, stage.W, stage.H) for stage in kept],  # type: ignore[misc]
            targets=[self.part.room.target(stage.case) for stage in kept],
            starts=[stage.trial.start() for stage in kept],
            typical=_median([_defect(stage) for stage in sample]),
            kkt=_median([stage.measures.get("kkt_residual", math.inf) for stage in sample]),
            spread=self._spread(),
            products=[each for each in products if each is not None],
            labels=[stage.labels for stage in sample],
        )

    @cached_property
    def answers(self) -> list[tuple[Array, Array, Array]]:
        """A, W and H of failing runs in which W·H should be A; of all asks, and of experiments."""
        family = self.part.family
        return [*self.own_answers, *self._tried(lambda run: run.trial.cell.family != family)]

    @cached_property
    def own_answers(self) -> list[tuple[Array, Array, Array]]:
        """The same without what experiments asked of other families.

        Where exactness is asked besides, a lower grade is right, but slow.
        """
        wanted = {
            ask.name: short_of(ask.needs if ask.question is Question.TEST else "identified")
            for ask in self.part.asks
        }
        stages = self._kept(wanted)
        runs = _amiss(
            (stage.case.A, stage.W, stage.H)
            for stage in stages
            if stage.W is not None and stage.H is not None and self._aims_at_A(stage.case)
        )
        return [*runs, *self._tried(lambda run: run.trial.cell.family == self.part.family)]

    def _tried(self, wanted: Callable[[Run], bool]) -> list[tuple[Array, Array, Array]]:
        return _amiss(
            (run.A, run.W, run.H)
            for run in self.tried.telling
            if run.W is not None and run.H is not None and wanted(run)
        )

    @cached_property
    def aims_at_A(self) -> bool:
        """Whether W·H should be A here, and not only the best product of its rank."""
        runs = self.unconverged
        together = zip(runs.targets, runs.factors, strict=True)
        return all(X is not None and np.array_equal(X, A) for X, (A, _, _) in together)

    @cached_property
    def astray(self) -> list[tuple[Array, Array, Array]]:
        """The answers that miss A by more than its digits, if most of them do."""
        far = [(A, W, H) for A, W, H in self.answers if misses(A, W @ H) > ASTRAY]
        return far if len(far) >= MOST * len(self.answers) else []

    def _aims_at_A(self, case: Case) -> bool:
        target = self.part.room.target(case)
        return target is not None and np.array_equal(target, case.A)

    def _spread(self) -> float:
        """Return over how many decades the defects of runs of one case lie, in the middle cell.

        Runs of the first ask of the test that have the right form, as far as there is one.
        """
        one_case = {cell.cell.id for cell in self.cells if cell.cell.one_case}
        if not (one_case and self.part.test):
            return math.inf
        first = self.part.test[0]
        rows = self.results.defects(self.part.family, [first], short_of(first.needs))
        by_cell: dict[str, list[float]] = {}
        for cell, defect in rows:
            if cell in one_case and defect > 0:
                by_cell.setdefault(cell, []).append(math.log10(defect))
        spreads = [
            float(np.subtract(*np.quantile(logs, [0.9, 0.1])))
            for logs in by_cell.values()
            if len(logs) >= 5 and np.ptp(logs) > 0  # the same answers each time show nothing
        ]
        return float(np.median(spreads)) if spreads else math.inf

    @cached_property
    def chains(self) -> list[Chain]:
        """The runs that were continued, of this family; of all where it has few."""
        return _of_family(self.part.family, self.tried.chains)

    @cached_property
    def worked(self) -> list[Worked]:
        """The same for runs with more work."""
        return _of_family(self.part.family, self.tried.worked)

    def inexact_defects(self) -> list[float]:
        """Return the product defects of the runs that are not exact where exactness is asked."""
        asks = [ask for ask in self.part.asks if ask.question is Question.EXACTNESS]
        inexact = (Outcome.UNCONVERGED, Outcome.FIRST_ORDER)
        rows = self.results.defects(self.part.family, asks, inexact, formed=False)
        return [defect for _, defect in rows]


@dataclass(frozen=True)
class Unconverged:
    """What runs left that ended short of what is needed: unconverged, or with a lower grade.

    Attributes
    ----------
    factors : A, W and H of some.
    targets : what the product of each of these should be; None where that is not known.
    starts : W0 and H0 of the same.
    typical, kkt : their median product defect and KKT residual.
    spread : decades over which the defects of one case lie.
    products : entries w and h whose product is to be all of an entry of A, and what is left of it.
    labels : of the same runs.
    """

    factors: Sequence[tuple[Array, Array, Array]]
    targets: Sequence[Array | None]
    starts: Sequence[tuple[Array, Array]]
    typical: float
    kkt: float
    spread: float
    products: Sequence[tuple[Array, Array, Array]] = field(default=())
    labels: Sequence[Mapping[str, str]] = field(default=())

    @property
    def aimed(self) -> list[tuple[Array, Array, Array]]:
        """What the product should be, W and H, of those of which that is known."""
        together = zip(self.targets, self.factors, strict=True)
        return [(X, W, H) for X, (_, W, H) in together if X is not None]

    def product_is(self, meant: Callable[[Array, Array, Array], Array]) -> bool:
        """Say whether something else than W·H is a hundred times nearer to A, nearly always.

        Where not A but something else should be the product, that stands for A.
        """
        near = min(self.typical, 1.0) / 100
        return 1e-6 < self.typical < math.inf and mostly(
            misses(X, meant(X, W, H)) < near for X, W, H in self.aimed
        )


def _amiss(
    runs: Iterable[tuple[Array, Array, Array]],
) -> list[tuple[Array, Array, Array]]:
    """Return the runs whose product is not A, and not so large that squares overflow."""
    with np.errstate(all="ignore"):
        return [(A, W, H) for A, W, H in runs if AMISS < misses(A, W @ H) < HUGE]


def _of_family(family: str, tried: Sequence[AnyTried]) -> list[AnyTried]:
    own = [each for each in tried if each.run.trial.cell.family == family]
    return own if len(own) >= FEWEST else list(tried)


def explains(A: Array, product: Array, other: Array) -> bool:
    """Say whether a product is a hundred times nearer to something else than to A."""
    miss = misses(A, product)
    return misses(A, A + other - product) <= min(miss, 1.0) / 100 and AMISS < miss < math.inf


def _defect(stage: Stage) -> float:
    """Return the product defect, or the largest defect where a family has no such one."""
    named = {name: x for name, x in stage.measures.items() if name.endswith("_defect")}
    return named.get("product_defect", max(named.values(), default=math.inf))


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else math.nan
