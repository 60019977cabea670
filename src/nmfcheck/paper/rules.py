"""The statistics of the rules: shares, and whether they differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy import stats

from ..arrays import Array, Bools
from ..intervals import Share


def share(hold: Iterable[object]) -> Share:
    """Count in how many runs something holds."""
    listed = [bool(each) for each in hold]
    return Share(sum(listed), len(listed))


def in_words(counted: Share) -> str:
    """Return a share with its 95 % interval."""
    low, high = counted.interval
    return f"{counted.part} of {counted.whole} ({100 * low:.1f} to {100 * high:.1f} %)"


def each_in_words(shares: Mapping[str, Share]) -> str:
    """Return the share of each algorithm."""
    return "; ".join(f"{name} {in_words(counted)}" for name, counted in shares.items())


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """Return True if all are, False if some is not, None where that is open."""
    listed = list(answers)
    if False in listed:
        return False
    return None if None in listed else True


def any_of(answers: Iterable[bool | None]) -> bool | None:
    """Return True if some is, False if none is, None where that is open."""
    listed = list(answers)
    if True in listed:
        return True
    return None if None in listed else False


def settled(p: float, opposite: float, level: float) -> bool | None:
    """Return True if a one-sided test rejects, False if the opposite one does, else None."""
    return True if p <= level else False if opposite <= level else None


def mean_interval(values: Array) -> tuple[float, float, float]:
    """Return a mean over seeds, and its 95 % interval (normal)."""
    values = np.asarray(values, float)
    mean = float(values.mean())
    error = 1.96 * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 1.0
    return mean, mean - error, mean + error


def within(interval: tuple[float, float, float], low: float, high: float) -> bool | None:
    """Say whether a mean lies between two bounds; None where its interval leaves that open."""
    _, least, most = interval
    if low <= least and most <= high:
        return True
    return False if most < low or least > high else None


def differ(one: Share, other: Share) -> float:
    """Return the p-value of Fisher's exact test that two shares are equal."""
    return float(stats.fisher_exact(_two_by_two(one, other)).pvalue)


def larger(one: Share, other: Share) -> float:
    """Return the p-value of Fisher's exact test that the first share is not the larger one."""
    return float(stats.fisher_exact(_two_by_two(one, other), alternative="greater").pvalue)


def _two_by_two(one: Share, other: Share) -> list[list[int]]:
    return [[each.part, each.whole - each.part] for each in (one, other)]


def grows(sizes: Sequence[int], happened: Sequence[Bools]) -> float:
    """Return the p-value that something does not become more frequent with the size.

    The Cochran–Armitage trend test: the correlation of 0 or 1 with the size, run by run.
    """
    x = np.concatenate([np.full(len(y), n) for n, y in zip(sizes, happened, strict=True)])
    y = np.concatenate([np.asarray(each, float) for each in happened])
    if len(set(x.tolist())) < 2 or y.min(initial=1.0) == y.max(initial=0.0):
        return 1.0
    return float(stats.pearsonr(x, y, alternative="greater").pvalue)


def more_often(one: Bools, other: Bools) -> float:
    """Return the p-value that the first does not happen more often, on the same runs (McNemar)."""
    only_one, only_other = int((one & ~other).sum()), int((other & ~one).sum())
    if only_one + only_other == 0:
        return 1.0
    test = stats.binomtest(only_one, only_one + only_other, 0.5, alternative="greater")
    return float(test.pvalue)
