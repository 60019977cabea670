"""How often an accepted algorithm FAILs: each of them on fresh seeds, against the baselines.

    python benchmarks/false_alarms.py [ALGORITHM...] [--suite quick] [--objective kl]
        [--family optima] [--blocks 100] [--results FILE]

A block is a whole suite of trials that the baselines have not seen: of a cell of t trials, block b
has trials 1000 + t·b and on. The numbers of iterations are the quick suite's. A block FAILs if it
does so at the suite's end, or at any of LOOKS looks on the way there. What each trial came to is
kept in FILE, as a text of 1 (passed) and 0 for a block of a cell; the same command goes on.
`make bench` runs it last.
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
from nmfcheck.verdict.sequential import e_value, rejects

NOTHING = Required(math.nan, "")
"""What a cell requires that is only measured."""

AT_ONCE = 10
"""So many blocks of a cell are run together."""

LOOKS = 50
"""So often the verdict is looked at within a block, after equal parts of every cell."""


def key_of(name, part, cell, first):
    """Return what the trials of some blocks are called in the file of results."""
    needs = ",".join(ask.needs for ask in part.test)
    return f"{name} {cell.id} {needs} {part.cells[cell]} {first}"


def passes(name, trials):
    """Say of each trial whether an algorithm passes its test."""
    subject = reference_subject(name, {}, at_most=suites.QUICK.reference_iterations)
    return [result.passed for result in run_trials(subject, trials)]


def collect(name, suite, blocks, results):
    """Run each block and cell that is not known yet."""
    known = json.loads(results.read_text()) if results.exists() else {}
    for part in suite.parts:
        for cell, number in part.cells.items():
            for first in range(0, blocks, AT_ONCE):
                key = key_of(name, part, cell, first)
                if key in known:
                    continue
                begin = MANY + first * number
                seeds = range(begin, begin + AT_ONCE * number)
                passed = passes(name, [part.room.trial(cell, i, part.test) for i in seeds])
                letters = "".join("01"[each] for each in passed)
                known[key] = [letters[i : i + number] for i in range(0, len(letters), number)]
                new = results.with_suffix(".new")
                new.write_text(json.dumps(known))
                new.replace(results)
                share = sum(passed) / len(passed)
                print(f"{key}: {100 * share:.1f} %", file=sys.stderr, flush=True)
    return known


def questions(name, suite, block, known, look=LOOKS):
    """Return what is asked of each family after so many looks of a block."""
    baselines = shipped_for(suite)
    found = []
    for part in suite.parts:
        cells = []
        for cell, number in part.cells.items():
            asked = required_of(part, cell, baselines[part.family]) or NOTHING
            letters = known[key_of(name, part, cell, block - block % AT_ONCE)]
            first = letters[block % AT_ONCE][: number * look // LOOKS]
            share, margin = Share(first.count("1"), len(first)), part.room.margin
            cells.append(CellVerdict(cell, share, asked.share, asked.of, margin=margin))
        found.append(Question(part.family, cells))
    return found


def decision(name, suite, block, known):
    """Return the decision on a block: FAIL if a family fails, PASS if all pass."""
    spent = levels() if suite.version >= EARLY_SINCE else WHOLE
    for look in range(1, LOOKS):
        for each in questions(name, suite, block, known, look):
            if rejects(e_value(each.cells), spent.fail_early, len(suite.parts)):
                return Decision.FAIL
    each = {answer.decision for answer in decide(questions(name, suite, block, known), spent)}
    if Decision.FAIL in each:
        return Decision.FAIL
    return Decision.PASS if each == {Decision.PASS} else Decision.INCONCLUSIVE


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("algorithms", nargs="*")
    parser.add_argument("--objective", default=FROBENIUS.name)
    parser.add_argument("--suite", default="quick")
    parser.add_argument("--family", help="one family alone, instead of all")
    parser.add_argument("--blocks", type=int, default=100, help="a multiple of ten")
    parser.add_argument("--results", type=Path, default=Path("runs/false-alarms.json"))
    asked = parser.parse_args()
    asked.results.parent.mkdir(parents=True, exist_ok=True)
    suite = suites.find(asked.suite, asked.objective)
    if asked.family:
        suite = suite.selected(families=[asked.family])
    for name in asked.algorithms or accepted(suite.objective):
        known = collect(name, suite, asked.blocks, asked.results)
        found = Counter(decision(name, suite, block, known) for block in range(asked.blocks))
        alarms = Share(found[Decision.FAIL], asked.blocks)
        low, high = alarms.interval
        print(
            f"{name}, {suite.title}: {found[Decision.PASS]} PASS, "
            f"{found[Decision.INCONCLUSIVE]} INCONCLUSIVE, {found[Decision.FAIL]} FAIL of "
            f"{asked.blocks} (goals: PASS in 95 %, FAIL in none); "
            f"false alarms {100 * low:.1f} to {100 * high:.1f} % (95 % interval)",
            flush=True,
        )


if __name__ == "__main__":
    main()
