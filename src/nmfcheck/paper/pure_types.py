"""n = 3: the formulas of the pure types."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..families.bidiagonal.cases import LOGUNIFORM, ONES
from ..families.bidiagonal.judge import CaseStack
from .plan import SMALL_EPS
from .runs import Runs
from .section import Claim, Table, graded


def deviations(runs: Runs, *, general: bool = True) -> Array:
    """Return how far clean superdiagonal entries are from the formula, relative to it.

    `w1(i) = ε·a1(i)/a0(i+1) · w0(i+1)` for a letter w, `h1(i) = ε·a1(i)/a0(i) · h0(i)` for h; not
    `general`: without a1/a0, as the paper prints it.
    """
    W, H = (X[runs.formed] for X in runs.aligned)
    stack, words = CaseStack.of(runs.cases), runs.judged.word[runs.formed]
    e, a0 = stack.e[runs.formed], stack.a0[runs.formed]
    factors = (e / a0[:, 1:], e / a0[:, :-1]) if general else (runs.batch.eps, runs.batch.eps)
    ratios = {
        "w": np.diagonal(W, 1, 1, 2) / (factors[0] * np.diagonal(W, 0, 1, 2)[:, 1:]),
        "h": np.diagonal(H, 1, 1, 2) / (factors[1] * np.diagonal(H, 0, 1, 2)[:, :-1]),
    }
    letters = np.array([list(word) for word in words]).reshape(len(words), -1)
    off = [np.abs(ratios[letter] - 1)[letters == letter] for letter in ratios]
    return np.concatenate(off)


def claim(ones: dict[str, Runs], random: dict[str, Runs]) -> Claim:
    """Say whether the formulas hold."""
    top = {a: float(deviations(runs).max(initial=0.0)) for a, runs in ones.items()}
    general = {a: float(deviations(runs).max(initial=0.0)) for a, runs in random.items()}
    printed = max(float(deviations(runs, general=False).max()) for runs in random.values())
    return Claim(
        "pure-types",
        "Section III, before Figure 2",
        "Where w1(i) is significant and h1(i) is not, w1(i) is very close to ε·w0(i+1); in the "
        "other case h1(i) to ε·h0(i).",
        "Reproduced if no clean entry is off by more than 2ε of it. (Where the form and the "
        "product are right, it is off by the other's share, which is below ε: so this must "
        "hold.)",
        graded(whole=max(top.values()) <= 2 * SMALL_EPS, part=False),
        f"Largest relative deviation: {_numbers(top)}. With random entries, by the general "
        f"formulas with a1(i)/a0(i+1) and a1(i)/a0(i), {_numbers(general)}; as printed, "
        f"{printed:.2g}.",
    )


def _numbers(values: dict[str, float]) -> str:
    return ", ".join(f"{a} {value:.1g}" for a, value in values.items())


def table(ones: dict[str, Runs], random: dict[str, Runs]) -> Table:
    """Return how far clean entries are from the formulas."""
    rows = []
    for entries, by_algorithm in ((ONES, ones), (LOGUNIFORM, random)):
        for a, runs in by_algorithm.items():
            for formula in ("general", "as printed"):
                off = deviations(runs, general=formula == "general")
                middle, top = (np.median(off), off.max()) if len(off) else (np.nan, np.nan)
                rows.append((a, entries, formula, len(off), middle, top))
    columns = ("algorithm", "entries", "formula", "clean entries", "median deviation",
               "largest deviation")  # fmt: skip
    return Table("formulas", columns, rows)
