"""Compare the engines on the quick suite, stage by stage: `python benchmarks/agreement.py [SUBJECT…]`.

Prints every stage whose grade or word differs, with both judgements, and the share that agrees.
NumPy's NeNMF takes a quarter of an hour here; the others a minute or so together.
"""

from __future__ import annotations

import dataclasses
import sys

from nmfcheck.runner import run_suite
from nmfcheck.subjects import REFERENCES, find
from nmfcheck.suites import QUICK
from nmfcheck.trials import Stage, TrialResult


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


def compare(name: str) -> tuple[int, int]:
    """Print the stages that differ; return how many there are of them, and how many in all."""
    subject = find(name, QUICK.reference_iterations)
    results: dict[str, list[TrialResult]] = {}
    for engine, jobs in (("native", 1), ("numpy", None)):
        which = dataclasses.replace(subject, engine=engine)
        results[engine] = run_suite([which], QUICK, jobs=jobs)[name]
    differing = stages = 0
    for native, numpy in zip(results["native"], results["numpy"], strict=True):
        for rung in native.trial.ladder:
            one, other = native.stage(rung.eps), numpy.stage(rung.eps)
            stages += one is not None or other is not None
            if verdict(one) != verdict(other):
                differing += 1
                print(f"{native.trial.id} eps={rung.eps:g}")
                print(f"  native: {told(one)}\n  NumPy:  {told(other)}", flush=True)
    return differing, stages


def main() -> None:
    all_differing = all_stages = 0
    for name in sys.argv[1:] or REFERENCES:
        differing, stages = compare(name)
        print(f"{name}: {stages - differing} of {stages} stages agree, {1 - differing / stages:.2%}")
        all_differing, all_stages = all_differing + differing, all_stages + stages
    print(f"all: {1 - all_differing / all_stages:.2%} of {all_stages} stages agree")


if __name__ == "__main__":
    main()
