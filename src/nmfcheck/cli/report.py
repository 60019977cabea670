"""`nmfcheck report` and `nmfcheck compare`, and what `nmfcheck run` shows at its end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click

from ..presenting.console import console
from ..report.contents import MOST_SHOWN, Contents, contents
from ..report.files import STANDARD_OUTPUT, check_writable, write_files
from ..report.terminal import show
from ..store import Store
from ..verdict.decision import Decision
from .options import COMPLETED, FAILED, INCONCLUSIVE, UNRUNNABLE, failures_option, report_options

EXIT_CODES = {
    Decision.PASS: COMPLETED,
    Decision.FAIL: FAILED,
    Decision.INCONCLUSIVE: INCONCLUSIVE,
}


@click.command()
@click.argument("path", metavar="STORE", type=click.Path(path_type=Path))
@failures_option
@report_options
def report(
    *,
    path: Path,
    failures: int,
    tolerance: float | None,
    details: bool,
    page: str | None,
    junit: str | None,
    json: str | None,
) -> int:
    """Show the verdicts on what is in a STORE, and write the report's files again.

    The same store gives the same files, byte by byte. The exit code is that of `nmfcheck run`.

    Example: nmfcheck report runs/sklearn-cd-standard@6.sqlite --report out.html
    """
    check_writable(page, junit, json)
    with Store.read(path) as store:
        content = contents([store], shown=max(failures, MOST_SHOWN), tolerance=tolerance)
    return present(content, failures=failures, details=details, page=page, junit=junit, json=json)


@click.command()
@click.argument("paths", metavar="STORE STORE...", nargs=-1, required=True,
                type=click.Path(path_type=Path))  # fmt: skip
@report_options
def compare(
    *,
    paths: tuple[Path, ...],
    tolerance: float | None,
    details: bool,
    page: str | None,
    junit: str | None,
    json: str | None,
) -> int:
    """Rank the subjects of several STOREs, which must be of the same version of suites.

    The exit code is that of `nmfcheck run`.

    Example: nmfcheck compare runs/sklearn-cd-quick@6.sqlite runs/sklearn-mu-quick@6.sqlite
    """
    different = {path.resolve(): path for path in paths}
    if len(different) < 2:
        raise click.UsageError("expected two different stores or more")
    check_writable(page, junit, json)
    with ExitStack() as stack:
        stores = [stack.enter_context(Store.read(path)) for path in different.values()]
        content = contents(stores, tolerance=tolerance)
    return present(
        content, failures=0, details=details, page=page, junit=junit, json=json, brief=True
    )


def present(
    contents: Contents,
    *,
    failures: int,
    details: bool,
    page: str | None,
    junit: str | None,
    json: str | None,
    brief: bool = False,
) -> int:
    """Show a report on the terminal, write its files, and return the exit code."""
    if STANDARD_OUTPUT not in (page, junit, json):
        show(console(), contents, failures=failures, details=details, brief=brief)
    for name in write_files(contents, page=page, junit=junit, json=json):
        click.echo(f"Written to {name}", err=True)
    return exit_code_of(contents)


def exit_code_of(contents: Contents) -> int:
    """Return 4 if a subject could not be run, else 1 if any fails, else 3, else 0."""
    if any(each.verdict.unanswered_all for each in contents.subjects):
        return UNRUNNABLE
    return worst([EXIT_CODES[each.verdict.decision] for each in contents.subjects])


def worst(codes: Sequence[int]) -> int:
    """Return the exit code of several subjects."""
    order = (UNRUNNABLE, FAILED, INCONCLUSIVE, COMPLETED)
    return min(codes, key=order.index, default=COMPLETED)
