"""Misprints and gaps of the paper, each with the numbers that show it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..families.bidiagonal.cases import LOGUNIFORM, ONES, bidiagonal
from ..families.judge import judge
from .plan import ALGORITHMS, LADDER, MU, SMALL_EPS, type_iv
from .pure_types import deviations
from .section import Evidence
from .slopes import of_runs


@dataclass(frozen=True)
class Misprint:
    """What is in the paper, what should be, and the numbers."""

    where: str
    printed: str
    meant: str
    evidence: str


def misprints(evidence: Evidence) -> list[Misprint]:
    """Return the table."""
    return [
        _upper_entry(evidence),
        _factors(evidence),
        _condition(evidence),
        _not_sufficient(evidence),
        _corner(),
        _input(evidence),
        _figure(evidence),
        _positive(),
        _epsilon(evidence),
    ]


def _upper_entry(evidence: Evidence) -> Misprint:
    runs = evidence.runs(MU, 2, ONES, SMALL_EPS)
    W, H = runs.aligned
    of_W = runs.portions[0][:, 0] > 1 - SMALL_EPS
    w1, w0, h0 = W[of_W, 0, 1], W[of_W, 1, 1], H[of_W, 1, 1]
    off = [float(np.median(np.abs(w1 / (SMALL_EPS * x) - 1))) for x in (h0, w0)]
    return Misprint(
        "Section III",
        "w1(1) = ε·h0(2)",
        "w1(1) = ε·w0(2); it follows from (4) and (6)",
        f"{int(of_W.sum())} runs of multiplicative update at n = 2 with h1(1) negligible: "
        f"median relative deviation {off[0]:.2g} from the printed formula, {off[1]:.1g} from "
        "the other.",
    )


def _factors(evidence: Evidence) -> Misprint:
    off = {
        general: max(
            float(deviations(evidence.runs(a, 3, LOGUNIFORM, SMALL_EPS), general=general).max())
            for a in ALGORITHMS
        )
        for general in (False, True)
    }
    return Misprint(
        "Section III",
        "w1(i) ≈ ε·w0(i+1), h1(i) ≈ ε·h0(i)",
        "only for a ≡ 1; in general with the factors a1(i)/a0(i+1) and a1(i)/a0(i)",
        f"n = 3, random entries, all clean entries: largest relative deviation {off[False]:.2g} as "
        f"printed, {off[True]:.1g} with the factors.",
    )


def _condition(evidence: Evidence) -> Misprint:
    eps, w1 = SMALL_EPS, 2 * SMALL_EPS
    h1 = eps - w1  # (9) with w0 = [1 1]
    inside = [
        bool(((part >= -1e-9) & (part <= 1 + 1e-6)).all())
        for a in ALGORITHMS
        for part in [evidence.runs(a, 2, ONES, eps).portions[0]]
    ]
    return Misprint(
        "Equations (9) and (11)",
        "no condition on w1(1)",
        "0 ≤ w1(1) ≤ ε·a1(1)·w0(2)/a0(2)",
        f"w0 = [1 1], w1(1) = 2ε gives h1(1) = {h1:g}, which is negative. w1(1) is within the "
        f"bounds in {'all runs of all three algorithms' if all(inside) else 'not all runs'} at "
        "n = 2, a ≡ 1, ε = 1e-3.",
    )


def _not_sufficient(evidence: Evidence) -> Misprint:
    W, H = type_iv(SMALL_EPS)
    judged = judge(bidiagonal(np.ones(3), np.ones(2), SMALL_EPS), W, H)
    runs = evidence.runs(MU, 3, ONES, SMALL_EPS)
    of_four = (runs.judged.type == "IV") & runs.formed
    least = float(runs.judged.product_defect[of_four].min(initial=np.inf))
    return Misprint(
        "Section III, before and after (12)",
        "exact solutions are “likely” of the form (12), and “little more is required”",
        "(12) is necessary for certain, and not sufficient: w1(i)·h1(i+1) = 0 is needed, too",
        f"wh has the form (12) with nothing off it ({judged.measures['form_defect']:g}) and misses "
        f"A by {judged.product_defect:.1e}; of multiplicative update's {int(of_four.sum())} runs "
        f"of Type IV none comes nearer to A than {least:.1e}.",
    )


def _corner() -> Misprint:
    W, H = type_iv(SMALL_EPS)
    A = bidiagonal(np.ones(3), np.ones(2), SMALL_EPS).A
    return Misprint(
        "Section III, after Figure 2",
        "A(1,3) = w1(1)·h1(2)",
        "(WH)(1,3) = w1(1)·h1(2); A(1,3) = 0",
        f"In Type IV at ε = 1e-3, (WH)(1,3) = {(W @ H)[0, 2]:.1e}, w1(1)·h1(2) = "
        f"{W[0, 1] * H[1, 2]:.1e}, A(1,3) = {A[0, 2]:g}.",
    )


def _input(evidence: Evidence) -> Misprint:
    runs = evidence.runs(MU, 3, ONES, SMALL_EPS)
    w0 = np.diagonal(runs.aligned[0][runs.formed], 0, 1, 2)
    return Misprint(
        "Section III, before Figure 3",
        "3×3 input w0 = [1 1 1], w1 = [1 1]",
        "a0 = [1 1 1], a1 = [1 1]",
        f"With that a0 and a1, w0 comes out between {w0.min():.2f} and {w0.max():.2f} in "
        "multiplicative update: it is not an input.",
    )


def _figure(evidence: Evidence) -> Misprint:
    runs = evidence.runs(MU, 3, ONES, SMALL_EPS)
    counts = ", ".join(
        f"{kind} {int(((runs.judged.type == kind) & runs.formed).sum())}"
        for kind in ("I", "II", "III", "IV")
    )
    return Misprint(
        "Section III, before Figure 3",
        "distributions “given in Figure 2”",
        "Figure 3",
        "Figure 2 says which entries are negligible in each type and has no numbers; ours are "
        f"{counts} for multiplicative update.",
    )


def _positive() -> Misprint:
    A = np.diag([1.0, 0.0])
    W, H = np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[0.5, 0.0], [0.5, 0.0]])
    return Misprint(
        "Section II",
        "A0 non-negative and diagonal ⇒ W0, H0 monomial",
        "a0 > 0 is needed",
        "a0 = [1 0]: W = [1 1; 0 0], H = [½ 0; ½ 0] has max|A − WH| = "
        f"{np.abs(A - W @ H).max():g}, and two nonzero entries in a row of W.",
    )


def _epsilon(evidence: Evidence) -> Misprint:
    slopes = of_runs(evidence, MU)
    mean = slopes.mean[:, 2]
    power = np.polyfit(np.log(slopes.eps), np.log(mean * slopes.eps), 1)[0]
    return Misprint(
        "Sections II and III",
        "W0 + ε·W1 in section II, w1 in section III",
        "section III's w1 contains ε",
        f"The mean of w1(1) over runs goes like ε to the power {power:.3f} between "
        f"{LADDER[0]:g} and {LADDER[-1]:g}: w1 = O(ε), while section II's W1 = O(1).",
    )
