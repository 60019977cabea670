"""How often an accepted algorithm FAILs: each of them on fresh seeds, against the baselines.

    python benchmarks/false_alarms.py [ALGORITHM...] [--suite quick] [--objective kl]
        [--blocks 100] [--results FILE]

A block is a whole suite of trials that the baselines have not seen: of a cell of t trials, block b
has trials 1000 + t·b and on. The numbers of iterations are the quick suite's. Counts are kept in
FILE as they come; the same command goes on.
"""

import argparse
import json
import math
import sys
from collections import Counter
from pathlib import Path

from nmfcheck.intervals import Share
from nmfcheck.judging.objectives import FROBENIUS
from nmfcheck.subjects import reference_subject
from nmfcheck.subjects.references import accepted
from nmfcheck.trials import suites
from nmfcheck.trials.driver import run_trials
from nmfcheck.verdict.baseline import MANY, Required, required_of, shipped_for
from nmfcheck.verdict.decision import CellVerdict, Decision, Question, decide
from nmfcheck.verdict.levels import EARLY_SINCE, WHOLE, levels

NOTHING = Required(math.nan, "")
"""What a cell requires that is only measured."""

AT_ONCE = 10
"""So many blocks of a cell are run together."""


def passes(name, trials):
    """Say of each trial whether an algorithm passes its test."""
    subject = reference_subject(name, {}, at_most=suites.QUICK.reference_iterations)
    return [result.passed for result in run_trials(subject, trials)]


def collect(name, suite, blocks, results):
    """Count the passes of each block and cell, where they are not known yet."""
    known = json.loads(results.read_text()) if results.exists() else {}
    for part in suite.parts:
        for cell, number in part.cells.items():
            for first in range(0, blocks, AT_ONCE):
                key = f"{name} {cell.id} {number} {first}"
                if key in known:
                    continue
                begin = MANY + first * number
                seeds = range(begin, begin + AT_ONCE * number)
                passed = passes(name, [part.room.trial(cell, i, part.test) for i in seeds])
                known[key] = [sum(passed[i : i + number]) for i in range(0, len(passed), number)]
                new = results.with_suffix(".new")
                new.write_text(json.dumps(known))
                new.replace(results)
                share = sum(passed) / len(passed)
                print(f"{key}: {100 * share:.1f} %", file=sys.stderr, flush=True)
    return known


def decisions(name, suite, blocks, known):
    """Return the decision on each block: FAIL if a family fails, PASS if all pass."""
    baselines = shipped_for(suite)
    spent = levels() if suite.version >= EARLY_SINCE else WHOLE
    found = Counter()
    for block in range(blocks):
        questions = []
        for part in suite.parts:
            cells = []
            for cell, number in part.cells.items():
                asked = required_of(part, cell, baselines[part.family]) or NOTHING
                passed = known[f"{name} {cell.id} {number} {block - block % AT_ONCE}"]
                share = Share(passed[block % AT_ONCE], number)
                margin = part.room.margin
                cells.append(CellVerdict(cell, share, asked.share, asked.of, margin=margin))
            questions.append(Question(part.family, cells))
        each = {answer.decision for answer in decide(questions, spent)}
        if Decision.FAIL in each:
            found[Decision.FAIL] += 1
        else:
            passed_all = each == {Decision.PASS}
            found[Decision.PASS if passed_all else Decision.INCONCLUSIVE] += 1
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("algorithms", nargs="*")
    parser.add_argument("--objective", default=FROBENIUS.name)
    parser.add_argument("--suite", default="quick")
    parser.add_argument("--blocks", type=int, default=100, help="a multiple of ten")
    parser.add_argument("--results", type=Path, default=Path("runs/false-alarms.json"))
    asked = parser.parse_args()
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    suite = suites.find(asked.suite, asked.objective)
    for name in asked.algorithms or accepted(suite.objective):
        known = collect(name, suite, asked.blocks, asked.results)
        found = decisions(name, suite, asked.blocks, known)
        alarms = Share(found[Decision.FAIL], asked.blocks)
        low, high = alarms.interval
        print(
            f"{name}, {suite.title}: {found[Decision.PASS]} PASS, "
            f"{found[Decision.INCONCLUSIVE]} INCONCLUSIVE, {found[Decision.FAIL]} FAIL of "
            f"{asked.blocks}; false alarms {100 * low:.1f} to {100 * high:.1f} % (95 % interval)",
            flush=True,
        )


if __name__ == "__main__":
    main()
