"""Several subjects, the best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...intervals import Share
from ...presenting.section import Section
from ...presenting.words import decision, interval, rate, table
from ...text import decimal, in_list
from ..contents import Contents, SubjectContents

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.console import Console

    from ...presenting.drawing import Sheet
    from ...verdict.verdict import Verdict

HTML = """\
<p class="quiet">The best first. {{ told }}</p>
<div class="wide">
<table class="leaders">
<thead><tr><th>subject</th><th>verdict</th><th>digits</th><th>passed</th><th>95 % interval</th><th>exact</th></tr></thead>
<tbody>
{% for each, digits, exact in rows %}
<tr><td>{{ each.name }}</td><td class="word {{ each.verdict.decision }}">{{ each.verdict.decision }}</td>
<td>{{ digits }}</td>
<td>{{ each.verdict.share | rate }}</td>
<td>{{ each.verdict.share | interval }}</td>
<td>{{ exact | rate }} <span class="word {{ each.verdict.exact or "" }}">{{ each.verdict.exact or "" }}</span></td></tr>
{% endfor %}
</tbody>
</table>
</div>
"""


class LeaderboardSection(Section):
    """A line for each subject."""

    def __init__(self, contents: Contents) -> None:
        self.contents = contents

    def show(self, screen: Console) -> None:
        """Print the table."""
        from rich.text import Text

        suite = self.contents.suite
        if suite is None:
            warning = (
                "These subjects ran through different suites: their shares are of different trials."
            )
            screen.print(Text(warning, style="bold yellow"), soft_wrap=True)
        if told := _tolerances(self.contents):
            screen.print(Text(told), soft_wrap=True)
        shown = table("The best first" if suite is None else f"{suite.called}, the best first")
        for heading, justify in (
            ("subject", "left"), ("verdict", "left"), ("digits", "right"),
            ("passed", "right"), ("95 % interval", "right"), ("exact", "right"), ("", "left"),
        ):  # fmt: skip
            shown.add_column(heading, justify=justify)  # type: ignore[arg-type]
        for each in self.contents.ranked:
            verdict = each.verdict
            shown.add_row(
                Text(
                    each.name if suite else f"{each.name}, {each.suite.title}: {each.suite.scope}"
                ),
                decision(verdict.decision),
                _digits(verdict),
                rate(verdict.share),
                interval(verdict.share),
                f"{rate(_exact(each))} {verdict.exact or ''}",
                Text(each.findings[0].cause if each.findings else ""),
            )
        screen.print(shown)
        screen.print()

    def html(self, sheet: Sheet) -> Markup | str:
        """Return the table."""
        from ...presenting.markup import render

        rows = [(each, _digits(each.verdict), _exact(each)) for each in self.contents.ranked]
        return render(HTML, rows=rows, told=_tolerances(self.contents))


def _tolerances(contents: Contents) -> str:
    """Say what counts as exact, where that is not the same for all subjects."""
    names: dict[float, list[str]] = {}
    for each in contents.ranked:
        names.setdefault(each.verdict.tolerance, []).append(each.name)
    if len(names) < 2:
        return ""
    said = (f"{decimal(x)} for {in_list(some)}" for x, some in sorted(names.items()))
    return f"What counts as exact differs: {'; '.join(said)}."


def _digits(verdict: Verdict) -> str:
    """Say to how many digits it is correct; as its headline does, 0 where it fails with any."""
    first = verdict.families[0].digits
    if first is None:
        return "–"
    if verdict.hard or verdict.broken or verdict.fails_at_every_tolerance:
        return "0"
    return f"{'' if first.certain else 'about '}{verdict.digits}"


def _exact(subject: SubjectContents) -> Share:
    """Return how many runs are exact, of those that did not collapse where that is asked."""
    shares = (each.exactness.pool.share for each in subject.verdict.families if each.exactness)
    return sum(shares, Share(0, 0))
