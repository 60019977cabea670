"""`nmfcheck cases` and `nmfcheck judge-dir`."""

from __future__ import annotations

from pathlib import Path

import click

from .. import __version__
from ..errors import InputError
from ..exchange import ANSWERS, FORMATS, PROBLEMS, judge_folder, write_problems
from ..outcomes import Outcome
from ..report.plain import as_json
from ..report.terminal import console, show_counts, show_failures
from ..summary import count
from .options import failures_option, json_option, selected_suite, selection_options


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMATS), default="csv", show_default=True)
@selection_options
def cases(
    *,
    folder: Path,
    form: str,
    suite_name: str,
    trials: int | None,
    sizes: str | None,
    eps: str | None,
    entries: str | None,
) -> None:
    """Write a suite's matrices and starting points into DIR, for a tool that cannot be driven.

    With csv, npy and mtx there is a folder for each problem, with A, W0 and H0 in it. Lay W and H
    beside them, in any of these formats, and 'nmfcheck judge-dir DIR' judges them. With json,
    problems.jsonl has a problem a line, and the answers {"id": …, "W": …, "H": …} go to
    answers.jsonl.

    Example: nmfcheck cases problems --format npy --sizes 2-4 --trials 20
    """
    suite = selected_suite(suite_name, trials, sizes, eps, entries)
    number = write_problems(folder, suite, form)
    if form == "json":
        told = f"{number} problems are in {folder / PROBLEMS}; answers go to {folder / ANSWERS}"
    else:
        told = (
            f"{number} problems are in {folder}, each in a folder; lay W.{form} and H.{form} there"
        )
    click.echo(f"{told}; then: nmfcheck judge-dir {folder}")


@click.command("judge-dir")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@failures_option
@json_option
def judge_dir(folder: Path, failures: int, in_json: bool) -> None:
    """Judge the W and H that lie in DIR beside the problems of 'nmfcheck cases'.

    A problem without an answer counts as not run, an answer that cannot be read as an error.
    """
    suite, records = judge_folder(folder)
    if all(record.outcome is Outcome.NOT_RUN for record in records):
        raise InputError(f"no answer lies in {str(folder)!r}; expected W and H of some problem")
    cells = count(records, suite.ladder)
    if in_json:
        about = {"name": suite.name, "version": suite.version}
        click.echo(as_json({"nmfcheck": __version__, "suite": about, "cells": cells}))
    else:
        screen = console()
        show_counts(screen, f"{folder}, {suite.name} suite", cells)
        show_failures(screen, [r for r in records if not r.passed], failures, "")
