"""The diagnosis: findings, notes, and trials that the references pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...judging.objectives import FROBENIUS
from ...presenting.section import Section
from ..contents import SubjectContents

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.console import Console

    from ...presenting.drawing import Sheet

MOST_NAMED = 3

HTML = """\
<ul>
{% for finding in findings %}
<li><strong>{{ finding.cause }}</strong>: {{ finding.sentence }}</li>
{% endfor %}
{% for note in notes %}<li>{{ note }}</li>{% endfor %}
</ul>
{% if experiments %}
<p>What was tried to find out why:</p>
<ul>
{% for tried in experiments %}
<li><strong>{{ tried.name }}</strong>: {{ tried.sentence }}{% if tried.left_out %} Not done: {{ tried.left_out }}.{% endif %}
{% if tried.replay %}<pre>{{ tried.replay }}</pre>{% endif %}</li>
{% endfor %}
</ul>
{% endif %}
"""


class DiagnosisSection(Section):
    """What failures have in common, and what else a reader should know."""

    key = "diagnosis"
    title = "Diagnosis"

    def __init__(self, subject: SubjectContents) -> None:
        self.subject = subject

    @property
    def notes(self) -> list[str]:
        """What else a reader should know."""
        unlike = [unlike_in_words(self.subject)] if self.subject.unlike else []
        return [*self.subject.verdict.notes, *unlike]

    def data(self) -> Any:
        """Return the findings."""
        return self.subject.findings

    def show(self, screen: Console) -> None:
        """Print a line for each."""
        from rich.text import Text

        sentences = [finding.sentence for finding in self.subject.findings]
        for sentence in [*sentences, *self.notes]:
            screen.print(Text(f"- {sentence}"), soft_wrap=True)
        for tried in self.subject.experiments:
            rest = f" Not done: {tried.left_out}." if tried.left_out else ""
            lines = [f"- Tried, {tried.name}: {tried.sentence}{rest}"]
            lines += [f"  {tried.replay}"] if tried.replay else []
            screen.print(Text("\n".join(lines)), soft_wrap=True)

    def html(self, sheet: Sheet) -> Markup | str:
        """Return a list."""
        from ...presenting.markup import render

        if not (self.subject.findings or self.notes):
            return ""
        return render(
            HTML,
            findings=self.subject.findings,
            notes=self.notes,
            experiments=self.subject.experiments,
        )


def unlike_in_words(subject: SubjectContents) -> str:
    """Say on which trials a subject fails where those that it is compared with all pass."""
    number = len(subject.unlike)
    named = ", ".join(subject.unlike[:MOST_NAMED]) + (", …" if number > MOST_NAMED else "")
    trials = "one trial" if number == 1 else f"{number} trials"
    paper = subject.suite.objective == FROBENIUS.name
    they = "all three algorithms of the paper" if paper else "all references for this objective"
    sentence = f"It fails {trials} that {they} pass from the same start"
    return f"{sentence}: {named}"
