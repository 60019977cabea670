"""The baseline: what the reference algorithms did, trial by trial, as shipped with the package.

`nmfcheck baseline` makes it. It says which share of trials may be asked of a subject, which words
are usual, and on which trials a subject fails where the references pass.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from .errors import InputError
from .intervals import Share
from .store import Store, StoredSubject
from .suites import FULL, STANDARD, Suite
from .tally import CellTally, tally
from .trials import Rung

FORMAT = 1

PAPER = ("multiplicative-update", "als", "gradient-descent")
ACCEPTED = (*PAPER, "nenmf", "coordinate-descent")
"""The lowest share of these is what is asked of others."""

SUITES = (
    STANDARD.selected(trials=1000),
    FULL.selected(sizes=[n for n in FULL.sizes if n not in STANDARD.sizes], trials=200),
)
"""What the references are run through."""

ITERATIONS = {"als": 10**5}
"""Other numbers of iterations than the paper's. A run of ALS that has not come to rest by then goes
round and round: ten times as many take ten times as long, and hardly change an outcome
(docs/verdict.md)."""

MANY = 1000
"""With fewer trials in a cell, the lower bound of a share stands for the share."""

Cell = tuple[int, str]


@dataclass(frozen=True)
class BaselineCell:
    """What one algorithm did in one cell.

    Attributes
    ----------
    tally : the outcomes, trial by trial.
    words : for each ε > 0, how often each word occurred.
    """

    tally: CellTally
    words: dict[float, dict[str, int]]


@dataclass(frozen=True)
class AlgorithmBaseline:
    """What one algorithm did."""

    settings: dict[str, Any]
    cells: dict[Cell, BaselineCell]


@dataclass(frozen=True)
class Required:
    """The share of trials that is asked for in a cell, and whose it is."""

    share: float
    of: str


@dataclass(frozen=True)
class Baseline:
    """What the accepted algorithms did.

    Attributes
    ----------
    suite_version : of the suites that they ran through.
    ladder : the values of ε.
    """

    suite_version: int
    ladder: tuple[float, ...]
    algorithms: dict[str, AlgorithmBaseline]

    def shares(
        self, n: int, entries: str, rungs: Sequence[Rung], algorithms: Sequence[str] = ACCEPTED
    ) -> dict[str, Share]:
        """Return which share of the trials of a cell each algorithm passed, if it ran them."""
        there = {name: self.algorithms[name] for name in algorithms if name in self.algorithms}
        return {
            name: algorithm.cells[n, entries].tally.share(rungs)
            for name, algorithm in there.items()
            if (n, entries) in algorithm.cells
        }

    def required(
        self, n: int, entries: str, rungs: Sequence[Rung], algorithms: Sequence[str] = ACCEPTED
    ) -> Required | None:
        """Return the lowest share that one of some algorithms reached in a cell, if they ran it."""
        if not {rung.eps for rung in rungs} <= set(self.ladder):
            return None
        shares = self.shares(n, entries, rungs, algorithms)
        if len(shares) < len(algorithms):
            return None
        asked = {
            name: share.value if share.whole >= MANY else share.lower
            for name, share in shares.items()
        }
        lowest = min(asked, key=lambda name: asked[name])
        return Required(asked[lowest], lowest)


@lru_cache(maxsize=1)
def shipped() -> Baseline:
    """Return the baseline of this version of nmfcheck."""
    file = resources.files(__package__) / "data" / "baseline.json"
    return from_text(file.read_text(encoding="utf-8"))


def of_stores(stores: Iterable[Store]) -> Baseline:
    """Collect a baseline from stores that hold complete runs of the references."""
    ladder = tuple(rung.eps for rung in SUITES[0].ladder)
    algorithms: dict[str, AlgorithmBaseline] = {}
    for store in stores:
        for subject in store.subjects():
            known = algorithms.get(subject.name)
            if known is not None and known.settings != subject.settings:
                raise InputError(f"{str(store.path)!r} has {subject.name} with other settings")
            cells = known.cells if known else {}
            algorithms[subject.name] = AlgorithmBaseline(
                subject.settings, cells | _cells(store, subject)
            )
    in_order = {name: algorithms[name] for name in ACCEPTED if name in algorithms}
    return Baseline(SUITES[0].version, ladder, in_order)


def _cells(store: Store, subject: StoredSubject) -> dict[Cell, BaselineCell]:
    words: dict[Cell, dict[float, Counter[str]]] = {}
    for n, entries, eps, word in store.select(subject, "n, entries, eps, word", "word != ''"):
        cell = words.setdefault((n, entries.partition("#")[0]), {})
        cell.setdefault(eps, Counter())[word] += 1
    return {
        (cell.n, cell.entries): BaselineCell(
            replace(cell, one_answer=False),
            {
                eps: dict(sorted(counter.items()))
                for eps, counter in sorted(words.get((cell.n, cell.entries), {}).items())
            },
        )
        for cell in tally(store, subject)
    }


def as_text(baseline: Baseline) -> str:
    """Write a baseline as JSON, a line for each cell."""
    head = {"format": FORMAT, "suite_version": baseline.suite_version, "eps": baseline.ladder}
    lines = [json.dumps(head)[:-1] + ', "algorithms": {']
    for name, algorithm in baseline.algorithms.items():
        lines.append(f'{json.dumps(name)}: {{"settings": {json.dumps(algorithm.settings)},')
        lines.append('"cells": [')
        cells = [json.dumps(_plain(cell)) for cell in algorithm.cells.values()]
        lines.append(",\n".join(cells))
        lines.append("]}" if name == list(baseline.algorithms)[-1] else "]},")
    return "\n".join([*lines, "}}", ""])


def _plain(cell: BaselineCell) -> dict[str, Any]:
    """Return a cell as JSON has it; its trials are those from 0 on."""
    if list(cell.tally.seeds) != list(range(len(cell.tally.seeds))):
        raise InputError(f"n = {cell.tally.n}, {cell.tally.entries}: some trials are missing")
    return {
        "n": cell.tally.n,
        "entries": cell.tally.entries,
        "outcomes": {f"{eps:g}": letters for eps, letters in cell.tally.letters.items()},
        "words": {f"{eps:g}": counts for eps, counts in cell.words.items()},
    }


def from_text(text: str) -> Baseline:
    """Read what `as_text` wrote."""
    parts = json.loads(text)
    if parts["format"] != FORMAT:
        raise InputError(f"a baseline of format {parts['format']}; expected {FORMAT}")
    return Baseline(
        parts["suite_version"],
        tuple(parts["eps"]),
        {
            name: AlgorithmBaseline(
                algorithm["settings"],
                {(c["n"], c["entries"]): _cell(c) for c in algorithm["cells"]},
            )
            for name, algorithm in parts["algorithms"].items()
        },
    )


def _cell(parts: Mapping[str, Any]) -> BaselineCell:
    letters = {float(eps): text for eps, text in parts["outcomes"].items()}
    seeds = tuple(range(len(next(iter(letters.values())))))
    words = {float(eps): counts for eps, counts in parts["words"].items()}
    return BaselineCell(CellTally(parts["n"], parts["entries"], seeds, letters), words)


def store_of(folder: Path, algorithm: str, suite: Suite) -> Path:
    """Return where the results of an algorithm are kept while a baseline is made."""
    return folder / f"{algorithm}-n{suite.sizes[0]}-{suite.sizes[-1]}.sqlite"
