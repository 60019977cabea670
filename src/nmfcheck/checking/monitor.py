"""A look at the verdict while a run goes on.

Results come in any order, and a verdict must not depend on that. So trials are counted in the order
of the suite's rounds, and looked at after fixed numbers of them: what a run ends with depends on
the subject alone.

When it is certain that a subject fails, but not at every tolerance, only the first family goes on,
until its digits are known.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..families import Cell
from ..judging.outcomes import NOT_ASKED
from ..store import Results
from ..trials.driver import Plan, in_rounds
from ..trials.stage import Stage
from ..trials.suites import Suite
from ..verdict.regrading import Graded
from ..verdict.stopping import Certainty, Stopped, Why
from ..verdict.tally import CellTally, tally

FIRST, GROWTH = 20, 1.2
"""The verdict is looked at after so many trials, and again when there are so many times as many."""


@dataclass
class _Known:
    """What is known of one cell: for each ask, by seed."""

    cell: Cell
    letters: dict[str, dict[int, str]] = field(default_factory=dict)
    digests: dict[str, dict[int, str]] = field(default_factory=dict)

    def tallied(self, number: int) -> CellTally:
        """Return the outcomes of so many trials, from the first on."""
        seeds = tuple(sorted(set().union(*self.letters.values())))[:number]
        letters = {
            ask: "".join(of.get(seed, NOT_ASKED) for seed in seeds)
            for ask, of in self.letters.items()
        }
        tally = CellTally(self.cell, seeds, letters)
        answers = [{of[s] for s in seeds if s in of} for of in self.digests.values()]
        alike = bool(answers) and all(len(each) <= 1 for each in answers)
        one = alike and self.cell.one_case and len(tally.answered()) > 1
        return CellTally(self.cell, seeds, letters, one)


class Monitor:
    """Follows the stages of a run, and says when it may end.

    Parameters
    ----------
    certainty : what a run ends with; None where it ends with its suite.
    results : what was there before.
    budget : how many seconds the run may take.
    alone : whether all that was there before came of such a run: then what it has besides the
        trials that it ends with is dropped. Otherwise it stays, and is looked at with them.
    """

    def __init__(
        self,
        certainty: Certainty | None,
        results: Results,
        budget: float | None = None,
        *,
        alone: bool = False,
    ) -> None:
        self._certainty = certainty
        self._until = None if budget is None else time.monotonic() + budget
        self._known: dict[str, _Known] = {}
        self._defects: dict[tuple[str, str], dict[int, float]] = {}
        self._order: list[tuple[str, int]] = []
        self._whole = 0  # how many trials the suite has
        self._arrived: set[tuple[str, int]] = set()
        self._before: Counter[str] = Counter()  # how many trials of each cell were there
        self._counted = 0  # of the order, without a gap
        self._next = FIRST
        self._stages = 0
        self.narrowed = False  # to the first family, for its digits
        if certainty is not None:
            self._begin(certainty.suite, results)
        self.alone = certainty is not None and (alone or not self._arrived)
        if self.alone:
            self._before.clear()

    def _begin(self, suite: Suite, results: Results) -> None:
        self._known = {cell.id: _Known(cell) for cell in suite.cells}
        soon = suite.not_to_be_spared
        plans = [Plan(suite.cell(cell), soon=cell in soon) for cell in suite.cells]
        self._order = [(trial.cell.id, trial.seed) for _, trial in in_rounds(plans)]
        self._whole = len(self._order)
        for each in tally(results, suite):
            known = self._known[each.cell.id]
            for ask, letters in each.letters.items():
                asked = zip(each.seeds, letters, strict=True)
                known.letters[ask] = {s: letter for s, letter in asked if letter != NOT_ASKED}
                self._stages += len(known.letters[ask])
            self._arrived |= {(each.cell.id, seed) for seed in each.seeds}
            self._before[each.cell.id] = len(each.seeds)
        for key, of in Graded.read(results, suite).of.items():
            self._defects[key] = dict(of)
        for cell, ask, seed, digest in results.digests_by_seed():
            if cell in self._known:
                self._known[cell].digests.setdefault(ask, {})[seed] = digest

    def add(self, stages: Iterable[Stage]) -> None:
        """Take note of the stages of complete trials."""
        for stage in stages:
            self._stages += 1
            id, ask, seed = stage.trial.cell.id, stage.ask.name, stage.trial.seed
            if id not in self._known:
                continue
            self._arrived.add((id, seed))
            known = self._known[id]
            known.letters.setdefault(ask, {})[seed] = stage.outcome.letter
            if stage.measures:
                defect = stage.trial.family.defect(stage.measures)
                self._defects.setdefault((id, ask), {})[seed] = defect
            if stage.digest:
                known.digests.setdefault(ask, {})[seed] = stage.digest

    def stop(self) -> tuple[Stopped, Mapping[str, int] | None] | None:
        """Say whether the run may end now, and with how many trials of each cell.

        What was there before stays in any case. None stands for all that there are.
        """
        if self._until is not None and time.monotonic() >= self._until:
            return Stopped(Why.BUDGET, self._stages), None
        if self._certainty is None:
            return None
        while self._next <= self._count():
            if ending := self._look(self._certainty, self._next):
                return ending
            self._next = int(self._next * GROWTH) + 1
        if self.narrowed and self._counted == len(self._order) < self._whole:
            return self._ended(Why.DIGITS, self._counted)
        return None

    def _count(self) -> int:
        """Return how many trials are there from the first on, without a gap."""
        while self._counted < len(self._order) and self._order[self._counted] in self._arrived:
            self._counted += 1
        return self._counted

    def wants(self, plan: Plan) -> bool:
        """Say whether trials of a cell are still needed."""
        if not (self.narrowed and self._certainty and plan.trials):
            return True
        return plan.trials[0].cell.family == self._certainty.first.family

    def _look(
        self, certainty: Certainty, trials: int
    ) -> tuple[Stopped, Mapping[str, int] | None] | None:
        """Look at the verdict after so many trials, with all that was there before among them."""
        numbers = Counter(id for id, _ in self._order[:trials])
        if any(number > numbers[id] for id, number in self._before.items()):
            return None
        cells, graded = self._cells(trials), Graded(self._defects)
        certain = (Why.DIGITS, 0) if self.narrowed else certainty.of(cells, graded)
        if certain is None:
            return None
        why, look = certain
        if why is Why.DIGITS and not certainty.has_its_digits(cells, graded):
            self._narrow(certainty.first.family, trials)
            return None
        return self._ended(why, trials, look)

    def _narrow(self, family: str, trials: int) -> None:
        """After so many trials, leave out those of other families."""
        if not self.narrowed:
            rest = [each for each in self._order[trials:] if each[0].startswith(f"{family}/")]
            self._order[trials:] = rest
            self._counted, self.narrowed = trials, True

    def _cells(self, trials: int) -> list[CellTally]:
        """Return the outcomes of so many trials."""
        numbers = Counter(id for id, _ in self._order[:trials])
        return [self._known[id].tallied(number) for id, number in numbers.items()]

    def _ended(self, why: Why, trials: int, look: int = 0) -> tuple[Stopped, Mapping[str, int]]:
        """Return why a run ends after so many trials, and how many of each cell these are."""
        numbers = Counter(id for id, _ in self._order[:trials])
        stages = sum(
            len(text) - text.count(NOT_ASKED)
            for cell in self._cells(trials)
            for text in cell.letters.values()
        )
        return Stopped(why, stages, look), numbers | self._before
