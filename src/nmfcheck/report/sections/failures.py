"""Runs that failed, each with the sentence that explains it and the line that shows it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...judging.outcomes import Outcome
from ...presenting.section import Section
from ...trials.stage import Stage
from ..contents import SubjectContents

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.console import Console

    from ...presenting.drawing import Picture, Sheet

HTML = """\
<p class="quiet">{{ runs | length }} of {{ failing }} stages that did not pass. Colours are logarithmic, over twelve decades.</p>
{% for stage, picture, replay in runs %}
<article>
<p><strong>{{ stage.case_id }}, seed {{ stage.trial.seed }}{% if stage.trial.cell.suffix %}, {{ stage.trial.cell.suffix }}{% endif %}: {{ stage.outcome }}.</strong> {{ stage.message }}</p>
{% if stage.output %}<pre>{{ stage.output }}</pre>{% endif %}
{% if picture %}<figure>{{ picture | figure }}</figure>{% endif %}
<pre>{{ replay }}</pre>
</article>
{% endfor %}
"""


class FailuresSection(Section):
    """Some of the stages that did not pass."""

    key = "failures"
    title = "Runs that failed"

    def __init__(self, subject: SubjectContents, shown: int | None = None) -> None:
        self.subject = subject
        self.stages = subject.shown if shown is None else subject.shown[:shown]

    def data(self) -> Any:
        """Return them with their sentences."""
        return [
            {
                "trial": stage.trial.id,
                "ask": stage.ask.name,
                "outcome": stage.outcome,
                "message": stage.message,
                "measures": stage.measures,
                "labels": stage.labels,
                "output": stage.output,
                "replay": self.subject.replay_line(stage),
            }
            for stage in self.stages
        ]

    def show(self, screen: Console) -> None:
        """Print a sentence and a command for each."""
        from rich.text import Text

        asked = [stage for stage in self.stages if stage.outcome is not Outcome.NOT_RUN]
        for stage in asked:
            suffix = f", {stage.trial.cell.suffix}" if stage.trial.cell.suffix else ""
            head = f"{stage.case_id}, seed {stage.trial.seed}{suffix}: {stage.outcome}: {stage.message}"
            lines = [head, *(f"    | {line}" for line in stage.output.splitlines())]
            lines.append(f"  {self.subject.replay_line(stage)}")
            screen.print(Text("\n".join(lines)), soft_wrap=True)
        more = self.subject.failing - len(asked)
        if more > 0 and asked:
            counted = "one more stage" if more == 1 else f"{more} more stages"
            screen.print(
                f"… and {counted} that did not pass; --failures N shows more.", highlight=False
            )
        if asked:
            screen.print()

    def html(self, sheet: Sheet) -> Markup | str:
        """Return each with its matrices drawn."""
        from ...presenting.markup import render

        if not self.stages:
            return ""
        runs = [
            (stage, _picture(sheet, stage), self.subject.replay_line(stage))
            for stage in self.stages
        ]
        return render(HTML, runs=runs, failing=self.subject.failing)


def _picture(sheet: Sheet, stage: Stage) -> Picture | None:
    """Draw W, H and |A − WH| of one stage, each entry a square."""
    import numpy as np

    from ...presenting.drawing import heat, panels

    if stage.W is None or stage.H is None:
        return None
    A = stage.case.A
    with np.errstate(all="ignore"):
        parts = {"W": stage.W, "H": stage.H, "|A − WH|": np.abs(A - stage.W @ stage.H)}
    figure, row = panels(columns=3, height=1.9)
    for axes, (name, X) in zip(row, parts.items(), strict=True):
        heat(axes, name, X)
    return sheet.draw(figure, f"W, H and the absolute value of A − WH of {stage.case_id}.")
