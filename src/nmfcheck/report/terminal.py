"""Tables and sentences for the terminal."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

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

from ..cases import Case, decimal
from ..judge import Judgement
from ..nearest import NearestExact
from ..outcomes import Outcome
from ..subjects import Progress as Report
from ..summary import CellCount, StageCount
from ..tolerances import TOLERANCE

PLAIN_WIDTH = 100
"""Columns where there is no terminal to ask."""


def console(file: IO[str] | None = None) -> Console:
    """Return a console: plain text, without colour, unless it is a terminal outside of CI."""
    stream = file or sys.stdout
    if stream.isatty() and not os.environ.get("CI"):
        return Console(file=stream)
    return Console(file=stream, width=PLAIN_WIDTH, no_color=True, force_terminal=False)


@contextmanager
def progress_bar(title: str, stages: int) -> Iterator[Report]:
    """Show a progress bar on standard error; yields the function that moves it.

    Where standard error is no terminal, a line for every tenth of the way instead.
    """
    screen = console(sys.stderr)
    if not screen.is_terminal:
        yield _milestones(screen, title, stages)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(title, total=stages)
        yield lambda done: bar.advance(task, done)


def _milestones(screen: Console, title: str, stages: int) -> Report:
    reached, told = 0.0, 0

    def report(done: float) -> None:
        nonlocal reached, told
        reached += done
        tenths = int(10 * (reached + 1e-6) / stages)
        if tenths > told:
            told = tenths
            screen.print(f"{title}: {10 * tenths} %", highlight=False)

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
    trials, passed = sum(cell.trials for cell in cells), sum(cell.passed for cell in cells)
    screen.print(
        f"Passed the paper's test (ε = 0 exact, then first-order or better): {passed} of {trials} "
        f"trials, {_share(passed, trials)}.\n",
        highlight=False,
        soft_wrap=True,
    )


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
