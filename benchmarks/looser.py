"""What a looser tolerance would add to the bidiagonal baseline, which has outcomes at 1e-10 only.

Each accepted algorithm makes 400 runs at ε = 0 with n = 3, and with n = 5, of ones and of random
entries each, from starts that the baseline has not seen. Runs that are exact pass at every
tolerance, and collapsed ones at none; this prints how many of the others end within a tolerance
from 1e-10 to 0.1. `docs/verdict.md` has the numbers.
"""

from collections import Counter

from nmfcheck.families import find
from nmfcheck.judging.outcomes import Outcome
from nmfcheck.subjects import reference_subject
from nmfcheck.subjects.references import accepted
from nmfcheck.trials.driver import run_trials
from nmfcheck.trials.suites import QUICK
from nmfcheck.verdict.baseline import MANY
from nmfcheck.verdict.regrading import tolerance_of

CELLS, RUNS = ("n=3/ones", "n=3/loguniform", "n=5/ones", "n=5/loguniform"), 400
LOOSEST = tolerance_of(1)


def main() -> None:
    family = find("bidiagonal")
    (first, *_) = QUICK.part("bidiagonal").test
    for name in accepted():
        subject = reference_subject(name, {}, at_most=QUICK.reference_iterations)
        found: Counter[str] = Counter()
        for cell in map(family.cell, CELLS):
            trials = [family.trial(cell, MANY + i, (first,)) for i in range(RUNS)]
            for result in run_trials(subject, trials):
                (stage,) = result.stages
                defect = max(stage.measures["form_defect"], stage.measures["product_defect"])
                exact = stage.outcome is Outcome.EXACT
                between = not exact and defect <= LOOSEST
                found["between" if between else str(stage.outcome)] += 1
        between = found.pop("between", 0)
        others = ", ".join(f"{number} {outcome}" for outcome, number in found.most_common())
        print(
            f"{name}: {between} of {len(CELLS) * RUNS} runs within {LOOSEST:g}, not exact; {others}"
        )


if __name__ == "__main__":
    main()
