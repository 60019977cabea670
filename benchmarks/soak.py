"""Whether memory stays flat in a long run, and all files are closed again.

    python benchmarks/soak.py [--stages 1000000] [--through local,dask] [--results FILE]

A subject that answers at once goes through the local executor and through a Dask cluster of two
workers on this machine. Memory (resident, MB) and open files of this process, and of all that it
started, are written down every few seconds. Ends with 1 if memory grows by more than GROWTH from
the second fifth of the run to the last, or files stay open.
"""

import argparse
import json
import sys
import tempfile
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import psutil

from nmfcheck.checking.runnable import runnable
from nmfcheck.executors.cluster.connection import connected
from nmfcheck.store import Store
from nmfcheck.trials.suites import QUICK
from plain_campaign import PlainCampaign

SUBJECT = """
def at_once(A, rank, *, W0, H0, seed):
    return W0, H0
"""
GROWTH = 1.25
"""So many times as much memory as in the second fifth is still called flat."""

EVERY = 2.0
SLACK = 20
"""MB that a process may grow besides, and files that may be open besides."""


def measured(process):
    """Return the memory and the open files of a process, by what it is."""
    try:
        command = " ".join(process.cmdline())
        role = (
            "client" if process.pid == psutil.Process().pid
            else "subject" if "nmfcheck.executors.worker" in command
            else "worker"
        )  # fmt: skip
        return role, process.memory_info().rss / 1e6, process.num_fds()
    except psutil.Error:
        return None


class Watch(threading.Thread):
    """Writes down memory and files until it is stopped."""

    def __init__(self):
        super().__init__(daemon=True)
        self.curve, self._ended = [], threading.Event()

    def run(self):
        """Look now and then."""
        own = psutil.Process()
        begin = time.monotonic()
        while not self._ended.wait(EVERY):
            found = {}
            for process in [own, *own.children(recursive=True)]:
                if (seen := measured(process)) is not None:
                    role, memory, files = seen
                    most = found.get(role, (0.0, 0))
                    found[role] = (max(most[0], memory), max(most[1], files))
            self.curve.append((time.monotonic() - begin, found))

    def stop(self):
        """End it."""
        self._ended.set()
        self.join()


def soak(stages, through, folder):
    """Run so many stages; return how many there were, in how many seconds, and the curve."""
    (folder / "subject.py").write_text(SUBJECT)
    # Each trial of the subject is one stage at ε = 0, which fails, and one at ε = 1/4.
    suite = QUICK.selected(families=["bidiagonal"], sizes=(2, 3, 4), trials=stages // 12)
    tested = runnable(f"py:{folder / 'subject.py'}:at_once")
    watch = Watch()
    with Store.create_or_open(folder / f"{through}.sqlite", suite) as store:
        watch.start()
        begin = time.monotonic()
        with connected("local:2") if through == "dask" else nullcontext() as client:
            PlainCampaign(suite, whole=True, cluster=client).run(tested, store, lambda _: None)
        seconds = time.monotonic() - begin
        watch.stop()
        return store.count(), seconds, watch.curve


def verdict(curve):
    """Return what grew: role, and its memory in the second fifth and in the last."""
    fifth = len(curve) // 5
    grown = []
    for role in ("client", "worker", "subject"):
        memory = [found[role][0] for _, found in curve if role in found]
        files = [found[role][1] for _, found in curve if role in found]
        if fifth == 0 or len(memory) < 2 * fifth:
            continue
        early, late = max(memory[fifth : 2 * fifth]), max(memory[-fifth:])
        more = max(files[-fifth:]) - max(files[fifth : 2 * fifth])
        if late > GROWTH * early + SLACK or more > SLACK:
            grown.append(f"{role}: {early:.0f} to {late:.0f} MB, {more} more files")
    return grown


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stages", type=int, default=10**6)
    parser.add_argument("--through", default="local,dask")
    parser.add_argument("--results", type=Path, help="where the curve goes, as JSON")
    asked = parser.parse_args()
    bad, curves = [], {}
    for through in asked.through.split(","):
        with tempfile.TemporaryDirectory() as folder:
            number, seconds, curve = soak(asked.stages, through, Path(folder))
        curves[through] = curve
        each = 1e6 * seconds / max(number, 1)
        print(f"{through}: {number} stages in {seconds:.0f} s, {each:.0f} µs each")
        for moment, found in curve[:: max(len(curve) // 8, 1)]:
            shown = ", ".join(
                f"{role} {memory:.0f} MB, {files} files"
                for role, (memory, files) in sorted(found.items())
            )
            print(f"  after {moment:.0f} s: {shown}")
        bad += [f"{through}, {line}" for line in verdict(curve)]
    if asked.results:
        asked.results.write_text(json.dumps(curves))
    for line in bad:
        print(f"grew: {line}", file=sys.stderr)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
