"""How seldom w1 and h1 split the entry A(1,2)."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..families.bidiagonal.cases import KINDS_OF_ENTRIES, LOGUNIFORM, ONES
from ..intervals import Share
from ..text import decimal
from .drawing import NAMES, panels
from .plan import ALGORITHMS, LADDER, SMALL_EPS
from .rules import all_of, share
from .runs import Runs
from .section import Claim, Drawing, Evidence, Section, Table, graded

SPLIT = 0.1
"""An entry is split if the smaller share of it is larger than this."""

RARE = 0.1
"""What happens in fewer runs than this is rare."""

QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)


def section(evidence: Evidence) -> Section:
    """Return the distribution of the share for each ε."""
    smaller = {
        (a, entries, eps): _smaller(evidence.runs(a, 2, entries, eps))
        for a in ALGORITHMS
        for entries in KINDS_OF_ENTRIES
        for eps in LADDER
    }
    split = {key: share(values > SPLIT) for key, values in smaller.items()}
    rows = [
        (*key, split[key].whole, split[key].part, *split[key].interval,
         *np.quantile(values, QUANTILES))
        for key, values in smaller.items()
    ]  # fmt: skip
    columns = ("algorithm", "entries", "eps", "runs", f"smaller share above {SPLIT:g}", "low",
               "high", *(f"quantile {q:g}" for q in QUANTILES))  # fmt: skip
    claims = (
        _claim(
            "splitting",
            "Section III, before equation (11)",
            "w1(1) and h1(1) could split the entry, but rarely do: one takes nearly all of it.",
            {(a, eps): counted for (a, kind, eps), counted in split.items() if kind == ONES},
        ),
        _claim(
            "splitting-other-entries",
            "Section III, after equation (11)",
            "The same with other entries of order 1.",
            {(a, eps): counted for (a, kind, eps), counted in split.items() if kind == LOGUNIFORM},
        ),
    )
    return Section(
        "Who takes A(1,2)",
        "w0(1)·h1(1) + w1(1)·h0(2) = ε: the two shares of A(1,2), of runs that have the form. The "
        "paper finds that one of them is nearly all of it.",
        claims,
        (Table("splitting", columns, rows),),
        (_drawing({(a, eps): v for (a, kind, eps), v in smaller.items() if kind == ONES}),),
    )


def _smaller(runs: Runs) -> Array:
    """Return the smaller share of A(1,2) of each run that has the form."""
    of_W, of_H = (part[runs.formed, 0] for part in runs.portions)
    smaller: Array = np.minimum(of_W, of_H)
    return smaller


def _claim(id: str, where: str, said: str, split: dict[tuple[str, float], Share]) -> Claim:
    rare = {key: _below(counted, RARE) for key, counted in split.items()}
    small = all_of(holds for (_, eps), holds in rare.items() if eps <= SMALL_EPS)
    listed = "; ".join(
        f"{a} {100 * split[a, LADDER[0]].value:.0f} % at ε = {decimal(LADDER[0])}, "
        f"{100 * split[a, SMALL_EPS].value:.1f} % at {decimal(SMALL_EPS)}, "
        f"{100 * split[a, LADDER[-1]].value:.1f} % at {decimal(LADDER[-1])}"
        for a in ALGORITHMS
    )
    often = [f"{a} at ε = {decimal(eps)}" for (a, eps), holds in rare.items() if holds is False]
    more = f" Not rare: {', '.join(often)}." if often else ""
    return Claim(
        id,
        where,
        said,
        f"Split means that the smaller share is above {SPLIT:g}; rare means in fewer than "
        f"{100 * RARE:g} % of runs (one-sided 95 % bound). Reproduced if it is rare for every "
        f"algorithm and ε; with a correction if for every ε ≤ {decimal(SMALL_EPS)}.",
        graded(whole=all(rare.values()), part=small),
        f"Split: {listed}.{more}",
    )


def _below(counted: Share, bound: float) -> bool | None:
    return Share(counted.whole - counted.part, counted.whole).is_above(1 - bound)


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
    axes[1].legend(fontsize=8, loc="center right")
    return Drawing(
        "splitting",
        figure,
        "Distribution of the smaller of the two shares of A(1,2), for several ε. Dotted: 0.1.",
    )
