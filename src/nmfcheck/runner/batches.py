"""A suite in batches: all trials of one size at once, several sizes in worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import Any

from ..subjects import Progress, Subject
from ..suites import Suite
from ..trials import Trial, TrialResult, run_trials

Batch = tuple[Subject, list[Trial]]

REPORT_EVERY = 0.1
"""Seconds between two reports of a worker."""


def run_suite(
    subjects: Sequence[Subject],
    suite: Suite,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> dict[str, list[TrialResult]]:
    """Run every trial of a suite on every subject.

    Parameters
    ----------
    subjects : subjects that can be sent to another process, as the references can.
    jobs : number of worker processes; as many as there are cores if not given. With 1, nothing
        leaves this process. Results do not depend on it.
    progress : called now and then with the number of stages that are newly done.

    Returns
    -------
    The results of each subject by name, in the suite's order.
    """
    batches: list[Batch] = [
        (subject, [trial for kind in suite.kinds for trial in suite.cell(n, kind)])
        for subject in subjects
        for n in suite.sizes
    ]
    report = progress or (lambda _: None)
    workers = min(jobs or os.cpu_count() or 1, len(batches))
    if workers == 1:
        parts = [run_trials(subject, trials, report) for subject, trials in batches]
    else:
        parts = _in_processes(batches, workers, report)
    results: dict[str, list[TrialResult]] = {subject.name: [] for subject in subjects}
    for (subject, _), part in zip(batches, parts, strict=True):
        results[subject.name] += part
    return results


def _in_processes(
    batches: Sequence[Batch], workers: int, progress: Progress
) -> list[list[TrialResult]]:
    context = multiprocessing.get_context("spawn")
    reports = context.SimpleQueue()
    pool = ProcessPoolExecutor(workers, context, initializer=_start_worker, initargs=(reports,))
    try:
        # The large sizes first: they take longest, and would hold up the end.
        largest_first = sorted(batches, key=lambda batch: -batch[1][0].n)
        futures = {id(batch[1]): pool.submit(_work, *batch) for batch in largest_first}
        waiting: set[Future[Any]] = set(futures.values())
        while waiting:
            done, waiting = wait(waiting, timeout=REPORT_EVERY, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()  # an exception ends the run here
            while not reports.empty():
                progress(reports.get())
        return [futures[id(trials)].result() for _, trials in batches]
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_reports: Any = None


def _start_worker(reports: Any) -> None:
    """Take Ctrl-C as the parent's business, and remember where to report."""
    global _reports  # noqa: PLW0603 - a worker process has one
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _reports = reports


def _work(subject: Subject, trials: Sequence[Trial]) -> list[TrialResult]:
    """Run a batch in a worker; one whose parent has died has nobody to work for, and ends."""
    parent = os.getppid()
    pending, last = 0.0, time.monotonic()

    def report(done: float) -> None:
        nonlocal pending, last
        pending += done
        if (now := time.monotonic()) - last >= REPORT_EVERY:
            if os.getppid() != parent:
                os._exit(1)
            _reports.put(pending)
            pending, last = 0.0, now

    results = run_trials(subject, trials, report)
    _reports.put(pending)
    return results
