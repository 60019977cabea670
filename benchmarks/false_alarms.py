"""How often an accepted algorithm FAILs: each of the five on fresh seeds, against the baseline.

    python benchmarks/false_alarms.py [ALGORITHM...] [--blocks 100] [--results FILE]

A block is a standard suite's worth of trials (100 for each of n = 2..8 and both kinds of entries)
that the baseline has not seen: block b of a cell has trials 1000 + 100 b and on. The numbers of
iterations are the quick suite's. Counts are kept in FILE as they come; the same command goes on.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from nmfcheck.verdict.baseline import ACCEPTED, MANY, shipped
from nmfcheck.verdict.decision import CellVerdict, decide
from nmfcheck.verdict.intervals import Share
from nmfcheck.families.bidiagonal.judge import judge_batch
from nmfcheck.judging.outcomes import reaches
from nmfcheck.subjects import reference_subject
from nmfcheck.subjects.problem import Problem
from nmfcheck.trials.suites import QUICK, STANDARD
from nmfcheck.trials.trial import LADDER, Trial

AT_ONCE = 10
"""So many blocks of a cell are run together."""

TEST = [rung for rung in LADDER if rung.question == 1]


def passes(name, trials):
    """Say of each trial whether an algorithm passes the paper's test on it."""
    subject = reference_subject(name, {}, at_most=QUICK.reference_iterations, threads=1)
    passed = np.ones(len(trials), bool)
    for rung in TEST:
        left = np.flatnonzero(passed)
        if not len(left):
            break
        cases = [trials[i].case(rung.eps) for i in left]
        problems = [
            Problem(case.A, case.rank, *trials[i].start(), trials[i].seed)
            for i, case in zip(left, cases, strict=True)
        ]
        answers = subject.solve(problems, lambda _: None)
        found = judge_batch(cases, *(np.stack([getattr(a, X) for a in answers]) for X in "WH"))
        passed[left] = [reaches(grade or None, rung.needs) for grade in found.grade]
    return passed


def collect(name, blocks, results):
    """Count the passes of each block and cell, where they are not known yet."""
    known = json.loads(results.read_text()) if results.exists() else {}
    for n, kind in STANDARD.cells():
        for first in range(0, blocks, AT_ONCE):
            key = f"{name} {n} {kind} {first}"
            if key in known:
                continue
            begin = MANY + first * STANDARD.trials
            seeds = range(begin, begin + AT_ONCE * STANDARD.trials)
            found = passes(name, [Trial.of_cell(n, kind, seed) for seed in seeds])
            known[key] = found.reshape(AT_ONCE, STANDARD.trials).sum(axis=1).tolist()
            new = results.with_suffix(".new")
            new.write_text(json.dumps(known))
            new.replace(results)
            print(f"{key}: {100 * found.mean():.1f} %", file=sys.stderr, flush=True)
    return known


def decisions(name, blocks, known):
    """Return the decision on each block."""
    required = {cell: shipped().required(*cell, TEST) for cell in STANDARD.cells()}
    found = Counter()
    for block in range(blocks):
        cells = []
        for n, kind in STANDARD.cells():
            part = known[f"{name} {n} {kind} {block - block % AT_ONCE}"][block % AT_ONCE]
            asked = required[n, kind]
            cells.append(CellVerdict(n, kind, Share(part, STANDARD.trials), asked.share, asked.of))
        found[decide(cells).decision] += 1
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("algorithms", nargs="*", default=ACCEPTED)
    parser.add_argument("--blocks", type=int, default=100, help="a multiple of ten")
    parser.add_argument("--results", type=Path, default=Path("runs/false-alarms.json"))
    asked = parser.parse_args()
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    for name in asked.algorithms:
        found = decisions(name, asked.blocks, collect(name, asked.blocks, asked.results))
        alarms = Share(found["FAIL"], asked.blocks)
        low, high = alarms.interval
        print(
            f"{name}: {found['PASS']} PASS, {found['INCONCLUSIVE']} INCONCLUSIVE, "
            f"{found['FAIL']} FAIL of {asked.blocks}; "
            f"false alarms {100 * low:.1f} to {100 * high:.1f} % (95 % interval)",
            flush=True,
        )


if __name__ == "__main__":
    main()
