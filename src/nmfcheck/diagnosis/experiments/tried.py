"""What experiments show: chains of continued runs, runs from exact factorizations, more work."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...judging.measures import same_factors
from ...judging.objectives import find as find_objective
from ...judging.outcomes import Outcome
from ...store import Results
from ...subjects import Answer
from ...subjects.watching import Watched
from ...text import in_list
from ...trials.climb import judged
from . import alone, at_answer, continuing, less_work, mending, more_work, repeated, watching
from .lines import Followed
from .record import Begin, Experiment, Run, defect_of, stage_of

BETTER = 0.5
"""An error that falls to this part of what it was has improved; so has a KKT residual that falls
to a tenth."""

RISE = 1.05
"""An objective that rises to so many times what it was has become worse."""

STILL = 1e-9
"""Who moves by no more than this, relative to the size of A, stays."""

LEFT = 1e-10
"""Who is farther from A than this, having begun at an exact factorization, has left it."""


FEWEST, NEARLY_ALL = 6, 0.9
"""If so many runs from exact factorizations, and so many of them, stay there, the subject does."""


@dataclass(frozen=True)
class Point:
    """How good W and H are: error, KKT residual, and the objective's value."""

    defect: float
    kkt: float
    value: float


@dataclass(frozen=True)
class Chain:
    """A run that was continued: the points that it went through, and how far it got."""

    run: Run
    points: Sequence[Point]
    moved: float

    @property
    def improved(self) -> bool:
        """Whether it is clearly better than before."""
        first, last = self.points[0], self.points[-1]
        better = last.defect <= BETTER * first.defect or last.kkt <= first.kkt / 10
        return better and last.value <= first.value * (1 + 1e-9)

    @property
    def creeps(self) -> bool:
        """Whether each link made it a little better, and it moved."""
        values = [point.value for point in self.points]
        falls = all(b < a * (1 - 1e-9) for a, b in pairwise(values))
        return falls and self.moved > STILL

    @property
    def stayed(self) -> bool:
        """Whether it did not move."""
        return self.moved <= STILL

    @property
    def wanders(self) -> bool:
        """Whether it moved, and is no better for it."""
        return not (self.stayed or self.improved or self.creeps)

    @property
    def jumps(self) -> bool:
        """Whether a link made it clearly worse, and it is no better in the end."""
        values = [point.value for point in self.points]
        rises = any(b > RISE * a for a, b in pairwise(values))
        return rises and not self.improved and not self.stayed

    @property
    def worsened(self) -> bool:
        """Whether it went away to something worse."""
        first, last = self.points[0], self.points[-1]
        return last.value > RISE * first.value and last.defect > first.defect and not self.stayed


@dataclass(frozen=True)
class Worked:
    """The error of a failing run, and of the same run made in another way."""

    run: Run
    before: float
    after: float

    @property
    def improved(self) -> bool:
        """Whether it is clearly better than before."""
        return self.after <= BETTER * self.before


@dataclass(frozen=True)
class Tried:
    """All experiments that were made with a subject.

    Attributes
    ----------
    experiments : by name.
    """

    experiments: Mapping[str, Experiment] = field(default_factory=dict)

    @classmethod
    def of(cls, results: Results) -> Tried:
        """Return what a store has of a subject's experiments."""
        try:
            recorded = results.experiments().items()
            return cls({name: Experiment.from_data(name, data) for name, data in recorded})
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            reason = f"an experiment cannot be read ({error})"
            raise InputError(f"the store is damaged: {reason}") from None

    def runs(self, name: str) -> Sequence[Run]:
        """Return the runs of an experiment."""
        return self.experiments[name].runs if name in self.experiments else ()

    @cached_property
    def takes_start(self) -> bool:
        """Whether a subject was given exact factorizations to start at, or would have been."""
        runs = self.runs(at_answer.NAME)
        return not runs or any(run.begin is Begin.EXACT for run in runs)

    @cached_property
    def uses_start(self) -> bool:
        """Whether a subject ends elsewhere if it starts elsewhere."""
        runs = [run for run in self.runs(at_answer.NAME) if run.W is not None]
        exact = [run for run in runs if run.begin is Begin.EXACT]
        if not exact:
            return False
        given = [run for run in runs if run.begin is Begin.GIVEN]
        twin = next((run for run in exact if given and _alike(run, given[0])), None)
        if twin is None:
            return True
        one, other = given[0], twin
        return not (np.array_equal(one.W, other.W) and np.array_equal(one.H, other.H))  # type: ignore[arg-type]

    @cached_property
    def exact(self) -> list[Run]:
        """The runs that were started at exact factorizations, and answered."""
        if not self.uses_start:
            return []
        runs = self.runs(at_answer.NAME)
        return [run for run in runs if run.begin is Begin.EXACT and run.W is not None]

    @cached_property
    def same_product(self) -> bool:
        """Whether runs from exact factorizations and from elsewhere end at the same W·H, not at A.

        Of matrices of full rank, which any W·H can be.
        """
        given = [run for run in self.dense if run.begin is Begin.GIVEN]
        full = [run for run in given if run.trial.cell.k >= min(run.A.shape)]
        pairs = [(one, other) for one in full for other in self.exact if _alike(one, other)]
        return bool(pairs) and all(_ends_as(one, other) for one, other in pairs)

    @cached_property
    def dense(self) -> list[Run]:
        """All runs of that experiment which were answered, wherever they started."""
        return [run for run in self.runs(at_answer.NAME) if run.W is not None]

    @cached_property
    def telling(self) -> list[Run]:
        """The same without those that collapsed, as right ones do: these say nothing of W·H."""
        judged = ((run, stage_of(run)) for run in self.dense)
        return [run for run, stage in judged if stage and stage.outcome is not Outcome.COLLAPSED]

    @cached_property
    def left(self) -> float:
        """The median error of runs from exact factorizations; NaN where there are none."""
        return _median(self.missed)

    @cached_property
    def missed(self) -> list[float]:
        """The errors of runs from exact factorizations."""
        return [_miss(run) for run in self.exact]

    @cached_property
    def how_left(self) -> str:
        """How many runs from exact factorizations end elsewhere, and how far away, in words."""
        off = self.missed
        far = [x for x in off if x > LEFT]
        if not far:
            of = in_list(list(dict.fromkeys(run.trial.cell.family for run in self.exact)))
            return f"W·H stays A in all {len(off)} runs, of {of} matrices"
        which = "all" if len(far) == len(off) else f"{len(far)} of"
        return f"{which} {len(off)} runs end elsewhere, {_median(far):.0e} away from A"

    @cached_property
    def chains(self) -> list[Chain]:
        """The runs that were continued, where the subject uses its start."""
        if self.experiments.get(at_answer.NAME) is not None and not self.uses_start:
            return []
        grouped: dict[tuple[str, str], list[Run]] = {}
        for run in self.runs(continuing.NAME):
            if run.W is not None:
                grouped.setdefault((run.trial.id, run.ask.name), []).append(run)
        return [_chain(runs) for runs in grouped.values()]

    @cached_property
    def worked(self) -> list[Worked]:
        """The failing runs with more work."""
        return self._again(more_work.NAME)

    @cached_property
    def hurried(self) -> list[Worked]:
        """The failing runs with few iterations."""
        return self._again(less_work.NAME)

    @cached_property
    def alone(self) -> list[Worked]:
        """The failing runs in new processes."""
        return self._again(alone.NAME)

    @cached_property
    def followed(self) -> list[Followed]:
        """The runs that were followed line by line."""
        return [
            Followed(run.watched, run.outcome)
            for run in self.runs(watching.NAME)
            if run.watched is not None and run.outcome is not None
        ]

    @cached_property
    def followed_families(self) -> list[str]:
        """The families of those of them that fail, in order."""
        runs = [run for run in self.runs(watching.NAME) if run.watched and run.outcome]
        failing = (run for run in runs if run.outcome and run.outcome.grade is None)
        return list(dict.fromkeys(run.trial.cell.family for run in failing))

    @cached_property
    def followed_from_answers(self) -> list[Watched]:
        """Those that were followed from exact factorizations."""
        runs = self.runs(watching.NAME)
        return [run.watched for run in runs if run.watched is not None and run.begin is Begin.EXACT]

    @cached_property
    def mended(self) -> list[list[Run]]:
        """The runs with each change of its source that mends it, those with the best one first."""
        by_edit: dict[str, list[Run]] = {}
        for run in self.runs(mending.NAME):
            if run.edit is not None:
                by_edit.setdefault(run.edit.said, []).append(run)
        return list(by_edit.values())

    @cached_property
    def one_answer(self) -> bool | None:
        """Whether new processes give one answer, bit for bit, to what had two; None: not known."""
        return _agree([run for run in self.runs(repeated.NAME) if not run.again][: repeated.TIMES])

    @cached_property
    def only_seed_0(self) -> bool:
        """Whether they differ where the seed is 0, and give one answer where it is another."""
        other = [run for run in self.runs(repeated.NAME) if not run.again][repeated.TIMES :]
        return self.one_answer is False and _agree(other) is True

    @cached_property
    def by_random_state(self) -> bool:
        """Whether that is another one where the global random states are seeded otherwise."""
        runs = self.runs(repeated.NAME)
        again = [run for run in runs if run.again and run.W is not None]
        return self.one_answer is True and bool(again) and not _same_bits(again[0], runs[0])

    @cached_property
    def stays(self) -> bool:
        """Whether nearly all runs from exact factorizations stay there."""
        near = [missed <= LEFT for missed in self.missed]
        return len(near) >= FEWEST and sum(near) >= NEARLY_ALL * len(near)

    def _again(self, name: str) -> list[Worked]:
        again = []
        for run in self.runs(name):
            if run.W is not None and run.H is not None and run.before is not None:
                again.append(Worked(run, run.before, _point(run, run.W, run.H).defect))
        return again

    def pairs(self) -> Iterable[tuple[Run, Run]]:
        """Return the runs from one exact factorization with two seeds."""
        for one in self.exact:
            for other in self.exact:
                if _alike(one, other) and one.seed < other.seed:
                    yield one, other


def _agree(runs: Sequence[Run]) -> bool | None:
    """Say whether runs in new processes give one answer, bit for bit; None: not known."""
    if len(runs) < repeated.TIMES or any(run.W is None for run in runs):
        return None
    first, *others = runs
    return all(_same_bits(run, first) for run in others)


def _same_bits(one: Run, other: Run) -> bool:
    pairs = ((one.W, other.W), (one.H, other.H))
    return all(np.array_equal(X, Y) for X, Y in pairs)  # type: ignore[arg-type]


def _alike(one: Run, other: Run) -> bool:
    return one.trial == other.trial and one.ask == other.ask


def _ends_as(one: Run, other: Run) -> bool:
    X, Y = one.product, other.product
    if X is None or Y is None:
        return False
    return float(abs(X - Y).max() / one.A.max()) <= 1e-3 * min(_miss(one), 1.0)


def _chain(runs: Sequence[Run]) -> Chain:
    first = runs[0]
    places = [(first.W0, first.H0), *((run.W, run.H) for run in runs)]
    points = [_point(first, W, H) for W, H in places if W is not None and H is not None]
    moved = max(_moved(first, run) for run in runs)
    return Chain(first, points, moved)


def _moved(first: Run, run: Run) -> float:
    """Return how far a link is from where the first began; 0 where it is at the same W and H."""
    assert run.W is not None and run.H is not None
    unit = float(first.A.max())
    moved = float(abs(first.W0 @ first.H0 - run.W @ run.H).max() / unit)
    same = same_factors((first.W0, first.H0), (run.W, run.H), unit)
    return 0.0 if same and moved <= STILL else max(moved, 2 * STILL)


def _point(run: Run, W: Array, H: Array) -> Point:
    (judgement,) = judged([run.trial], [run.trial.case(run.ask)], [Answer(W, H)])
    assert judgement is not None
    with np.errstate(all="ignore"):
        objective = find_objective(run.trial.cell.objective)
        value = float(objective.divergence(run.A[None], (W @ H)[None])[0])
    return Point(
        defect_of(judgement.measures), judgement.measures.get("kkt_residual", math.inf), value
    )


def _miss(run: Run) -> float:
    product = run.product
    assert product is not None
    return float(abs(product - run.A).max() / run.A.max())


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if values else math.nan
