"""Laws on the terminal: the list, what came of them, one example."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..laws import Law, LawResult, State, find
from ..laws.trying import PREFIX
from .showing import shown_matrices

STYLES = {
    State.HELD: "green",
    State.BROKEN: "bold red",
    State.DOES_NOT_APPLY: "dim",
    State.NOT_TRIED: "yellow",
}


def show_laws(screen: Console, laws: Sequence[Law]) -> None:
    """Print what the laws say."""
    table = Table.grid(padding=(0, 2))
    for law in laws:
        needs = f" Asked of those who offer {_listed(law)}." if law.needs else ""
        table.add_row(Text(law.name, "bold"), str(law.severity), Text(f"{law.statement}{needs}"))
    screen.print(table)


def _listed(law: Law) -> str:
    return " and ".join(str(offer) for offer in law.needs)


def show_tried(
    screen: Console, subject: str, tried: Sequence[LawResult], options: Sequence[str]
) -> None:
    """Print what came of each law, and the lines that show broken ones again."""
    table = Table.grid(padding=(0, 2))
    for result in tried:
        state = Text(str(result.state), STYLES[result.state])
        shown = f"{result.sentence} [{result.example}]" if result.broken else result.sentence
        table.add_row(Text(result.law, "bold"), str(result.severity), state, Text(shown))
    screen.print(Text(subject, style="bold underline"))
    screen.print(table)
    given = "".join(f" --option {shlex.quote(option)}" for option in options)
    for result in tried:
        if result.broken and result.id:
            line = f"  nmfcheck replay {result.id} --subject {shlex.quote(subject)}{given}"
            screen.print(Text(line), soft_wrap=True)
    seconds = sum(result.seconds for result in tried)
    counts = {state: sum(result.state is state for result in tried) for state in State}
    words = ", ".join(f"{number} {state}" for state, number in counts.items() if number)
    screen.print(Text(f"{words}, in {seconds:.1f} s. {_verdict(tried)}"), soft_wrap=True)


def _verdict(tried: Sequence[LawResult]) -> str:
    """Say what the laws that decide come to."""
    must = [result.law for result in tried if result.decides]
    left = sum(result.is_open for result in tried)
    if must:
        return f"FAIL: {', '.join(must)}."
    if left:
        laws = "1 law that decides was" if left == 1 else f"{left} laws that decide were"
        return f"INCONCLUSIVE: {laws} not tried."
    return "No law that decides is broken."


def show_example(
    screen: Console, subject: str, result: LawResult, calls: Sequence[dict[str, Any]]
) -> None:
    """Print one example of a law: what it says, each call with its matrices, what came of it."""
    law = find(result.law)
    title = f"{result.id or PREFIX + result.law}, {subject}"
    screen.print(Text(title, style="bold underline"))
    screen.print(Text(f"{law.statement} {law.reason}"))
    for number, call in enumerate(calls, 1):
        screen.print(Text(f"\ncall {number}: {call['how']}", style="bold"))
        if call["said"]:
            screen.print(Text(call["said"]), soft_wrap=True)
        named = {name: call[name] for name in ("A", "W", "H") if call[name]}
        if named:
            arrays = {name: np.array(rows, dtype=float) for name, rows in named.items()}
            screen.print(shown_matrices(arrays))
    screen.print()
    state = Text(str(result.state), STYLES[result.state])
    screen.print(Text.assemble(state, f"  {result.sentence}"), soft_wrap=True)
