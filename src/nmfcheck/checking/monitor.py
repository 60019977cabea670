"""A look at the verdict while a run goes on."""

from __future__ import annotations

import time
from collections.abc import Iterable

from ..families import Cell
from ..judging.outcomes import NOT_ASKED
from ..store import Results
from ..trials.stage import Stage
from ..verdict.regrading import Graded
from ..verdict.stopping import Certainty, Stopped, Why
from ..verdict.tally import CellTally, tally

FIRST, GROWTH = 20, 1.2
"""The verdict is looked at after so many trials, and again when there are so many times as many."""


class Monitor:
    """Follows the stages of a run, and says when it may end.

    Parameters
    ----------
    certainty : what a run ends with; None where it ends with its suite.
    results : what was there before.
    budget : how many seconds the run may take.
    """

    def __init__(
        self, certainty: Certainty | None, results: Results, budget: float | None = None
    ) -> None:
        self._certainty = certainty
        self._until = None if budget is None else time.monotonic() + budget
        self._letters: dict[str, dict[str, dict[int, str]]] = {}
        self._defects: dict[tuple[str, str], dict[int, float]] = {}
        self._digests: dict[str, dict[str, set[str]]] = {}
        self._cells: dict[str, Cell] = {}
        self._trials = 0
        self.stages = 0
        self._next = FIRST
        if certainty is not None:
            self._begin(certainty, results)

    def _begin(self, certainty: Certainty, results: Results) -> None:
        suite = certainty.suite
        self._cells = {cell.id: cell for cell in suite.cells}
        for each in tally(results, suite):
            kept = self._letters.setdefault(each.cell.id, {})
            for ask, letters in each.letters.items():
                kept[ask] = dict(zip(each.seeds, letters, strict=True))
                self.stages += len(letters) - letters.count(NOT_ASKED)
            self._trials += len(each.seeds)
        for key, of in Graded.read(results, suite).of.items():
            self._defects[key] = dict(of)
        for cell, ask, digest in results.digests():
            self._digests.setdefault(cell, {}).setdefault(ask, set()).add(digest)

    def add(self, stages: Iterable[Stage]) -> None:
        """Take note of the stages of complete trials."""
        seen = set()
        for stage in stages:
            self.stages += 1
            id, ask, seed = stage.trial.cell.id, stage.ask.name, stage.trial.seed
            if id not in self._cells:
                continue
            seen.add((id, seed))
            self._letters.setdefault(id, {}).setdefault(ask, {})[seed] = stage.outcome.letter
            if stage.measures:
                defect = stage.trial.family.defect(stage.measures)
                self._defects.setdefault((id, ask), {})[seed] = defect
            if stage.digest:
                self._digests.setdefault(id, {}).setdefault(ask, set()).add(stage.digest)
        self._trials += len(seen)

    def stop(self) -> Stopped | None:
        """Say whether the run may end now, and why."""
        if self._until is not None and time.monotonic() >= self._until:
            return Stopped(Why.BUDGET, self.stages)
        if self._certainty is None or self._trials < self._next:
            return None
        self._next = int(self._trials * GROWTH) + 1
        certain = self._certainty.of(self._tallies(), Graded(self._defects))
        return None if certain is None else Stopped(certain[0], self.stages, certain[1])

    def _tallies(self) -> list[CellTally]:
        found = []
        for id, by_ask in self._letters.items():
            seeds = tuple(sorted(set().union(*by_ask.values())))
            letters = {
                ask: "".join(of.get(seed, NOT_ASKED) for seed in seeds)
                for ask, of in by_ask.items()
            }
            digests = self._digests.get(id, {})
            alike = bool(digests) and all(len(each) == 1 for each in digests.values())
            cell = CellTally(self._cells[id], seeds, letters)
            one = alike and cell.cell.one_case and len(cell.answered()) > 1
            found.append(CellTally(cell.cell, seeds, letters, one))
        return found
