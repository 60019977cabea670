"""`nmfcheck smoke`."""

from __future__ import annotations

import click

from ..checking.runnable import Runnable, objective_of
from ..executors.local import LocalExecutor
from ..judging.objectives import find as find_objective
from ..presenting.console import console
from ..report.plain import as_json
from ..subjects import SubjectName
from ..tools.showing import show_checks
from ..tools.smoke import smoke as first_look
from .options import (
    COMPLETED,
    FAILED,
    UNRUNNABLE,
    json_option,
    memory_option,
    objective_option,
    option_option,
    parse_limits,
    parse_options,
    timeout_option,
)


@click.command()
@click.argument("subject", metavar="SUBJECT")
@option_option
@objective_option
@timeout_option
@memory_option
@json_option
def smoke(
    *,
    subject: str,
    options: tuple[str, ...],
    objective: str | None,
    timeout: float,
    memory_limit: str | None,
    in_json: bool,
) -> int:
    """Look at a SUBJECT before a long run is spent on it.

    A few tiny problems show whether it starts, what it takes and returns, whether it repeats
    itself, leaves A alone, reads both memory orders, moves from its start, and whether its factors
    are transposed. The exit code is 0 if nothing is wrong, 1 if something is, 4 if it cannot be
    run. Whether its answers are right is for `nmfcheck run` to say.

    Example: nmfcheck smoke py:mypackage.nmf:factorize
    """
    name = SubjectName(subject, parse_options(options))
    with LocalExecutor(name, 1, parse_limits(timeout, memory_limit)) as executor:
        minimised = find_objective(objective_of([Runnable(name)], objective))
        look = first_look(executor, minimised)
    if in_json:
        click.echo(as_json({"subject": subject, "checks": look.checks}))
    else:
        show_checks(console(), subject, look.checks)
    if not look.answered:
        return UNRUNNABLE
    return FAILED if look.bad else COMPLETED
