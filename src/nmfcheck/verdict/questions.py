"""The two questions about each family, made from the outcomes of its cells at any tolerance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..families import Ask
from ..families import Question as Asks
from ..intervals import Share
from ..judging.tolerances import TOLERANCE
from ..trials.suites import Part
from .baseline import Baseline, empty, required_of
from .decision import CellVerdict, Decision, Question, QuestionVerdict, decide, failed_early
from .digits import Digits, digits_of
from .levels import WHOLE, Levels
from .regrading import MOST_DIGITS, Graded, depends_on_tolerance, has_digits, tolerance_of
from .sequential import e_value, rejects, worst
from .tally import CellTally


class Asked:
    """The questions of the test about all families, at any tolerance."""

    def __init__(
        self,
        cells: Sequence[CellTally],
        parts: Sequence[Part],
        baselines: Mapping[str, Baseline],
        graded: Graded | None,
        levels: Levels = WHOLE,
        left: Mapping[str, int] | None = None,
    ) -> None:
        """Take what was run; of each family, `left` says how many trials of the suite were not."""
        counting = [cell.first_only() if cell.one_answer else cell for cell in cells]
        self._parts, self._graded, self._levels = parts, graded, levels
        self._cells = {
            part.family: [c for c in counting if c.cell.family == part.family] for part in parts
        }
        self._left = left or {}
        self._baselines = {p.family: baselines.get(p.family) or empty(p.room) for p in parts}

    def cells(self, part: Part, tolerance: float) -> Sequence[CellTally]:
        """Return the outcomes of a family's cells."""
        cells = self._cells[part.family]
        if tolerance == TOLERANCE.exact or self._graded is None:
            return cells
        asks = [ask for ask in part.asks if depends_on_tolerance(ask)]
        return [self._graded.at(tolerance, cell, asks) for cell in cells]

    def tests(self, tolerance: float) -> list[QuestionVerdict]:
        """Return what the tests of all families come to."""
        questions = self._questions(tolerance)
        answers = decide(questions, self._levels)
        return [
            failed_early(answer, worst(each.cells)) if each in self._rejected(questions) else answer
            for answer, each in zip(answers, questions, strict=True)
        ]

    def fails_early(self, tolerance: float) -> bool:
        """Say whether a FAIL is certain, whenever this is looked at."""
        return bool(self._rejected(self._questions(tolerance)))

    def _rejected(self, questions: Sequence[Question]) -> list[Question]:
        """Return the questions about families whose e-values say that they fail."""
        level, number = self._levels.fail_early, len(questions)
        return [each for each in questions if rejects(e_value(each.cells), level, number)]

    def _questions(self, tolerance: float) -> list[Question]:
        questions = []
        for part in self._parts:
            asks = tuple(ask for ask in part.test if depends_on_tolerance(ask))
            baseline = self._baselines[part.family].at(tolerance, asks)
            question = test_question(part, self.cells(part, tolerance), baseline)
            questions.append(replace(question, left=self._left.get(part.family, 0)))
        return questions

    def digits(self, part: Part) -> Digits | None:
        """Return to how many digits a family's answers are right."""
        if self._graded is None:
            return None
        cells, baseline = self._cells[part.family], self._baselines[part.family]
        return digits_of(part, cells, self._graded, baseline, test_question, self._levels)

    def passes_at(self, *, hard: bool) -> int | None:
        """Return the largest d for which all families pass at 10⁻ᵈ."""
        if self._graded is None or not all(has_digits(part.test) for part in self._parts):
            return None
        if hard:
            return 0
        for digits in range(MOST_DIGITS, 0, -1):
            if {t.decision for t in self.tests(tolerance_of(digits))} == {Decision.PASS}:
                return digits
        return 0


def test_question(
    part: Part,
    cells: Sequence[CellTally],
    baseline: Baseline,
    asks: tuple[Ask, ...] | None = None,
) -> Question:
    """Return the first question about a family.

    Parameters
    ----------
    asks : what has to be passed; the asks of the test if not given.
    """
    asks = part.test if asks is None else asks
    room = part.room
    comparable = part.test == part.whole_test
    if baseline.version != part.version:
        baseline = baseline.without()
    asked = []
    for cell in cells:
        passed = cell.climbed(asks)
        share = Share(passed.count(True), len(passed) - passed.count(None))
        required, of = math.nan, ""
        if comparable and (needed := required_of(part, cell.cell, baseline, asks)):
            required, of = needed.share, needed.of
        exactly = cell.share(part.test, exactly=True)
        open_ = passed.count(None)
        asked.append(CellVerdict(cell.cell, share, required, of, open_, exactly, room.margin))
    names = ", then ".join(ask.title for ask in part.whole_test)
    missing = (
        "nothing has been run"
        if not cells
        else f"the test was not run: it is {names}"
        if not comparable
        else "nothing is required of the cells that were run"
        if room.required is not None
        else f"there is no baseline of version {part.version} of {part.family}"
        if not baseline.algorithms
        else "no cell that was run is in the baseline"
    )
    return Question(part.family, asked, room.test, missing)


def exactness_question(part: Part, cells: Sequence[CellTally]) -> Question | None:
    """Return the second question about a family, if it has one."""
    room = part.room
    own = [ask for ask in room.asks if ask.question is Asks.EXACTNESS]
    if not own:
        return None
    asks = [ask for ask in own if ask in part.asks]
    asked = []
    for cell in cells:
        exact = [ask for ask in asks if ask in part.asked(cell.cell)]
        if not exact:
            continue
        share = sum((cell.uncollapsed(ask) for ask in exact), Share(0, 0))
        silent = sum(_left_open(cell, ask) for ask in exact)
        asked.append(CellVerdict(cell.cell, share, room.exact_share, "", silent))
    missing = f"nothing was run at {', '.join(ask.title for ask in own)}"
    return Question(part.family, asked, room.exactness, missing)


def _left_open(cell: CellTally, ask: Ask) -> int:
    return sum(number for outcome, number in cell.counts(ask).items() if outcome.leaves_open)
