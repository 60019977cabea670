"""What the harness costs: a stage of an isolated subject, and what a second worker brings.

Stages go through all of it: workers, judge, store; here, in this process, and on a cluster of this
machine. `make bench` runs it.
"""

import importlib.util
import sys
import tempfile
import time
from pathlib import Path

from nmfcheck.checking.campaign import ASKED_TWICE
from nmfcheck.executors.cluster.connection import connected
from nmfcheck.executors.cluster.executor import ClusterExecutor
from nmfcheck.executors.local import LocalExecutor
from nmfcheck.executors.protocol import Executor
from nmfcheck.store import Store
from nmfcheck.subjects import Subject, SubjectName, as_subject
from nmfcheck.trials import suites
from nmfcheck.trials.driver import Driver, Plan, run_trials
from nmfcheck.trials.suites import Suite

SUBJECTS = """
import time
import numpy as np
from nmfcheck.subjects import Answer
def exact(A, rank, *, W0, H0, seed):
    return A, np.eye(rank)
def start(A, rank, *, W0, H0, seed):
    return W0, H0
def in_5_ms(A, rank, *, W0, H0, seed):
    time.sleep(5e-3)
    return W0, H0
EYES = [np.eye(n) for n in range(9)]
class Batches:
    name, together = "batches", 256
    def solve(self, problems, progress):
        return [Answer(p.A, EYES[p.rank]) for p in problems]
"""
STANDARD = suites.find("standard@1")
ROUNDS = 3


def seconds_per_stage(subject: SubjectName | Subject, suite: Suite, jobs: int) -> float:
    """Return the time for a suite, without that for starting the workers, by stages."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.create_or_open(Path(folder) / "run.sqlite", suite) as store,
        LocalExecutor(subject, jobs) as executor,
    ):
        executor.start_all()
        return carried(executor, subject.name, suite, store)


def carried(executor: Executor, name: str, suite: Suite, store: Store) -> float:
    """Return the time for a suite through an executor into a store, by stages."""
    stored = store.subject(name, {"options": {}})
    plans = [Plan(suite.cell(cell), twice=ASKED_TWICE) for cell in suite.cells]
    begin = time.perf_counter()
    for stages in Driver(executor, plans):
        store.write(stored, stages)
    return (time.perf_counter() - begin) / store.count()


def on_a_cluster(subject: SubjectName, suite: Suite, workers: int) -> float:
    """Return the time for a suite on a Dask cluster of this machine, by stages."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.create_or_open(Path(folder) / "run.sqlite", suite) as store,
        LocalExecutor(subject, 1) as here,
        connected(f"local:{workers}") as client,
        ClusterExecutor(client, subject, here.start()) as executor,
    ):
        executor.start()
        return carried(executor, subject.name, suite, store)


def in_this_process(path: Path, name: str, suite: Suite) -> float:
    """Return the time for a suite in this process, by stages: the judge's, and the driver's."""
    trials = list(suite)
    begin = time.perf_counter()
    results = run_trials(itself(path, name)(), trials)
    return (time.perf_counter() - begin) / sum(len(result.stages) for result in results)


def itself(path: Path, name: str) -> Subject:
    """Return a subject that is loaded here, so that its workers are forked."""
    spec = importlib.util.spec_from_file_location("subjects", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    thing = getattr(module, name)
    return thing if isinstance(thing, type) else as_subject(thing)


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "subjects.py"
        path.write_text(SUBJECTS)
        for name, how in (("exact", "exactly"), ("start", "with its start, which fails")):
            for kind, subject in (
                ("", SubjectName(f"py:{path}:{name}")),
                (", forked", itself(path, name)),
            ):
                for jobs in (1, 2):
                    cost = min(seconds_per_stage(subject, STANDARD, jobs) for _ in range(ROUNDS))
                    print(f"a subject that answers at once, {how}, {jobs} worker(s){kind}: "
                          f"{1e6 * cost:.0f} µs a stage (goal 300)", flush=True)  # fmt: skip
        cost = min(in_this_process(path, "Batches", STANDARD) for _ in range(ROUNDS))
        print(f"the same, in this process, in batches: {1e6 * cost:.0f} µs a stage (goal 20)")
        for name, how in (("exact", "exactly"), ("start", "with its start, which fails")):
            subject = SubjectName(f"py:{path}:{name}")
            cost = min(on_a_cluster(subject, STANDARD, 2) for _ in range(ROUNDS))
            print(f"the same, {how}, on a cluster of two workers: {1e6 * cost:.0f} µs a stage "
                  "(goal 1000)", flush=True)  # fmt: skip
        few, slow = STANDARD.selected(trials=30), SubjectName(f"py:{path}:in_5_ms")
        for where, measure in (("here", seconds_per_stage), ("on a cluster", on_a_cluster)):
            ratios = []
            for _ in range(ROUNDS):
                one, two = (measure(slow, few, number) for number in (1, 2))
                ratios.append(one / two)
            shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
            print(f"a subject that sleeps 5 ms a stage, {where}, two workers against one: "
                  f"{shown} × (goal 1.8)", flush=True)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
