"""How seldom w1 and h1 split the entry A(1,2)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..arrays import Array
from ..cases import ONES, decimal
from ..intervals import Share
from .drawing import NAMES, panels
from .plan import ALGORITHMS, LADDER, SMALL_EPS
from .rules import above, all_of, share
from .section import Claim, Drawing, Evidence, Section, Table, graded

SPLIT = 0.1
"""An entry is split if the smaller share of it is larger than this."""

RARE = 0.1
"""What happens in fewer runs than this is rare."""

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


def section(evidence: Evidence) -> Section:
    """Return the distribution of the share for each ε."""
    smaller = {
        (a, eps): np.minimum(*(part[:, 0] for part in evidence.runs(a, 2, ONES, eps).shares))
        for a in ALGORITHMS
        for eps in LADDER
    }
    split = {key: share(values > SPLIT) for key, values in smaller.items()}
    rows = [
        (a, eps, split[a, eps].whole, split[a, eps].part, *split[a, eps].interval,
         *np.quantile(values, QUANTILES))
        for (a, eps), values in smaller.items()
    ]  # fmt: skip
    columns = ("algorithm", "eps", "runs", f"smaller share above {SPLIT:g}", "low", "high",
               *(f"quantile {q:g}" for q in QUANTILES))  # fmt: skip
    return Section(
        "Who takes A(1,2)",
        "w0(1)·h1(1) + w1(1)·h0(2) = ε: the two shares of A(1,2). The paper finds that one of "
        "them is nearly all of it.",
        (_claim(split),),
        (Table("splitting", columns, rows),),
        (_drawing(smaller),),
    )


def _claim(split: dict[tuple[str, float], Share]) -> Claim:
    rare = {key: _below(counted, RARE) for key, counted in split.items()}
    falls = all(
        split[a, small].interval[0] <= split[a, large].interval[1]
        for a in ALGORITHMS
        for large, small in pairwise(LADDER)
    )
    small = all_of(holds for (_, eps), holds in rare.items() if eps <= SMALL_EPS)
    told = "; ".join(
        f"{a} {100 * split[a, LADDER[0]].value:.0f} % at ε = {decimal(LADDER[0])}, "
        f"{100 * split[a, SMALL_EPS].value:.1f} % at {decimal(SMALL_EPS)}, "
        f"{100 * split[a, LADDER[-1]].value:.1f} % at {decimal(LADDER[-1])}"
        for a in ALGORITHMS
    )
    return Claim(
        "splitting",
        "Section III, before equation (11)",
        "w1(1) and h1(1) rarely split the entry: one takes nearly all of it, the more so the "
        "smaller ε is.",
        f"Split means that the smaller share is above {SPLIT:g}; rare means in fewer than "
        f"{100 * RARE:g} % of runs (one-sided 95 % bound). Reproduced if it is rare for every "
        "algorithm and ε and never becomes more frequent as ε falls (intervals apart); with a "
        f"correction if rare for ε ≤ {decimal(SMALL_EPS)}.",
        graded(whole=all(rare.values()) and falls, part=small if falls else False),
        f"Split: {told}. At ε = 0.1 multiplicative update splits the entry in most runs; it "
        "becomes rare only as ε falls.",
    )


def _below(counted: Share, bound: float) -> bool | None:
    return above(Share(counted.whole - counted.part, counted.whole), 1 - bound)


def _drawing(smaller: dict[tuple[str, float], Array]) -> Drawing:
    figure, axes = panels(len(ALGORITHMS), height=2.9, sharey=True)
    shown = LADDER[::2]
    for each, algorithm in zip(axes, ALGORITHMS, strict=True):
        for i, eps in enumerate(shown):
            values = np.sort(np.maximum(smaller[algorithm, eps], 1e-20))
            places = np.unique(np.linspace(0, len(values) - 1, 200).astype(int))
            each.plot(values[places], (places + 1) / len(values), drawstyle="steps-post",
                      color=(0.15 + 0.18 * i, 0.45, 0.85 - 0.18 * i), linewidth=1.3,
                      label=f"ε = {decimal(eps)}")  # fmt: skip
        each.axvline(SPLIT, linewidth=0.8, linestyle=":", color="grey")
        each.set(xscale="log", xlabel="smaller share of A(1,2)", xlim=(1e-20, 1))
        each.set_title(NAMES[algorithm], fontsize=9)
    axes[0].set_ylabel("share of runs")
    axes[0].legend(fontsize=8, loc="upper left")
    return Drawing(
        "splitting",
        figure,
        "Distribution of the smaller of the two shares of A(1,2), for several ε. Dotted: 0.1.",
    )
