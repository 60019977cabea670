"""Trials in batches: all of one size at once, several sizes in worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import Any

from ..protocol import run_trials
from ..subjects import Progress, Subject
from ..trials import Trial, TrialResult

REPORT_EVERY = 0.1
"""Seconds between two reports of a worker."""


def run_batches(
    subject: Subject,
    batches: Sequence[Sequence[Trial]],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Iterator[list[TrialResult]]:
    """Run batches of trials, each of one size; give their results as they are done.

    Parameters
    ----------
    subject : one that can be sent to another process, as the references can.
    jobs : number of worker processes; as many as there are cores if not given. With 1, nothing
        leaves this process. Results do not depend on it.
    progress : called now and then with the number of stages that are newly done.
    """
    report = progress or (lambda _: None)
    workers = min(jobs or os.cpu_count() or 1, len(batches))
    if workers <= 1:
        yield from (run_trials(subject, trials, report) for trials in batches)
    else:
        yield from _in_processes(subject, batches, workers, report)


def _in_processes(
    subject: Subject, batches: Sequence[Sequence[Trial]], workers: int, progress: Progress
) -> Iterator[list[TrialResult]]:
    context = multiprocessing.get_context("spawn")
    reports = context.SimpleQueue()
    pool = ProcessPoolExecutor(workers, context, initializer=_start_worker, initargs=(reports,))
    try:
        # The large sizes first: they take longest, and would hold up the end.
        largest_first = sorted(batches, key=lambda trials: -trials[0].n)
        waiting: set[Future[Any]] = {pool.submit(_work, subject, part) for part in largest_first}
        while waiting:
            done, waiting = wait(waiting, timeout=REPORT_EVERY, return_when=FIRST_COMPLETED)
            while not reports.empty():
                progress(reports.get())
            for future in done:
                yield future.result()  # an exception ends the run here
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
