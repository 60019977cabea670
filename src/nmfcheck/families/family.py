"""What a case family is: matrices with known answers, and all that the house asks of them.

A family is one folder, or one file, with one object of a class derived from `Family`. Nothing
outside of it knows its parameters: the house sees cells, trials and asks by their names, matrices,
and judgements. `docs/families.md` shows how to add one.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..arrays import Array, frozen, whole_number
from ..errors import InputError
from ..judging.judgement import Judgement
from ..judging.objectives import FROBENIUS
from ..judging.outcomes import Grade

if TYPE_CHECKING:
    from ..presenting.section import Material, Section
    from ..trials.stage import Stage


class Question(StrEnum):
    """What the verdict decides from asks."""

    TEST = "test"
    """Decides: a trial passes if all its asks of this question do. They are asked in order, and
    the first that does not pass ends them."""
    EXACTNESS = "exactness"
    """A line of its own, which does not decide: of the runs that did not collapse, how many reach
    the grade? Asked in any case."""
    NONE = "none"
    """Only measured. Asked in any case."""


@dataclass(frozen=True)
class Ask:
    """One call within a trial.

    Attributes
    ----------
    name : what it is called in ids, stores and reports, such as ``eps=1e-3``.
    needs : the grade that a run has to reach.
    question : what the verdict decides from it.
    keeps : whether W and H are kept even where it passes; where it does not, they always are.
    called : what it is called in sentences, such as ``ε = 1e-3``; its name if not given.
    """

    name: str
    needs: Grade
    question: Question = Question.TEST
    keeps: bool = False
    called: str = field(default="", compare=False)

    @property
    def title(self) -> str:
        """What it is called in sentences."""
        return self.called or self.name


@dataclass(frozen=True, eq=False)
class Case:
    """A matrix whose nonnegative factorizations are known.

    Attributes
    ----------
    id : stable name, such as ``bidiagonal/n=3/ones/eps=1e-3``; cases are equal if their ids are.
    A : the matrix, m×n, read-only.
    rank : the inner dimension k that a factorization is asked for.
    objective : the name of what is minimised.
    """

    id: str
    A: Array
    rank: int
    objective: str = field(default=FROBENIUS.name, kw_only=True)

    def __post_init__(self) -> None:
        if self.A.flags.writeable:
            object.__setattr__(self, "A", frozen(self.A))

    @classmethod
    def from_id(cls, id: str) -> Case:
        """Return the case that has this id.

        >>> Case.from_id("bidiagonal/n=2/ones/eps=0.25").A
        array([[1.  , 0.25],
               [0.  , 1.  ]])
        """
        from .registry import of_id

        return of_id("case", id).case_from_id(str(id))

    @property
    def m(self) -> int:
        """Number of rows of A."""
        return int(self.A.shape[0])

    @property
    def n(self) -> int:
        """Number of columns of A."""
        return int(self.A.shape[1])

    @property
    def family(self) -> str:
        """The name of its family."""
        return self.id.partition("/")[0]

    def __eq__(self, other: object) -> bool:
        return self.id == other.id if isinstance(other, Case) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    def __reduce__(self) -> tuple[Callable[[str], Case], tuple[str]]:
        return Case.from_id, (self.id,)  # short, and A is read-only again after unpickling


@dataclass(frozen=True)
class Cell:
    """Trials that belong together: one shape, one way to draw.

    Attributes
    ----------
    family : the name of its family.
    name : what it is called within the family, such as ``n=3/loguniform``.
    m, n, k : rows and columns of A, and the rank.
    columns : what tables show of it, one text for each of the family's `headings`.
    one_case : whether all its trials have the same matrix, and differ by the seed alone.
    """

    family: str
    name: str
    m: int
    n: int
    k: int
    columns: tuple[str, ...] = field(default=(), compare=False)
    one_case: bool = field(default=False, compare=False)

    @property
    def id(self) -> str:
        """Its name among all families'."""
        return f"{self.family}/{self.name}"


@dataclass(frozen=True)
class Trial:
    """One draw of a cell and one seed, to be carried through the family's asks.

    Attributes
    ----------
    cell : shape, and how entries are drawn.
    draw : which draw; None where all trials of the cell have one matrix.
    seed : of the starting point.
    asks : what is asked.
    """

    cell: Cell
    draw: int | None
    seed: int
    asks: tuple[Ask, ...] = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        whole_number("seed", self.seed, 0)
        if self.draw is not None:
            whole_number("draw", self.draw, 0)
        if not (self.asks and all(isinstance(ask, Ask) for ask in self.asks)):
            raise InputError(f"a trial has one Ask or more, not {self.asks!r}")

    @classmethod
    def from_id(cls, id: str) -> Trial:
        """Return the trial that has this id, such as ``bidiagonal/n=3/loguniform#7/seed=7``."""
        from .registry import of_id

        family = of_id("trial", id)
        form = rf"{re.escape(family.name)}/([^#]+?)(?:#(0|[1-9]\d{{0,17}}))?/seed=(\d{{1,18}})"
        match = re.fullmatch(form, str(id))
        if match is None:
            raise InputError(f"no trial {id!r}; expected an id such as {family.example!r}")
        cell = family.cell(match[1])
        draw = None if match[2] is None else int(match[2])
        if cell.one_case != (draw is None):
            expected = "no draw" if cell.one_case else "a draw such as #7"
            raise InputError(f"no trial {id!r}; after {cell.name!r} expected {expected}")
        return cls(cell, draw, int(match[3]), family.asks_of(cell))

    @property
    def family(self) -> Family:
        """Its family."""
        from .registry import find

        return find(self.cell.family)

    @property
    def entries(self) -> str:
        """The cell and the draw: ``n=3/loguniform#7``."""
        return self.cell.name + ("" if self.draw is None else f"#{self.draw}")

    @property
    def id(self) -> str:
        """Stable name of the trial."""
        return f"{self.cell.family}/{self.entries}/seed={self.seed}"

    def case(self, ask: Ask | str) -> Case:
        """Return the case of one ask, given as it is or by its name."""
        return self.family.case(self, self.ask(ask) if isinstance(ask, str) else ask)

    def ask(self, name: str) -> Ask:
        """Return one of its asks."""
        for ask in self.asks:
            if ask.name == name:
                return ask
        there = ", ".join(ask.name for ask in self.asks)
        raise InputError(f"{self.id} has no ask {name!r}; there are {there}")

    def start(self) -> tuple[Array, Array]:
        """Return W0 and H0, the same for every ask, for every subject and on every machine."""
        return self.family.start(self)


@dataclass(frozen=True)
class Option:
    """An option of the command line that selects cells or asks of a family.

    Attributes
    ----------
    name : without dashes.
    help : as in ``--help``.
    metavar : what stands for its value there; "" for a flag.
    """

    name: str
    help: str
    metavar: str = ""


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


class Family(ABC):
    """A family of cases with known answers.

    Attributes
    ----------
    name, version : the version grows when cases or draws of the same id change.
    summary : a line for the user.
    headings : of the columns that its cells have in tables.
    example : the id of one trial.
    asks : what a trial asks, unless told otherwise.
    test, exactness : what its two questions ask, in words.
    required : the share of trials that has to pass in each cell; None where that is read off the
        baseline that the family ships.
    baseline : where that baseline is.
    exact_share : the share of runs that have to pass for the second question.
    options : what the command line offers to select its cells and asks.
    counted_labels : the labels whose texts are counted in baselines and reports.
    baseline_iterations : of the references when a baseline is made, where not their own number.
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
    exact_share: ClassVar[float] = 0.95
    options: ClassVar[tuple[Option, ...]] = ()
    counted_labels: ClassVar[tuple[str, ...]] = ()
    baseline_iterations: ClassVar[Mapping[str, int]] = {}

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

    @abstractmethod
    def cell(self, name: str) -> Cell:
        """Return the cell of this name, or raise `InputError`."""

    @abstractmethod
    def case(self, trial: Trial, ask: Ask) -> Case:
        """Return the case of one ask of a trial; its id is `case_id(trial, ask)`."""

    @abstractmethod
    def judge(self, cases: Sequence[Any], W: Array, H: Array) -> list[Judgement]:
        """Judge a batch: cases of one shape, W and H of shapes (batch, m, k) and (batch, k, n)."""

    def ask(self, name: str) -> Ask:
        """Return the ask of this name."""
        for ask in self.asks:
            if ask.name == name:
                return ask
        there = ", ".join(ask.name for ask in self.asks)
        raise InputError(f"{self.name} has no ask {name!r}; there are {there}")

    def asks_of(self, cell: Cell) -> tuple[Ask, ...]:
        """Return what a trial of a cell asks, unless told otherwise."""
        return self.asks

    def trial(self, cell: Cell, i: int, asks: tuple[Ask, ...] | None = None) -> Trial:
        """Return trial i of a cell: draw i and seed i, in every suite."""
        return Trial(cell, None if cell.one_case else i, i, asks or self.asks_of(cell))

    def case_id(self, trial: Trial, ask: Ask) -> str:
        """Return the id of the case of one ask of a trial."""
        return f"{self.name}/{trial.entries}/{ask.name}"

    def case_from_id(self, id: str) -> Case:
        """Return the case that has this id."""
        entries, _, ask = id.rpartition("/")
        return Trial.from_id(f"{entries}/seed=0").case(self.ask(ask))

    def start(self, trial: Trial) -> tuple[Array, Array]:
        """Return W0, then H0, uniform in (0, 1), from PCG64 seeded with m, n, k and the seed."""
        cell = trial.cell
        return uniform_start(cell.m, cell.n, cell.k, trial.seed)

    def unit(self, case: Case) -> float:
        """Return the size of A that defects are relative to."""
        return float(case.A.max())

    def finished(self, stages: Sequence[Stage]) -> Sequence[Stage]:
        """Return the stages of a trial, with what only all of them together show."""
        return stages

    def described(self, case: Any, judgement: Judgement) -> Iterator[tuple[str, str]]:
        """Say what was measured, a name and a text for each line."""
        for name, number in judgement.measures.items():
            yield name.replace("_", " "), f"{number:.3g}"
        yield from judgement.labels.items()

    def nearest(self, case: Any, W: Array, H: Array) -> Nearest | None:
        """Return the known answer that is nearest to a valid run, where that can be said."""
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
