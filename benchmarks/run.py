"""Speed of the core: `make bench`. Rates and shares, measured in one run; best of several."""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))  # one core

import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

import nmfcheck
from nmfcheck import suites
from nmfcheck.families.bidiagonal.family import starting_point
from nmfcheck.subjects import Answer, Problem, Progress, reference_subject
from nmfcheck.trials.driver import run_trials


def best(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the shortest time of several, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def judgements_per_second(n: int, batch: int) -> float:
    """Judge a mixed batch: exact, first-order and far from everything."""
    case = nmfcheck.bidiagonal(np.ones(n), eps=1e-3)
    W, H = (np.repeat(X[None], batch, axis=0) for X in nmfcheck.exact_factorization(case))
    H[1::3] *= 1 + 1e-7
    for i in range(2, batch, 3):
        W[i], H[i] = starting_point(n, i)
    cases = [case] * batch
    return batch / best(lambda: nmfcheck.judge_batch(cases, W, H))


class Timed:
    """A subject that measures the time it spends solving."""

    def __init__(self, name: str, iterations: int) -> None:
        self.inner = reference_subject(name, {"iterations": iterations})
        self.name = name
        self.together = self.inner.together
        self.seconds = 0.0

    def solve(self, problems: Sequence[Problem], progress: Progress) -> list[Answer]:
        """Solve, and remember how long it took."""
        start = time.perf_counter()
        answers = self.inner.solve(problems, progress)
        self.seconds += time.perf_counter() - start
        return answers


def machinery(name: str, iterations: int) -> tuple[float, float]:
    """Return the seconds spent on trials and judging, and those in the algorithm."""
    subject, start = Timed(name, iterations), time.perf_counter()
    run_trials(subject, suites.STANDARD)
    return time.perf_counter() - start - subject.seconds, subject.seconds


def import_seconds(module: str) -> float:
    code = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    return min(float(subprocess.check_output(command)) for _ in range(7))


def main() -> None:
    print(f"nmfcheck {nmfcheck.__version__}, NumPy {np.__version__}")
    print(f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores\n")
    for n, batch, goal in ((3, 200_000, 200_000), (20, 8_000, 20_000)):
        rate = judgements_per_second(n, batch)
        print(f"judge_batch, n = {n:2}: {rate:9,.0f} judgements/s on one core (goal {goal:,})")
    iterations = 4000
    for name in ("multiplicative-update", "als", "gradient-descent"):
        around, inside = machinery(name, iterations)
        print(
            f"trial machinery, standard suite, {name}: {around:.2f} s beside {inside:.1f} s, "
            f"{around / inside:.1%} (goal 5 %; {iterations:,} iterations a run here, so that this "
            "is an upper bound)"
        )
    print(f"import nmfcheck: {import_seconds('nmfcheck'):.3f} s (goal 0.2 s), "
          f"of which NumPy {import_seconds('numpy'):.3f} s")  # fmt: skip


if __name__ == "__main__":
    main()
