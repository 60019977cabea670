"""Figure 1: the slopes of the three parameters."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Array
from ..families.bidiagonal.cases import ONES
from ..families.bidiagonal.sections import slope_curves
from ..families.bidiagonal.slopes import NEARLY, PARAMETERS, USUALLY, Slopes, slopes_of
from ..text import decimal
from .drawing import NAMES, panels, towards_zero
from .plan import ALGORITHMS, ALS, GD, LADDER, MU, NENMF
from .rules import all_of
from .section import Claim, Drawing, Evidence, Section, Table, graded

COMPARABLE = 2.0
"""Slopes within such a factor are comparable."""

RULE = (
    f"A parameter is linear in a run if, from ε = {decimal(10 * LADDER[-1])} to "
    f"{decimal(LADDER[-1])}, its slope changes by less than {100 * NEARLY:g} % of it (or of "
    "w1(1)'s, if that is the larger one), and in an algorithm if it is so in more than "
    f"{100 * USUALLY:g} % of the runs (one-sided 95 % bounds). "
)


def section(evidence: Evidence) -> Section:
    """Return the slopes of all algorithms."""
    measured = {a: of_runs(evidence, a) for a in (*ALGORITHMS, NENMF)}
    rows = [
        (a, eps, parameter, side, *_statistics(slopes.slope[i, runs, k]))
        for a, slopes in measured.items()
        for i, eps in enumerate(slopes.eps)
        for k, parameter in enumerate(PARAMETERS)
        for side, runs in (("W", slopes.of_W), ("H", ~slopes.of_W), ("both", slopes.of_W | True))
    ]
    columns = ("algorithm", "eps", "parameter", "described", "runs", "mean slope", "standard error",
               "median slope")  # fmt: skip
    return Section(
        "Slopes: Figure 1",
        "(parameter(ε) − parameter(0))/ε, the mean over seeds, of w0(1), w0(2) and w1(1), or "
        "of their mirror images h0(2), h0(1) and h1(1) where H takes the larger share of "
        "A(1,2) at the smallest ε. Runs whose permutation is another one than at ε = 0 do not "
        "count.",
        (_first(measured[MU]), _others(measured), _comparable(measured)),
        (Table("slopes", columns, rows),),
        (_drawing(measured),),
    )


def of_runs(evidence: Evidence, algorithm: str) -> Slopes:
    """Return the slopes of an algorithm's runs."""
    return slopes_of(
        {
            eps: list(zip(runs.W, runs.H, strict=True))
            for eps in (0.0, *LADDER)
            for runs in [evidence.runs(algorithm, 2, ONES, eps)]
        }
    )


def _statistics(values: Array) -> tuple[object, ...]:
    """Return the number, the mean, its standard error and the median of what is finite."""
    finite = values[np.isfinite(values)]
    if len(finite) < 2:
        return len(finite), math.nan, math.nan, math.nan
    error = finite.std(ddof=1) / math.sqrt(len(finite))
    return len(finite), finite.mean(), error, np.median(finite)


def _in_words(slopes: Slopes) -> str:
    return "; ".join(
        f"{each.parameter} {each.mean:.3g} (median {each.median:.3g}), linear in {each.runs.part} "
        f"of {each.runs.whole}"
        for each in slopes.linearity
    )


def _first(slopes: Slopes) -> Claim:
    linear = all_of(each.linear for each in slopes.linearity)
    return Claim(
        "figure-1",
        "Section III, Figure 1",
        "In Algorithm 1 the three slopes converge as ε → 0: the parameters are linear in ε.",
        f"{RULE}Reproduced if all three are.",
        graded(whole=linear is True, part=linear),
        f"Mean slopes at ε = {decimal(LADDER[-1])}: {_in_words(slopes)}.",
    )


def _others(measured: dict[str, Slopes]) -> Claim:
    linear = all_of(each.linear for a in (ALS, GD) for each in measured[a].linearity)
    upper = all_of(measured[a].linearity[-1].linear for a in (ALS, GD))
    jumps = np.abs(measured[GD].slope[-1, :, :2] * LADDER[-1]).max(axis=1) > 1e-3
    return Claim(
        "figure-1-others",
        "Section III, after Figure 1",
        "Algorithms 2 and 3 show linearity as well.",
        f"{RULE}Reproduced if all three are in both algorithms; with a correction if w1(1) is.",
        graded(whole=linear is True, part=upper),
        f"ALS: {_in_words(measured[ALS])}. Gradient descent: {_in_words(measured[GD])}. "
        "There, w0 does not tend to its value at ε = 0 in every run: in "
        f"{int(jumps.sum())} of {len(jumps)} it is "
        f"still more than 1e-3 away from it at ε = {decimal(LADDER[-1])}. Its step length has a "
        "max and a min in it and so is not a smooth function of ε, which may be why. NeNMF, the "
        f"other reading of the paper's citation: {_in_words(measured[NENMF])}.",
    )


def _comparable(measured: dict[str, Slopes]) -> Claim:
    upper = {a: measured[a].linearity[-1].mean for a in ALGORITHMS}
    factor = max(upper.values()) / min(upper.values())
    relative = {a: _relative(measured[a]) for a in ALGORITHMS}
    return Claim(
        "comparable-slopes",
        "Section III, after Figure 1",
        "The slopes of the three algorithms are comparable.",
        "Of w1(1), which is linear in all three: reproduced if its mean slopes at the smallest "
        f"ε are within a factor {COMPARABLE:g} of each other.",
        graded(whole=factor <= COMPARABLE, part=False),
        f"{', '.join(f'{a} {slope:.3f}' for a, slope in upper.items())}: a factor of {factor:.1f}. "
        "The slope is that of the scale which an algorithm leaves, for w1(1) = ε·w0(2)·share: the "
        f"mean shares are {', '.join(f'{a} {mean:.4f}' for a, mean in relative.items())}.",
    )


def _relative(slopes: Slopes) -> float:
    """Return the mean share of A(1,2) that the chosen side has at the smallest ε."""
    last = slopes.portion[-1]
    return float(np.nanmean(np.where(slopes.of_W, last, 1 - last)))


def _drawing(measured: dict[str, Slopes]) -> Drawing:
    figure, axes = panels(len(measured), height=2.8, sharey=True)
    for each, (algorithm, slopes) in zip(axes, measured.items(), strict=True):
        slope_curves(each, slopes)
        each.set(ylim=(-2.6, 2.6))
        each.set_title(NAMES[algorithm], fontsize=9)
        towards_zero(each)
    axes[0].set_ylabel("mean slope")
    axes[0].legend(loc="lower left", fontsize=8)
    return Drawing(
        "slopes",
        figure,
        "The paper's Figure 1 for all three algorithms, and for NeNMF: mean slopes of w0(1), w0(2) "
        "and w1(1), with 95 % intervals. Where a curve leaves the frame, some runs have slopes of "
        "any size.",
    )
