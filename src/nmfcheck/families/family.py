"""What a case family is: matrices with known answers, and all that the house asks of them.

A family is one folder, or one file, with one object of a class derived from `Family`. Nothing
outside of it knows its parameters: the house sees cells, trials and asks by their names, matrices,
and judgements. `docs/families.md` shows how to add one.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ..arrays import Array, frozen
from ..errors import InputError
from ..judging.judgement import Judgement
from ..judging.objectives import FROBENIUS
from ..judging.outcomes import Outcome
from .trial import Ask, Case, Cell, Trial

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from ..presenting.section import Material, Section
    from ..trials.stage import Stage


@dataclass(frozen=True)
class Option:
    """An option of the command line that selects cells or asks of a family.

    Attributes
    ----------
    name : without dashes.
    help : as in ``--help``.
    metavar : what stands for its value there; "" for a flag.
    of_asks : whether it says what a trial asks; otherwise it says which cells there are.
    """

    name: str
    help: str
    metavar: str = ""
    of_asks: bool = False


@dataclass(frozen=True)
class Nearest:
    """A known answer beside the run that it is nearest to.

    Attributes
    ----------
    W, H : the answer, its components scaled and ordered like those that it is compared with.
    distance : relative to the size of the answer.
    place : where among the answers it is, in words.
    """

    W: Array
    H: Array
    distance: float
    place: str = ""


class Drawn(NamedTuple):
    """A trial that an experiment runs: a cell's name, a draw, and the names of what is asked."""

    cell: str
    draw: int
    asks: tuple[str, ...]


class Family(ABC):
    """A family of cases with known answers.

    Attributes
    ----------
    name, version : the version grows when cases or draws of the same id change.
    summary : a line for the user.
    headings : of the columns that its cells have in tables.
    example : the id of one trial.
    asks : what a trial asks, unless told otherwise; in the newest suites.
    test, exactness : what its two questions ask, in words.
    required : the share of trials that has to pass in each cell; None where that is read off the
        baseline that the family ships.
    margin : so far below what is required the share of a cell may be; 0 where every trial has to
        pass.
    baseline : where that baseline is.
    defect_bound : the defect up to which a run has found the answer, where that is asked for.
    exact_share : the share of runs that have to pass for the second question.
    options : what the command line offers to select its cells and asks.
    case_options : what it offers to give a case of this family by other means than its id.
    starts_at_answer : what of it is started at an exact factorization, to see who leaves it.
    without_start : what of it is asked instead of a subject that takes no start.
    smoke_trials : the ids of a tiny trial, of the same with another seed, and of a smaller one, for
        a first look at a subject.
    counted_labels : the labels whose texts are counted in baselines and reports.
    baseline_iterations : of the references when a baseline is made, where not their own number.
    judgement : the class of its judgements, which may name measures and labels.
    objective : the name of what is minimised; `under` gives the family with another one.
    graded_by : the measures whose largest is graded; all that end in ``_defect`` if none is named.
    shown_defect : the measure whose median tables show.
    nearest_called : what the known answer that is nearest to a run is called, where it is shown.
    meanings : what outcomes mean in this family, where they mean something else than elsewhere.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    summary: ClassVar[str] = ""
    headings: ClassVar[tuple[str, ...]] = ("cell",)
    example: ClassVar[str]
    asks: ClassVar[tuple[Ask, ...]]
    test: ClassVar[str] = "trials passed"
    exactness: ClassVar[str] = "runs that did not collapse are exact"
    required: ClassVar[float | None] = None
    margin: ClassVar[float] = 0.05
    defect_bound: ClassVar[float | None] = None
    exact_share: ClassVar[float] = 0.95
    options: ClassVar[tuple[Option, ...]] = ()
    case_options: ClassVar[tuple[Option, ...]] = ()
    starts_at_answer: ClassVar[tuple[Drawn, ...]] = ()
    without_start: ClassVar[tuple[Drawn, ...]] = ()
    smoke_trials: ClassVar[tuple[str, ...]] = ()
    counted_labels: ClassVar[tuple[str, ...]] = ()
    baseline_iterations: ClassVar[Mapping[str, int]] = {}
    judgement: ClassVar[type[Judgement]] = Judgement
    objective: str = FROBENIUS.name
    graded_by: ClassVar[tuple[str, ...]] = ()
    shown_defect: ClassVar[str] = "product_defect"
    nearest_called: ClassVar[str] = "nearest answer"
    meanings: ClassVar[Mapping[Outcome, str]] = {}

    def meaning(self, outcome: Outcome) -> str:
        """Return what an outcome means, in a sentence."""
        return self.meanings.get(outcome, outcome.explanation)

    def defect(self, measures: Mapping[str, float]) -> float:
        """Return the largest of the defects that a run is graded by; infinite without any."""
        names = self.graded_by or [name for name in measures if name.endswith("_defect")]
        return max((measures.get(name, math.inf) for name in names), default=math.inf)

    def under(self, objective: str) -> Family | None:
        """Return this family with another objective; None where its answers are not known then."""
        return self if objective == self.objective else None

    @property
    def baseline(self) -> Traversable | None:
        """The file of the baseline that it ships, if it has one."""
        return None

    def baseline_trials(self, cell: Cell) -> int:
        """Return how many trials of a cell a baseline has of each reference."""
        return 1000

    @abstractmethod
    def cells(self, suite: str) -> Mapping[Cell, int]:
        """Return the cells of the suite quick, standard or full, each with a number of trials."""

    def trials_of(self, suite: str, version: int) -> int | None:
        """Return the trials of each cell in a version of a suite; None for those of `cells`."""
        return None

    @abstractmethod
    def cell(self, name: str) -> Cell:
        """Return the cell of this name, or raise `InputError`."""

    @abstractmethod
    def case(self, trial: Trial, ask: Ask) -> Case:
        """Return the case of one ask of a trial; its id is `case_id(trial, ask)`."""

    @abstractmethod
    def judge(self, cases: Sequence[Any], W: Array, H: Array) -> list[Judgement]:
        """Judge a batch: cases of one shape, W and H of shapes (batch, m, k) and (batch, k, n)."""

    def required_of(self, cell: Cell) -> float | None:
        """Return the share that a cell requires; None for the baseline's, NaN for nothing."""
        return self.required

    def ask(self, name: str) -> Ask:
        """Return the ask of this name."""
        for ask in self.asks:
            if ask.name == name:
                return ask
        names = ", ".join(ask.name for ask in self.asks)
        raise InputError(f"{self.name} has no ask {name!r}; there are {names}")

    def asks_of_version(self, version: int) -> tuple[Ask, ...]:
        """Return the same asks with the grades that they need in a version of the suites."""
        return self.asks

    def asks_of(self, cell: Cell) -> tuple[Ask, ...]:
        """Return what a trial of a cell asks, unless told otherwise."""
        return self.asks

    def asked(self, cell: Cell, asks: tuple[Ask, ...]) -> tuple[Ask, ...]:
        """Return what some asks are to a cell: a question may make no sense in all of them."""
        return asks

    def trial(self, cell: Cell, i: int, asks: tuple[Ask, ...] | None = None) -> Trial:
        """Return trial i of a cell: draw i and seed i, in every suite."""
        asked = self.asked(cell, asks) if asks else self.asks_of(cell)
        return Trial(cell, None if cell.one_case else i, i, asked)

    def case_id(self, trial: Trial, ask: Ask) -> str:
        """Return the id of the case of one ask of a trial."""
        return f"{self.name}/{trial.drawn}/{ask.name}"

    def case_from_id(self, id: str) -> Case:
        """Return the case that has this id; where there is one ask, it may be left out."""
        if len(self.asks) == 1 and re.search(r"#\d+$", id):
            id = f"{id}/{self.asks[0].name}"
        entries, _, ask = id.rpartition("/")
        trial = f"{entries}/seed=0"
        try:
            return Trial.from_id(trial).case(self.ask(ask))
        except InputError as error:
            if repr(trial) not in str(error):
                raise
            example = f"{self.example.rpartition('/')[0]}/{self.asks[-1].name}"
            raise InputError(f"no case {id!r}; expected an id such as {example!r}") from None

    def case_given(self, given: Mapping[str, str]) -> Case:
        """Return the case that values of its `case_options` say, or raise `InputError`."""
        raise InputError(f"a case of {self.name} is given by its id")

    def start(self, trial: Trial) -> tuple[Array, Array]:
        """Return W0, then H0, uniform in (0, 1), from PCG64 seeded with m, n, k and the seed."""
        cell = trial.cell
        return uniform_start(cell.m, cell.n, cell.k, trial.seed)

    def unit(self, case: Case) -> float:
        """Return the size of A that defects are relative to."""
        return float(case.A.max())

    def target(self, case: Any) -> Array | None:
        """Return what the product of W and H should be; None where more than one may be right."""
        target: Array = case.A
        return target

    def finished(self, stages: Sequence[Stage]) -> Sequence[Stage]:
        """Return the stages of a trial, with what only all of them together show.

        Nobody else has seen them yet: measures may be added to them.
        """
        return stages

    def described(self, case: Any, judgement: Judgement) -> Iterator[tuple[str, str]]:
        """Say what was measured, a name and a text for each line."""
        for name, number in judgement.measures.items():
            yield name.replace("_", " "), f"{number:.3g}"
        yield from judgement.labels.items()

    def nearest(self, case: Any, W: Array, H: Array) -> Nearest | None:
        """Return the known answer that is nearest to a valid run, where that can be said."""
        return None

    def exact_answer(self, case: Any) -> tuple[Array, Array] | None:
        """Return nonnegative W and H whose product is A; None where that is not known."""
        return None

    def single_products(self, stage: Stage) -> tuple[Array, Array, Array] | None:
        """Return entries w of W and h of H whose product is all of an entry of A, and what is left.

        What is left of such an entry tells a constant in a denominator from other faults. None
        where a stage has none.
        """
        return None

    def select(
        self, cells: Mapping[Cell, int], asks: tuple[Ask, ...], chosen: Mapping[str, Any]
    ) -> tuple[Mapping[Cell, int], tuple[Ask, ...]]:
        """Return the cells and asks that some of its options choose."""
        return cells, asks

    def extra(self, chosen: Mapping[str, Any]) -> Mapping[Cell, int]:
        """Return the cells that some of its options ask for besides the suite's.

        They are measured, and do not count for the verdict.
        """
        return {}

    def selection(
        self, cells: Mapping[Cell, int], asks: tuple[Ask, ...], extra: Sequence[Cell] = ()
    ) -> Mapping[str, str]:
        """Return the options that choose these cells and asks, as the command line takes them.

        "" stands for the value of a flag.
        """
        return {}

    def sections(self, material: Material) -> Sequence[Section]:
        """Return what it adds to a report."""
        return ()


@lru_cache(maxsize=1024)
def uniform_start(m: int, n: int, k: int, seed: int) -> tuple[Array, Array]:
    """Return W0 (m×k), then H0 (k×n), uniform in (0, 1); read-only, for many trials share them."""
    rng = np.random.Generator(np.random.PCG64([m, n, k, seed]))
    return frozen(rng.random((m, k))), frozen(rng.random((k, n)))
