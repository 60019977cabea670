"""How often a verdict is right, summed exactly over binomials, with what the baselines require.

For each suite: how often a subject that reaches what is required in every cell passes, how often it
fails, and how often one at the bar everywhere fails. `docs/verdict.md` has the numbers.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from nmfcheck.intervals import Share
from nmfcheck.trials import suites
from nmfcheck.verdict.baseline import shipped_for
from nmfcheck.verdict.decision import FAMILY_WISE, MARGIN


def cells_of(suite):
    """Return the required share and the number of trials of each cell, for each family."""
    baselines = shipped_for(suite)
    found = {}
    for part in suite.parts:
        required = {
            cell: baselines[part.family].required(cell.name, part.test) for cell in part.cells
        }
        found[part.family] = [
            (required[cell].share, trials) for cell, trials in part.cells.items() if required[cell]
        ]
    return found


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


def fail_bound(families, below=0.0):
    """Bound the probability of a FAIL for a subject whose shares are lower by so much."""
    tests = sum(len(cells) + 1 for cells in families.values())
    level = FAMILY_WISE / tests  # Holm rejects something if and only if a p-value is below this
    bound = 0.0
    for cells in families.values():
        whole = sum(number for _, number in cells)
        mean = sum(share * number for share, number in cells) / whole
        shares = [max(share - below, 0.0) for share, _ in cells]
        numbers = [number for _, number in cells]
        for (share, number), own in zip(cells, shares, strict=True):
            bar = max(share - MARGIN, 0.0)
            least = fewest(number, lambda s, bar=bar: s.p_value(bar) > level)
            bound += distribution([own], [number])[:least].sum()
        bar = max(mean - MARGIN, 0.0)
        least = fewest(whole, lambda s, bar=bar: s.p_value(bar) > level)
        bound += distribution(shares, numbers)[:least].sum()
    return float(bound)


def pass_probability(families):
    """Return how often a subject at what is required passes, and its bound in each family."""
    by_family = {}
    for name, cells in families.items():
        whole = sum(number for _, number in cells)
        mean = sum(share * number for share, number in cells) / whole
        bar = mean - MARGIN
        least = fewest(whole, lambda s, b=bar: s.lower >= b)
        shares, numbers = zip(*cells, strict=True)
        by_family[name] = float(distribution(shares, numbers)[least:].sum())
    return max(math.prod(by_family.values()) - fail_bound(families), 0.0), by_family


def main() -> None:
    for suite in suites.SUITES.values():
        families = cells_of(suite)
        passing, by_family = pass_probability(families)
        listed = ", ".join(f"{name} {100 * p:.2f} %" for name, p in by_family.items())
        print(f"{suite.title}: {suite.scope}")
        print(
            f"  at what is required everywhere: PASS in {100 * passing:.2f} % ({listed}), ", end=""
        )
        print(f"FAIL in at most {100 * fail_bound(families):.4f} %")
        print(
            f"  at the bar everywhere: FAIL in at most {100 * fail_bound(families, MARGIN):.2f} %"
        )


if __name__ == "__main__":
    main()
