"""The terminal: where text goes, and how far a long run has come."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

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

PLAIN_WIDTH = 100
"""Columns where there is no terminal to ask."""

Advance = Callable[[float], None]


def console(file: IO[str] | None = None) -> Console:
    """Return a console: plain text, without colour, unless it is a terminal outside of CI."""
    stream = file or sys.stdout
    if stream.isatty() and not os.environ.get("CI"):
        return Console(file=stream)
    return Console(file=stream, width=PLAIN_WIDTH, no_color=True, force_terminal=False)


@contextmanager
def progress_bar(title: str, stages: float) -> Iterator[Advance]:
    """Show a progress bar on standard error; yields the function that moves it.

    Where standard error is not a terminal, a line for every tenth of the way instead.
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


def _milestones(screen: Console, title: str, stages: float) -> Advance:
    reached, last = 0.0, 0

    def report(done: float) -> None:
        nonlocal reached, last
        reached += done
        tenths = min(int(10 * (reached + 1e-6) / stages), 10)
        if tenths > last:
            last = tenths
            screen.print(Text(f"{title}: {10 * tenths} %"), soft_wrap=True)

    return report


def show_rows(screen: Console, title: str, rows: Iterable[Sequence[Any]]) -> None:
    """Print a titled list of names and what there is to say about them."""
    table = Table.grid(padding=(0, 2))
    for name, *rest in rows:
        table.add_row(Text(f"  {name}", style="bold"), *(Text(str(cell)) for cell in rest))
    screen.print(Text(title, style="bold underline"))
    screen.print(table)
    screen.print()


def show_pairs(screen: Console, pairs: Iterable[tuple[str, str]]) -> None:
    """Print names and texts, a line each."""
    table = Table.grid(padding=(0, 2))
    for name, value in pairs:
        table.add_row(Text(name, style="bold"), Text(value))
    screen.print(table)
