"""`nmfcheck cases` and `nmfcheck judge-dir`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from .. import __version__
from ..errors import InputError
from ..judging.objectives import FROBENIUS
from ..judging.outcomes import Outcome
from ..presenting.console import console
from ..report.contents import contents
from ..report.plain import as_json
from ..report.sections.failures import FailuresSection
from ..report.terminal import show_counts
from ..tools.exchange import ANSWERS, FORMATS, PROBLEMS, judge_folder, write_problems
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
    family_names: str | None,
    objective: str | None,
    chosen: dict[str, Any],
) -> None:
    """Write a suite's matrices and starting points into DIR, for a tool that cannot be driven.

    With csv, npy and mtx there is a folder for each problem, with A, W0 and H0 in it. Lay W and H
    beside them, in any of these formats, and 'nmfcheck judge-dir DIR' judges them. With json,
    problems.jsonl has a problem a line, and the answers {"id": …, "W": …, "H": …} go to
    answers.jsonl.

    Example: nmfcheck cases problems --format npy --sizes 2-4 --trials 20
    """
    minimised = FROBENIUS.name if objective is None else objective
    suite = selected_suite(suite_name, trials, family_names, minimised, chosen)
    number = write_problems(folder, suite, form)
    if form == "json":
        sentence = f"{number} problems are in {folder / PROBLEMS}; answers go to {folder / ANSWERS}"
    else:
        sentence = (
            f"{number} problems are in {folder}, each in a folder; lay W.{form} and H.{form} there"
        )
    click.echo(f"{sentence}; then: nmfcheck judge-dir {folder}")


@click.command("judge-dir")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@failures_option
@json_option
def judge_dir(folder: Path, failures: int, in_json: bool) -> None:
    """Judge the W and H that lie in DIR beside the problems of 'nmfcheck cases'.

    A problem without an answer counts as not run, an answer that cannot be read as an error.
    """
    with judge_folder(folder) as store:
        (subject,) = contents([store], shown=max(failures, 1)).subjects
    outcomes = {outcome for each in subject.counts for s in each.stages for outcome in s.outcomes}
    if outcomes <= {Outcome.NOT_RUN}:
        raise InputError(f"no answer lies in {str(folder)!r}; expected W and H of some problem")
    if in_json:
        suite = json.loads(subject.suite.as_text())
        click.echo(as_json({"nmfcheck": __version__, "suite": suite, "cells": subject.counts}))
        return
    screen = console()
    for family in subject.families:
        show_counts(screen, f"{folder}, {subject.suite.called}: {family.family}", family)
    FailuresSection(subject, failures).show(screen)
