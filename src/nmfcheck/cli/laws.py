"""`nmfcheck laws`."""

from __future__ import annotations

import click

from ..checking.runnable import Runnable, objective_of
from ..executors.lawful import BUDGET
from ..laws import LAWS, find
from ..presenting.console import console
from ..report.plain import as_json
from ..subjects import SubjectName
from ..tools.lawful import try_all
from ..tools.showing_laws import show_laws, show_tried
from .options import (
    COMPLETED,
    FAILED,
    INCONCLUSIVE,
    Seconds,
    json_option,
    law_options,
    memory_option,
    objective_option,
    option_option,
    parse_limits,
    parse_options,
    timeout_option,
)


@click.command()
@click.argument("subject", metavar="[SUBJECT]", required=False)
@law_options
@option_option
@objective_option
@timeout_option
@memory_option
@click.option(
    "--budget",
    type=Seconds(),
    default=BUDGET,
    show_default=True,
    metavar="SECONDS",
    help="For all laws together, a sixth (at least 10) for each; what was not tried is said.",
)
@json_option
def laws(
    *,
    subject: str | None,
    law_names: tuple[str, ...],
    skipped_laws: tuple[str, ...],
    options: tuple[str, ...],
    objective: str | None,
    timeout: float,
    memory_limit: str | None,
    budget: float,
    in_json: bool,
) -> int:
    """List the laws, or try them on a SUBJECT.

    A law holds of every right NMF, or of every one that offers a certain thing, on any matrix. What
    a subject offers is found by looking. A broken law that says "must" fails a subject; one that
    says "should" is a finding. The exit code is 1 if a law that decides is broken, 3 if one was not
    tried and might have been, otherwise 0.

    Example: nmfcheck laws sklearn-cd
    """
    chosen = [find(name) for name in law_names or LAWS]
    skipped = {find(name).name for name in skipped_laws}
    wanted = [law for law in LAWS.values() if law in chosen and law.name not in skipped]
    if subject is None:
        if in_json:
            click.echo(as_json([_as_data(law.name) for law in wanted]))
        else:
            show_laws(console(), wanted)
        return COMPLETED
    name = SubjectName(subject, parse_options(options))
    minimised = objective_of([Runnable(name)], objective)
    limits = parse_limits(timeout, memory_limit)
    tried = try_all(name, [law.name for law in wanted], minimised, limits, budget)
    if in_json:
        results = [{**result.as_fields(), "example": result.id or None} for result in tried]
        click.echo(as_json({"subject": subject, "laws": results}))
    else:
        show_tried(console(), subject, tried, options)
    if any(result.decides for result in tried):
        return FAILED
    return INCONCLUSIVE if any(result.is_open for result in tried) else COMPLETED


def _as_data(name: str) -> dict[str, object]:
    law = find(name)
    return {
        "law": law.name,
        "severity": law.severity,
        "statement": law.statement,
        "reason": law.reason,
        "needs": list(law.needs),
        "usually": law.usually,
    }
