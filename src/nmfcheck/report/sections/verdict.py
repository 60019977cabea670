"""The verdict, in a word and a sentence for each family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...presenting.section import Section
from ...presenting.words import decision
from ...text import in_list
from ...verdict.decision import CellVerdict, Decision, QuestionVerdict
from ...verdict.digits import Digits
from ...verdict.verdict import FamilyVerdict
from ..contents import SubjectContents

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.console import Console

    from ...presenting.drawing import Sheet

POOLED = (
    "INCONCLUSIVE beside a cell means that its trials are too few to tell on their own, and that "
    "nothing speaks against it. All cells of a family together decide."
)

HTML = """\
<div class="verdict {{ verdict.decision }}">
<p class="word {{ verdict.decision }}">{{ verdict.decision }}</p>
{% if verdict.headline %}<p><strong>{{ verdict.headline }}.</strong></p>{% endif %}
{% if verdict.hard or verdict.families | length == 1 %}<p>{{ verdict.reason }}</p>
{% elif verdict.broken %}<p>{{ verdict.laws_in_words }}</p>{% endif %}
{% if verdict.unanswered_all %}<p>It gave no answer at all: it could not be run.</p>{% endif %}
{% if verdict.families | length > 1 or verdict.hard %}
{% for each in verdict.families %}
<p><strong>{{ each.family }}</strong> <span class="word {{ each.test.decision }}">{{ each.test.decision }}</span>.
{{ each.test.reason }}{% if each.digits and each.digits.digits %} Correct to {{ each.digits.in_words }}.{% endif %}</p>
{% endfor %}
{% endif %}
{% for each in verdict.families if each.exactness %}
<p>Is it exact{% if verdict.families | length > 1 %} on {{ each.family }}{% endif %}?
<span class="word {{ each.exactness.decision }}">{{ each.exactness.decision }}</span>.
{{ each.exactness.reason }}</p>
{% endfor %}
{% if pooled %}<p class="quiet">{{ pooled }}</p>{% endif %}
</div>
"""


class VerdictSection(Section):
    """The verdict on a subject."""

    key = "verdict"

    def __init__(self, subject: SubjectContents) -> None:
        self.verdict = subject.verdict

    @property
    def _pooled(self) -> str:
        """Explain cells that are inconclusive in a family that passes, if there are any."""
        open_cells = any(
            cell.decision is Decision.INCONCLUSIVE
            for each in self.verdict.families
            if each.test.decision is Decision.PASS
            for cell in each.test.cells
        )
        return POOLED if open_cells else ""

    def data(self) -> Any:
        """Return the two questions about each family."""
        return [
            {
                "family": each.family,
                "test": question_data(each.test),
                "exactness": question_data(each.exactness) if each.exactness else None,
                "digits": digits_data(each.digits) if each.digits else None,
            }
            for each in self.verdict.families
        ]

    def show(self, screen: Console) -> None:
        """Print the verdict, then a line for each family and question."""
        from rich.text import Text

        verdict = self.verdict
        several = len(verdict.families) > 1 or bool(verdict.hard or verdict.broken)
        at = verdict.headline.removeprefix(str(verdict.decision))
        head = Text.assemble(decision(verdict.decision), f"{at}." if at else "")
        lines = [head.append(f"  {self._headline() if several else verdict.reason}")]
        if several:
            lines += [
                Text.assemble(
                    (f"{each.family}: ", "bold"), decision(each.test.decision),
                    f"  {each.test.reason}{_digits(each)}",
                )
                for each in verdict.families
            ]  # fmt: skip
        lines += [
            Text.assemble(
                (f"{each.family}, exact? " if several else "Exact? ", "bold"),
                decision(each.exactness.decision),
                f"  {each.exactness.reason}",
            )
            for each in verdict.families
            if each.exactness
        ]
        if self._pooled:
            lines.append(Text(self._pooled, style="dim"))
        for line in lines:
            screen.print(line, soft_wrap=True)

    def _headline(self) -> str:
        """Say which families it hangs on."""
        verdict = self.verdict
        if verdict.hard:
            return verdict.reason
        if verdict.broken:
            failing = [e.family for e in verdict.families if e.test.decision is Decision.FAIL]
            if not failing:
                return verdict.laws_in_words
            word = "fails" if len(failing) == 1 else "fail"
            return f"{verdict.laws_in_words} {in_list(failing)} {word}."
        named = [e.family for e in verdict.families if e.test.decision is verdict.decision]
        if verdict.decision is Decision.PASS:
            return "All families pass." + (" No law that decides is broken." * bool(verdict.laws))
        word = "fails" if verdict.decision is Decision.FAIL else "is inconclusive"
        plural = "fail" if verdict.decision is Decision.FAIL else "are inconclusive"
        return f"{in_list(named)} {word if len(named) == 1 else plural}."

    def html(self, sheet: Sheet) -> Markup | str:
        """Return a box in the verdict's colour."""
        from ...presenting.markup import render

        return render(HTML, verdict=self.verdict, pooled=self._pooled)


def _digits(family: FamilyVerdict) -> str:
    """Say how many digits of a family's answers are right, where that can be told."""
    digits = family.digits
    return f" Correct to {digits.in_words}." if digits is not None and digits.digits else ""


def digits_data(digits: Digits) -> dict[str, Any]:
    """Return the digits of a family as JSON has them."""
    return {
        "digits": digits.digits,
        "certain": digits.certain,
        "curve": [
            {"digits": d, "passed": share.part, "trials": share.whole, "verdict": verdict}
            for d, (share, verdict) in enumerate(digits.curve, 1)
        ],
    }


def question_data(question: QuestionVerdict) -> dict[str, Any]:
    """Return a question as JSON has it."""
    return {
        "verdict": question.decision,
        "reason": question.reason,
        "further_trials": question.further,
        "pool": cell_data(question.pool),
        "cells": [cell_data(cell) for cell in question.cells],
    }


def cell_data(cell: CellVerdict) -> dict[str, Any]:
    """Return what is said of a cell as JSON has it."""
    low, high = cell.share.interval
    exactly = None
    if cell.exactly.whole:
        exactly = {"passed": cell.exactly.part, "interval": list(cell.exactly.interval)}
    return {
        "cell": cell.cell.name if cell.cell else None,
        "passed": cell.share.part,
        "trials": cell.share.whole,
        "unanswered": cell.unanswered,
        "interval": [low, high],
        "exactly": exactly,
        "required": cell.required,
        "required_of": cell.of or None,
        "p_value": cell.p_value,
        "verdict": cell.decision,
    }
