"""Slopes of the parameters in ε, and whether they are linear: the paper's Figure 1, of any subject.

For n = 2 and a ≡ 1, an exact factorization has three parameters, w0(1), w0(2) and w1(1), the
paper's equation (9); or h0(2), h0(1) and h1(1), if H is described and W follows. A run at ε and one
at ε = 0 from the same start give three slopes `(parameter(ε) − parameter(0))/ε`. As the paper does
it, W's parameters are taken where w1(1) is the one that is linear in ε, and H's where h1(1) is: the
one that has the larger portion of A(1,2) at the smallest ε. Transposed and with both orders
reversed, A is A again, and W and H change places: h1(1) stands for w1(1), h0(2) for w0(1), h0(1)
for w0(2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Array, Bools, Ints
from ...errors import InputError
from ...intervals import Share
from ...judging.factors import UnusableError, as_factor
from .cases import ONES, BidiagonalCase, case_of
from .form import align, portions
from .judge import judge_batch

N = 2
PARAMETERS = ("w0(1)", "w0(2)", "w1(1)")
EPS = (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
"""The values of ε, unless told."""

SEEDS = 100
"""So many starts, unless told."""

NEARLY = 0.05
"""A run's parameter is linear if, over the last decade of ε, its slope changes by less than so much
of it, or of w1(1)'s if that is the larger one."""

USUALLY = 0.95
"""A parameter is linear if it is so in more than this portion of the runs."""


@dataclass(frozen=True)
class Linearity:
    """How often a parameter is linear in ε.

    The runs are counted, rather than their mean looked at: starts that are about to end at another
    solution have slopes of any size, and the mean may be that of one or two of them.

    Attributes
    ----------
    mean, median : of its slopes at the smallest ε.
    runs : those in which it is linear, of those that count at both ends of the last decade.
    """

    parameter: str
    mean: float
    median: float
    runs: Share

    @property
    def linear(self) -> bool | None:
        """Whether that is more than `USUALLY`, by one-sided 95 % bounds; None where it is open."""
        return self.runs.is_above(USUALLY)


@dataclass(frozen=True)
class Slopes:
    """The slopes of a subject.

    Attributes
    ----------
    eps : the values of ε, the largest first.
    of_W : of each run, whether W's parameters were taken.
    slope : by ε, run and parameter; NaN where a run has no form at ε or at 0, or another
        permutation: then it belongs to another solution.
    portion : by ε and run, the part of A(1,2) that comes from W; NaN where a run has no form.
    """

    eps: tuple[float, ...]
    of_W: Bools  # noqa: N815 - the matrix
    slope: Array
    portion: Array

    @property
    def counted(self) -> list[int]:
        """How many runs count, for each ε."""
        return [int(number) for number in np.isfinite(self.slope[:, :, 0]).sum(axis=1)]

    @property
    def mean(self) -> Array:
        """The mean slope, by ε and parameter; NaN of nothing."""
        return _mean_and_error(self.slope)[0]

    @property
    def error(self) -> Array:
        """The standard error of the mean, by ε and parameter."""
        return _mean_and_error(self.slope)[1]

    @property
    def linearity(self) -> list[Linearity]:
        """Say of each parameter whether it is linear in ε."""
        last = len(self.eps) - 1
        before = min(range(last), key=lambda j: abs(np.log10(self.eps[j] / self.eps[last]) - 1))
        slope = self.slope[last]
        finite = np.isfinite(slope) & np.isfinite(self.slope[before])
        upper = slope[:, [PARAMETERS.index("w1(1)")]]
        with np.errstate(invalid="ignore"):
            change = np.abs(slope - self.slope[before])
            linear = finite & (change < NEARLY * np.maximum(np.abs(slope), np.abs(upper)))
        return [
            Linearity(
                name,
                float(self.mean[last, k]),
                float(np.median(slope[finite[:, k], k])) if finite[:, k].any() else math.nan,
                Share(int(linear[:, k].sum()), int(finite[:, k].sum())),
            )
            for k, name in enumerate(PARAMETERS)
        ]


def _mean_and_error(values: Array) -> tuple[Array, Array]:
    """Return the mean over runs, the axis before the last, and its standard error."""
    finite = np.isfinite(values)
    number = finite.sum(axis=-2)
    kept = np.where(finite, values, 0.0)
    with np.errstate(all="ignore"):
        mean = kept.sum(axis=-2) / number
        off = np.where(finite, values - np.expand_dims(mean, -2), 0.0)
        error = np.sqrt((off**2).sum(axis=-2) / (number - 1) / number)
    return mean, error


def checked_eps(eps: Sequence[float]) -> tuple[float, ...]:
    """Return values of ε, the largest first, if slopes can be measured with them."""
    ladder = tuple(sorted({float(each) for each in eps}, reverse=True))
    if len(ladder) < 2 or not 0 < ladder[-1] <= ladder[0] < np.inf:
        given = ", ".join(f"{each:g}" for each in eps)
        raise InputError(f"ε is {given or 'missing'}; slopes need two values or more, above 0")
    return ladder


def slopes_of(factors: Mapping[float, Sequence[tuple[object, object] | None]]) -> Slopes:
    """Return the slopes of runs that have been made.

    Parameters
    ----------
    factors : for ε = 0 and for each other ε, W and H of each run, in one order; None where there is
        no answer.
    """
    ladder = checked_eps([eps for eps in factors if eps])
    base, before, _ = _parameters(case_of(N, ONES, 0.0), factors[0.0])
    here = [_parameters(case_of(N, ONES, eps), factors[eps]) for eps in ladder]
    portion = np.stack([part for _, _, part in here])
    _, _, smallest = here[-1]
    of_W = smallest > 0.5
    side = np.where(of_W, 0, 1)
    slope = np.stack(
        [
            np.where(
                ((permutation == before) & (before >= 0))[:, None],
                _taken(parameters - base, side) / eps,
                np.nan,
            )
            for eps, (parameters, permutation, _) in zip(ladder, here, strict=True)
        ]
    )
    return Slopes(ladder, of_W, slope, portion)


def _taken(parameters: Array, side: Ints) -> Array:
    """Return W's or H's parameters of each run."""
    taken: Array = parameters[np.arange(len(parameters)), side]
    return taken


def _parameters(
    case: BidiagonalCase, factors: Sequence[tuple[object, object] | None]
) -> tuple[Array, Ints, Array]:
    """Return the parameters of W and of H, the permutation (0, 1, or −1 for none), W's portion."""
    W, H = (
        np.stack(stack) for stack in zip(*(_as_matrices(pair) for pair in factors), strict=True)
    )
    judged = judge_batch(case, W, H)
    permutation = judged.permutation[:, 0]
    formed = permutation >= 0
    order = np.where(formed[:, None], judged.permutation, np.arange(N))
    W, H = align(W, H, order)
    of_W = np.stack([W[:, 0, 0], W[:, 1, 1], W[:, 0, 1]], 1)
    of_H = np.stack([H[:, 1, 1], H[:, 0, 0], H[:, 0, 1]], 1)
    parameters = np.stack([of_W, of_H], 1)
    parameters[~formed] = np.nan
    portion = np.full(len(W), np.nan)
    if case.eps:
        e = np.full((len(W), 1), case.eps)
        portion = np.where(formed, portions(W, H, e)[0][:, 0], np.nan)
    return parameters, permutation, portion


def _as_matrices(pair: tuple[object, object] | None) -> tuple[Array, Array]:
    """Return W and H as matrices; of zeros, which have no form, where they are none."""
    if pair is not None:
        try:
            return as_factor("W", pair[0], (N, N)), as_factor("H", pair[1], (N, N))
        except UnusableError:
            pass
    return np.zeros((N, N)), np.zeros((N, N))
