"""Speed of the native engine: the second part of `make bench`.

For each algorithm and size, in nanoseconds per problem and iteration: the engine on one thread and
on all, a plain NumPy loop over one problem, and the limit that the machine sets,
`max(flops/peak, divisions/rate)`. Peak and rate are measured in this process, beside each line.
All times are the shortest of many, taken in turns: the machine may be shared.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))

import platform
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import nmfcheck
from nmfcheck import _native, bidiagonal, reference
from nmfcheck.arrays import Array
from nmfcheck.families.bidiagonal.family import starting_point
from nmfcheck.reference import engine
from plain_loops import plain_loop

SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)
ROUNDS = 25
SECONDS = 30e-3
"""About how long one measurement takes: long enough for the clock, short enough to find quiet."""


class Work(NamedTuple):
    """What an iteration of an algorithm on n×n matrices with rank n has to do, A being dense."""

    flops: Callable[[int, float], float]
    divisions: Callable[[int, float], float]
    iterations: int | None = None
    """How many are timed; as many as fit into the time if None."""


# n, and the number of inner steps of NeNMF in an iteration.
WORK = {
    "multiplicative_update": Work(lambda n, _: 10 * n**3, lambda n, _: 2 * n**2),
    "als": Work(lambda n, _: 34 / 3 * n**3, lambda n, _: 4 * n, 300),
    "gradient_descent": Work(lambda n, _: 14 * n**3 + 18 * n**2, lambda n, _: 2 * n**2 + 4),
    "nenmf": Work(lambda n, s: 6 * n**3 + s * (2 * n**3 + 10 * n**2), lambda _n, _: 2, 10),
    "coordinate_descent": Work(lambda n, _: 10 * n**3, lambda n, _: 2 * n),
}


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class Times(NamedTuple):
    """Seconds per operation, or per problem and iteration."""

    fma: float
    division: float
    one_thread: float
    all_threads: float
    numpy_loop: float
    inner_steps: float


def measure(name: str, n: int, A: Array) -> Times:
    algorithm, instructions = getattr(reference, name), engine.instructions()
    starts = 4
    pairs = [starting_point(n, seed) for seed in range(starts)]
    batch = max(starts, 2 * engine.cores() * _native.lanes(instructions) * (4 if n <= 5 else 1))
    if WORK[name].iterations is not None:
        batch *= 8
    W0 = np.array([pairs[i % starts][0] for i in range(batch)])
    H0 = np.array([pairs[i % starts][1] for i in range(batch)])

    def run(iterations: int, threads: int | None) -> object:
        return algorithm(
            A, W0, H0, iterations, engine="native", close_orbits=False, threads=threads
        )

    iterations = WORK[name].iterations
    if iterations is None:
        doubled = (2**power for power in range(5, 40))
        iterations = next(i for i in doubled if seconds(partial(run, i, 1)) >= SECONDS)
    in_loop = min(iterations, 300)
    steps = 0

    def loop() -> None:
        nonlocal steps
        steps = sum(plain_loop(name, A, *pair, in_loop)[2] for pair in pairs)

    operations = 2_000_000
    rows = [
        (
            seconds(lambda: _native.only_fma(instructions, operations)) / operations,
            seconds(lambda: _native.only_divide(instructions, operations)) / operations,
            seconds(lambda: run(iterations, 1)) / (iterations * batch),
            seconds(lambda: run(iterations, None)) / (iterations * batch),
            seconds(loop) / (in_loop * starts) if turn < 5 else np.inf,
        )
        for turn in range(ROUNDS)
    ]
    return Times(*np.min(rows, axis=0), steps / (in_loop * starts))


def line(name: str, n: int, A: Array) -> None:
    times = measure(name, n, A)
    work = WORK[name]
    limit = max(
        work.flops(n, times.inner_steps) * times.fma / 2,
        work.divisions(n, times.inner_steps) * times.division,
    )
    one, all_, loop = times.one_thread, times.all_threads, times.numpy_loop
    print(
        f"| {n:2} | {1e9 * one:9,.1f} | {1e9 * all_:9,.1f} | {1e9 * loop:11,.0f} "
        f"| {1e9 * limit:8,.1f} | {one / limit:5.2f} | {loop / one:6,.0f} | {one / all_:4.2f} |",
        flush=True,
    )


HEAD = """
| n | one thread | all threads | NumPy loop | limit | ÷ limit | × NumPy loop | × threads |
|--:|--:|--:|--:|--:|--:|--:|--:|"""

FIGURE_1 = """
import resource, time
import numpy as np
from nmfcheck import bidiagonal, reference
from nmfcheck.families.bidiagonal.family import starting_point
starts = [starting_point(2, seed) for seed in range(1000)]
A = np.array([bidiagonal([1, 1], eps=10.0**-k).A for k in range(7)])[:, None]
W0, H0 = np.array([W for W, _ in starts]), np.array([H for _, H in starts])
begin = time.perf_counter()
found = reference.multiplicative_update(A, W0, H0, 10**6)
taken = time.perf_counter() - begin
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{taken:.1f} s (goal 60 s), {memory:.0f} MB at most (goal 200 MB), "
      f"{found.iterations.sum():.3g} of {found.iterations.size * 1e6:.0e} iterations run")
"""


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":")[1].strip() for line in lines if "model name" in line), "unknown")


def main() -> None:
    print(f"\nnmfcheck {nmfcheck.__version__}, engine: {engine.description()}")
    print(f"{processor()}, {engine.cores()} cores; Python {platform.python_version()}, "
          f"NumPy {np.__version__}")  # fmt: skip
    fma, division = (
        min(seconds(lambda f=f: f(engine.instructions(), 2_000_000)) for _ in range(50)) / 2e6
        for f in (_native.only_fma, _native.only_divide)
    )
    print(f"peak {2e-9 / fma:.1f} GFLOP/s, {1e9 * division:.3f} ns a division, one thread")
    asked = sys.argv[1:] or list(WORK)
    for name in asked:
        print(f"\n### {name.replace('_', ' ')}\n{HEAD}")
        for n in SIZES:
            line(name, n, bidiagonal(np.ones(n), eps=0.25).A)
        if name == "multiplicative_update":
            print(f"\n### {name.replace('_', ' ')}, dense A\n{HEAD}")
            for n in SIZES:
                line(name, n, np.random.default_rng(n).uniform(0.5, 2, (n, n)))
    if "multiplicative_update" in asked:
        print("\nThe paper's Figure 1, multiplicative update: n = 2, 1000 seeds, 7 values of ε, "
              "10⁶ iterations:")  # fmt: skip
        print(subprocess.check_output([sys.executable, "-c", FIGURE_1], text=True))


if __name__ == "__main__":
    main()
