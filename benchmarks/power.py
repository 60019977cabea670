"""How often a verdict is right, summed exactly over binomials, with what the baselines require.

    python benchmarks/power.py [OBJECTIVE]

For each suite: how often a subject that reaches what is required in every cell passes, how often it
fails, and how often one at the bar everywhere fails. `docs/verdict.md` has the numbers.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
from scipy import stats

from nmfcheck.intervals import Share
from nmfcheck.judging.objectives import FROBENIUS
from nmfcheck.trials import suites
from nmfcheck.verdict.baseline import required_of, shipped_for
from nmfcheck.verdict.levels import EARLY_SINCE, WHOLE, levels


@dataclass(frozen=True)
class Asked:
    """What is required of a cell, and how many trials it has."""

    share: float
    margin: float
    trials: int

    @property
    def bar(self):
        """The share that must not be missed."""
        return max(self.share - self.margin, 0.0)


def cells_of(suite):
    """Return what is required of each cell, for each family."""
    baselines = shipped_for(suite)
    found = {}
    for part in suite.parts:
        required = {cell: required_of(part, cell, baselines[part.family]) for cell in part.cells}
        found[part.family] = [
            Asked(required[cell].share, part.room.margin, trials)
            for cell, trials in part.cells.items()
            if required[cell]
        ]
    return found


def pool(cells):
    """Return all cells of a family as one."""
    whole = sum(cell.trials for cell in cells)
    mean = sum(cell.share * cell.trials for cell in cells) / whole
    return Asked(mean, cells[0].margin, whole)


def distribution(shares, trials):
    """Return the probabilities of each number of passes of independent cells together."""
    total = np.ones(1)
    for share, number in zip(shares, trials, strict=True):
        total = np.convolve(total, stats.binom.pmf(np.arange(number + 1), number, share))
    return total


def fewest(whole, settled):
    """Return the smallest number of passes of which something holds; one more than all if none."""
    low, high = 0, whole + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if settled(Share(middle, whole)) else (middle + 1, high)
    return low


def fail_bound(families, spent=WHOLE, *, at_the_bar=False):
    """Bound the probability of a FAIL at the end, for a subject at what is required or the bar."""
    tests = sum(len(cells) + 1 for cells in families.values())
    level = spent.fail / tests  # Holm rejects something if and only if a p-value is below this
    bound = 0.0
    for cells in families.values():
        shares = [cell.bar if at_the_bar else cell.share for cell in cells]
        numbers = [cell.trials for cell in cells]
        alone = [([share], [number]) for share, number in zip(shares, numbers, strict=True)]
        for asked, own in zip((*cells, pool(cells)), (*alone, (shares, numbers)), strict=True):
            least = fewest(asked.trials, lambda s, bar=asked.bar: s.p_value(bar) > level)
            bound += distribution(*own)[:least].sum()
    return float(bound)


def pass_probability(families, spent=WHOLE):
    """Return how often a subject at what is required passes at the end, and that of each family."""
    by_family = {}
    for name, cells in families.items():
        asked = pool(cells)
        least = fewest(
            asked.trials,
            lambda s, bar=asked.bar: s.bound(spent.passing) >= bar or s.value >= bar == 1,
        )
        shares, numbers = [cell.share for cell in cells], [cell.trials for cell in cells]
        by_family[name] = float(distribution(shares, numbers)[least:].sum())
    return max(math.prod(by_family.values()) - fail_bound(families, spent), 0.0), by_family


def main() -> None:
    objective = sys.argv[1] if len(sys.argv) > 1 else FROBENIUS.name
    for suite in (suites.find(name, objective) for name in suites.SUITES):
        families = cells_of(suite)
        spent = levels() if suite.version >= EARLY_SINCE else WHOLE
        passing, by_family = pass_probability(families, spent)
        listed = ", ".join(f"{name} {100 * p:.2f} %" for name, p in by_family.items())
        print(f"{suite.title}: {suite.scope}")
        passes = f"PASS in {100 * passing:.2f} % (goal 95; {listed})"
        print(f"  at what is required everywhere: {passes}, ", end="")
        early = spent.fail_early
        print(f"FAIL in at most {100 * (fail_bound(families, spent) + early):.4f} %")
        print(
            "  at the bar everywhere: FAIL in at most "
            f"{100 * (fail_bound(families, spent, at_the_bar=True) + early):.2f} %"
        )


if __name__ == "__main__":
    main()
