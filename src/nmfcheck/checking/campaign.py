"""A suite through a subject, into a store: what is there already is not run again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..diagnosis.experiments import Asked, perform
from ..errors import InputError, SubjectError
from ..executors.inline import InlineExecutor
from ..executors.lawful import BUDGET, try_laws
from ..executors.local import LocalExecutor
from ..executors.protocol import About, Executor, Limits
from ..families import Question
from ..judging.objectives import find as find_objective
from ..laws import State
from ..reference.engine import chosen
from ..store import Results, Store, StoredSubject
from ..subjects import Progress, SubjectName, reference_subject
from ..subjects.precision import own_tolerance
from ..tools.smoke import Check, smoke
from ..trials.driver import Driver, Plan
from ..trials.stage import Stage
from ..trials.suites import Suite
from ..verdict.baseline import shipped_for
from ..verdict.decision import Decision
from ..verdict.levels import EARLY_SINCE, levels
from ..verdict.of_store import verdict_of
from ..verdict.regrading import passes
from ..verdict.stopping import STOPPED, Certainty, Stopped
from .monitor import Monitor
from .runnable import Runnable

if TYPE_CHECKING:
    from distributed import Client

    from ..executors.cluster.executor import ClusterExecutor

MONITORED = "monitored"
"""Under this key a store keeps that all trials were run to be looked at, with which tolerance."""

ASKED_TWICE = 3
"""So many trials of each shape are asked one thing twice, to see whether the answers agree."""

Begin = Callable[[], None]


def _keep() -> None:
    """Leave what the store holds."""


@dataclass(frozen=True)
class Campaign:
    """How a suite is to be run.

    Attributes
    ----------
    suite : which trials.
    jobs : how many workers, or threads of the engine; None for the cores.
    limits : what an isolated subject may use.
    engine : what the references run on.
    isolate : whether subjects that are not references run in processes of their own.
    fail_fast : whether the first trial that fails its test ends it.
    law_budget : seconds for all laws together.
    whole : whether the suite is run as a whole; otherwise a run ends as soon as its verdict is
        certain, where the suite's version allows it. References always run all of it.
    tolerance : what counts as exact; None for what the precision that a subject says allows.
    budget : how many seconds a run may take; None for as long as it takes.
    cluster : where trials are run; None for this machine. Laws and experiments stay here.
    mend : whether small changes of the source of a subject that fails are tried.
    warn : called with what a first look showed to be wrong.
    tell : called with a line for the user.
    """

    suite: Suite
    jobs: int | None = None
    limits: Limits = field(default_factory=Limits)
    engine: str = "auto"
    isolate: bool = True
    fail_fast: bool = False
    law_budget: float = BUDGET
    whole: bool = False
    tolerance: float | None = None
    budget: float | None = None
    cluster: Client | None = None
    mend: bool = True
    warn: Callable[[str, list[Check]], None] = lambda _name, _checks: None
    tell: Callable[[str], None] = lambda _line: None

    def run(
        self, subject: Runnable, store: Store, progress: Progress, begin: Begin | None = None
    ) -> StoredSubject:
        """Run a subject where it belongs; raise `SubjectError` if it cannot be run at all.

        Parameters
        ----------
        begin : throws away what the store holds; called when the subject is known to run.
        """
        if subject.is_reference:
            return self._run_reference(subject, store, progress, begin)
        if self.cluster is not None and subject.named is None:
            raise InputError(
                f"{subject.name} cannot be sent to a cluster: workers import subjects by name"
            )
        if self.isolate and (subject.named is not None or LocalExecutor.can_fork()):
            return self._run_local(subject, store, progress, begin)
        if self.isolate:
            self.tell(f"{subject.name} cannot be sent to another process, and runs in this one")
        return self._run_inline(subject, store, progress, begin)

    def _run_reference(
        self, subject: Runnable, store: Store, progress: Progress, begin: Begin | None
    ) -> StoredSubject:
        """Run a reference algorithm, in this process, in batches."""
        assert subject.named is not None
        solver = reference_subject(
            subject.name,
            subject.named.options,
            at_most=self.suite.reference_iterations,
            engine=self.engine,
            threads=self.jobs,
        )
        engine = chosen(self.engine)
        settings = {"options": solver.options, "engine": engine, "nmfcheck": __version__}
        # The native engine has threads of its own; with NumPy, work is shared out to processes.
        processes = 1 if engine == "native" or self.cluster else self.jobs or os.cpu_count() or 1
        with InlineExecutor(solver, progress, processes) as executor, ExitStack() as stack:
            through: Executor | None = None
            if self.cluster is not None:
                limit = {"at_most": self.suite.reference_iterations, "engine": engine}
                elsewhere = self._elsewhere(subject.named, executor.start(), limit)
                through = stack.enter_context(elsewhere)
                through.start()  # which may refuse it
            (begin or _keep)()
            stored = store.subject(subject.name, settings)
            self._carry(executor, store, stored, progress, through=through, together=True)
        return stored

    def _run_local(
        self, subject: Runnable, store: Store, progress: Progress, begin: Begin | None
    ) -> StoredSubject:
        """Run a subject in workers of its own, after a first look at it."""
        jobs = 1 if self.cluster else self.jobs or os.cpu_count() or 1
        with subject.local(jobs, self.limits) as executor:
            about = executor.start()
            limits = {"timeout": self.limits.timeout, "memory": self.limits.memory}
            settings = {"limits": limits, **subject.settings(about.takes, about.identity)}
            known = store.find(subject.name, settings)
            asked = self.suite.asked_of(about.takes)
            complete = known is not None and self._is_complete(store, known, asked)
            if begin is None and complete and known and not self._laws_left(store, known):
                self.tell(f"{subject.name}: all of it is in {store.path}; --fresh runs it again")
            else:
                look = smoke(executor, find_objective(self.suite.objective))
                if not look.answered:
                    reason = look.bad[0].sentence
                    raise SubjectError(f"{subject.name} could not be run: {reason}")
                self.warn(subject.name, look.bad)
            with ExitStack() as stack:
                through: Executor = executor
                if self.cluster is not None:
                    assert subject.named is not None
                    through = stack.enter_context(self._elsewhere(subject.named, about))
                    through.start()  # which may refuse it
                (begin or _keep)()
                stored = store.subject(subject.name, settings)
                self._carry(executor, store, stored, progress, through=through)
            self._experiment(
                subject, executor, lambda other: other.local(1, self.limits), store, stored,
                isolated=True,
            )  # fmt: skip
        return stored

    def _elsewhere(
        self, subject: SubjectName, about: About, reference: dict[str, Any] | None = None
    ) -> ClusterExecutor:
        """Return an executor on the cluster."""
        from ..executors.cluster.executor import ClusterExecutor  # late: few need it

        assert self.cluster is not None
        return ClusterExecutor(
            self.cluster, subject, about, self.limits, reference=reference, tell=self.tell
        )

    def _run_inline(
        self, subject: Runnable, store: Store, progress: Progress, begin: Begin | None
    ) -> StoredSubject:
        """Run a subject in this process."""
        with subject.inline() as executor:
            about = executor.start()
            identity = {"nmfcheck": __version__, **about.identity}
            settings = {"in_process": True, **subject.settings(about.takes, identity)}
            (begin or _keep)()
            stored = store.subject(subject.name, settings)
            self._carry(executor, store, stored, progress)
            self._experiment(subject, executor, lambda other: other.inline(), store, stored)
        return stored

    def _experiment(
        self,
        subject: Runnable,
        executor: Executor,
        place: Callable[[Runnable], AbstractContextManager[Executor]],
        store: Store,
        stored: StoredSubject,
        *,
        isolated: bool = False,
    ) -> None:
        """Ask a subject that fails a few things more, to find out why.

        Parameters
        ----------
        place : where the same subject with other options is to run.
        isolated : whether that is a new process.
        """
        about, results = executor.start(), store.results(stored)
        asked = self.suite.asked_of(about.takes)
        noted = store.noted(stored, STOPPED)
        verdict = verdict_of(
            results,
            asked,
            shipped_for(self.suite),
            tolerance=self._tolerance(stored),
            stopped=None if noted is None else Stopped.from_text(noted),
            extensions=store.extensions,
        )
        if verdict.decision is not Decision.FAIL or verdict.unanswered_all:
            return

        def variant(options: Mapping[str, Any]) -> AbstractContextManager[Executor]:
            changed = subject.with_options(options)
            if changed is None:
                raise InputError(f"{subject.name} takes no options")
            return place(changed)

        fresh = (lambda: place(subject)) if isolated else None
        elsewhere = self.cluster is not None
        asking = Asked(executor, about.parameters, variant, fresh, elsewhere, self.mend)
        for experiment in perform(asking, results, asked, results.experiments()):
            store.write_experiment(stored, experiment.name, experiment.as_data())

    def _carry(
        self,
        executor: Executor,
        store: Store,
        stored: StoredSubject,
        progress: Progress,
        *,
        through: Executor | None = None,
        together: bool = False,
    ) -> None:
        """Carry what is left of the suite through an executor, and write stages as they come.

        Parameters
        ----------
        executor : for the laws, on this machine.
        through : for the trials; the same if not given.
        together : whether many problems are solved at a time: of one cell after the other, and all
            of them.
        """
        if self.fail_fast and self._has_failed(store, stored):
            return
        self._try_laws(executor, store, stored)
        asked = self.suite.asked_of(executor.start().takes)
        progress(self.suite.stages - asked.stages)
        plans = self._plans(asked, store.results(stored), progress, 0 if together else ASKED_TWICE)
        all_of_it = together or self.whole or asked.extra or asked.first
        early = not all_of_it and asked.version >= EARLY_SINCE
        monitor = self._monitor(store, stored, asked, early=early)
        store.note(stored, MONITORED, str(self._tolerance(stored)) if monitor.alone else None)
        store.note(stored, STOPPED, None)
        rounds = not together and self.suite.version >= EARLY_SINCE
        stopped = monitor.stop()
        counts = not together or through is not None  # otherwise the engine does
        driver = Driver(through or executor, plans, progress, counts=counts, rounds=rounds)
        running = iter(driver)
        with closing(running):  # type: ignore[type-var]
            for stages in running if stopped is None else ():
                store.write(stored, stages)
                if self.fail_fast and any(self._fails(stage, stored) for stage in stages):
                    return
                monitor.add(stages)
                if stopped := monitor.stop():
                    break
                if monitor.narrowed:
                    for plan in plans:
                        plan.left_out = not monitor.wants(plan)
        if stopped and any(plan.trials for plan in plans):
            why, numbers = stopped
            if numbers is not None:  # others came before these were looked at, or did not
                store.trim(stored, numbers)
            store.note(stored, STOPPED, why.as_text())
            progress(asked.stages)  # as far as it goes

    def _monitor(
        self, store: Store, stored: StoredSubject, suite: Suite, *, early: bool
    ) -> Monitor:
        """Return what looks at the verdict while the suite runs."""
        certainty = None
        if early:
            spent = levels(store.extensions)
            lawful = not self._laws_left(store, stored)
            certainty = Certainty(suite, shipped_for(suite), spent, self._tolerance(stored), lawful)
        alone = store.noted(stored, MONITORED) == str(self._tolerance(stored))
        return Monitor(certainty, store.results(stored), self.budget, alone=alone)

    def _tolerance(self, stored: StoredSubject) -> float:
        """Return what counts as exact for a subject."""
        return own_tolerance(stored.settings) if self.tolerance is None else self.tolerance

    def _try_laws(self, executor: Executor, store: Store, stored: StoredSubject) -> None:
        """Try the laws that have not been tried, and write down what came of each."""
        left = self._laws_left(store, stored)
        seconds = self.law_budget if self.budget is None else min(self.law_budget, self.budget)
        for result in try_laws(executor, left, self.suite.objective, seconds):
            store.write_law(stored, result)

    def _laws_left(self, store: Store, stored: StoredSubject) -> list[str]:
        known = store.results(stored).laws()
        tried = {each.law for each in known if each.state is not State.NOT_TRIED}
        return [name for name in self.suite.laws if name not in tried]

    @staticmethod
    def _plans(suite: Suite, results: Results, progress: Progress, twice: int) -> list[Plan]:
        """Return what is left of each cell; what is there already counts as done."""
        plans = []
        shapes = set()
        soon = suite.not_to_be_spared
        for cell in (*suite.cells, *suite.extra):
            trials, done = suite.cell(cell), results.done(cell)
            if done:
                progress(len(trials[0].asks) * sum(seed in done for seed in trials.seeds))
            unanswered = 0
            for outcome in (outcome for outcomes in done.values() for outcome in outcomes):
                unanswered = unanswered + 1 if outcome.unanswered else 0
            shape = (cell.family, cell.m, cell.n, cell.k)
            first = shape not in shapes and cell not in suite.extra
            shapes.add(shape)
            left = trials.without(done) if done else trials
            again = twice if first else 0
            plans.append(Plan(left, unanswered, twice=again, whole=len(trials), soon=cell in soon))
        return plans

    @staticmethod
    def _is_complete(store: Store, stored: StoredSubject, suite: Suite) -> bool:
        """Say whether a store has all of a subject's trials."""
        results = store.results(stored)
        wanted = {**suite.cells, **suite.extra}
        return all(len(results.done(cell)) >= trials for cell, trials in wanted.items())

    def _has_failed(self, store: Store, stored: StoredSubject) -> bool:
        """Say whether a trial that is there has failed its test."""
        return any(
            self._fails(stage, stored)
            for cell in self.suite.cells
            for stage in store.results(stored).stages_of(cell)
        )

    def _fails(self, stage: Stage, stored: StoredSubject) -> bool:
        """Say whether a stage fails the test."""
        defect = stage.trial.family.defect(stage.measures)
        passed = passes(stage.ask, stage.outcome, defect, self._tolerance(stored))
        return stage.ask.question is Question.TEST and not passed
