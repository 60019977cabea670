"""`nmfcheck.check`: a suite through a subject in memory, and a report of it."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..arrays import real_number, whole_number
from ..diagnosis import Cause
from ..errors import InputError, SubjectError
from ..executors.cluster.connection import connected
from ..executors.protocol import Limits
from ..judging.objectives import find as find_objective
from ..presenting.console import progress_bar
from ..report.contents import MOST_SHOWN, contents
from ..store import Store
from ..trials import suites
from ..trials.suites import Suite
from ..verdict.regrading import checked_tolerance
from .campaign import Campaign
from .report import Report
from .runnable import objective_of, runnable

if TYPE_CHECKING:
    from distributed import Client


def check(
    subject: Any,
    suite: str | Suite = "quick",
    *,
    families: str | Sequence[str] | None = None,
    trials: int | None = None,
    laws: Sequence[str] | None = None,
    skip_laws: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    objective: str | None = None,
    tolerance: float | None = None,
    whole: bool = False,
    budget: float | None = None,
    isolate: bool = True,
    store: str | Path | None = None,
    jobs: int | None = None,
    timeout: float = Limits().timeout,
    memory: int | None = None,
    engine: str = "auto",
    failures: int = MOST_SHOWN,
    progress: bool = False,
    cluster: Client | str | None = None,
    mend: bool = True,
    **selection: Any,
) -> Report:
    """Run a subject through a suite, and return what is to be said of it.

    >>> import nmfcheck
    >>> report = nmfcheck.check("coordinate-descent", trials=5, sizes=[2, 3])
    >>> report.verdict.share.whole
    20

    Parameters
    ----------
    subject : a function `f(A, rank, *, W0, H0, seed)` that returns W and H and takes any of these
        keywords; an estimator class or instance; a `Command`; or a name, as on the command line.
    suite : ``quick``, ``standard`` or ``full``, a version such as ``quick@1``, or a `Suite`.
    families : some families only.
    trials : the number of trials of each cell, if not the suite's.
    laws : the names of the laws to try, if not all of a whole suite; none where families or cells
        are chosen. An empty list tries none.
    skip_laws : all but these.
    options : for the subject: keywords of the function, parameters of the estimator.
    objective : what it minimises: ``frobenius``, ``kl``, ``itakura-saito`` or ``beta=0.5`` and its
        like. If not given, what the subject says itself (an estimator by its `beta_loss`), or
        the Frobenius norm. Not for a `Suite`, which has one.
    tolerance : what counts as exact, from 1e-10, which is the paper's, to 0.1. If not given, the
        paper's, or 1e-5 for a subject that says it computes in single precision.
    whole : whether all of the suite is run; otherwise the run ends as soon as its verdict is
        certain.
    budget : how many seconds the run may take; what is open then is INCONCLUSIVE.
    isolate : whether it runs in processes of its own, so that a crash or a hang costs one stage.
        A function that cannot be imported by name is forked from this process; where the system
        cannot do that, it runs here, and a line on standard error says so.
    store : a file that keeps the results, and that the same call goes on from; a function without
        a name, of which it cannot be known whether it is the same, begins anew.
    jobs : number of worker processes; as many as there are cores if not given.
    timeout, memory : seconds for each stage, and bytes of address space for a worker.
    engine : what the references run on: ``auto``, ``native`` or ``numpy``.
    failures : how many of the stages that did not pass the report shows.
    progress : whether a progress bar is shown on standard error.
    cluster : a `distributed.Client`, or the address of a Dask scheduler, whose workers run the
        trials; ``local:4`` for four workers on this machine.
    mend : whether small changes of the source of a subject that fails are tried in its processes,
        to find out what is wrong with it.
    selection : options of families, such as `sizes` of the bidiagonal one.
    """
    if "family" in selection:
        raise InputError("check() takes families=, one or several, not family=")
    if isinstance(families, str):
        families = [name.strip() for name in families.split(",")]
    if not 0 < real_number("timeout", timeout) < math.inf:
        raise InputError(f"timeout must be a positive number of seconds, not {timeout!r}")
    if memory is not None:
        whole_number("memory", memory, 1 << 26)
    if jobs is not None:
        whole_number("jobs", jobs, 1)
    if cluster is not None and not isolate:
        raise InputError("on a cluster subjects are always isolated; leave out isolate=False")
    tested = runnable(subject, options)
    if isinstance(suite, Suite):
        objective_of([tested], objective or suite.objective)
        if objective is not None and find_objective(objective).name != suite.objective:
            raise InputError(f"the suite is for {suite.objective}, not for {objective}")
        chosen = suite
    else:
        chosen = suites.find(suite, objective_of([tested], objective))
    chosen = chosen.selected(families=families, trials=trials, **selection)
    chosen = chosen.with_laws(laws, skip_laws)
    tolerance = None if tolerance is None else checked_tolerance(tolerance)
    if budget is not None and not real_number("budget", budget) > 0:
        raise InputError(f"budget must be a positive number of seconds, not {budget!r}")
    with ExitStack() as stack:
        path = None if store is None else Path(store)
        opened = Store.in_memory(chosen) if path is None else Store.create_or_open(path, chosen)
        stack.enter_context(opened)
        stack.callback(opened.remove_if_empty)
        chosen = opened.suite  # which may have more trials
        client = None if cluster is None else stack.enter_context(connected(cluster))
        campaign = Campaign(
            chosen, jobs, Limits(timeout, memory), engine, isolate, whole=whole,
            tolerance=tolerance, budget=budget, cluster=client, mend=mend, tell=_tell,
        )  # fmt: skip
        advance = (
            stack.enter_context(progress_bar(f"{tested.name}, {chosen.called}", chosen.stages))
            if progress
            else (lambda _: None)
        )
        stored = campaign.run(tested, opened, advance)
        content = contents([opened], only=[stored], shown=failures, tolerance=tolerance)
        report = Report(content)
    if report.verdict.unanswered_all:
        silent = [finding for finding in report.findings if finding.cause is Cause.SILENT]
        reason = (*silent, *report.findings)[0].sentence
        raise SubjectError(f"{tested.name} could not be run: {reason}")
    return report


def _tell(line: str) -> None:
    print(f"nmfcheck: {line}", file=sys.stderr)
