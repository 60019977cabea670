"""The outcomes of a subject, cell by cell: a letter for each trial and ask.

That is all a verdict needs, and what a baseline ships of the reference algorithms.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from ..families import Ask, Cell, Trial, find
from ..intervals import Share
from ..judging.outcomes import NOT_ASKED, Grade, Outcome, reaches
from ..store import Results
from ..trials.suites import Suite

OF_LETTER = {outcome.letter: outcome for outcome in Outcome}


@dataclass(frozen=True)
class CellTally:
    """The trials of one cell.

    Attributes
    ----------
    seeds : of its trials, in order.
    letters : for each ask by its name, a letter for each trial: of `Outcome`, or a dot where it was
        not asked.
    one_answer : whether all seeds that got answers got the same, bit by bit. Only where the cell
        has one case for all seeds does that say anything.
    """

    cell: Cell
    seeds: tuple[int, ...]
    letters: dict[str, str]
    one_answer: bool = False

    def trial(self, place: int) -> Trial:
        """Return one of the trials."""
        return find(self.cell.family, self.cell.objective).trial(self.cell, self.seeds[place])

    def first_only(self) -> CellTally:
        """Return the cell with the first of its trials that were answered, and all that were not.

        What has one answer for all seeds counts once; silence is not an answer. Where there are
        exceptions, trials do differ by more than their answer, and all of them count.
        """
        answered = self.answered()
        if any(_FAILED & set(text) for text in self.letters.values()):
            return self
        places = [i for i in range(len(self.seeds)) if i not in answered[1:]]
        letters = {ask: "".join(text[i] for i in places) for ask, text in self.letters.items()}
        seeds = tuple(self.seeds[i] for i in places)
        return CellTally(self.cell, seeds, letters, self.one_answer)

    def first(self, number: int) -> CellTally:
        """Return the cell with so many of its trials, from the first on."""
        letters = {ask: text[:number] for ask, text in self.letters.items()}
        return replace(self, seeds=self.seeds[:number], letters=letters)

    def answered(self) -> list[int]:
        """Return the places of the trials that have an answer to all that they were asked."""
        columns = zip(*self.letters.values(), strict=True)
        return [i for i, stages in enumerate(columns) if not _NO_ANSWER & set(stages)]

    def climbed(self, asks: Sequence[Ask], *, exactly: bool = False) -> list[bool | None]:
        """Say of each trial whether it passed all of some asks; None if it was left unanswered.

        Parameters
        ----------
        exactly : whether it had to be exact in each of them.
        """
        needs: list[Grade] = ["exact" if exactly else ask.needs for ask in asks]
        columns = [self.letters.get(ask.name, NOT_ASKED * len(self.seeds)) for ask in asks]
        trials = list(zip(*columns, strict=True))
        passed = {stages: _passed(stages, needs) for stages in set(trials)}  # few are different
        return [passed[stages] for stages in trials]

    def share(self, asks: Sequence[Ask], *, exactly: bool = False) -> Share:
        """Return how many of the answered trials passed all of some asks."""
        passed = [p for p in self.climbed(asks, exactly=exactly) if p is not None]
        return Share(sum(passed), len(passed))

    def uncollapsed(self, ask: Ask) -> Share:
        """Return how many passed an ask, of those that answered and did not collapse."""
        counts = self.counts(ask)
        whole = sum(
            number
            for outcome, number in counts.items()
            if outcome is not Outcome.COLLAPSED and not outcome.leaves_open
        )
        passed = sum(number for o, number in counts.items() if reaches(o.grade, ask.needs))
        return Share(passed, whole)

    def counts(self, ask: Ask) -> dict[Outcome, int]:
        """Return how often each outcome occurred."""
        letters = self.letters.get(ask.name, "")
        return {outcome: letters.count(outcome.letter) for outcome in Outcome}

    def ended_by(self, outcome: Outcome, asks: Sequence[Ask]) -> Share:
        """Return how many trials an outcome ended."""
        ends = zip(*(self.letters[ask.name] for ask in asks), strict=True)
        return Share(sum(outcome.letter in letters for letters in ends), len(self.seeds))


def _passed(stages: tuple[str, ...], needs: Sequence[Grade]) -> bool | None:
    for letter, needed in zip(stages, needs, strict=True):
        if letter in _SILENT:
            return None
        grade = OF_LETTER[letter].grade if letter != NOT_ASKED else None
        if not reaches(grade, needed):
            return False
    return True


_FAILED = {o.letter for o in Outcome if (o.unanswered and not o.leaves_open) or o is Outcome.ERROR}
_NO_ANSWER = {o.letter for o in Outcome if o.unanswered or o is Outcome.ERROR}
_SILENT = "".join(outcome.letter for outcome in Outcome if outcome.leaves_open)


def tally(results: Results, suite: Suite) -> list[CellTally]:
    """Return the outcomes of a subject, in the order of the suite's cells."""
    letter_of: dict[str, str] = {outcome: outcome.letter for outcome in Outcome}
    asked: dict[str, dict[str, dict[int, str]]] = {}
    for name, seed, ask_name, outcome in results.outcomes():
        asked.setdefault(name, {}).setdefault(ask_name, {})[seed] = letter_of[outcome]
    fixed = _cells_of_one_answer(results)
    tallies = []
    for part in suite.parts:
        for cell in part.cells:
            if cell.id not in asked:
                continue
            by_ask = asked[cell.id]
            seeds = tuple(sorted(set().union(*by_ask.values())))
            letters = {
                ask.name: "".join(by_ask.get(ask.name, {}).get(seed, NOT_ASKED) for seed in seeds)
                for ask in part.asks
            }
            tallies.append(_with_one_answer(CellTally(cell, seeds, letters), fixed))
    return tallies


def _with_one_answer(tallied: CellTally, fixed: Set[str]) -> CellTally:
    """Say whether all seeds of a cell that got an answer, two or more, got the same one.

    Invalid ones are not looked at: NaN is the same whatever it came from.
    """
    invalid = any(Outcome.INVALID.letter in letters for letters in tallied.letters.values())
    alike = tallied.cell.one_case and tallied.cell.id in fixed and not invalid
    return replace(tallied, one_answer=alike and len(tallied.answered()) > 1)


def _cells_of_one_answer(results: Results) -> set[str]:
    """Return the cells in which all seeds got the same answer to each ask."""
    seen: dict[str, list[str]] = {}
    for cell, ask, _ in results.digests():
        seen.setdefault(cell, []).append(ask)
    return {cell for cell, asks in seen.items() if len(asks) == len(set(asks))}
