"""Suites: which cells of which families, and how many trials of each.

`QUICK`, `STANDARD` and `FULL` are iterables of `Trial`; `find("quick")` gives one by its name, and
`find("quick@1")` an earlier version of it. A change of cells makes a new version.

>>> QUICK.cell("bidiagonal/n=3/loguniform")[7].id
'bidiagonal/n=3/loguniform#7/seed=7'
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from .. import families, laws
from ..arrays import whole_number
from ..errors import InputError
from ..families import Cell, Question, Trial
from ..judging.objectives import FROBENIUS
from ..judging.objectives import find as find_objective
from ..text import in_list
from .parts import Part, Trials, part_from, part_of

__all__ = ["FULL", "QUICK", "STANDARD", "SUITES", "Part", "Suite", "find", "of_version", "part_of"]


@dataclass(frozen=True)
class Suite:
    """Cells of families, each with a number of trials.

    Attributes
    ----------
    name, version : what the command line calls it, ``quick@6``.
    objective : the name of what is minimised.
    parts : what is asked of each family.
    reference_iterations : limit to the reference algorithms' iterations; None for the paper's
        counts.
    summary : a line for the user.
    extra : cells that are measured besides, and do not count for the verdict.
    laws : the names of the laws that are tried.
    first : the seed of the first trial of each cell; not 0 for a block of a larger run.
    """

    name: str
    version: int
    parts: tuple[Part, ...]
    reference_iterations: int | None = None
    summary: str = field(default="", compare=False)
    extra: Mapping[Cell, int] = field(default_factory=dict, compare=False)
    objective: str = FROBENIUS.name
    laws: tuple[str, ...] = ()
    first: int = 0

    @property
    def title(self) -> str:
        """Its name with the version, and with the objective where that is not the usual one."""
        other = "" if self.objective == FROBENIUS.name else f", {self.objective}"
        return f"{self.name}@{self.version}{other}"

    @property
    def called(self) -> str:
        """What sentences call it: ``quick suite``, with the objective where it is not usual."""
        other = "" if self.objective == FROBENIUS.name else f" for {self.objective}"
        return f"{self.name} suite{other}"

    @property
    def scope(self) -> str:
        """Families, cells and trials, in words."""
        block = f"; seeds from {self.first} on" if self.first else ""
        return "; ".join(part.scope for part in self.parts) + block

    @cached_property
    def cells(self) -> dict[Cell, int]:
        """All cells, each with its number of trials."""
        return {cell: trials for part in self.parts for cell, trials in part.cells.items()}

    @property
    def not_to_be_spared(self) -> frozenset[Cell]:
        """The cells in which every trial has to pass."""
        strict = (part for part in self.parts if part.room.required == 1 and not part.room.margin)
        return frozenset(cell for part in strict for cell in part.cells)

    @property
    def trials(self) -> int:
        """The number of trials in all cells."""
        return sum(self.cells.values())

    @property
    def stages(self) -> int:
        """The number of stages of a run in which no trial ends early."""
        extra = sum(
            trials * len(families.find(cell.family, cell.objective).asks_of(cell))
            for cell, trials in self.extra.items()
        )
        return extra + sum(part.trials * len(part.asks) for part in self.parts)

    def part(self, family: str) -> Part:
        """Return what is asked of a family."""
        for part in self.parts:
            if part.family == family:
                return part
        raise InputError(f"no family {family!r} in {self.title}; there are {self._names}")

    @property
    def _names(self) -> str:
        return in_list(part.family for part in self.parts)

    def cell(self, cell: Cell | str) -> Trials:
        """Return the trials of one cell, given as it is or as ``bidiagonal/n=3/ones``."""
        if isinstance(cell, str):
            family, _, name = cell.partition("/")
            cell = self.part(family).room.cell(name)
        if cell in self.extra:
            room = families.find(cell.family, cell.objective)
            return Trials(room, cell, range(self.extra[cell]))
        part = self.part(cell.family)
        if cell not in part.cells:
            raise InputError(f"no cell {cell.id!r} in {self.title}")
        seeds = range(self.first, self.first + part.cells[cell])
        return Trials(part.room, cell, seeds, part.asks)

    def grown_to(self, other: Suite) -> Suite | None:
        """Return this suite with as many trials of each cell as either has; None if they differ."""
        if replace(other, parts=()) != replace(self, parts=()):
            return None
        parts = []
        for mine, theirs in zip(self.parts, other.parts, strict=False):
            if replace(mine, cells={}) != replace(theirs, cells={}):
                return None
            if set(mine.cells) != set(theirs.cells):
                return None
            cells = {cell: max(n, theirs.cells[cell]) for cell, n in mine.cells.items()}
            parts.append(replace(mine, cells=cells))
        return replace(self, parts=tuple(parts)) if len(self.parts) == len(other.parts) else None

    def asked_of(self, takes: Collection[str]) -> Suite:
        """Return what can be asked of a subject: trials near an answer need one that takes a start.

        Parameters
        ----------
        takes : those of W0, H0 and seed that it takes.
        """
        if {"W0", "H0"} <= set(takes) or not any(cell.warm for cell in self.cells):
            return self
        parts = tuple(
            replace(part, cells={c: trials for c, trials in part.cells.items() if not c.warm})
            for part in self.parts
        )
        return replace(self, parts=parts)

    def __iter__(self) -> Iterator[Trial]:
        return (trial for cell in self.cells for trial in self.cell(cell))

    def selected(
        self,
        *,
        families: Sequence[str] | None = None,
        trials: int | None = None,
        **options: Any,
    ) -> Suite:
        """Return some of this suite, or more of it.

        Parameters
        ----------
        families : the families to ask; those that an option belongs to, if not given.
        trials : the number of trials of each cell.
        options : options of families, such as `sizes` and `eps` of the bidiagonal one.

        Laws are of whole suites: where families or their cells are chosen, none are tried.
        """
        chosen = {
            key: value for key, value in options.items() if value is not None and value is not False
        }
        parts = self._parts_for(families, chosen)
        selected = []
        extra = {c: n for c, n in self.extra.items() if c.family in {p.family for p in parts}}
        for part in parts:
            cells, asks = part.room.select(part.cells, part.asks, chosen)
            if not cells:
                raise InputError(f"no cell of the {part.family} family is chosen")
            if trials is not None:
                cells = dict.fromkeys(cells, whole_number("trials", trials, 1))
            selected.append(replace(part, cells=dict(cells), asks=asks))
            extra |= part.room.extra(chosen)
        restricted = families is not None or bool(chosen)
        kept = () if restricted else self.laws
        return replace(self, parts=tuple(selected), extra=extra, laws=kept)

    def block(self, first: int, last: int) -> Suite:
        """Return the trials of each cell with these seeds, both included."""
        cells = dict.fromkeys(self.cells, last - first + 1)
        parts = tuple(replace(p, cells={c: cells[c] for c in p.cells}) for p in self.parts)
        return replace(self, parts=parts, first=first)

    def with_laws(self, only: Sequence[str] | None = None, skipped: Sequence[str] = ()) -> Suite:
        """Return this suite with other laws: some alone, or all of its own but some."""
        for name in (*(only or ()), *skipped):
            laws.find(name)
        wanted = self.laws if only is None else only
        kept = (name for name in laws.names() if name in wanted and name not in skipped)
        return replace(self, laws=tuple(kept))

    def _parts_for(self, named: Sequence[str] | None, chosen: Mapping[str, Any]) -> list[Part]:
        """Return the parts of the families that are named, or that the options belong to."""
        if named is not None:
            wanted = list(dict.fromkeys(named))
            if not wanted:
                raise InputError(f"no family was named; there are {self._names}")
            own = {part.family: part for part in self.parts}
            asked = self.name, self.version, self.objective
            parts = [own.get(name) or part_of(name, *asked) for name in wanted]
        else:
            parts = list(self.parts)
        owners = {
            option.name: {part.family for part in parts if option in part.room.options}
            for part in parts
            for option in part.room.options
        }
        for option in chosen:
            if option not in owners:
                among = in_list(part.family for part in parts)
                families_ = "family" if len(parts) == 1 else "families"
                raise InputError(f"{option!r} is not an option of the {among} {families_}")
        if named is None and chosen:
            owning = set().union(*(owners[option] for option in chosen))
            parts = [part for part in parts if part.family in owning]
        return parts

    def as_text(self) -> str:
        """Write down what makes a suite this one and no other."""
        other: dict[str, Any] = {}
        other |= {} if self.objective == FROBENIUS.name else {"objective": self.objective}
        other |= {"laws": list(self.laws)} if self.laws else {}
        other |= {"first": self.first} if self.first else {}
        return json.dumps(
            {
                "name": self.name,
                "version": self.version,
                **other,
                "reference_iterations": self.reference_iterations,
                "families": [
                    {
                        "family": part.family,
                        "version": part.version,
                        "asks": [
                            {"name": ask.name, "needs": ask.needs, "question": str(ask.question)}
                            | ({"lenient": True} if ask.lenient else {})
                            for ask in part.asks
                        ],
                        "cells": {cell.name: trials for cell, trials in part.cells.items()},
                    }
                    for part in self.parts
                ],
            }
        )

    @classmethod
    def from_text(cls, text: str) -> Suite:
        """Read what `as_text` wrote; raise KeyError, TypeError or ValueError for anything else."""
        document = json.loads(text)
        known = SUITES.get(document["name"])
        objective = find_objective(document.get("objective", FROBENIUS.name)).name
        return cls(
            name=str(document["name"]),
            version=int(document["version"]),
            parts=tuple(part_from(part, objective) for part in document["families"]),
            reference_iterations=document["reference_iterations"],
            summary=known.summary if known else "",
            objective=objective,
            laws=tuple(map(str, document.get("laws", ()))),
            first=int(document.get("first", 0)),
        )


VERSIONS = {
    1: ("bidiagonal",),
    2: ("bidiagonal", "inflated"),
    3: ("bidiagonal", "inflated", "mixed", "noisy", "rays", "rank-one", "optima"),
    4: ("bidiagonal", "inflated", "mixed", "noisy", "rays", "rank-one", "optima"),
    5: ("bidiagonal", "inflated", "mixed", "noisy", "rays", "rank-one", "optima"),
    6: ("bidiagonal", "inflated", "mixed", "noisy", "rays", "rank-one", "optima"),
}
"""The families of each version of the suites. Version 5 differs from 4 in who is accepted, and 6
from 5 in how near to the least residual runs of optima have to come."""

LAWS_SINCE = 4
"""From this version on laws are tried as well."""

DIGITS_SINCE = 4
"""From this version on trials go on where only digits are missing."""

NEWEST = max(VERSIONS)

ITERATIONS = {"quick": 10**4, "standard": None, "full": None}
SUMMARIES = {
    "quick": "at most 10⁴ iterations a run: first-order shows by then, exactness need not",
    "standard": "the sizes that the paper recommends, its numbers of iterations",
    "full": "up to n = 20, where the paper ends",
}


def _of_version(part: Part, suite: str, version: int) -> Part:
    """Return a part with as many trials as a version of a suite has."""
    number = part.room.trials_of(suite, version)
    return part if number is None else replace(part, cells=dict.fromkeys(part.cells, number))


def _lenient(part: Part) -> Part:
    """Return a part whose trials go on where only digits are missing, if they have where to go."""
    if len(part.test) < 2:
        return part
    asks = (replace(ask, lenient=ask.question is Question.TEST) for ask in part.asks)
    return replace(part, asks=tuple(asks))


def of_version(name: str, version: int, objective: str = FROBENIUS.name) -> Suite:
    """Return a version of a suite: of its families, those with known answers for an objective."""
    known = [
        family for family in VERSIONS[version] if families.find(family).under(objective) is not None
    ]
    if not known:
        title = find_objective(objective).title
        raise InputError(f"no family of {name}@{version} has known answers for {title}")
    parts = tuple(_of_version(part_of(f, name, version, objective), name, version) for f in known)
    if version >= DIGITS_SINCE:
        parts = tuple(map(_lenient, parts))
    tried = laws.names() if version >= LAWS_SINCE else ()
    return Suite(
        name, version, parts, ITERATIONS[name], SUMMARIES[name], objective=objective, laws=tried
    )


QUICK, STANDARD, FULL = (of_version(name, NEWEST) for name in ITERATIONS)
SUITES = {suite.name: suite for suite in (QUICK, STANDARD, FULL)}
"""The newest version of each."""


def find(name: str, objective: str = FROBENIUS.name) -> Suite:
    """Return the suite of this name: ``quick``, or ``quick@1`` for a version of it.

    Parameters
    ----------
    objective : the name of what is minimised, such as ``kl``.
    """
    other = find_objective(objective).name
    bare, at, version = str(name).partition("@")
    if bare not in SUITES:
        raise InputError(f"no suite {name!r}; there are {', '.join(SUITES)}")
    if not at:
        newest = SUITES[bare]
        return newest if other == newest.objective else of_version(bare, NEWEST, other)
    if version not in map(str, VERSIONS):
        known = ", ".join(f"{bare}@{number}" for number in VERSIONS)
        raise InputError(f"no suite {name!r}; there are {known}")
    return of_version(bare, int(version), other)
