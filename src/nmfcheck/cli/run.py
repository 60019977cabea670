"""`nmfcheck run`."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from .. import suites
from ..errors import SubjectError
from ..report.contents import MOST_SHOWN, contents
from ..report.files import STANDARD_OUTPUT, check_writable
from ..report.terminal import console, progress_bar, show_checks
from ..runner import Campaign
from ..smoke import Status, answered_nothing
from ..smoke import smoke as smoke_check
from ..store import Store, StoredSubject, suite_as_text
from ..subjects import Progress, SubjectName
from ..subjects.problem import printable
from ..suites import Suite
from .options import (
    UNRUNNABLE,
    Interrupted,
    engine_option,
    failures_option,
    jobs_option,
    memory_option,
    option_option,
    parse_limits,
    parse_options,
    report_options,
    selected_suite,
    selection_options,
    timeout_option,
)
from .report import present

LONGEST_NAME = 80


@click.command()
@click.argument("subjects", nargs=-1, required=True, metavar="SUBJECT...")
@selection_options
@option_option
@jobs_option
@timeout_option
@memory_option
@engine_option
@click.option(
    "--store",
    "store_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where the results go.  [default: runs/SUBJECT-SUITE.sqlite]",
)
@click.option(
    "--resume/--fresh",
    default=True,
    help="Go on with what the store has (the default), or throw it away and begin anew.",
)
@click.option(
    "--slopes",
    is_flag=True,
    help="Also measure the slopes of the parameters in ε, the paper's Figure 1: 1000 small runs.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first trial that fails the test.")
@failures_option
@report_options
def run(
    *,
    subjects: tuple[str, ...],
    suite_name: str,
    trials: int | None,
    sizes: str | None,
    eps: str | None,
    entries: str | None,
    options: tuple[str, ...],
    jobs: int | None,
    timeout: float,
    memory_limit: str | None,
    engine: str,
    store_path: Path | None,
    resume: bool,
    slopes: bool,
    fail_fast: bool,
    failures: int,
    details: bool,
    page: str | None,
    junit: str | None,
    json: str | None,
) -> int:
    """Run the paper's test on one or more SUBJECTs and give a verdict on each.

    A SUBJECT is a reference or a library's adapter that `nmfcheck list` names, your own code as
    py:package.module:NAME or py:file.py:NAME (a function f(A, rank, *, W0, H0, seed) that takes any
    of these keywords and returns W, H; an estimator; or a factory of one), or your own program as
    "cmd:PROGRAM ARGUMENTS".

    A trial is one draw of entries and one seed. It is run at ε = 0, where W and H must be
    monomial, then at ε = 1e-3 from the same start, where they must have the two-diagonal form; and
    at ε = 0.25, where a stationary point of that form is exact.

    What is not a reference runs in processes of its own, so that a crash, a hang or an exit costs
    one stage. Results go to a store as they come; the same command goes on where the last one was
    interrupted. With other sizes, trials, ε or entries than the suite's it is another store.

    The verdict is PASS, FAIL or INCONCLUSIVE: the share of trials that pass the test at ε = 0 and
    1e-3, compared with the lowest of five accepted algorithms. Whether runs are exact at ε = 0.25
    is a question of its own. The exit code is 0 for PASS, 1 for FAIL, 3 for INCONCLUSIVE, 4 if a
    subject could not be run, 2 for bad input, 130 after Ctrl-C.

    Example: nmfcheck run py:mypackage.nmf:factorize --option max_iter=5000
    """
    check_writable(page, junit, json)
    suite = selected_suite(suite_name, trials, sizes, eps, entries)
    named = [SubjectName(name, parse_options(options)) for name in dict.fromkeys(subjects)]
    limits = parse_limits(timeout, memory_limit)
    campaign = Campaign(suite, jobs, limits, engine, fail_fast, slopes)
    path = store_path or _default_store(named, suite)
    unrunnable, stored = 0, []
    with Store.create_or_open(path, suite, fresh=not resume) as store:
        fresh = [] if resume else [suite]
        try:
            for subject in named:
                title = f"{printable(subject.name)}, {suite.name} suite"
                with progress_bar(title, campaign.stages) as progress:
                    try:
                        stored.append(_run(campaign, subject, store, fresh, progress))
                    except SubjectError as error:
                        print(f"nmfcheck: {error}", file=sys.stderr)
                        unrunnable += 1
        except KeyboardInterrupt as interrupt:
            there = sum(sum(1 for _ in store.records(each)) for each in store.subjects())
            told = f"{there} stages are in {path}; the same command goes on from there"
            raise Interrupted(told, interrupt) from None
        finally:
            store.remove_if_empty()
        if not stored:
            return UNRUNNABLE
        found = contents([store], only=stored, shown=max(failures, MOST_SHOWN))
    code = present(found, failures=failures, details=details, page=page, junit=junit, json=json)
    click.echo(f"Stored in {path}", err=STANDARD_OUTPUT in (page, junit, json))
    return UNRUNNABLE if unrunnable else code


def _run(
    campaign: Campaign,
    subject: SubjectName,
    store: Store,
    fresh: list[Suite],
    progress: Progress,
) -> StoredSubject:
    """Run a subject; a store that is to begin anew does so when the first one is known to run."""

    def begin() -> None:
        while fresh:
            store.begin_anew(fresh.pop())

    if subject.is_reference:
        begin()
        return campaign.run_reference(subject, store, progress)
    with campaign.workers(subject) as workers:
        workers.start()
        if not fresh and campaign.is_complete(workers, store):
            told = f"{subject.name}: all of it is in {store.path}; --fresh runs it again"
            print(f"nmfcheck: {told}", file=sys.stderr)
        else:
            checks = smoke_check(workers)
            if answered_nothing(checks):
                told = next(check.told for check in checks if check.status is Status.BAD)
                raise SubjectError(f"{subject.name} could not be run: {told}")
            show_checks(console(sys.stderr), subject.name, checks, only_bad=True)
            begin()
        return campaign.run_isolated(workers, store, progress)


def _default_store(subjects: Sequence[SubjectName], suite: Suite) -> Path:
    """Return a name that the same command gives again, and other suites do not."""
    name = "+".join(re.sub(r"[^\w.+-]+", "-", subject.name).strip("-") for subject in subjects)
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}-{_short_hash(name)}"
    whole = suites.SUITES.get(suite.name) == suite
    part = "" if whole else f"-{_short_hash(suite_as_text(suite))}"
    return Path("runs") / f"{name}-{suite.name}{part}.sqlite"


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]
