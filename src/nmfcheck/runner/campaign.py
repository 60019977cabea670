"""A suite through a subject, into a store: what is there already is not run again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from .. import __version__
from ..cases import ONES
from ..perturbation import EPS, SEEDS, N
from ..records import Record, by_trial, records_of
from ..reference.engine import chosen
from ..store import Store, StoredSubject
from ..subjects import Progress, SubjectName, reference_subject
from ..suites import Suite
from ..trials import Rung, Trial
from .batches import run_batches
from .isolated import Cell, IsolatedRun
from .workers import Limits, Workers

SLOPES = tuple(Rung(eps, 3) for eps in (0.0, *EPS))
"""What a trial asks for slopes."""

BATCH = 200
"""So many trials of a reference are run together, and then stored."""


@dataclass(frozen=True)
class Campaign:
    """How a suite is to be run.

    Attributes
    ----------
    suite : which trials.
    jobs : how many workers, or threads of the engine; None for the cores.
    limits : what an isolated subject may use.
    engine : what the references run on.
    fail_fast : whether the first trial that fails the paper's test ends it.
    slopes : whether the slopes of the parameters in ε are asked for, too.
    """

    suite: Suite
    jobs: int | None = None
    limits: Limits = field(default_factory=Limits)
    engine: str = "auto"
    fail_fast: bool = False
    slopes: bool = False

    @property
    def stages(self) -> int:
        """The number of stages of a run in which no trial ends early."""
        return self.suite.stages + (SEEDS * len(SLOPES) if self.slopes else 0)

    def workers(self, subject: SubjectName) -> Workers:
        """Return workers for a subject, which is not loaded yet."""
        return Workers(subject, self.jobs or os.cpu_count() or 1, self.limits)

    def run_reference(
        self, subject: SubjectName, store: Store, progress: Progress
    ) -> StoredSubject:
        """Run a reference algorithm, in this process, in batches."""
        solver = reference_subject(
            subject.name,
            subject.options,
            at_most=self.suite.reference_iterations,
            engine=self.engine,
            threads=self.jobs,
        )
        engine = chosen(self.engine)
        settings = {"options": solver.options, "engine": engine, "nmfcheck": __version__}
        stored = store.subject(subject.name, settings)
        done = self._done(store, stored, progress)
        batches = [
            left[first : first + BATCH]
            for n in self.suite.sizes
            if (left := [t for t in self.suite if t.n == n and t not in done])
            for first in range(0, len(left), BATCH)
        ]
        # The native engine has threads of its own; with NumPy, work is shared out to processes.
        jobs = 1 if engine == "native" else self.jobs
        running = run_batches(solver, batches, jobs=jobs, progress=progress)
        self._record(store, stored, ([r for result in part for r in records_of(result)]
                                     for part in running), done)  # fmt: skip
        if left_over := self._left_for_slopes(store, stored, progress):
            for part in run_batches(solver, [left_over], jobs=1, progress=progress):
                store.write_slopes(stored, [r for result in part for r in records_of(result)])
        return stored

    def is_complete(self, workers: Workers, store: Store) -> bool:
        """Say whether a store has all of a subject's trials."""
        stored = store.find(workers.subject.name, self._settings(workers))
        if stored is None:
            return False
        done = self._done(store, stored, lambda _: None)
        whole = len(done) == len(self.suite.cells()) * self.suite.trials
        return whole and not self._left_for_slopes(store, stored, lambda _: None)

    def run_isolated(self, workers: Workers, store: Store, progress: Progress) -> StoredSubject:
        """Run a subject in its workers."""
        stored = store.subject(workers.subject.name, self._settings(workers))
        done = self._done(store, stored, progress)
        cells = [self._cell(n, kind, done) for n, kind in self.suite.cells()]

        def running() -> Iterator[list[Record]]:
            for records in IsolatedRun(workers, cells):
                yield records
                progress(len(self.suite.ladder) * sum(1 for _ in by_trial(records)))

        self._record(store, stored, running(), done)
        if left := self._left_for_slopes(store, stored, progress):
            for records in IsolatedRun(workers, [Cell(left)]):
                store.write_slopes(stored, records)
                progress(len(records))
        return stored

    def _settings(self, workers: Workers) -> dict[str, Any]:
        about = workers.start()
        limits = {"timeout": self.limits.timeout, "memory": self.limits.memory}
        options = dict(workers.subject.options)
        return {"options": options, "limits": limits, "takes": about.takes, **about.identity}

    def _done(
        self, store: Store, stored: StoredSubject, progress: Progress
    ) -> dict[Trial, list[Record]]:
        """Return what the store has."""
        done = {trial: list(records) for trial, records in by_trial(store.records(stored))}
        progress(len(done) * len(self.suite.ladder))
        return done

    def _left_for_slopes(
        self, store: Store, stored: StoredSubject, progress: Progress
    ) -> list[Trial]:
        """Return the trials for slopes that have not been run, if they are asked for."""
        if not self.slopes:
            return []
        done = store.slopes(stored)
        progress(len(done) * len(SLOPES))
        return [Trial(N, ONES, seed, SLOPES) for seed in range(SEEDS) if seed not in done]

    def _cell(self, n: int, kind: str, done: dict[Trial, list[Record]]) -> Cell:
        """Return what is left of a cell."""
        unanswered, left = 0, []
        for trial in self.suite.cell(n, kind):
            for record in done.get(trial, []):
                unanswered = unanswered + 1 if record.outcome.unanswered else 0
            if trial not in done:
                left.append(trial)
        return Cell(left, unanswered, twice=kind == self.suite.kinds[0])

    def _record(
        self,
        store: Store,
        stored: StoredSubject,
        running: Iterator[list[Record]],
        done: dict[Trial, list[Record]],
    ) -> None:
        """Write records as they come; stop at the first failure if so asked."""
        if self.fail_fast and any(_fails(records) for records in done.values()):
            return
        with closing(running):  # type: ignore[type-var]
            for records in running:
                store.write(stored, records)
                if self.fail_fast and _fails(records):
                    return


def _fails(records: list[Record]) -> bool:
    return any(record.rung.question == 1 and not record.passed for record in records)
