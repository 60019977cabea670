"""Speed of the native engine: the second part of `make bench`.

For each algorithm and size, in nanoseconds per problem and iteration: the engine on one thread and
on all, a plain NumPy loop over one problem, and the limit that the machine sets,
`max(flops/peak, divisions/rate)`. Peak and rate are measured in this process, beside each line.
Then a table of all other shapes of the suites: one thread, in processor time, divided by the limit.
All times are the shortest of many, taken in turns: the machine may be shared.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1"))

import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import nmfcheck
from nmfcheck import _native, bidiagonal, reference
from nmfcheck.arrays import Array
from nmfcheck.families.bidiagonal.family import starting_point
from nmfcheck.families.family import uniform_start
from nmfcheck.reference import engine
from nmfcheck.trials import suites
from plain_loops import plain_loop

SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)
ROUNDS = 25
STARTS = 4
SECONDS = 30e-3
"""About how long one measurement takes: long enough for the clock, short enough to find quiet."""


class Work(NamedTuple):
    """What an iteration has to do for a dense m×n matrix and rank k, square roots as divisions."""

    flops: Callable[[int, int, int], float]
    divisions: Callable[[int, int, int], float]
    iterations: int | None = None
    """How many are timed; as many as fit into the time if None."""
    flops_of_step: Callable[[int, int, int], float] = lambda *_: 0
    """For each inner step of NeNMF; those for H and those for W are taken to be as many."""
    in_loop: int = 300
    """How many iterations of the NumPy loop are timed, at most."""


WORK = {
    "multiplicative_update": Work(
        lambda m, n, k: 4 * m * n * k + 3 * (m + n) * k**2,
        lambda m, n, k: (m + n) * k,
    ),
    "als": Work(
        lambda m, n, k: 4 * m * n * k + 3 * (m + n) * k**2 + 4 / 3 * k**3,
        lambda _m, _n, k: 4 * k,
        300,
    ),
    "gradient_descent": Work(
        lambda m, n, k: 8 * m * n * k + 3 * (m + n) * k**2 + 9 * (m + n) * k,
        lambda m, n, k: (m + n) * k + 4,
    ),
    "nenmf": Work(
        lambda m, n, k: 4 * m * n * k + (m + n) * k**2,
        lambda *_: 2,
        10,
        lambda m, n, k: (m + n) * (k**2 + 5 * k),
    ),
    "coordinate_descent": Work(
        lambda m, n, k: 4 * m * n * k + 3 * (m + n) * k**2,
        lambda _m, _n, k: 2 * k,
    ),
    "kl_multiplicative_update": Work(
        lambda m, n, k: 8 * m * n * k + 2 * (m + n) * k,
        lambda m, n, k: 2 * m * n + (m + n) * k,
    ),
    "kl_scalar_newton": Work(
        lambda m, n, k: 20 * m * n * k,
        lambda m, n, k: 2 * m * n * k + 4 * (m + n) * k,
        in_loop=5,
    ),
}


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    work()
    return clock() - start


class Times(NamedTuple):
    """Seconds per operation, or per problem and iteration."""

    fma: float
    division: float
    one_thread: float
    all_threads: float
    numpy_loop: float
    inner_steps: float


Starts = Sequence[tuple[Array, Array]]


def measure(name: str, A: Array, starts: Starts, rounds: int, *, alone: bool = False) -> Times:
    """Time an algorithm; `alone`: on one thread, in processor time, with nothing beside it."""
    timed = partial(seconds, clock=time.process_time) if alone else seconds
    algorithm, instructions = getattr(reference, name), engine.instructions()
    tiny = max(A.shape) <= 5
    batch = max(STARTS, 2 * engine.cores() * _native.lanes(instructions) * (4 if tiny else 1))
    if WORK[name].iterations is not None:
        batch *= 8
    W0 = np.array([starts[i % STARTS][0] for i in range(batch)])
    H0 = np.array([starts[i % STARTS][1] for i in range(batch)])

    def run(iterations: int, threads: int | None) -> object:
        return algorithm(
            A, W0, H0, iterations, engine="native", close_orbits=False, threads=threads
        )

    iterations = WORK[name].iterations
    if iterations is None:
        doubled = (2**power for power in range(5, 40))
        iterations = next(i for i in doubled if timed(partial(run, i, 1)) >= SECONDS)
    in_loop = min(iterations, WORK[name].in_loop)
    steps = 0

    def loop() -> None:
        nonlocal steps
        steps = sum(plain_loop(name, A, *start, in_loop)[2] for start in starts)

    if alone and name == "nenmf":
        loop()
    operations = 2_000_000
    rows = [
        (
            timed(lambda: _native.only_fma(instructions, operations)) / operations,
            timed(lambda: _native.only_divide(instructions, operations)) / operations,
            timed(lambda: run(iterations, 1)) / (iterations * batch),
            np.inf if alone else seconds(lambda: run(iterations, None)) / (iterations * batch),
            np.inf if alone or turn >= 5 else seconds(loop) / (in_loop * STARTS),
        )
        for turn in range(rounds)
    ]
    return Times(*np.min(rows, axis=0), steps / (in_loop * STARTS))


def limit_of(name: str, A: Array, k: int, times: Times) -> float:
    work, (m, n) = WORK[name], A.shape
    flops = work.flops(m, n, k) + times.inner_steps * work.flops_of_step(m, n, k)
    return max(flops * times.fma / 2, work.divisions(m, n, k) * times.division)


def twins(n: int, seed: int) -> tuple[Array, Array]:
    """Return a start whose first two components are the same: W is singular for long."""
    W0, H0 = (X.copy() for X in starting_point(n, seed))
    W0[:, 1], H0[1] = W0[:, 0], H0[0]
    return W0, H0


def line(name: str, A: Array, start: Callable[..., tuple[Array, Array]] = starting_point) -> None:
    n = len(A)
    times = measure(name, A, [start(n, seed) for seed in range(STARTS)], ROUNDS)
    limit = limit_of(name, A, n, times)
    one, all_, loop = times.one_thread, times.all_threads, times.numpy_loop
    print(
        f"| {n:2} | {1e9 * one:9,.1f} | {1e9 * all_:9,.1f} | {1e9 * loop:11,.0f} "
        f"| {1e9 * limit:8,.1f} | {one / limit:5.2f} | {loop / one:6,.0f} | {one / all_:4.2f} |",
        flush=True,
    )


def table_of_suites(names: Sequence[str]) -> None:
    """Print how many times the limit one thread takes, for all shapes but the square ones above."""
    shapes = {(cell.m, cell.n, cell.k) for cell in suites.FULL.cells}
    print("\n### shapes of the suites, one thread ÷ limit, dense A\n")
    print(f"| m×n | k | {' | '.join(name.replace('_', ' ') for name in names)} |")
    print("|--:|--:|" + "--:|" * len(names))
    for m, n, k in sorted(shapes, key=lambda shape: (shape[2], shape)):
        if m == n == k:
            continue
        A = np.random.default_rng([m, n]).uniform(0.5, 2, (m, n))
        starts = [uniform_start(m, n, k, seed) for seed in range(STARTS)]
        ratios = []
        for name in names:
            times = measure(name, A, starts, ROUNDS // 2, alone=True)
            ratios.append(times.one_thread / limit_of(name, A, k, times))
        print(f"| {m}×{n} | {k} | {' | '.join(f'{r:.2f}' for r in ratios)} |", flush=True)


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
            line(name, bidiagonal(np.ones(n), eps=0.25).A)
        if name == "multiplicative_update":
            print(f"\n### {name.replace('_', ' ')}, dense A\n{HEAD}")
            for n in SIZES:
                line(name, np.random.default_rng(n).uniform(0.5, 2, (n, n)))
        if name == "als":
            print(f"\n### als, two components alike\n{HEAD}")
            for n in SIZES:
                line(name, bidiagonal(np.ones(n), eps=0.25).A, twins)
    table_of_suites(asked)
    if "multiplicative_update" in asked:
        print("\nThe paper's Figure 1, multiplicative update: n = 2, 1000 seeds, 7 values of ε, "
              "10⁶ iterations:")  # fmt: skip
        print(subprocess.check_output([sys.executable, "-c", FIGURE_1], text=True))


if __name__ == "__main__":
    main()
