"""The baseline of a family: what the reference algorithms did, trial by trial.

Each family that requires what the references reach ships one. `nmfcheck baseline` makes it. It says
which share of trials may be asked of a subject, which labels are usual, and on which trials a
subject fails where the references pass.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from ..errors import InputError
from ..families import Ask, Cell, Family, find
from ..intervals import Share
from ..judging.objectives import FROBENIUS
from ..judging.tolerances import TOLERANCE
from ..store import Results
from ..subjects.references import accepted
from ..trials.suites import Part, Suite
from .regrading import regraded
from .tally import CellTally, tally

FORMAT = 2

PAPER = ("multiplicative-update", "als", "gradient-descent")
ACCEPTED = accepted(FROBENIUS.name)
"""The lowest share of these is what is asked of others, for the Frobenius norm."""

MANY = 1000
"""With fewer trials in a cell, the lower bound of a share stands for the share."""


@dataclass(frozen=True)
class BaselineCell:
    """What one algorithm did in one cell.

    Attributes
    ----------
    tally : the outcomes, trial by trial.
    labels : for each label and ask, how often each text occurred.
    digits : for each ask, −log₁₀ of the largest defect of each trial, to one decimal; None where
        there is none. Shares at any tolerance can be read off it. Not every baseline has them.
    """

    tally: CellTally
    labels: dict[str, dict[str, dict[str, int]]]
    digits: dict[str, list[float | None]]


@dataclass(frozen=True)
class AlgorithmBaseline:
    """What one algorithm did; cells by their names."""

    settings: dict[str, Any]
    cells: dict[str, BaselineCell]


@dataclass(frozen=True)
class Required:
    """The share of trials that is asked for in a cell, and whose it is."""

    share: float
    of: str


@dataclass(frozen=True, eq=False)
class Baseline:
    """What the accepted algorithms did on a family.

    Attributes
    ----------
    family, version, objective : what they ran through.
    asks : the names of what was asked.
    suites : the version of the suites that says who is accepted; the newest if infinite.
    """

    family: str
    version: int
    objective: str
    asks: tuple[str, ...]
    algorithms: dict[str, AlgorithmBaseline]
    suites: float = math.inf

    @property
    def accepted(self) -> tuple[str, ...]:
        """The algorithms whose lowest share is what is asked of others."""
        return accepted(self.objective, self.suites)

    @property
    def compared(self) -> tuple[str, ...]:
        """The algorithms that a subject is compared with trial by trial: the paper's three."""
        return PAPER if self.objective == FROBENIUS.name else self.accepted

    @lru_cache(maxsize=1024)  # noqa: B019 - there is one for each family, for as long as we run
    def shares(
        self, cell: str, asks: tuple[Ask, ...], algorithms: tuple[str, ...] | None = None
    ) -> dict[str, Share]:
        """Return which share of the trials of a cell each algorithm passed, if it ran them.

        Parameters
        ----------
        algorithms : the accepted ones if not given.
        """
        return {
            name: self.algorithms[name].cells[cell].tally.share(asks)
            for name in (self.accepted if algorithms is None else algorithms)
            if name in self.algorithms and cell in self.algorithms[name].cells
        }

    def required(
        self, cell: str, asks: tuple[Ask, ...], algorithms: tuple[str, ...] | None = None
    ) -> Required | None:
        """Return the lowest share that one of some algorithms reached in a cell, if they ran it."""
        algorithms = self.accepted if algorithms is None else algorithms
        if not {ask.name for ask in asks} <= set(self.asks):
            return None
        shares = self.shares(cell, asks, algorithms)
        if len(shares) < len(algorithms):
            return None
        asked = {
            name: share.value if share.whole >= MANY else share.lower
            for name, share in shares.items()
        }
        lowest = min(asked, key=lambda name: asked[name])
        return Required(asked[lowest], lowest)

    @lru_cache(maxsize=256)  # noqa: B019 - as above
    def at(self, tolerance: float, asks: tuple[Ask, ...]) -> Baseline:
        """Return what the algorithms did if what is within a tolerance is exact.

        Where a cell has no digits, its outcomes at 1e-10 stand: of the bidiagonal family runs are
        exact, or have collapsed, and hardly anything lies between (docs/verdict.md).
        """
        if tolerance == TOLERANCE.exact or find(self.family, self.objective).required is not None:
            return self  # where what is required is fixed, nobody asks what the algorithms did
        return replace(
            self,
            algorithms={
                name: replace(
                    algorithm,
                    cells={c: _at(each, tolerance, asks) for c, each in algorithm.cells.items()},
                )
                for name, algorithm in self.algorithms.items()
            },
        )

    def without(self) -> Baseline:
        """Return it without any algorithm: nothing can be required by it."""
        return replace(self, algorithms={})


Baselines = Mapping[str, Baseline]
"""By family."""

ROUNDED = 0.05
"""Digits of a baseline have one decimal."""


def _at(cell: BaselineCell, tolerance: float, asks: tuple[Ask, ...]) -> BaselineCell:
    letters = dict(cell.tally.letters)
    least = -math.log10(tolerance) - ROUNDED
    for ask in asks:
        if ask.name in cell.digits and ask.name in letters:
            within = [0.0 if x is not None and x >= least else 1.0 for x in cell.digits[ask.name]]
            letters[ask.name] = regraded(letters[ask.name], within, 0.0)
    return replace(cell, tally=replace(cell.tally, letters=letters))


def required_of(
    part: Part, cell: Cell, baseline: Baseline, asks: tuple[Ask, ...] | None = None
) -> Required | None:
    """Return what a cell requires: a fixed share, or the lowest of the accepted; None if nothing.

    Parameters
    ----------
    baseline : what the accepted algorithms did on the family.
    asks : what has to be passed; the asks of the test if not given.
    """
    fixed = part.room.required_of(cell)
    if fixed is None:
        return baseline.required(cell.name, part.test if asks is None else asks)
    return None if math.isnan(fixed) else Required(fixed, "")


@lru_cache
def shipped(family: str, objective: str = FROBENIUS.name, suites: float = math.inf) -> Baseline:
    """Return the baseline that a family ships for an objective; an empty one if it has none.

    Parameters
    ----------
    suites : the version of the suites that says who is accepted; the newest if not given.
    """
    if suites != math.inf:
        return replace(shipped(family, objective), suites=suites)
    room = find(family, objective)
    file = room.baseline
    if file is None or not file.is_file():
        return empty(room)
    return from_text(file.read_text(encoding="utf-8"))


def shipped_for(suite: Suite) -> dict[str, Baseline]:
    """Return the baselines of a suite's families, for its version."""
    return {
        part.family: shipped(part.family, part.objective, suite.version) for part in suite.parts
    }


def empty(room: Family) -> Baseline:
    """Return a baseline with nothing in it."""
    asks = tuple(ask.name for ask in room.asks)
    return Baseline(room.name, room.version, room.objective, asks, {})


def of_results(
    known: Baseline, runs: Iterable[tuple[str, dict[str, Any], Results, Suite]]
) -> Baseline:
    """Add runs of the references, each with its name and settings, to a baseline."""
    algorithms = dict(known.algorithms)
    for name, settings, results, suite in runs:
        before = algorithms.get(name)
        if before and before.cells and before.settings["options"] != settings["options"]:
            raise InputError(f"the baseline has {name} with other settings: {before.settings}")
        cells = before.cells if before else {}
        new = _cells(results, suite, suite.part(known.family))
        algorithms[name] = AlgorithmBaseline(settings, cells | new)
    in_order = {name: algorithms[name] for name in known.accepted if name in algorithms}
    return replace(known, algorithms=in_order)


def _cells(results: Results, suite: Suite, part: Part) -> dict[str, BaselineCell]:
    texts = {label: results.texts(label) for label in part.room.counted_labels}
    digits = _digits(results)
    return {
        each.cell.name: BaselineCell(
            replace(each, one_answer=False),
            {
                label: {
                    ask.name: counted[each.cell.id, ask.name]
                    for ask in part.asks
                    if (each.cell.id, ask.name) in counted
                }
                for label, counted in texts.items()
            },
            {
                ask.name: [digits.get((each.cell.id, ask.name, seed)) for seed in each.seeds]
                for ask in part.asks
            },
        )
        for each in tally(results, suite)
    }


def _digits(results: Results) -> dict[tuple[str, str, int], float]:
    """Return −log₁₀ of the largest defect of each stage that has one, to one decimal."""
    return {
        (cell, ask, seed): round(min(max(-math.log10(max(x, 1e-17)), -9.9), 17.0), 1)
        for cell, ask, seed, x in results.largest_defects()
        if math.isfinite(x)
    }


def as_text(baseline: Baseline) -> str:
    """Write a baseline as JSON, a line for each cell."""
    head = {
        "format": FORMAT,
        "family": baseline.family,
        "version": baseline.version,
        "objective": baseline.objective,
        "asks": baseline.asks,
    }
    lines = [json.dumps(head)[:-1] + ', "algorithms": {']
    for name, algorithm in baseline.algorithms.items():
        lines.append(f'{json.dumps(name)}: {{"settings": {json.dumps(algorithm.settings)},')
        lines.append('"cells": {')
        cells = [
            f"{json.dumps(cell)}: {json.dumps(_plain(cell, each), separators=(',', ':'))}"
            for cell, each in algorithm.cells.items()
        ]
        lines.append(",\n".join(cells))
        lines.append("}}" if name == list(baseline.algorithms)[-1] else "}},")
    return "\n".join([*lines, "}}", ""])


def _plain(name: str, cell: BaselineCell) -> dict[str, Any]:
    """Return a cell as JSON has it; its trials are those from 0 on."""
    if list(cell.tally.seeds) != list(range(len(cell.tally.seeds))):
        raise InputError(f"{name}: some trials are missing")
    plain: dict[str, Any] = {"outcomes": cell.tally.letters}
    if any(cell.labels.values()):
        plain["labels"] = cell.labels
    if cell.digits:
        plain["digits"] = cell.digits
    return plain


def from_text(text: str) -> Baseline:
    """Read what `as_text` wrote."""
    document = json.loads(text)
    if document["format"] != FORMAT:
        raise InputError(f"a baseline of format {document['format']}; expected {FORMAT}")
    room = find(document["family"], document["objective"])
    return Baseline(
        room.name,
        document["version"],
        document["objective"],
        tuple(document["asks"]),
        {
            name: AlgorithmBaseline(
                algorithm["settings"],
                {c: _cell(room.cell(c), each) for c, each in algorithm["cells"].items()},
            )
            for name, algorithm in document["algorithms"].items()
        },
    )


def _cell(cell: Cell, document: Mapping[str, Any]) -> BaselineCell:
    letters: dict[str, str] = document["outcomes"]
    seeds = tuple(range(len(next(iter(letters.values())))))
    tallied = CellTally(cell, seeds, letters)
    return BaselineCell(tallied, document.get("labels", {}), document.get("digits", {}))


def trials_of(baseline: Baseline, algorithm: str, cell: Cell) -> int:
    """Return how many trials of a cell an algorithm has run."""
    ran = baseline.algorithms.get(algorithm)
    return len(ran.cells[cell.name].tally.seeds) if ran and cell.name in ran.cells else 0
