"""What a suite asks of one family."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args, overload

from .. import families
from ..families import Ask, Cell, Family, Question, Trial
from ..judging.objectives import FROBENIUS
from ..judging.outcomes import Grade


@dataclass(frozen=True)
class Part:
    """What a suite asks of one family.

    Attributes
    ----------
    family, version : the family's.
    cells : each with a number of trials. Trial i uses draw i and seed i, in every suite.
    asks : of each trial, in order.
    objective : the name of what is minimised.
    """

    family: str
    version: int
    cells: Mapping[Cell, int]
    asks: tuple[Ask, ...]
    objective: str = FROBENIUS.name

    @property
    def room(self) -> Family:
        """The family itself."""
        return families.find(self.family, self.objective)

    def asked(self, cell: Cell) -> tuple[Ask, ...]:
        """Return what is asked of a cell."""
        return self.room.asked(cell, self.asks)

    @property
    def test(self) -> tuple[Ask, ...]:
        """The asks that decide."""
        return tuple(ask for ask in self.asks if ask.question is Question.TEST)

    @property
    def whole_test(self) -> tuple[Ask, ...]:
        """The asks that decide where all are asked: the family's, needing what they need here."""
        own = {ask.name: ask for ask in self.test}
        asks = (ask for ask in self.room.asks if ask.question is Question.TEST)
        return tuple(own.get(ask.name, ask) for ask in asks)

    @property
    def trials(self) -> int:
        """The number of trials in all cells."""
        return sum(self.cells.values())

    @property
    def scope(self) -> str:
        """How many cells and trials, in words."""
        numbers = sorted(set(self.cells.values()))
        each = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"
        cells = "one cell" if len(self.cells) == 1 else f"{len(self.cells)} cells"
        return f"{self.family}, {cells} of {each} trial{'s' if numbers != [1] else ''}"


def part_from(document: Mapping[str, Any], objective: str) -> Part:
    """Return a part as it was written down."""
    room = families.find(document["family"], objective)
    return Part(
        room.name,
        int(document["version"]),
        {room.cell(name): int(trials) for name, trials in document["cells"].items()},
        tuple(_ask_from(room, ask) for ask in document["asks"]),
        objective,
    )


def _ask_from(room: Family, document: Mapping[str, Any]) -> Ask:
    """Return an ask as it was written down, called as the family calls it."""
    name, needs = document["name"], document["needs"]
    if needs not in get_args(Grade):
        raise ValueError(f"no grade {needs!r}")
    called = room.ask(name).called
    lenient = bool(document.get("lenient", False))
    return Ask(name, needs, Question(document["question"]), called=called, lenient=lenient)


def part_of(
    family: str, suite: str, version: int | None = None, objective: str = FROBENIUS.name
) -> Part:
    """Return what a suite of this name asks of a family.

    Parameters
    ----------
    version : of the suite; the newest if not given.
    """
    room = families.find(family, objective)
    asks = room.asks if version is None else room.asks_of_version(version)
    return Part(room.name, room.version, dict(room.cells(suite)), asks, room.objective)


@dataclass(frozen=True)
class Trials(Sequence[Trial]):
    """Trials of one cell, each made when it is asked for: there may be millions.

    Attributes
    ----------
    seeds : of the trials, in order.
    asks : of each; what the family asks of the cell if not given.
    """

    room: Family
    cell: Cell
    seeds: Sequence[int]
    asks: tuple[Ask, ...] | None = None

    def __len__(self) -> int:
        return len(self.seeds)

    @overload
    def __getitem__(self, place: int) -> Trial: ...

    @overload
    def __getitem__(self, place: slice) -> Trials: ...

    def __getitem__(self, place: int | slice) -> Trial | Trials:
        if isinstance(place, slice):
            return replace(self, seeds=self.seeds[place])
        return self.room.trial(self.cell, self.seeds[place], self.asks)

    def index(self, trial: Trial, *_: int) -> int:
        """Return the place of a trial."""
        return self.seeds.index(trial.seed)

    def without(self, done: Container[int]) -> Trials:
        """Return those whose seeds are not among some."""
        return replace(self, seeds=[seed for seed in self.seeds if seed not in done])
