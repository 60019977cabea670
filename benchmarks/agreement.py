"""Compare the engines: `python benchmarks/agreement.py [--list] [SUBJECT…]`.

First the largest difference of W and H, relative to their largest entry, after a few iterations.
Then the quick suite of the paper's matrices: a stage agrees if both engines reach the same grade
with the same word. What rounding alone does is measured beside it: NumPy against itself, from
starts that differ in their last bits. With --list, every stage that differs is printed. NumPy's
NeNMF takes most of an hour on two cores, the others a few minutes together.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable, Sequence

import numpy as np

from nmfcheck.arrays import Array
from nmfcheck.executors.inline import InlineExecutor
from nmfcheck.families.bidiagonal.family import FAMILY, LADDER, cell_of
from nmfcheck.subjects import (
    REFERENCES,
    Answer,
    Problem,
    Progress,
    ReferenceSubject,
    reference_subject,
)
from nmfcheck.trials.driver import Driver, Plan
from nmfcheck.trials.stage import Stage, TrialResult, by_trial
from nmfcheck.trials.suites import find

QUICK = find("quick@1")


@dataclasses.dataclass(frozen=True)
class Nudged(ReferenceSubject):
    """A reference algorithm whose starts are moved to the next larger numbers."""

    def solve(self, problems: Sequence[Problem], progress: Progress) -> list[Answer]:
        """Solve from the moved starts."""
        moved = [
            dataclasses.replace(
                problem, W0=np.nextafter(problem.W0, 2.0), H0=np.nextafter(problem.H0, 2.0)
            )
            for problem in problems
        ]
        return super().solve(moved, progress)


def told(stage: Stage | None) -> str:
    """Say what became of a stage, in a few words."""
    if stage is None:
        return "not run"
    if not stage.measures:
        return str(stage.outcome)
    product, form, kkt = (
        stage.measures[name] for name in ("product_defect", "form_defect", "kkt_residual")
    )
    return (
        f"{stage.outcome} {stage.labels.get('word', '')} (product {product:.1e}, form {form:.1e}, "
        f"KKT {kkt:.1e})"
    )


def verdict(stage: Stage | None) -> tuple[object, ...]:
    """Return what has to agree: whether the stage was run, its grade and its word."""
    if stage is None:
        return ("not run",)
    return stage.outcome.grade, stage.labels.get("word")


Pair = tuple[str, Stage | None, Stage | None]


def pairs(results: Iterable[TrialResult], others: Iterable[TrialResult]) -> list[Pair]:
    """Put the stages that either of two runs has side by side, each with a name."""
    return [
        (f"{one.trial.id} {ask.name}", one.stage(ask.name), other.stage(ask.name))
        for one, other in zip(results, others, strict=True)
        for ask in one.trial.asks
        if one.stage(ask.name) or other.stage(ask.name)
    ]


def differing(sides: Iterable[Pair]) -> list[Pair]:
    return [pair for pair in sides if verdict(pair[1]) != verdict(pair[2])]


def differences(name: str, iterations: int) -> Array:
    """Return how far the engines are apart after so many iterations, for many runs."""
    algorithm = REFERENCES[name].algorithm
    found = []
    for n in (2, 3, 4, 5, 8, 12):
        cell = cell_of(n, "loguniform")
        trials = [FAMILY.trial(cell, i) for i in range(15 if name == "nenmf" else 100)]
        W0, H0 = (np.array(part) for part in zip(*(trial.start() for trial in trials), strict=True))
        for ask in LADDER:
            A = np.array([trial.case(ask).A for trial in trials])
            native, numpy = (
                np.concatenate([W, H], axis=1)
                for W, H, _ in (
                    algorithm(A, W0, H0, iterations, engine=engine)
                    for engine in ("native", "numpy")
                )
            )
            found += [(abs(native - numpy).max(axis=(1, 2)) / numpy.max(axis=(1, 2)))]
    return np.concatenate(found)


def show_differences(name: str) -> None:
    for iterations in (1, 10):
        found = differences(name, iterations)
        median, most, largest = np.quantile(found, [0.5, 0.99, 1])
        print(
            f"{name:22} {len(found):5} runs, {iterations:2} iterations: median {median:.0e}, "
            f"99 % {most:.0e}, largest {largest:.0e}",
            flush=True,
        )


def quick(subject: ReferenceSubject, processes: int = os.cpu_count() or 1) -> list[TrialResult]:
    """Run the quick suite; return the results in its order."""
    plans = [Plan(QUICK.cell(cell)) for cell in QUICK.cells]
    with InlineExecutor(subject, processes=processes) as executor:
        stages = [stage for some in Driver(executor, plans) for stage in some]
    found = {trial: TrialResult(trial, tuple(members)) for trial, members in by_trial(stages)}
    return [found[trial] for trial in QUICK]


def main() -> None:
    names = [name for name in sys.argv[1:] if name != "--list"] or list(REFERENCES)
    total = np.zeros(3, dtype=int)
    for name in names:
        show_differences(name)
    for name in names:
        limited = reference_subject(name, at_most=QUICK.reference_iterations)
        native = dataclasses.replace(limited, engine="native")
        numpy = dataclasses.replace(limited, engine="numpy")
        nudged = Nudged(name, limited.iterations, engine="numpy")
        by_native, by_numpy, by_nudged = quick(native, 1), quick(numpy), quick(nudged)
        between, within = pairs(by_native, by_numpy), pairs(by_nudged, by_numpy)
        if "--list" in sys.argv:
            for where, one, other in differing(between):
                print(f"{name} {where}\n  native: {told(one)}\n  NumPy:  {told(other)}")
        counts = len(between), len(differing(between)), len(differing(within))
        total += counts
        show(name, *counts)
    show("all", *total)


def show(name: str, stages: int, between: int, within: int) -> None:
    print(
        f"{name:22} {stages:5} stages: {1 - between / stages:.2%} agree between the engines, "
        f"{1 - within / stages:.2%} between NumPy and NumPy from the next start",
        flush=True,
    )


if __name__ == "__main__":
    main()
