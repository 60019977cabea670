"""The outcomes of a subject, cell by cell: a letter for each trial and ε.

That is all a verdict needs, and what the baseline ships of the reference algorithms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .cases import ONES
from .intervals import Share
from .outcomes import NOT_ASKED, Outcome, reaches
from .store import Store, StoredSubject
from .trials import Rung, Trial

OF_LETTER = {outcome.letter: outcome for outcome in Outcome}


@dataclass(frozen=True)
class CellTally:
    """The trials of one size and kind of entries.

    Attributes
    ----------
    n, entries : the cell.
    seeds : of its trials, in order.
    letters : for each ε, a letter for each trial: of `Outcome`, or a dot where it was not asked.
    one_answer : whether all seeds that got answers got the same, bit by bit. Only where the case
        is the same for all seeds (entries ``ones``) does that say anything.
    """

    n: int
    entries: str
    seeds: tuple[int, ...]
    letters: dict[float, str]
    one_answer: bool = False

    def trial(self, place: int) -> Trial:
        """Return one of the trials."""
        seed = self.seeds[place]
        return Trial(
            self.n, self.entries if self.entries == ONES else f"{self.entries}#{seed}", seed
        )

    def first_only(self) -> CellTally:
        """Return the cell with the first trial that has an answer to all it was asked, alone."""
        silent = {outcome.letter for outcome in Outcome if outcome.unanswered}
        columns = list(zip(*self.letters.values(), strict=True))
        place = next((i for i, stages in enumerate(columns) if not silent & set(stages)), 0)
        letters = {eps: text[place] for eps, text in self.letters.items()}
        return CellTally(self.n, self.entries, (self.seeds[place],), letters, self.one_answer)

    def climbed(self, rungs: Sequence[Rung], *, exactly: bool = False) -> list[bool | None]:
        """Say of each trial whether it passed all of some rungs; None if it was left unanswered.

        Parameters
        ----------
        exactly : whether it had to be exact on each of them.
        """
        needs = ["exact" if exactly else rung.needs for rung in rungs]
        columns = [self.letters.get(rung.eps, NOT_ASKED * len(self.seeds)) for rung in rungs]
        return [_passed(stages, needs) for stages in zip(*columns, strict=True)]

    def share(self, rungs: Sequence[Rung], *, exactly: bool = False) -> Share:
        """Return how many of the answered trials passed all of some rungs."""
        passed = [p for p in self.climbed(rungs, exactly=exactly) if p is not None]
        return Share(sum(passed), len(passed))

    def uncollapsed(self, rung: Rung) -> Share:
        """Return how many passed a rung, of those that answered and did not collapse."""
        letters = self.letters.get(rung.eps, "")
        counts = {outcome: letters.count(outcome.letter) for outcome in Outcome}
        whole = sum(
            number
            for outcome, number in counts.items()
            if outcome is not Outcome.COLLAPSED and not outcome.leaves_open
        )
        passed = sum(
            number for outcome, number in counts.items() if reaches(outcome.grade, rung.needs)
        )
        return Share(passed, whole)


def _passed(stages: tuple[str, ...], needs: Sequence[str]) -> bool | None:
    for letter, needed in zip(stages, needs, strict=True):
        if letter in _SILENT:
            return None
        grade = OF_LETTER[letter].grade if letter != NOT_ASKED else None
        if not reaches(grade, needed):  # type: ignore[arg-type]
            return False
    return True


_SILENT = "".join(outcome.letter for outcome in Outcome if outcome.leaves_open)


def tally(store: Store, subject: StoredSubject) -> list[CellTally]:
    """Return the outcomes of a subject, in the order of the suite's cells."""
    rows = store.select(subject, "n, entries, seed, eps, outcome", in_order=False)
    letter_of: dict[str, str] = {outcome: outcome.letter for outcome in Outcome}
    cells: dict[tuple[int, str], dict[float, dict[int, str]]] = {}
    for n, entries, seed, eps, outcome in rows:
        cell = cells.setdefault((n, entries if entries == ONES else entries.partition("#")[0]), {})
        cell.setdefault(eps, {})[seed] = letter_of[outcome]
    fixed = _sizes_of_one_answer(store, subject)
    found = []
    for n, kind in sorted(cells, key=lambda cell: (cell[0], cell[1] != ONES)):
        by_eps = cells[n, kind]
        seeds = tuple(sorted(set().union(*by_eps.values())))
        letters = {
            rung.eps: "".join([by_eps.get(rung.eps, {}).get(seed, NOT_ASKED) for seed in seeds])
            for rung in store.suite.ladder
        }
        one_answer = kind == ONES and len(seeds) > 1 and n in fixed
        found.append(CellTally(n, kind, seeds, letters, one_answer))
    return found


def _sizes_of_one_answer(store: Store, subject: StoredSubject) -> set[int]:
    """Return the sizes at which all seeds got the same answers to the cases that they share."""
    digests: dict[int, set[tuple[float, str]]] = {}
    asked = store.select(subject, "DISTINCT n, eps, digest", "entries = ?", ONES, in_order=False)
    for n, eps, digest in asked:
        if digest:
            digests.setdefault(n, set()).add((eps, digest))
    return {n for n, seen in digests.items() if len(seen) == len({eps for eps, _ in seen})}
