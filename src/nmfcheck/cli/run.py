"""`nmfcheck run`."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from ..checking.campaign import Campaign
from ..checking.runnable import Runnable, objective_of
from ..errors import InputError, SubjectError
from ..presenting.console import console, progress_bar
from ..report.contents import MOST_SHOWN, contents
from ..report.files import STANDARD_OUTPUT, check_apart, check_writable
from ..store import Store
from ..subjects import SubjectName
from ..text import printable
from ..tools.showing import show_checks
from ..tools.smoke import Check
from ..trials import suites
from ..trials.suites import Suite
from .options import (
    UNRUNNABLE,
    Cluster,
    Interrupted,
    Seconds,
    cluster_options,
    engine_option,
    failures_option,
    jobs_option,
    law_options,
    memory_option,
    option_option,
    parse_limits,
    parse_options,
    parse_seeds,
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
@law_options
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
    help="Where the results go.  [default: runs/SUBJECT-SUITE@VERSION.sqlite]",
)
@click.option(
    "--resume/--fresh",
    default=True,
    help="Go on with what the store has (the default), or throw it away and begin anew.",
)
@click.option(
    "--seeds",
    metavar="A-B",
    help="A block of trials: of each cell those with seeds from A to B, all of them. Stores of "
    "other blocks can be joined by `nmfcheck merge`.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first trial that fails the test.")
@click.option(
    "--all",
    "whole",
    is_flag=True,
    help="Run all of the suite, also where the verdict is certain before.",
)
@click.option(
    "--budget",
    type=Seconds(),
    metavar="SECONDS",
    help="End each subject's run after so long; what is open then is INCONCLUSIVE.",
)
@click.option(
    "--mend/--no-mend",
    default=True,
    help="Try small changes of a failing Python subject's source in its processes, to find out "
    "what is wrong with it (the default; its files are left alone), or do not.",
)
@cluster_options
@failures_option
@report_options
def run(
    *,
    subjects: tuple[str, ...],
    suite_name: str,
    trials: int | None,
    family_names: str | None,
    objective: str | None,
    chosen: dict[str, Any],
    law_names: tuple[str, ...],
    skipped_laws: tuple[str, ...],
    options: tuple[str, ...],
    jobs: int | None,
    timeout: float,
    memory_limit: str | None,
    engine: str,
    store_path: Path | None,
    resume: bool,
    seeds: str | None,
    fail_fast: bool,
    whole: bool,
    budget: float | None,
    mend: bool,
    cluster: Cluster | None,
    failures: int,
    tolerance: float | None,
    details: bool,
    page: str | None,
    junit: str | None,
    json: str | None,
) -> int:
    """Run a suite on one or more SUBJECTs and give a verdict on each.

    A SUBJECT is a reference or a library's adapter that `nmfcheck list` names, your own code as
    py:package.module:NAME or py:file.py:NAME (a function f(A, rank, *, W0, H0, seed) that takes any
    of these keywords and returns W, H; an estimator; or a factory of one), or your own program as
    "cmd:PROGRAM ARGUMENTS".

    A suite has cells of several families of matrices whose right factorizations are known. A trial
    is one draw of a cell and one seed. In the bidiagonal family, which is the paper's, and in the
    inflated one it is run at ε = 0, where the factors must be exact, then at ε = 1e-3 from the same
    start, where they must have the right form; and at ε = 0.25, where a stationary point of that
    form is exact. In the others the known components, product or residual must be found.

    What is not a reference runs in processes of its own, so that a crash, a hang or an exit costs
    one stage. Results go to a store as they come; the same command goes on where the last one was
    interrupted. With other families, cells, trials or ε than the suite's it is another store.

    A whole suite also tries laws, which need no known answers: that a given start is used, that a
    sparse A has the answer of the dense one, that the reported error is the error. `nmfcheck laws`
    lists them; where families or cells are chosen, none are tried unless --law names them.

    With --objective kl, or another, the same matrices are judged by that divergence, in the
    families whose answers are known for it.

    A broken law that says "must" fails a subject. The verdict is PASS, FAIL or INCONCLUSIVE: the
    share of trials that pass, compared in every family with the lowest of some accepted algorithms
    or with a fixed share. Whether runs are exact at ε = 0.25 is a question of its own. The exit
    code is 0 for PASS, 1 for FAIL, 3 for INCONCLUSIVE, 4 if a subject could not be run, 2 for bad
    input, 130 after Ctrl-C.

    Example: nmfcheck run py:mypackage.nmf:factorize --option max_iter=5000
    """
    check_writable(page, junit, json)
    given = parse_options(options)
    named = [Runnable(SubjectName(name, given)) for name in dict.fromkeys(subjects)]
    minimised = objective_of(named, objective)
    suite = selected_suite(suite_name, trials, family_names, minimised, chosen)
    suite = suite.with_laws(law_names or None, skipped_laws)
    if seeds is not None:
        if trials is not None:
            raise InputError("--seeds says how many trials there are; leave out --trials")
        suite = suite.block(*parse_seeds(seeds))
        whole = True
    limits = parse_limits(timeout, memory_limit)
    path = store_path or _default_store(named, suite)
    check_apart(path, page, junit, json)
    unrunnable, stored = 0, []
    with ExitStack() as stack:
        store = stack.enter_context(Store.create_or_open(path, suite, fresh=not resume))
        stack.callback(store.remove_if_empty)
        client = None if cluster is None else stack.enter_context(cluster.connected())
        fresh = [] if resume else [suite]
        suite = suite if fresh else store.suite  # which may have more trials
        campaign = Campaign(
            suite, jobs, limits, engine, fail_fast=fail_fast, whole=whole, tolerance=tolerance,
            budget=budget, cluster=client, mend=mend, warn=_warn, tell=_tell,
        )  # fmt: skip

        def begin() -> None:
            """Empty a store that is to begin anew, when the first subject is known to run."""
            while fresh:
                store.begin_anew(fresh.pop())

        try:
            for subject in named:
                title = f"{printable(subject.name)}, {suite.called}"
                with progress_bar(title, suite.stages) as progress:
                    try:
                        anew = begin if fresh else None
                        stored.append(campaign.run(subject, store, progress, anew))
                    except SubjectError as error:
                        _tell(str(error))
                        unrunnable += 1
        except KeyboardInterrupt as interrupt:
            hint = f"{store.count()} stages are in {path}; the same command goes on from there"
            raise Interrupted(hint, interrupt) from None
        if not stored:
            return UNRUNNABLE
        most = max(failures, MOST_SHOWN)
        content = contents([store], only=stored, shown=most, tolerance=tolerance)
    code = present(content, failures=failures, details=details, page=page, junit=junit, json=json)
    click.echo(f"Stored in {path}", err=STANDARD_OUTPUT in (page, junit, json))
    return UNRUNNABLE if unrunnable else code


def _warn(name: str, checks: list[Check]) -> None:
    show_checks(console(sys.stderr), name, checks, only_bad=True)


def _tell(line: str) -> None:
    print(f"nmfcheck: {line}", file=sys.stderr)


def _default_store(subjects: Sequence[Runnable], suite: Suite) -> Path:
    """Return a name that the same command gives again, and other suites do not."""
    name = "+".join(re.sub(r"[^\w.+-]+", "-", subject.name).strip("-") for subject in subjects)
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}-{_short_hash(name)}"
    usual = suites.of_version(suite.name, suite.version, suite.objective)
    title = suite.title.replace(", ", "-")
    path = Path("runs") / f"{name}-{title}.sqlite"
    more = path.exists() and usual.grown_to(suite) not in (None, usual)
    if usual == suite or more:  # trials are added to those that are there
        return path
    return path.with_stem(f"{path.stem}-{_short_hash(suite.as_text())}")


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]
