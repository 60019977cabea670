"""What the harness costs: a stage of an isolated subject, and what a second worker brings.

The first goes through all of it: workers, judge, store. `make bench` runs it.
"""

import sys
import tempfile
import time
from pathlib import Path

from nmfcheck.checking.campaign import Campaign
from nmfcheck.store import Store
from nmfcheck.subjects import SubjectName
from nmfcheck.trials.suites import STANDARD, Suite

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
ROUNDS = 3


def seconds_per_stage(folder: Path, name: str, suite: Suite, jobs: int) -> float:
    """Return the time for a suite, without that for starting the workers, by stages."""
    campaign = Campaign(suite, jobs)
    path = folder / f"{name}.sqlite"
    with (
        Store.create_or_open(path, suite, fresh=True) as store,
        campaign.workers(SubjectName(f"py:{folder / 'subjects.py'}:{name}")) as workers,
    ):
        store.begin_anew(suite)
        workers.start_all()
        begin = time.perf_counter()
        stored = campaign.run_isolated(workers, store, lambda _: None)
        taken = time.perf_counter() - begin
        return taken / sum(1 for _ in store.records(stored))


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "subjects.py").write_text(SUBJECTS)
        for name, told in (("exact", "exactly"), ("start", "with its start, which fails")):
            for jobs in (1, 2):
                cost = min(seconds_per_stage(folder, name, STANDARD, jobs) for _ in range(ROUNDS))
                print(f"a subject that answers at once, {told}, {jobs} worker(s): "
                      f"{1e6 * cost:.0f} µs a stage (goal 300)", flush=True)  # fmt: skip
        few = STANDARD.selected(trials=30)
        ratios = []
        for _ in range(ROUNDS):
            one, two = (seconds_per_stage(folder, "in_5_ms", few, jobs) for jobs in (1, 2))
            ratios.append(one / two)
        told = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"a subject of 5 ms a stage, two workers against one: {told} × (goal 1.8)")


if __name__ == "__main__":
    sys.exit(main())
