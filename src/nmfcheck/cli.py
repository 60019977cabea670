"""The command line."""

from __future__ import annotations

import io
import os
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import click

from . import __version__, suites
from .cases import Case, bidiagonal
from .errors import InputError
from .judge import judge as judge_factors
from .matrices import read_matrix
from .nearest import nearest_exact
from .outcomes import Outcome
from .reference.engine import ENGINES, chosen, description
from .report.plain import as_json, plain
from .report.terminal import console, progress_bar, show_counts, show_judgement, show_rows
from .runner import run_suite
from .subjects import REFERENCES, find
from .summary import count

COMPLETED, NO_GRADE, USAGE, INTERRUPTED = 0, 1, 2, 130


def main() -> None:
    """Run the command line: errors are one line, and bad input exits with 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # "?" for an ε that the terminal cannot show
    try:
        code = cli.main(prog_name="nmfcheck", standalone_mode=False)
    except InputError as error:
        _fail(str(error))
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "nmfcheck"
        _fail(f"{error.format_message().rstrip('.')}; see '{command} --help'")
    except click.ClickException as error:
        _fail(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        print("nmfcheck: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # whoever read our output has seen enough
        _give_up_output()
        sys.exit(COMPLETED)
    except BrokenProcessPool:
        _fail("a worker process was killed, perhaps for want of memory; try --jobs 1")
    except OSError as error:  # a full disk, for example
        _give_up_output()
        _fail(f"cannot write: {error.strerror or error}")
    sys.exit(code if isinstance(code, int) else COMPLETED)


def _give_up_output() -> None:
    """Let what is still to be written to standard output go nowhere, without complaint."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> None:
    print(f"nmfcheck: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(USAGE)


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda context, _, asked: _show_version(context) if asked else None,
    help="Show the version, and the engine that the references run on.",
)
@click.pass_context
def cli(context: click.Context) -> None:
    """Tell whether an NMF implementation really solves NMF.

    It is given matrices whose exact nonnegative factorizations are all known, and judged by what
    it returns.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _show_version(context: click.Context) -> None:
    click.echo(f"nmfcheck {__version__}, engine: {description()}")
    context.exit()


suite_option = click.option(
    "--suite",
    "suite_name",
    default="quick",
    show_default=True,
    metavar="NAME",
    help="Which suite: quick, standard or full.",
)
json_option = click.option("--json", "in_json", is_flag=True, help="Print JSON instead of text.")


@cli.command()
@click.argument("subjects", nargs=-1, required=True, metavar="SUBJECT...")
@suite_option
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of cores to use.  [default: all]",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    show_default=True,
    help="What the references run on; auto is native where that was built.",
)
@json_option
def run(
    *, subjects: tuple[str, ...], suite_name: str, jobs: int | None, engine: str, in_json: bool
) -> None:
    """Run the paper's test on one or more SUBJECTs and count the outcomes.

    A trial is one draw of entries and one seed. It is run at ε = 0, where W and H must be
    monomial, then at ε = 1e-3 from the same start, where they must have the two-diagonal form; and
    at ε = 0.25, where a stationary point of that form is exact. `nmfcheck list` names the subjects
    and suites. The exit code is 0 whenever the run completes.

    The table shows, of all trials, how many were exact, how many first-order or better, how often
    each other outcome occurred, and the median of max|A − WH| / max(a0).

    Example: nmfcheck run multiplicative-update als --suite quick
    """
    suite = suites.find(suite_name)
    # A subject that is named twice is run once.
    found = [
        find(name, suite.reference_iterations, engine=engine, threads=jobs)
        for name in dict.fromkeys(subjects)
    ]
    stages = len(found) * len(suite.cells()) * suite.trials * len(suite.ladder)
    with progress_bar(f"{suite.name} suite", stages) as progress:
        # The native engine has threads of its own; with NumPy, work is shared out to processes.
        processes = 1 if chosen(engine) == "native" else jobs
        results = run_suite(found, suite, jobs=processes, progress=progress)
    counts = {subject.name: count(results[subject.name]) for subject in found}
    if in_json:
        told = [
            {"name": subject.name, "iterations": subject.iterations, "cells": counts[subject.name]}
            for subject in found
        ]
        about = {"name": suite.name, "version": suite.version}
        click.echo(
            as_json(
                {
                    "nmfcheck": __version__,
                    "engine": chosen(engine),
                    "suite": about,
                    "subjects": told,
                }
            )
        )
        return
    screen = console()
    for subject in found:
        title = f"{subject.name}, {suite.name} suite, {subject.iterations:,} iterations"
        show_counts(screen, title, counts[subject.name])


@cli.command("list")
@click.argument("what", type=click.Choice(["all", "subjects", "suites", "cases"]), default="all")
@suite_option
@json_option
def list_(what: str, suite_name: str, in_json: bool) -> None:
    """List the subjects, the suites, or the ids of a suite's cases."""
    suite = suites.find(suite_name)
    cases = list(dict.fromkeys(trial.case(rung.eps).id for trial in suite for rung in trial.ladder))
    if in_json:
        everything = {
            "subjects": _subject_rows(),
            "suites": list(suites.SUITES.values()),
            "cases": {"suite": suite.name, "ids": cases},
        }
        click.echo(as_json(everything if what == "all" else {what: everything[what]}))
        return
    if what == "cases":
        click.echo("\n".join(cases))
        return
    screen = console()
    if what in ("all", "subjects"):
        show_rows(screen, "subjects", [(row["name"], row["summary"]) for row in _subject_rows()])
    if what in ("all", "suites"):
        show_rows(screen, "suites", [(s.name, s.scope, s.summary) for s in suites.SUITES.values()])
    if what == "all":
        hint = f"nmfcheck list cases --suite {suite.name}"
        show_rows(screen, "cases", [(f"{len(cases)} in the {suite.name} suite", hint)])


def _subject_rows() -> list[dict[str, Any]]:
    return [
        {"name": name, "iterations": iterations, "summary": summary}
        for name, (_, iterations, summary) in REFERENCES.items()
    ]


@cli.command()
@click.argument("w_file", metavar="W", type=click.Path(path_type=Path))
@click.argument("h_file", metavar="H", type=click.Path(path_type=Path))
@click.option("--a0", metavar="X,X,…", help="The diagonal of A.")
@click.option("--a1", metavar="X,…", help="Its superdiagonal, before ε.  [default: ones]")
@click.option("--eps", metavar="ε", help="The size of the superdiagonal.  [default: 0]")
@click.option("--case", "case_id", metavar="ID", help="The case's id, instead of a0, a1 and ε.")
@json_option
def judge(
    *,
    w_file: Path,
    h_file: Path,
    a0: str | None,
    a1: str | None,
    eps: str | None,
    case_id: str | None,
    in_json: bool,
) -> int:
    """Judge a factorization of A = diag(a0) + ε·diag(a1, 1) that lies in two files.

    W and H are .csv (numbers between commas, one row a line), .npy or .mtx (Matrix Market) files.
    The exit code is 0 if a grade is reached (exact or first-order) and 1 if not. In JSON, null
    stands where there is no number.

    Example: nmfcheck judge --a0 1,1,1 --a1 1,1 --eps 1e-3 W.csv H.csv
    """
    case = _case(a0, a1, eps, case_id)
    W, H = read_matrix(w_file), read_matrix(h_file)
    for path, X in ((w_file, W), (h_file, H)):
        if X.shape != case.A.shape:
            expected = f"for n = {case.n} it must be {case.A.shape}"
            raise InputError(f"{path} has shape {X.shape}; {expected}")
    judgement = judge_factors(case, W, H)
    nearest = None if judgement.outcome is Outcome.INVALID else nearest_exact(case, W, H)
    if in_json:
        click.echo(as_json({"case": case.id, **plain(judgement), "nearest_exact": nearest}))
    else:
        show_judgement(console(), case, judgement, nearest)
    return NO_GRADE if judgement.grade is None else COMPLETED


def _case(a0: str | None, a1: str | None, eps: str | None, case_id: str | None) -> Case:
    if case_id is not None:
        if (a0, a1, eps) != (None, None, None):
            raise InputError("--case says it all; leave out --a0, --a1 and --eps")
        return Case.from_id(case_id)
    if a0 is None:
        raise InputError("say which matrix was factorized: --a0 (with --a1 and --eps) or --case")
    size = [0.0] if eps is None else _numbers("--eps", eps)
    if len(size) != 1:
        raise InputError(f"--eps is {eps!r}; expected one number")
    return bidiagonal(_numbers("--a0", a0), None if a1 is None else _numbers("--a1", a1), size[0])


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")] if text.strip() else []
    except ValueError:
        expected = "a number" if option == "--eps" else "numbers between commas"
        raise InputError(f"{option} is {text!r}; expected {expected}") from None
