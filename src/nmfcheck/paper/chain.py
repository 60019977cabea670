"""Beyond the paper: the chain of exact solutions, and where runs are on it."""

from __future__ import annotations

import numpy as np

from ..arrays import Bools
from ..families.bidiagonal.cases import ONES
from ..families.bidiagonal.exact import is_exact_word
from ..presenting.drawing import GREY, RED
from ..text import decimal
from .drawing import COLOURS, NAMES, panels
from .plan import ALGORITHMS, CD, LARGE_EPS, SMALL_EPS
from .rules import in_words, share
from .runs import Runs
from .section import Drawing, Evidence, Section, Table


def section(evidence: Evidence) -> Section:
    """Place the runs of n = 3 on the square of the two shares, of which the chain is two sides."""
    shown = (*ALGORITHMS, CD)
    batches = {
        (a, eps): evidence.runs(a, 3, ONES, eps) for eps in (SMALL_EPS, LARGE_EPS) for a in shown
    }
    rows = [row for (a, eps), runs in batches.items() for row in _rows(a, eps, runs)]
    columns = ("algorithm", "eps", "word", "exact word", "runs", "of", "exact at 1e-10",
               "median product defect")  # fmt: skip
    inexact = {key: share(~_exact_words(runs)) for key, runs in batches.items()}
    listed = "; ".join(
        f"{a} {in_words(inexact[a, SMALL_EPS])} at ε = {decimal(SMALL_EPS)}, "
        f"{in_words(inexact[a, LARGE_EPS])} at {decimal(LARGE_EPS)}"
        for a in shown
    )
    return Section(
        "The chain of exact solutions",
        "For n = 3, a factorization of the form (12) has two shares, w1(1)·h0(2)/ε and "
        "w1(2)·h0(3)/ε. The exact ones are two sides of their square, from hh over hw to ww "
        "(Theorem 1); along each a share θ is free. Everything else on it, wh above all, is a "
        f"word that no exact solution has. Runs with the form but an inexact word: {listed}.",
        (),
        (Table("chain", columns, rows),),
        (_drawing({key: runs for key, runs in batches.items() if key[0] in ALGORITHMS}),
         _along(batches)),
    )  # fmt: skip


def formed(runs: Runs) -> Bools:
    """Say which runs have a permutation and little off the pattern, whatever their product."""
    tolerance = np.minimum(runs.negligible, 1e-3)
    has_form: Bools = runs.matched & (runs.judged.form_defect <= tolerance)
    return has_form


def _exact_words(runs: Runs) -> Bools:
    return np.array([is_exact_word(str(w)) for w in runs.judged.word[formed(runs)]], bool)


def _rows(a: str, eps: float, runs: Runs) -> list[tuple[object, ...]]:
    has_form = formed(runs)
    words = runs.judged.word[has_form]
    exact, product = runs.exact[has_form], runs.judged.product_defect[has_form]
    rows: list[tuple[object, ...]] = []
    for each in sorted(set(words.tolist())):
        at = words == each
        middle = float(np.median(product[at])) if at.any() else float("nan")
        rows.append((a, eps, each, int(is_exact_word(each)), int(at.sum()), len(runs),
                      int(exact[at].sum()), middle))  # fmt: skip
    return rows


def _drawing(batches: dict[tuple[str, float], Runs]) -> Drawing:
    figure, axes = panels(3, height=5.0, rows=2, sharex=True, sharey=True)
    for each, ((a, eps), runs) in zip(axes, batches.items(), strict=True):
        has_form = formed(runs)
        points = runs.portions[0][has_form]
        each.plot([0, 0, 1], [0, 1, 1], color=GREY, linewidth=3, alpha=0.6)
        each.scatter(points[:, 0], points[:, 1], s=9, color=COLOURS[a], alpha=0.35, linewidths=0,
                     rasterized=True)  # fmt: skip
        each.annotate("wh", (1, 0), xytext=(-2, 3), textcoords="offset points", color=RED,
                      fontsize=9, ha="right")  # fmt: skip
        for name, x, y, side in (("hh", 0, 0, "left"), ("hw", 0, 1, "left"), ("ww", 1, 1, "right")):
            each.annotate(name, (x, y), xytext=(3 if side == "left" else -3, 3 if y == 0 else -9),
                          textcoords="offset points", fontsize=9, ha=side)  # fmt: skip
        each.set(xlim=(-0.06, 1.06), ylim=(-0.06, 1.06), xticks=(0, 1), yticks=(0, 1), aspect=1)
        each.set_title(f"{NAMES[a].partition(',')[2].strip()}, ε = {decimal(eps)}", fontsize=9)
    axes[3].set_ylabel("W's share of A(2,3)")
    axes[3].set_xlabel("W's share of A(1,2)")
    return Drawing(
        "chain",
        figure,
        "Runs of n = 3 on the square of the two shares; the grey chain is the exact solutions. At "
        f"ε = {decimal(SMALL_EPS)} runs end on all four sides, in the corner wh and inside; at "
        f"{decimal(LARGE_EPS)} those that are not on the chain have not converged, or rest where "
        "nothing is stationary (ALS).",
    )


def _along(batches: dict[tuple[str, float], Runs]) -> Drawing:
    figure, axes = panels(2, height=2.8, sharey=True)
    for each, eps in zip(axes, (SMALL_EPS, LARGE_EPS), strict=True):
        for a in (*ALGORITHMS, CD):
            runs = batches[a, eps]
            where = formed(runs)
            exact = np.zeros(len(runs), bool)
            exact[where] = _exact_words(runs)
            along = np.sort(runs.portions[0][exact].sum(axis=1))
            if len(along):
                each.plot(along, np.arange(1, len(along) + 1) / len(runs), color=COLOURS[a],
                          drawstyle="steps-post", label=NAMES[a])  # fmt: skip
        each.set(title=f"ε = {decimal(eps)}", xlabel="place along the chain")
        each.set_xticks((0, 1, 2), ("hh", "hw", "ww"))
    axes[0].set_ylabel("share of all runs, cumulated")
    axes[1].legend(fontsize=8, loc="upper left")
    return Drawing(
        "along-the-chain",
        figure,
        "Runs of n = 3 whose word is exact, by their place along the chain. Steps at the "
        "vertices are pure types; slopes between them are runs that share an entry (θ between "
        "0 and 1).",
    )
