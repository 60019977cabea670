"""The exact factorization nearest to a given one.

Both are balanced (`max W[:,k] = max H[k,:]`), which leaves of the solution set the chain of
Theorem 1: a switch s and a share θ. Along a segment of the chain only components s and s+1 change.
While the superdiagonal is smaller than the diagonal, they change linearly in θ, so the squared
distance is a parabola whose lowest point is known; elsewhere it is searched for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...judging.factors import UnusableError, as_factor
from ...judging.measures import balance, validity
from ...judging.sentences import invalid_entry
from ..family import Nearest
from .cases import BidiagonalCase, checked_case
from .exact import exact_factorization
from .form import match_rows, read_permutation


@dataclass(frozen=True)
class NearestExact:
    """An exact factorization beside the one it is nearest to.

    Attributes
    ----------
    W, H : the factorization, its components scaled and ordered like those it is compared with.
    distance : `‖(W, H) − (W*, H*)‖_F / √(2·Σa0)` of the balanced factors. The unit is the size of
        the diagonals of any balanced exact factorization.
    switch, theta : its place on the chain (Theorem 1); None where the chain is a single point,
        for ε = 0 and for n = 1.
    permutation : `permutation[i]` is the component (from 0) that explains row i.
    """

    W: Array
    H: Array
    distance: float
    switch: int | None
    theta: float | None
    permutation: tuple[int, ...]

    def as_answer(self) -> Nearest:
        """Return it in the house's words."""
        place = "" if self.switch is None else f"switch {self.switch} with θ = {self.theta:.6g}"
        return Nearest(self.W, self.H, self.distance, place)


def nearest_exact(case: BidiagonalCase, W: Any, H: Any) -> NearestExact:
    """Return the exact factorization of `case` nearest to W, H.

    The permutation is the one that M shows. Where M is none, the run is near no solution, and the
    permutations that are nearest at one of several points along the chain are tried.
    """
    checked_case(case)
    try:
        W, H = as_factor("W", W, (case.n, case.rank)), as_factor("H", H, (case.rank, case.n))
    except UnusableError as reason:
        raise InputError(str(reason)) from None
    unit = np.array([case.a0.max()])
    if not validity(W[None], H[None], unit)[0][0]:
        raise InputError(invalid_entry(W, H).removesuffix("."))
    W, H = np.maximum(W, 0.0), np.maximum(H, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):  # factors may be huge
        balanced_W, balanced_H = (X[0] for X in balance(W[None], H[None], unit))
        in_order = _Chain(case, unit, balanced_W, balanced_H, tuple(range(case.n)))
        chains = [replace(in_order, permutation=p) for p in _permutations(in_order)]
        (distance, switch, theta), chain = min(
            ((chain.nearest(), chain) for chain in chains), key=lambda pair: pair[0]
        )
        exact_W, exact_H = chain.point(switch, theta)
    scale = _scales(W, balanced_W)
    return NearestExact(
        W=exact_W * scale,
        H=exact_H / scale[:, None] * unit[0],
        distance=distance,
        switch=None if chain.is_a_point else switch,
        theta=None if chain.is_a_point else theta,
        permutation=chain.permutation,
    )


@dataclass(frozen=True)
class _Chain:
    """The solution set, balanced and in one order of components, seen from W and H."""

    case: BidiagonalCase
    unit: Array
    W: Array
    H: Array
    permutation: tuple[int, ...]

    @property
    def is_a_point(self) -> bool:
        return self.case.eps == 0 or self.case.n == 1

    def nearest(self) -> tuple[float, int, float]:
        """Return distance, switch and theta of the nearest point."""
        return min(
            (self.distance(s, theta), s, theta)
            for s in range(1, max(self.case.n, 2))
            for theta in ([0.0] if self.is_a_point else self.candidates(s))
        )

    def point(self, switch: int, theta: float) -> tuple[Array, Array]:
        W, H = exact_factorization(
            self.case, switch=switch, theta=theta, permutation=self.permutation
        )
        W, H = balance(W[None], H[None], self.unit)
        return W[0], H[0]

    def distance(self, switch: int, theta: float) -> float:
        missed = self._stacked(switch, theta) - np.stack([self.W, self.H])
        return float(np.linalg.norm(missed) / np.sqrt(2 * np.sum(self.case.a0 / self.unit)))

    def candidates(self, s: int) -> list[float]:
        """Return shares among which the nearest point of segment s is."""
        e, before, after = self.case.e[s - 1], self.case.a0[s - 1], self.case.a0[s]
        # Balancing changes its form where w1(s) = θ·e/a0(s+1)·w0(s+1) outgrows w0(s+1), and where
        # h1(s) = (1−θ)·e/a0(s)·h0(s) outgrows h0(s).
        linear_from, linear_to = max(0.0, 1 - before / e), min(1.0, after / e)
        bends = sorted({0.0, 1.0, *(x for x in (linear_from, linear_to) if 0 < x < 1)})
        return bends + [
            self._foot(s, low, high)
            if linear_from <= low and high <= linear_to
            else self._lowest(s, low, high)
            for low, high in pairwise(bends)
            if high - low > 1e-12
        ]

    def _stacked(self, switch: int, theta: float) -> Array:
        return np.stack(self.point(switch, theta))

    def _foot(self, s: int, low: float, high: float) -> float:
        """Return the theta of the perpendicular's foot, where the points form a straight line."""
        start = self._stacked(s, low)
        along = self._stacked(s, high) - start
        length = np.abs(along).max()
        if length == 0:
            return low
        along = along / length  # its square could underflow
        t = np.sum((np.stack([self.W, self.H]) - start) * along) / np.sum(along**2) / length
        return float(low + np.clip(np.nan_to_num(t), 0.0, 1.0) * (high - low))

    def _lowest(self, s: int, low: float, high: float) -> float:
        """Return the theta between low and high whose point is nearest, by search."""
        from scipy.optimize import minimize_scalar  # late: SciPy takes long to import

        grid = np.linspace(low, high, 33)
        best = int(np.argmin([self.distance(s, theta) for theta in grid]))
        minimum = minimize_scalar(
            lambda theta: self.distance(s, theta),
            bounds=(grid[max(best - 1, 0)], grid[min(best + 1, 32)]),
            method="bounded",
            options={"xatol": 1e-9},
        )
        # Good to about 1e-8, as a search for a minimum is. So near, the curve is a straight line,
        # and the foot on it, seen from the point that was found, is good to all digits.
        x = float(minimum.x)
        left, right = max(low, x - 1e-6), min(high, x + 1e-6)
        along = (self._stacked(s, right) - self._stacked(s, left)) / (right - left)
        missed = np.stack([self.W, self.H]) - self._stacked(s, x)
        polished = x + np.nan_to_num(np.sum(missed * along) / np.sum(along**2))
        return min((x, float(np.clip(polished, low, high))), key=partial(self.distance, s))


def _permutations(chain: _Chain) -> list[tuple[int, ...]]:
    """Return the permutation that M shows; if it shows none, the best at points of the chain.

    For a given point of the chain, the nearest order of its components is an assignment.
    """
    case, W, H = chain.case, chain.W, chain.H
    shown, matched = read_permutation(match_rows(W[None], H[None], case.a0[None] / chain.unit))
    if matched[0]:
        return [tuple(shown[0].tolist())]
    from scipy.optimize import linear_sum_assignment  # late: SciPy takes long to import

    orders = set()
    for s in range(1, max(case.n, 2)):
        for theta in np.linspace(0, 1, 5):
            exact_W, exact_H = chain.point(s, float(theta))  # in the order of the rows
            costs = ((exact_W.T[:, None] - W.T) ** 2).sum(axis=2)
            costs += ((exact_H[:, None] - H) ** 2).sum(axis=2)
            components = linear_sum_assignment(np.nan_to_num(costs, posinf=1e300))[1]
            orders.add(tuple(components.tolist()))
    return sorted(orders)


def _scales(W: Array, balanced_W: Array) -> Array:
    """Return d with `W = balanced_W·diag(d)`; a dead component gets 1."""
    top = balanced_W.max(axis=0)
    return np.where(top > 0, W.max(axis=0) / np.where(top > 0, top, 1.0), 1.0)
