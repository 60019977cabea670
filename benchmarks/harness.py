"""What the harness costs: a stage of an isolated subject, and what a second worker brings.

The first goes through all of it: workers, judge, store. `make bench` runs it.
"""

import importlib.util
import sys
import tempfile
import time
from pathlib import Path

from nmfcheck.checking.campaign import ASKED_TWICE
from nmfcheck.executors.local import LocalExecutor
from nmfcheck.store import Store
from nmfcheck.subjects import Subject, SubjectName, as_subject
from nmfcheck.trials import suites
from nmfcheck.trials.driver import Driver, Plan
from nmfcheck.trials.suites import Suite

SUBJECTS = """
import time
import numpy as np
def exact(A, rank, *, W0, H0, seed):
    return A, np.eye(rank)
def start(A, rank, *, W0, H0, seed):
    return W0, H0
def in_5_ms(A, rank, *, W0, H0, seed):
    until = time.perf_counter() + 5e-3
    while time.perf_counter() < until:
        pass
    return W0, H0
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
        stored = store.subject(subject.name, {"options": {}})
        plans = [Plan(suite.cell(cell), twice=ASKED_TWICE) for cell in suite.cells]
        begin = time.perf_counter()
        for stages in Driver(executor, plans):
            store.write(stored, stages)
        return (time.perf_counter() - begin) / store.count()


def itself(path: Path, name: str) -> Subject:
    """Return a subject that is loaded here, so that its workers are forked."""
    spec = importlib.util.spec_from_file_location("subjects", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return as_subject(getattr(module, name))


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
        few, slow = STANDARD.selected(trials=30), SubjectName(f"py:{path}:in_5_ms")
        ratios = []
        for _ in range(ROUNDS):
            one, two = (seconds_per_stage(slow, few, jobs) for jobs in (1, 2))
            ratios.append(one / two)
        shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"a subject of 5 ms a stage, two workers against one: {shown} × (goal 1.8)")


if __name__ == "__main__":
    sys.exit(main())
