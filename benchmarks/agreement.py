"""Compare the engines: `python benchmarks/agreement.py [--list] [SUBJECT…]`.

First the largest difference of W and H, relative to their largest entry, after a few iterations.
Then the quick suite: a stage agrees if both engines reach the same grade with the same word. What
rounding alone does is measured beside it: NumPy against itself, from starts that differ in their
last bits. With --list, every stage that differs is printed. NumPy's NeNMF takes most of an hour on
two cores, the others a few minutes together.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Sequence

import numpy as np

from nmfcheck.arrays import Array
from nmfcheck.executors.inline import run_batches
from nmfcheck.subjects import (REFERENCES, Answer, Problem, Progress, ReferenceSubject, reference_subject)
from nmfcheck.trials.suites import QUICK
from nmfcheck.trials.trial import LADDER, Stage, Trial, TrialResult


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
    judgement = stage.judgement
    if judgement is None:
        return str(stage.outcome)
    return (
        f"{stage.outcome} {judgement.word or ''} (product {judgement.product_defect:.1e}, form "
        f"{judgement.form_defect:.1e}, KKT {judgement.kkt_residual:.1e})"
    )


def verdict(stage: Stage | None) -> tuple[object, ...]:
    """Return what has to agree: whether the stage was run, its grade and its word."""
    if stage is None:
        return ("not run",)
    return stage.outcome.grade, stage.judgement and stage.judgement.word


Pair = tuple[str, Stage | None, Stage | None]


def pairs(results: Iterable[TrialResult], others: Iterable[TrialResult]) -> list[Pair]:
    """Put the stages that either of two runs has side by side, each with a name."""
    return [
        (f"{one.trial.id} eps={rung.eps:g}", one.stage(rung.eps), other.stage(rung.eps))
        for one, other in zip(results, others, strict=True)
        for rung in one.trial.ladder
        if one.stage(rung.eps) or other.stage(rung.eps)
    ]


def differing(sides: Iterable[Pair]) -> list[Pair]:
    return [pair for pair in sides if verdict(pair[1]) != verdict(pair[2])]


def differences(name: str, iterations: int) -> Array:
    """Return how far the engines are apart after so many iterations, for many runs."""
    subject = reference_subject(name, iterations)
    found = []
    for n in (2, 3, 4, 5, 8, 12):
        trials = [Trial.of_cell(n, "loguniform", i) for i in range(15 if name == "nenmf" else 100)]
        W0, H0 = (np.array(part) for part in zip(*(trial.start() for trial in trials), strict=True))
        for rung in LADDER:
            A = np.array([trial.case(rung.eps).A for trial in trials])
            native, numpy = (
                np.concatenate([W, H], axis=1)
                for W, H, _ in (
                    REFERENCES[name][0](A, W0, H0, subject.iterations, engine=engine)
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


def quick(subject: ReferenceSubject, jobs: int | None = None) -> list[TrialResult]:
    """Run the quick suite; return the results in its order."""
    batches = [[trial for trial in QUICK if trial.n == n] for n in QUICK.sizes]
    parts = run_batches(subject, batches, jobs=jobs)
    found = {result.trial: result for part in parts for result in part}
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
