"""Cases, cells, trials and asks: what every family is made of, known by their names and ids."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, cached_property
from types import ModuleType
from typing import TYPE_CHECKING

from ..arrays import Array, frozen, whole_number
from ..errors import InputError
from ..judging.objectives import FROBENIUS
from ..judging.outcomes import Grade

if TYPE_CHECKING:
    from .family import Family


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
    lenient : whether a run that is only too inexact for its grade goes on to the next ask, so that
        it can be said to how many digits the trial is right.
    """

    name: str
    needs: Grade
    question: Question = Question.TEST
    keeps: bool = field(default=False, compare=False)
    called: str = field(default="", compare=False)
    lenient: bool = field(default=False, compare=False)

    def __hash__(self) -> int:
        return hash(self.name)  # several times a stage; asks of one name hardly ever differ

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
        """Return the case that has this id; that of a trial with one ask has the trial's, too.

        >>> Case.from_id("bidiagonal/n=2/ones/eps=0.25").A
        array([[1.  , 0.25],
               [0.  , 1.  ]])
        """
        from .registry import of_id

        family = of_id("case", id)
        if "/seed=" in str(id):
            return Trial.from_id(id).only_case()
        return family.case_from_id(str(id))

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
    suffix : the part of the name, its end, that stands behind the seed in ids of trials.
    warm : whether its trials start near the answer; then a subject must take a start.
    objective : the name of what is minimised.
    unit : the size of the entries of its matrices, where it asks whether that matters.
    """

    family: str
    name: str
    m: int
    n: int
    k: int
    columns: tuple[str, ...] = field(default=(), compare=False)
    one_case: bool = field(default=False, compare=False)
    suffix: str = field(default="", compare=False)
    warm: bool = field(default=False, compare=False)
    objective: str = field(default=FROBENIUS.name, compare=False)
    unit: float = field(default=1.0, compare=False)

    @property
    def id(self) -> str:
        """Its name among all families'."""
        return f"{self.family}/{self.name}"

    @cached_property
    def matrices(self) -> str:
        """Its name without what only says how they are asked: which matrices it has."""
        return self.name.removesuffix(f"/{self.suffix}") if self.suffix else self.name


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
        form = (
            rf"{re.escape(family.name)}/([^#]+?)(?:#(0|[1-9]\d{{0,17}}))?/seed=(\d{{1,18}})(/.+)?"
        )
        match = re.fullmatch(form, str(id))
        if match is None:
            raise InputError(f"no trial {id!r}; expected an id such as {family.example!r}")
        cell = family.cell(match[1] + (match[4] or ""))
        draw = None if match[2] is None else int(match[2])
        if (match[4] or "").removeprefix("/") != cell.suffix:
            raise InputError(f"no trial {id!r}; start and loss stand behind the seed")
        if cell.one_case != (draw is None):
            expected = "no draw" if cell.one_case else "a draw such as #7"
            raise InputError(f"no trial {id!r}; after {cell.name!r} expected {expected}")
        return cls(cell, draw, int(match[3]), family.asks_of(cell))

    @property
    def family(self) -> Family:
        """Its family."""
        family: Family = _registry().find(self.cell.family, self.cell.objective)
        return family

    @property
    def drawn(self) -> str:
        """The matrices and the draw: ``n=3/loguniform#7``."""
        return self.cell.matrices + ("" if self.draw is None else f"#{self.draw}")

    @property
    def id(self) -> str:
        """Stable name of the trial."""
        suffix = f"/{self.cell.suffix}" if self.cell.suffix else ""
        return f"{self.cell.family}/{self.drawn}/seed={self.seed}{suffix}"

    def case(self, ask: Ask | str) -> Case:
        """Return the case of one ask, given as it is or by its name."""
        return self.family.case(self, self.ask(ask) if isinstance(ask, str) else ask)

    def ask(self, name: str) -> Ask:
        """Return one of its asks."""
        for ask in self.asks:
            if ask.name == name:
                return ask
        names = ", ".join(ask.name for ask in self.asks)
        raise InputError(f"{self.id} has no ask {name!r}; there are {names}")

    def only_case(self) -> Case:
        """Return the case of its only ask, or raise `InputError` where it has several."""
        if len(self.asks) == 1:
            return self.case(self.asks[0])
        ids = ", ".join(self.case(ask).id for ask in self.asks)
        raise InputError(f"{self.id!r} is a trial of {len(self.asks)} cases; its cases are {ids}")

    def start(self) -> tuple[Array, Array]:
        """Return W0 and H0, the same for every ask, for every subject and on every machine."""
        return self.family.start(self)


MOST_ENTRIES = 10**6
"""So many entries an A has at most whose size an id says."""


def check_size(m: int, n: int) -> None:
    """Raise `InputError` where a matrix would be too large."""
    if m * n > MOST_ENTRIES:
        raise InputError(f"a {m}×{n} matrix is too large; expected at most {MOST_ENTRIES} entries")


@cache
def _registry() -> ModuleType:
    """Return the registry, which is made from this module."""
    from . import registry

    return registry
