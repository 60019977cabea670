"""Verdicts on the terminal: a table for each subject, and a leaderboard of several."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..decision import CellVerdict, Decision
from ..intervals import Share
from ..perturbation import Slopes
from .contents import Contents, SubjectContents, settings_in_words

STYLES = {
    Decision.PASS: "bold green",
    Decision.FAIL: "bold red",
    Decision.INCONCLUSIVE: "bold yellow",
}
MOST_NAMED = 3


def show_verdict(screen: Console, subject: SubjectContents) -> None:
    """Print a subject's table, its verdict in a sentence, and what shows besides."""
    verdict = subject.verdict
    title = [subject.name, f"{subject.suite.name} suite", *settings_in_words(subject.subject)]
    screen.print(_cells(", ".join(title), verdict.paper.cells, verdict.exactness.cells))
    told = Text.assemble(_decision(verdict.decision), f"  {verdict.paper.reason}")
    exact = verdict.exactness
    lines = [
        told,
        Text.assemble(("Exact? ", "bold"), _decision(exact.decision), f"  {exact.reason}"),
        *(Text(f"- {finding.sentence}") for finding in subject.findings),
        *(Text(f"- {note}") for note in verdict.notes),
    ]
    if subject.unlike:
        lines.append(Text(f"- {unlike_in_words(subject)}"))
    if subject.slopes:
        lines.append(Text(f"- {slopes_in_words(subject.slopes)}"))
    for line in lines:
        screen.print(line, soft_wrap=True)
    screen.print()


def unlike_in_words(subject: SubjectContents) -> str:
    """Say on which trials a subject fails where the paper's algorithms all pass."""
    number = len(subject.unlike)
    named = ", ".join(subject.unlike[:MOST_NAMED]) + (", …" if number > MOST_NAMED else "")
    trials = "one trial" if number == 1 else f"{number} trials"
    told = f"It fails {trials} that all three algorithms of the paper pass from the same start"
    return f"{told}: {named}"


def slopes_in_words(slopes: Slopes) -> str:
    """Say whether a subject's parameters are linear in ε."""
    words = {True: "is linear", False: "is not linear", None: "may be linear"}
    told = ", ".join(
        f"{each.parameter} {words[each.linear]} ({each.runs.part} of {each.runs.whole})"
        for each in slopes.linearity
    )
    return f"Slopes in ε, n = 2, from {len(slopes.of_W)} starts: {told}."


def show_leaderboard(screen: Console, contents: Contents) -> None:
    """Print the subjects, the best first."""
    suite = contents.suite
    if suite is None:
        told = "These subjects ran through different suites: their shares are of different trials."
        screen.print(Text(told, style="bold yellow"), soft_wrap=True)
    table = _table("The best first" if suite is None else f"{suite.name} suite, the best first")
    for heading, justify in (
        ("subject", "left"), ("verdict", "left"), ("passed", "right"),
        ("95 % interval", "right"), ("exact at ε = 0.25", "right"), ("", "left"),
    ):  # fmt: skip
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for each in contents.ranked:
        paper, exact = each.verdict.paper, each.verdict.exactness
        table.add_row(
            Text(each.name if suite else f"{each.name}, {each.suite.name}: {each.suite.scope}"),
            _decision(each.verdict.decision),
            percent(paper.pool.share),
            interval(paper.pool.share),
            f"{percent(exact.pool.share)} {exact.decision}",
            Text(each.findings[0].cause if each.findings else ""),
        )
    screen.print(table)
    screen.print()


def _cells(title: str, cells: Sequence[CellVerdict], exact: Sequence[CellVerdict]) -> Table:
    table = _table(title)
    for heading in ("n", "entries", "trials", "passed", "95 % interval", "required",
                    "exact at\nε = 0.25", "verdict"):  # fmt: skip
        table.add_column(heading, justify="left" if heading in ("entries", "verdict") else "right")
    by_cell = {(cell.n, cell.entries): cell for cell in exact}
    last = None
    for cell in cells:
        if last is not None and cell.n != last:
            table.add_section()
        last = cell.n
        second = by_cell.get((cell.n, cell.entries))
        table.add_row(
            str(cell.n),
            cell.entries,
            str(cell.share.whole + cell.unanswered),
            percent(cell.share),
            interval(cell.share),
            "–" if math.isnan(cell.required) else f"{100 * cell.required:.0f} %",
            "–" if second is None else percent(second.share),
            "–" if cell.decision is None else _decision(cell.decision),
        )
    return table


def _table(title: str) -> Table:
    return Table(
        title=Text(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0), show_edge=False,
    )  # fmt: skip


def _decision(decision: Decision) -> Text:
    return Text(str(decision), style=STYLES[decision])


def percent(share: Share) -> str:
    """Write a share in percent."""
    return f"{100 * share.value:.0f} %" if share.whole else "–"


def interval(share: Share) -> str:
    """Write the 95 % interval of a share in percent."""
    if not share.whole:
        return "–"
    low, high = share.interval
    return f"{100 * low:.0f}–{100 * high:.0f} %"
