"""How long a verdict and a report take for 100,000 stages, and how much memory."""

import resource
import sys
import tempfile
import time
from pathlib import Path

from nmfcheck.checking.campaign import Campaign
from nmfcheck.checking.runnable import Runnable
from nmfcheck.report.contents import contents
from nmfcheck.report.files import write_files
from nmfcheck.store import Store
from nmfcheck.subjects import SubjectName
from nmfcheck.trials.suites import QUICK
from nmfcheck.verdict.of_store import verdict_of

SUITE = QUICK.selected(trials=-(-40_000 // len(QUICK.cells)))
"""All families: 40,000 trials, of which many end before the last ask."""

SUBJECT = SubjectName("multiplicative-update", {"iterations": 300})
"""So few iterations that many stages fail, and are stored with W and H."""


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with Store.create_or_open(folder / "run.sqlite", SUITE) as store:
            Campaign(SUITE).run(Runnable(SUBJECT), store, lambda _: None)
        with Store.read(folder / "run.sqlite") as store:
            (subject,) = store.subjects()
            stages = store.count()
            begin = time.perf_counter()
            decision = verdict_of(store.results(subject), store.suite).decision
            verdict_took = time.perf_counter() - begin
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin = time.perf_counter()
        with Store.read(folder / "run.sqlite") as store:
            found = contents([store])
        names = {kind: str(folder / f"out.{kind}") for kind in ("page", "junit", "json")}
        write_files(found, **names)
        took = time.perf_counter() - begin
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = Path(names["page"]).stat().st_size / 1e6
        print(f"{stages} stages: verdict ({decision}) in {verdict_took:.2f} s (goal 1), report in "
              f"{took:.1f} s (goal 10), {memory:.0f} MB at most (goal 500; {before / 1024:.0f} "
              f"before), a page of {size:.2f} MB")  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
