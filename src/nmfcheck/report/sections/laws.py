"""The laws: held, broken, or not applying, each with its smallest example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...judging.objectives import FROBENIUS
from ...laws import Law, LawResult, State
from ...laws.registry import LAWS
from ...presenting.section import Section
from ...text import in_list
from ..contents import SubjectContents

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.console import Console

    from ...presenting.drawing import Sheet

STYLES = {
    State.HELD: "green",
    State.BROKEN: "bold red",
    State.DOES_NOT_APPLY: "dim",
    State.NOT_TRIED: "yellow",
}

HTML = """\
<p class="quiet">{{ summary }}</p>
<div class="wide">
<table class="laws">
<thead><tr><th>law</th><th>it says</th><th>result</th><th>what shows</th></tr></thead>
<tbody>
{% for law, statement, usually, replay in rows %}
<tr><td><code>{{ law.law }}</code><br><span class="quiet">{{ law.severity }}</span></td>
<td>{{ statement }}</td>
<td>{% if law.decides %}<span class="word FAIL">broken</span>{% elif law.broken %}<span class="word INCONCLUSIVE">broken</span>{% else %}{{ law.state }}{% endif %}</td>
<td>{{ law.sentence }}{% if law.broken and usually %}. Usually: {{ usually }}.{% endif %}
{% if replay %}<pre>{{ replay }}</pre>{% endif %}</td></tr>
{% endfor %}
</tbody></table>
</div>
"""


class LawsSection(Section):
    """What came of the laws."""

    key = "laws"
    title = "Laws"

    def __init__(self, subject: SubjectContents) -> None:
        self.subject = subject
        self.laws: Sequence[LawResult] = subject.verdict.laws
        self.folded = not any(law.broken for law in self.laws)

    def replay(self, law: LawResult) -> str:
        """Return the command that shows the example of a broken law; "" without a name."""
        if not (law.broken and law.id and self.subject.replay):
            return ""
        objective = self.subject.suite.objective
        other = "" if objective == FROBENIUS.name else f" --objective {objective}"
        return f"nmfcheck replay {law.id} {self.subject.replay}{other}"

    @property
    def summary(self) -> str:
        """How many of each."""
        counts = {state: sum(law.state is state for law in self.laws) for state in State}
        words = {
            State.HELD: "held",
            State.BROKEN: "broken",
            State.DOES_NOT_APPLY: "do not apply",
            State.NOT_TRIED: "not tried",
        }
        return in_list(f"{n} {words[state]}" for state, n in counts.items() if n) + "."

    def data(self) -> Any:
        """Return each."""
        return [
            {**law.as_fields(), "replay": self.replay(law) or None}
            | {"example": law.id or None, "sentence": law.sentence or None}
            for law in self.laws
        ]

    def show(self, screen: Console) -> None:
        """Print a table, what is broken first; those that do not apply by their reasons."""
        from rich.text import Text

        from ...presenting.words import table

        if not self.laws:
            return
        shown = table(f"Laws: {self.summary}")
        for heading in ("law", "", "result", "what shows"):
            shown.add_column(heading, overflow="fold")
        broken = [law for law in self.laws if law.broken]
        held = [law for law in self.laws if law.state is State.HELD]
        for law in broken:
            cells = (law.law, str(law.severity), Text(str(law.state), STYLES[law.state]))
            shown.add_row(*cells, Text(f"{law.sentence} [{law.id}]" if law.id else law.sentence))
        if held:
            names = Text(in_list(law.law for law in held))
            shown.add_row("", "", Text("held", STYLES[State.HELD]), names)
        for reason, names_of in _by_reason(self.laws):
            state = Text("does not apply", STYLES[State.DOES_NOT_APPLY])
            shown.add_row("", "", state, Text(f"{in_list(names_of)}: {reason}"))
        screen.print(shown)
        for law in broken:
            if replay := self.replay(law):
                screen.print(Text(f"  {replay}"), soft_wrap=True)
        screen.print()

    def html(self, sheet: Sheet) -> Markup | str:
        """Return a table of all."""
        from ...presenting.markup import render

        if not self.laws:
            return ""
        order = sorted(self.laws, key=lambda law: (not law.broken, not law.decides))
        known = [(law, LAWS.get(law.law)) for law in order]
        rows = [
            (law, is_.statement if is_ else "", _usually(law, is_), self.replay(law))
            for law, is_ in known
        ]
        return render(HTML, rows=rows, summary=self.summary)


def _usually(result: LawResult, law: Law | None) -> str:
    """Return what a broken law usually means; "" where that explains nothing."""
    if law is None or (result.unanswered and not law.of_answers):
        return ""
    return law.usually


def _by_reason(laws: Sequence[LawResult]) -> Iterator[tuple[str, list[str]]]:
    reasons: dict[str, list[str]] = {}
    for law in laws:
        if law.state is State.DOES_NOT_APPLY:
            reasons.setdefault(law.sentence, []).append(law.law)
    yield from reasons.items()
