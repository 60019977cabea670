"""How often an accepted algorithm FAILs: each of the five on fresh seeds, against the baselines.

    python benchmarks/false_alarms.py [ALGORITHM...] [--family NAMES] [--blocks 100]
        [--results FILE]

A block is a standard suite's worth of trials that the baselines have not seen: block b of a cell of
N trials has trials 1000 + b N and on. The numbers of iterations are the quick suite's. Counts are
kept in FILE as they come; the same command goes on.
"""

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from nmfcheck.intervals import Share
from nmfcheck.judging.outcomes import reaches
from nmfcheck.subjects import reference_subject
from nmfcheck.subjects.problem import Problem
from nmfcheck.trials.suites import QUICK, STANDARD
from nmfcheck.verdict.baseline import ACCEPTED, MANY, shipped
from nmfcheck.verdict.decision import CellVerdict, Decision, Question, decide

AT_ONCE = 10
"""So many blocks of a cell are run together."""


def passes(name, trials, asks):
    """Say of each trial of a cell whether an algorithm passes the test on it."""
    subject = reference_subject(name, {}, at_most=QUICK.reference_iterations, threads=1)
    passed = np.ones(len(trials), bool)
    for ask in asks:
        left = np.flatnonzero(passed)
        if not len(left):
            break
        cases = [trials[i].case(ask) for i in left]
        problems = [
            Problem(case.A, case.rank, *trials[i].start(), trials[i].seed)
            for i, case in zip(left, cases, strict=True)
        ]
        answers = subject.solve(problems, lambda _: None)
        W, H = (np.stack([getattr(answer, X) for answer in answers]) for X in "WH")
        judgements = trials[0].family.judge(cases, W, H)
        passed[left] = [reaches(judgement.grade, ask.needs) for judgement in judgements]
    return passed


def collect(name, suite, blocks, results):
    """Count the passes of each block and cell, where they are not known yet."""
    known = json.loads(results.read_text()) if results.exists() else {}
    for part in suite.parts:
        for cell, number in part.cells.items():
            for first in range(0, blocks, AT_ONCE):
                key = f"{name} {cell.id} {first}"
                if key in known:
                    continue
                begin = MANY + first * number
                seeds = range(begin, begin + AT_ONCE * number)
                trials = [part.room.trial(cell, seed, part.asks) for seed in seeds]
                found = passes(name, trials, part.test)
                known[key] = found.reshape(AT_ONCE, number).sum(axis=1).tolist()
                new = results.with_suffix(".new")
                new.write_text(json.dumps(known))
                new.replace(results)
                print(f"{key}: {100 * found.mean():.1f} %", file=sys.stderr, flush=True)
    return known


def decisions(name, suite, blocks, known):
    """Return how often each decision was made on a block."""
    required = {
        cell: shipped(part.family).required(cell.name, part.test)
        for part in suite.parts
        for cell in part.cells
    }
    missing = [cell.id for cell, asked in required.items() if asked is None]
    if missing:
        sys.exit(f"the baselines do not have {', '.join(missing)}")
    found = Counter()
    for block in range(blocks):
        first, place = block - block % AT_ONCE, block % AT_ONCE
        questions = [
            Question(
                part.family,
                [
                    CellVerdict(
                        cell,
                        Share(known[f"{name} {cell.id} {first}"][place], number),
                        required[cell].share,
                        required[cell].of,
                    )
                    for cell, number in part.cells.items()
                ],
            )
            for part in suite.parts
        ]
        made = {each.decision for each in decide(questions)}
        worst = (Decision.FAIL, Decision.INCONCLUSIVE, Decision.PASS)
        found[next(decision for decision in worst if decision in made)] += 1
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("algorithms", nargs="*", default=ACCEPTED)
    parser.add_argument("--family", help="some families only, by comma")
    parser.add_argument("--blocks", type=int, default=100, help="a multiple of ten")
    parser.add_argument("--results", type=Path, default=Path("runs/false-alarms.json"))
    asked = parser.parse_args()
    suite = STANDARD.selected(families=asked.family.split(",") if asked.family else None)
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    for name in asked.algorithms:
        known = collect(name, suite, asked.blocks, asked.results)
        found = decisions(name, suite, asked.blocks, known)
        alarms = Share(found[Decision.FAIL], asked.blocks)
        low, high = alarms.interval
        print(
            f"{name}: {found['PASS']} PASS, {found['INCONCLUSIVE']} INCONCLUSIVE, "
            f"{found['FAIL']} FAIL of {asked.blocks}; "
            f"false alarms {100 * low:.1f} to {100 * high:.1f} % (95 % interval)",
            flush=True,
        )


if __name__ == "__main__":
    main()
