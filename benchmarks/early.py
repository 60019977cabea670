"""How soon a verdict is certain: after what part of the quick suite, and in what time.

Subjects are the zoo's that fail at every tolerance, in this process, without laws and experiments;
then one that takes 1 ms a stage, with all that belongs to a check. `make bench` runs it.
"""

import statistics
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from nmfcheck import Report, check
from nmfcheck.checking.runnable import runnable
from nmfcheck.store import Store
from nmfcheck.trials.suites import QUICK
from nmfcheck.verdict.decision import Decision
from nmfcheck.verdict.stopping import STOPPED, Stopped, Why
from plain_campaign import PlainCampaign

TESTS = Path(__file__).parents[1] / "tests"
BUDGET = 10.0
"""Seconds for each; who is not certain by then is left out, and said to be."""

APART = ("allocates_without_end",)
"""Not in this process."""

GARBAGE = """
import time
def garbage(A, rank, *, W0, H0):
    time.sleep(1e-3)
    return W0, H0
"""

BIASED = """
import numpy as np
from nmfcheck import reference

def sweep(A, W, H):
    G, N = H @ H.T, A @ H.T
    for k in range(len(G)):
        W[:, k] = np.maximum(N[:, k] - W @ G[:, k] + W[:, k] * G[k, k], 0) / (G[k, k] + 1e-9)
    return W

def biased(A, rank, *, W0, H0):
    W, H, _ = reference.coordinate_descent(A, W0, H0, 500, threads=1)
    for _ in range(20):
        W = sweep(A, W, H)
        H = sweep(A.T, H.T.copy(), W.T).T.copy()
    return W, H
"""


def wrong_ones():
    """Return the functions of the zoo that must fail and can run in this process."""
    sys.path.insert(0, str(TESTS))
    import zoo
    import zoo_more  # noqa: F401  (its animals join the others)

    return {
        name: kept.function
        for name, kept in zoo.ZOO.items()
        if kept.decision is Decision.FAIL
        and not kept.unrunnable
        and kept.sizes == (2, 3)
        and name not in APART
    }


def stopped_after(function, folder: Path) -> Stopped | None:
    """Return why and after how many stages a run of the quick suite ended."""
    suite = replace(QUICK, laws=())
    campaign = PlainCampaign(suite, isolate=False, budget=BUDGET)
    with Store.create_or_open(folder / f"{function.__name__}.sqlite", suite) as store:
        stored = campaign.run(runnable(function), store, lambda _: None)
        noted = store.noted(stored, STOPPED)
    return noted and Stopped.from_text(noted)


def checked(source: str, name: str) -> tuple[Report, str]:
    """Return what is said of a subject, and the seconds that three checks of it took."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "subject.py"
        path.write_text(source)
        for _ in range(3):
            begin = time.perf_counter()
            report = check(f"py:{path}:{name}")
            seconds.append(time.perf_counter() - begin)
    return report, ", ".join(f"{each:.1f}" for each in seconds)


def main() -> None:
    shares, open_ = [], []
    for name, function in wrong_ones().items():
        with (
            np.errstate(all="ignore"),
            warnings.catch_warnings(),
            tempfile.TemporaryDirectory() as folder,
        ):
            warnings.simplefilter("ignore")
            stopped = stopped_after(function, Path(folder))
        if stopped is None or stopped.why is Why.BUDGET:
            open_.append(name)
        elif stopped.why is Why.FAILS:
            shares.append(stopped.stages / QUICK.stages)
    print(
        f"{len(shares)} subjects of the zoo that fail at every tolerance: the median FAIL takes "
        f"{100 * statistics.median(shares):.1f} % of the quick suite's stages (goal 5), "
        f"the longest {100 * max(shares):.1f} %; not certain within {BUDGET:g} s: "
        f"{', '.join(open_) or 'none'}",
        flush=True,
    )
    report, seconds = checked(GARBAGE, "garbage")
    stages = report.verdict.stopped.stages
    print(f"garbage, 1 ms a stage: {report.decision} after {stages} stages, {seconds} s (goal 3)")
    report, seconds = checked(BIASED, "biased")
    cause = report.findings[0].cause
    print(f"1e-9 in its denominators: {report.verdict.headline}; {cause}; {seconds} s (goal 5)")


if __name__ == "__main__":
    main()
