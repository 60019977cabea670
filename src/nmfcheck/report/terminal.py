"""Tables and sentences for the terminal."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from ..arrays import Array
from ..cases import Case, decimal
from ..judge import Judgement
from ..nearest import NearestExact
from ..outcomes import Flag, Outcome
from ..records import Record
from ..replay import Replayed
from ..smoke import Check, Status
from ..subjects import Progress as Report
from ..summary import CellCount, StageCount
from ..tolerances import TOLERANCE
from ..trials import Trial

ENTRY = 10
"""Columns for an entry of a matrix: ``-1.23e-250`` is as long as they get."""

PLAIN_WIDTH = 100
"""Columns where there is no terminal to ask."""


def console(file: IO[str] | None = None) -> Console:
    """Return a console: plain text, without colour, unless it is a terminal outside of CI."""
    stream = file or sys.stdout
    if stream.isatty() and not os.environ.get("CI"):
        return Console(file=stream)
    return Console(file=stream, width=PLAIN_WIDTH, no_color=True, force_terminal=False)


@contextmanager
def progress_bar(title: str, stages: float) -> Iterator[Report]:
    """Show a progress bar on standard error; yields the function that moves it.

    Where standard error is no terminal, a line for every tenth of the way instead.
    """
    screen = console(sys.stderr)
    if not screen.is_terminal:
        yield _milestones(screen, title, stages)
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(title, total=stages)
        yield lambda done: bar.advance(task, done)


def _milestones(screen: Console, title: str, stages: float) -> Report:
    reached, told = 0.0, 0

    def report(done: float) -> None:
        nonlocal reached, told
        reached += done
        tenths = int(10 * (reached + 1e-6) / stages)
        if tenths > told:
            told = tenths
            screen.print(Text(f"{title}: {10 * tenths} %"), soft_wrap=True)

    return report


def show_counts(screen: Console, title: str, cells: Sequence[CellCount]) -> None:
    """Print a subject's table: for each size and kind of entries, a line for each ε."""
    failures = [
        outcome
        for outcome in Outcome
        if outcome.grade is None
        and any(outcome in stage.outcomes for cell in cells for stage in cell.stages)
    ]
    table = Table(
        title=Text(title),
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_edge=False,
    )
    for heading in ("n", "entries", "trials", "ε", "exact", "first-order\nor better", *failures):
        table.add_column(heading, justify="left" if heading == "entries" else "right")
    table.add_column("median\ndefect", justify="right")
    last = None
    for cell in cells:
        if last is not None and cell.n != last:
            table.add_section()  # a blank line
        last = cell.n
        for i, stage in enumerate(cell.stages):
            head = (str(cell.n), cell.entries, str(cell.trials)) if i == 0 else ("", "", "")
            table.add_row(*head, *_stage_row(cell, stage, failures))
    screen.print(table)
    for flag, number in _flags(cells).items():
        screen.print(Text(f"{flag} ({number}): {Flag(flag).explanation}", style="bold red"))
    trials, passed = sum(cell.trials for cell in cells), sum(cell.passed for cell in cells)
    asked = {
        stage.rung.needs for cell in cells for stage in cell.stages if stage.rung.question == 1
    }
    told = (
        f"Passed the paper's test (ε = 0 exact, then first-order or better): {passed} of {trials} "
        f"trials, {_share(passed, trials)}.\n"
        if asked == {"exact", "first-order"}
        else "The paper's test was not run: it needs ε = 0 and one up to 0.01.\n"
    )
    screen.print(Text(told), soft_wrap=True)


def _flags(cells: Sequence[CellCount]) -> Counter[str]:
    return sum((Counter(stage.flags) for cell in cells for stage in cell.stages), Counter())


def show_failures(
    screen: Console,
    failing: Sequence[Record],
    at_most: int,
    subject: str,
    total: int | None = None,
) -> None:
    """Print some of the stages that failed, of each outcome one first, and how to see them again.

    Parameters
    ----------
    subject : the options of `nmfcheck replay` that name the subject, if it can be replayed.
    total : how many there are, where `failing` has only those worth showing.
    """
    asked = [record for record in failing if record.outcome is not Outcome.NOT_RUN]
    if total is None:
        shown = asked if len(asked) <= at_most else _varied(asked)[:at_most]
    else:
        shown = asked[:at_most]
    for record in shown:
        told = f"{record.case}, seed {record.seed}: {record.outcome}: {record.message}"
        lines = [told, *(f"    | {line}" for line in record.output.splitlines())]
        if subject:
            lines.append(f"  nmfcheck replay {record.trial.id} {subject}")
        screen.print(Text("\n".join(lines)), soft_wrap=True)
    more = (len(asked) if total is None else total) - len(shown)
    if more > 0 and at_most > 0:
        counted = "one more stage" if more == 1 else f"{more} more stages"
        screen.print(
            f"… and {counted} that did not pass; --failures N shows more.", highlight=False
        )
    if asked:
        screen.print()


def _varied(records: Sequence[Record]) -> list[Record]:
    """Return records in another order: of each outcome one first, of each trial one next."""
    order: dict[tuple[str, int], Record] = {}
    for of in (lambda r: r.outcome, lambda r: r.trial, lambda r: (r.case, r.seed)):
        seen = {of(record) for record in order.values()}
        for record in records:
            if of(record) not in seen:
                seen.add(of(record))
                order.setdefault((record.case, record.seed), record)
    return list(order.values())


def show_checks(
    screen: Console, subject: str, checks: Sequence[Check], *, only_bad: bool = False
) -> None:
    """Print what a first look at a subject showed."""
    styles = {Status.GOOD: "green", Status.NOTE: "yellow", Status.BAD: "bold red"}
    if only_bad:
        for check in checks:
            if check.status is Status.BAD:
                line = Text(f"{subject}: {check.name}: {check.told}", style=styles[check.status])
                screen.print(line, soft_wrap=True)
        return
    table = Table.grid(padding=(0, 2))
    for check in checks:
        status = Text(str(check.status), style=styles[check.status])
        table.add_row(status, Text(check.name, style="bold"), Text(check.told))
    screen.print(Text(subject, style="bold underline"))
    screen.print(table)


def show_replayed(
    screen: Console, trial: Trial, subject: str, replayed: Sequence[Replayed]
) -> None:
    """Print the stages of a trial with their matrices."""
    screen.print(Text(f"{trial.id}, {subject}", style="bold underline"))
    there = {each.stage.rung: each for each in replayed}
    for rung in trial.ladder:
        if rung not in there:
            told = f"ε = {decimal(rung.eps)}: not asked, since a stage before it did not pass"
            screen.print(Text(f"\n{told}", style="bold"))
            continue
        each = there[rung]
        stage, judgement = each.stage, each.stage.judgement
        screen.print()
        if judgement is None:
            screen.print(Text(f"ε = {decimal(stage.rung.eps)}: {stage.outcome}", style="bold"))
            screen.print(Text(f"{stage.message}\n{stage.output}".strip()), soft_wrap=True)
            screen.print(_matrices({"A": each.problem.A}))
            continue
        show_judgement(screen, stage.case, judgement, each.nearest)
        for flag in stage.flags:
            screen.print(Text(f"{flag}: {flag.explanation}", style="bold red"))
        if each.W is None or each.H is None:
            screen.print(_matrices({"A": each.problem.A}))
            continue
        order = judgement.permutation or tuple(range(trial.n))
        named = "aligned" if judgement.permutation else "as returned"
        returned = {f"W, {named}": each.W[:, order], f"H, {named}": each.H[list(order)]}
        screen.print(_matrices({"A": each.problem.A, **returned}))
        if each.nearest is not None:
            order = each.nearest.permutation
            W, H = each.nearest.W[:, order], each.nearest.H[list(order)]
            nearest = {"nearest exact W": W, "nearest exact H": H}
            screen.print(_matrices({"A − WH": each.problem.A - each.W @ each.H, **nearest}))


def _matrices(named: dict[str, Array]) -> Table:
    """Return matrices side by side, or below each other where they are wide."""
    widest = sum(ENTRY * X.shape[1] + 3 for X in named.values())
    table = Table.grid(padding=(0, 3, 0, 0))
    cells = [Text.assemble((f"{name}\n", "bold"), _entries(X)) for name, X in named.items()]
    if widest <= PLAIN_WIDTH:
        table.add_row(*cells)
    else:
        for cell in cells:
            table.add_row(cell)
    return table


def _entries(X: Array) -> Text:
    """Return a matrix as text, what is too small to matter dim."""
    finite = X[np.isfinite(X)]
    small = TOLERANCE.exact * max(abs(finite).max(initial=0.0), 1e-300)
    text = Text(no_wrap=True)
    for row in X:
        for x in row:
            style = "dim" if abs(x) <= small else ""
            text.append(f"{x:<{ENTRY}.3g}" if x else f"{'0':<{ENTRY}}", style=style)
        text.append("\n")
    return text


def _stage_row(cell: CellCount, stage: StageCount, failures: Sequence[Outcome]) -> list[str]:
    """Return shares of all trials of the cell, counts of failures, and the median defect."""
    has_first_order = stage.rung.needs == "first-order"
    return [
        decimal(stage.rung.eps),
        _share(stage.exact, cell.trials),
        _share(stage.first_order, cell.trials) if has_first_order else "–",
        *(str(stage.outcomes.get(outcome, "")) for outcome in failures),
        "–" if math.isnan(stage.median_defect) else f"{stage.median_defect:.0e}",
    ]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}".replace("%", " %") if whole else "–"


def show_judgement(
    screen: Console, case: Case, judgement: Judgement, nearest: NearestExact | None
) -> None:
    """Print a whole judgement in words."""
    rows: list[tuple[str, str]] = [
        ("case", case.id),
        ("outcome", f"{judgement.outcome}: {judgement.outcome.explanation}"),
        ("why", judgement.explanation),
        ("grade", judgement.grade or "none"),
        *_measured(case, judgement),
    ]
    if nearest is not None:
        rows.append(("nearest exact", _place(nearest)))
    table = Table.grid(padding=(0, 2))
    for name, value in rows:
        table.add_row(Text(name, style="bold"), Text(value))
    screen.print(table)


def _measured(case: Case, judgement: Judgement) -> Iterable[tuple[str, str]]:
    if judgement.outcome == "invalid":
        return
    first_order = float(TOLERANCE.first_order(case.a0[None], case.e[None])[0])
    bounds = f"exact up to {TOLERANCE.exact:g}" + (
        f", first-order up to {first_order:.2g}" if first_order > 0 else ""
    )
    yield "product defect", f"{judgement.product_defect:.3g}  (max|A − WH| / max a0; {bounds})"
    if judgement.permutation is None:
        yield "form defect", "none: no permutation gives W and H the form"
    else:
        yield (
            "form defect",
            f"{judgement.form_defect:.3g}  (largest balanced entry off the pattern)",
        )
    yield "KKT residual", f"{judgement.kkt_residual:.3g}  (0 at a stationary point)"
    if judgement.permutation is not None:
        listed = ", ".join(f"{i + 1}: {k + 1}" for i, k in enumerate(judgement.permutation))
        yield "permutation", f"{listed}  (row: component)"
    if judgement.word:
        kind = f", the paper's Type {judgement.type}" if judgement.type else ""
        larger = " by the larger shares" if judgement.type and "b" in judgement.word else ""
        letters = "where each superdiagonal entry comes from: h H, w W, b both, - neither"
        yield "word", f"{judgement.word}{kind}{larger}  ({letters})"
    if judgement.clipped:
        yield "clipped", "negative entries of rounding size were set to 0"


def _place(nearest: NearestExact) -> str:
    place = (
        ""
        if nearest.switch is None
        else f", at switch {nearest.switch} with share {nearest.share:.6g}"
    )
    return f"at relative distance {nearest.distance:.3g}{place}"


def show_rows(screen: Console, title: str, rows: Iterable[Sequence[Any]]) -> None:
    """Print a titled list of names and what there is to say about them."""
    table = Table.grid(padding=(0, 2))
    for name, *rest in rows:
        table.add_row(Text(f"  {name}", style="bold"), *(Text(str(cell)) for cell in rest))
    screen.print(Text(title, style="bold underline"))
    screen.print(table)
    screen.print()
