"""The table of a family: each cell with its share, what is required, and its verdict."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ...families import Family, Question
from ...presenting.section import Section
from ...presenting.words import decision, interval, rate, table
from ...text import percent
from ...verdict.baseline import PAPER
from ...verdict.decision import CellVerdict
from ..commands import settings_in_words
from ..contents import FamilyContents, SubjectContents

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.console import Console

    from ...presenting.drawing import Sheet

HTML = """\
<p class="quiet">{{ summary[0] | upper }}{{ summary[1:] }}. {{ required }}{% if margin %} The bar is {{ margin }} points lower.{% endif %} “Exactly” is the 95 % interval of the share of trials that were exact throughout.</p>
<div class="wide">
<table>
<thead><tr>{% for heading in headings %}<th>{{ heading }}</th>{% endfor %}
<th>trials</th><th>passed</th><th>95 % interval</th><th>exactly</th><th>required</th><th>{{ compared }}</th>
{% if exact_at %}<th>exact at {{ exact_at }}</th>{% endif %}<th class="left">verdict</th></tr></thead>
<tbody>
{% for cell, exact, three in rows %}
<tr>{% for text in cell.cell.columns or (cell.cell.name,) %}<td>{{ text }}</td>{% endfor %}
<td>{{ cell.share.whole + cell.unanswered }}</td>
<td>{{ cell.share | rate }}</td><td>{{ cell.share | interval }}</td>
<td>{{ cell.exactly | interval }}</td>
<td>{% if cell.required == cell.required %}{{ cell.required | percent(0) }}{% else %}–{% endif %}</td>
<td>{{ three }}</td>
{% if exact_at %}<td>{% if exact %}{{ exact.share | rate }}{% else %}–{% endif %}</td>{% endif %}
<td class="left word {{ cell.decision or "" }}">{{ cell.decision or "–" }}</td></tr>
{% endfor %}
</tbody>
</table>
</div>
"""

FIXED = "Required is a fixed share of the trials; cells without one are only measured."
EVERY = "Every trial has to pass."
RELATIVE = (
    "Required is the lowest share of the accepted algorithms, or its lower bound where there "
    "are fewer than 1000 trials of them."
)


def _required(room: Family) -> str:
    if room.required is None:
        return RELATIVE
    return FIXED if room.margin else EVERY


class CellsSection(Section):
    """What came of each cell of a family."""

    key = "counts"

    def __init__(self, subject: SubjectContents, family: FamilyContents) -> None:
        self.subject = subject
        self.family = family
        several = len(subject.families) > 1
        self.title = f"The {family.family} family" if several else "Cell by cell"

    @property
    def _exact_at(self) -> str:
        asks = [ask for ask in self.family.asks if ask.question is Question.EXACTNESS]
        return ", ".join(ask.title for ask in asks)

    @property
    def _exact(self) -> dict[Any, CellVerdict]:
        question = self.family.verdict.exactness
        return {cell.cell: cell for cell in question.cells} if question else {}

    def data(self) -> Any:
        """Return the outcomes of each cell and ask, counted."""
        return self.family.counts

    def show(self, screen: Console) -> None:
        """Print the table."""
        subject, family = self.subject, self.family
        suite = f"{subject.suite.called}: {family.family}"
        about = [subject.name, suite, *settings_in_words(subject.subject)]
        shown = table(", ".join(about))
        headings = family.part.room.headings
        exact_at = [f"exact at\n{self._exact_at}" if self._exact_at else "exact"]
        columns = (*headings, "trials", "passed", "95 % interval", "required", *exact_at, "verdict")
        for heading in columns:
            left = heading == "verdict" or heading in headings[1:]
            shown.add_column(heading, justify="left" if left else "right")
        sizes = [c.cell.columns[0] for c in family.verdict.test.cells if c.cell and c.cell.columns]
        grouped = any(one == other for one, other in pairwise(sizes))
        last = None
        for cell in family.verdict.test.cells:
            assert cell.cell is not None
            size = cell.cell.columns[0] if cell.cell.columns else cell.cell.name
            if grouped and last is not None and size != last:
                shown.add_section()
            last = size
            second = self._exact.get(cell.cell)
            exact = cell.exactly if not self._exact_at else second.share if second else None
            shown.add_row(
                *(cell.cell.columns or (cell.cell.name,)),
                str(cell.share.whole + cell.unanswered),
                rate(cell.share),
                interval(cell.share),
                "–" if math.isnan(cell.required) else percent(cell.required, 0),
                "–" if exact is None else rate(exact),
                "–" if cell.decision is None else decision(cell.decision),
            )
        screen.print(shown)

    def html(self, sheet: Sheet) -> Markup | str:
        """Return the table, with the intervals of exact trials and the paper's three algorithms."""
        from ...presenting.markup import render

        test, exact = self.family.verdict.test, self._exact
        return render(
            HTML,
            headings=self.family.part.room.headings,
            rows=[(cell, exact.get(cell.cell), self._paper(cell)) for cell in test.cells],
            summary=self.family.part.room.summary or self.family.family,
            required=_required(self.family.part.room),
            exact_at=self._exact_at,
            compared="paper’s three" if self.family.baseline.compared == PAPER else "references",
            margin=f"{100 * margin:g}" if (margin := self.family.part.room.margin) else "",
        )

    def _paper(self, cell: CellVerdict) -> str:
        """Return the lowest share of the algorithms that it is compared with in a cell."""
        assert cell.cell is not None
        test, baseline = self.family.part.test, self.family.baseline
        if self.family.part.room.required is not None:
            shares = baseline.shares(cell.cell.name, test, baseline.compared).values()
            return percent(min(share.value for share in shares), 0) if shares else "–"
        required = baseline.required(cell.cell.name, test, baseline.compared)
        return percent(required.share, 0) if required else "–"
