"""Shares of trials: exact intervals, exact tests, and how many trials would settle a question."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95

MOST_FURTHER = 10**7
"""No more trials than these are worth asking for."""


@dataclass(frozen=True)
class Share:
    """So many of so many trials."""

    part: int
    whole: int

    def __add__(self, other: Share) -> Share:
        return Share(self.part + other.part, self.whole + other.whole)

    @property
    def value(self) -> float:
        """The share; NaN of nothing."""
        return self.part / self.whole if self.whole else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The two-sided 95 % interval of Clopper and Pearson."""
        tail = (1 - CONFIDENCE) / 2
        return self.bound(tail), 1 - Share(self.whole - self.part, self.whole).bound(tail)

    @property
    def lower(self) -> float:
        """The one-sided 95 % lower bound of Clopper and Pearson."""
        return self.bound(1 - CONFIDENCE)

    def bound(self, tail: float) -> float:
        """Return the share with which so many passes, or more, have the probability `tail`."""
        if self.part == 0:
            return 0.0
        from scipy import special

        return float(special.betaincinv(self.part, self.whole - self.part + 1, tail))

    def is_above(self, bound: float) -> bool | None:
        """Say whether it is above a bound, by one-sided 95 % bounds; None where that is open."""
        if self.lower > bound:
            return True
        return False if 1 - Share(self.whole - self.part, self.whole).lower < bound else None

    def p_value(self, share: float) -> float:
        """Return the probability of so few passes or fewer if each has the probability `share`."""
        if self.whole == 0:
            return 1.0
        from scipy import special

        return float(special.bdtr(self.part, self.whole, min(max(share, 0.0), 1.0)))


def holm(p_values: Sequence[float], level: float) -> list[bool]:
    """Say which hypotheses Holm's method rejects, at a family-wise level."""
    rejected = [False] * len(p_values)
    for done, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[i] > level / (len(p_values) - done):
            break
        rejected[i] = True
    return rejected


def further_trials(share: Share, settled: Callable[[Share], bool]) -> int | None:
    """Return how many more trials would settle a question if the share stayed as it is."""

    def after(more: int) -> bool:
        whole = share.whole + more
        return settled(Share(math.floor(share.value * whole + 1e-9), whole))

    if share.whole == 0 or not after(MOST_FURTHER):
        return None
    low, high = 0, 1
    while not after(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if after(middle) else (middle, high)
    return high
