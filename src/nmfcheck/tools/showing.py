"""What the tools show on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..arrays import Array
from ..families import Case, Nearest, Trial, room_of
from ..judging.judgement import Judgement, permutation_of
from ..judging.tolerances import TOLERANCE
from ..presenting.console import PLAIN_WIDTH, show_pairs
from .replay import Replayed
from .smoke import Check, Status

ENTRY = 10
"""Columns for an entry of a matrix: ``-1.23e-250`` is as long as they get."""


def show_checks(
    screen: Console, subject: str, checks: Sequence[Check], *, only_bad: bool = False
) -> None:
    """Print what a first look at a subject showed."""
    styles = {Status.GOOD: "green", Status.NOTE: "yellow", Status.BAD: "bold red"}
    if only_bad:
        for check in checks:
            if check.status is Status.BAD:
                line = Text(f"{subject}: {check.name}: {check.sentence}", styles[check.status])
                screen.print(line, soft_wrap=True)
        return
    table = Table.grid(padding=(0, 2))
    for check in checks:
        status = Text(str(check.status), style=styles[check.status])
        table.add_row(status, Text(check.name, style="bold"), Text(check.sentence))
    screen.print(Text(subject, style="bold underline"))
    screen.print(table)


def show_replayed(
    screen: Console, trial: Trial, subject: str, replayed: Sequence[Replayed]
) -> None:
    """Print the stages of a trial with their matrices."""
    screen.print(Text(f"{trial.id}, {subject}", style="bold underline"))
    asked = {each.stage.ask: each for each in replayed}
    for ask in trial.asks:
        if ask not in asked:
            sentence = f"{ask.title}: not asked, since a stage before it did not pass"
            screen.print(Text(f"\n{sentence}", style="bold"))
            continue
        _show_stage(screen, asked[ask])


def _show_stage(screen: Console, replayed: Replayed) -> None:
    stage, case = replayed.stage, replayed.stage.case
    screen.print()
    if not stage.measures and stage.W is None:
        screen.print(Text(f"{stage.ask.title}: {stage.outcome}", style="bold"))
        screen.print(Text(f"{stage.message}\n{stage.output}".strip()), soft_wrap=True)
        screen.print(shown_matrices({"A": case.A}))
        return
    judgement = Judgement(stage.outcome, stage.message, stage.measures, stage.labels)
    show_judgement(screen, case, judgement, replayed.nearest)
    for flag in stage.flags:
        screen.print(Text(f"{flag}: {flag.explanation}", style="bold red"))
    if stage.W is None or stage.H is None:
        screen.print(shown_matrices({"A": case.A}))
        return
    permutation = permutation_of(stage.labels)
    order = list(permutation or range(case.rank))
    named = "aligned" if permutation else "as returned"
    returned = {f"W, {named}": stage.W[:, order], f"H, {named}": stage.H[order]}
    screen.print(shown_matrices({"A": case.A, **returned}))
    if replayed.nearest is not None:
        W, H = replayed.nearest.W[:, order], replayed.nearest.H[order]
        called = room_of(case).nearest_called
        answer = {f"{called}: W": W, f"{called}: H": H}
        screen.print(shown_matrices({"A − WH": case.A - stage.W @ stage.H, **answer}))


def show_judgement(
    screen: Console, case: Case, judgement: Judgement, nearest: Nearest | None
) -> None:
    """Print a whole judgement in words."""
    room = room_of(case)
    rows = [
        ("case", case.id),
        ("outcome", f"{judgement.outcome}: {room.meaning(judgement.outcome)}"),
        ("why", judgement.explanation),
        ("grade", judgement.grade or "none"),
        *room.described(case, judgement),
    ]
    if judgement.clipped:
        rows.append(("clipped", "negative entries of rounding size were set to 0"))
    if nearest is not None:
        place = f", at {nearest.place}" if nearest.place else ""
        rows.append((room.nearest_called, f"at relative distance {nearest.distance:.3g}{place}"))
    show_pairs(screen, rows)


def shown_matrices(named: dict[str, Array]) -> Table:
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
