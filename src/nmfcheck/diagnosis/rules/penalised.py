"""A penalty: where a factor rests, the gradient of the error is not 0, but that of a penalty."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Array
from ...judging.objectives import find
from ..evidence import Evidence
from ..findings import MOST, Cause, Finding
from .least_squares import least_squares

FEWEST = 4
"""So many runs must show it, and so many entries each of them must have."""

FITS, NEARLY_FITS = 0.01, 0.04
"""What a term leaves of the gradient, where it explains it; and where it probably does."""

CONSTANT = 0.05
"""Within so many decades, four fifths of the sizes are one number."""

POSITIVE = 1e-6
"""Entries above this, relative to the largest, are positive: at 0 a gradient may be anything."""

PULL = 1e-12
"""A gradient below this, relative to its parts, is rounding."""

NEARLY_ALL, MANY = 0.9, 8
"""So many of the runs that can tell must show what is said for certain, and as many."""

SPARE = 4
"""So many more entries than unknowns a run must have where components may be scaled."""


@dataclass(frozen=True)
class Term:
    """What a penalty on X adds to the gradient of ½‖A − Y·X‖², but for its size.

    Attributes
    ----------
    of : makes it from Y and X.
    means : in words, with {X} for the factor and {size} for its size.
    """

    of: Callable[[Array, Array], Array]
    means: str


def _from_neighbours(X: Array) -> Array:
    """Return half of the gradient of Σ(x_j − x_{j+1})² over neighbouring columns of X."""
    steps = np.diff(X, axis=1)
    return np.pad(steps, ((0, 0), (1, 0))) - np.pad(steps, ((0, 0), (0, 1)))


TERMS = {
    "one": Term(
        lambda _, X: np.ones_like(X),
        "the same everywhere, {size}: an L1 penalty of that size is left on {X}, or that constant "
        "is added to a denominator",
    ),
    "itself": Term(
        lambda _, X: X,
        "{size} times {X}: an L2 penalty of that size is left on {X}, or that constant is added to "
        "what its update divides by",
    ),
    "others": Term(
        lambda _, X: X.sum(axis=0) - X,
        "{size} times the sum of the other components: a penalty on what components of {X} have in "
        "common is left on",
    ),
    "neighbours": Term(
        lambda _, X: _from_neighbours(X),
        "{size} times what an entry of {X} is above its neighbours: a penalty on rough {X} is left "
        "on",
    ),
    "taken": Term(
        lambda Y, X: np.broadcast_to(Y.sum(axis=0)[:, None], X.shape),
        "that of A with {size} taken off each entry",
    ),
}


SHAPED = {
    "one": "an L1 penalty on {X}",
    "itself": "an L2 penalty on {X}",
    "others": "a penalty on what components of {X} have in common",
    "neighbours": "a penalty on rough {X}",
}
"""Terms that say something where each component has a size of its own."""


@dataclass(frozen=True)
class Fit:
    """How a term explains the gradients of some runs.

    Attributes
    ----------
    asked : how many runs can tell.
    sizes : of the penalty, in those in which it does.
    """

    asked: int
    sizes: Array

    @property
    def share(self) -> float:
        """The share of the runs in which it does."""
        return len(self.sizes) / self.asked

    @property
    def nearly_always(self) -> bool:
        """Whether it does in nearly all runs, and in many."""
        return self.share >= NEARLY_ALL and len(self.sizes) >= MANY

    @property
    def size(self) -> float:
        """The median of them."""
        return float(np.median(self.sizes))

    @property
    def one_size(self) -> bool:
        """Whether it is one number in all runs."""
        low, high = np.quantile(np.log10(self.sizes), [0.1, 0.9])
        return bool(high - low <= CONSTANT)


def penalised(evidence: Evidence) -> Finding | None:
    """Say which penalty explains where W or H rests in nearly all runs, if one does."""
    both = _turned(evidence)
    found = {name: best for name, best in _found(both).items() if best[1].nearly_always}
    return _said(found) if found else None


def perhaps_penalised(evidence: Evidence) -> Finding | None:
    """Say which one explains most runs, or all but a scaling of components."""
    both = _turned(evidence)
    found = _found(both)
    return _said(found) if found else _beside_scaling(both)


Turned = Mapping[str, Sequence[tuple[Array, Array, Array]]]
"""A, Y and X of some runs, with H and with W for X."""


def _turned(evidence: Evidence) -> Turned:
    if find(evidence.part.objective).beta != 2:
        return {}
    runs = [(A, W, H) for A, W, H in evidence.unconverged.factors if W.shape[1] > 1]
    return {"H": runs, "W": [(A.T, H.T, W.T) for A, W, H in runs]}


def _found(both: Turned) -> dict[str, tuple[str, Fit]]:
    return {name: best for name, each in both.items() if (best := _best(each)) is not None}


def _said(found: Mapping[str, tuple[str, Fit]]) -> Finding:
    name, (term, fit) = next(iter(found.items()))
    together = len(found) == 2 and len({term for term, _ in found.values()}) == 1
    factor = "W and of H" if together else name
    certain = fit.one_size and fit.nearly_always
    about = f"{fit.size:.2g}"
    if not fit.one_size:
        about = f"{fit.sizes.min():.1g} to {fit.sizes.max():.1g}"
    means = TERMS[term].means.format(X="W and H" if together else name, size=about)
    units = "" if fit.one_size else ", in units that A has"
    probably = "" if certain else f"Probably a penalty is left on, or something like it{units}: "
    where = f"where the positive entries of {factor} rest, the gradient of the error is not 0"
    return Finding(
        Cause.BIASED,
        f"{'It' if certain else probably + 'it'} minimises something else than the error: {where}, "
        f"but {means}.",
        certain=certain,
        evidence=f"so in {len(fit.sizes)} of {fit.asked} failing runs that can tell",
    )


def _beside_scaling(both: Turned) -> Finding | None:
    """Say which penalty explains where a factor rests, if components are scaled after it."""
    for name, runs in both.items():
        left = {term: _left_beside_scaling(TERMS[term], runs) for term in SHAPED}
        explained = {term: [x <= NEARLY_FITS for x in each] for term, each in left.items()}
        shares = {term: float(np.mean(each)) if each else 0.0 for term, each in explained.items()}
        best = max(shares, key=lambda term: shares[term])
        number = sum(explained[best])
        alike = sum(share == shares[best] for share in shares.values())
        if shares[best] < NEARLY_ALL or number < FEWEST or alike > 1:
            continue
        surely = sum(x <= FITS for x in left[best])
        certain = surely >= max(MANY, NEARLY_ALL * len(left[best]))
        penalty = SHAPED[best].format(X=name)
        return Finding(
            Cause.BIASED,
            f"{penalty[0].upper() if certain else 'Probably ' + penalty[0]}{penalty[1:]} is left "
            f"on: where the positive entries of {name} rest, up to a scaling of components, the "
            "gradient of the error is not 0, but that of such a penalty.",
            certain=certain,
            evidence=f"so in {number} of {len(explained[best])} failing runs that can tell",
        )
    return None


def _left_beside_scaling(term: Term, runs: Sequence[tuple[Array, Array, Array]]) -> list[float]:
    """Return what the term leaves of the gradient, of each run that can tell."""
    left = [_part_left(term, *run) for run in runs]
    return [each for each in left if each is not None]


def _part_left(term: Term, A: Array, Y: Array, X: Array) -> float | None:
    """Return what E·term leaves of YᵀA − YᵀY·D·X, with the best diagonal D and E, where X > 0.

    1 where D or E has negative entries, or nothing needs explaining. None where there are too few
    entries to tell.
    """
    there = POSITIVE * X.max(initial=0.0) < X
    k = len(X)
    if there.sum() < 2 * k + SPARE:
        return None
    G, C = Y.T @ Y, Y.T @ A
    scaled = [(np.outer(G[:, j], X[j]))[there] for j in range(k)]
    part = term.of(Y, X)
    rows = np.arange(k)[:, None]
    added = [np.where(rows == j, part, 0.0)[there] for j in range(k)]
    target = C[there]
    with_it, without = np.stack([*scaled, *added], axis=1), np.stack(scaled, axis=1)
    sizes, scales = least_squares(with_it, target), least_squares(without, target)
    if sizes is None or scales is None:
        return None
    left, unexplained = (
        float(np.linalg.norm(target - system @ x))
        for system, x in ((with_it, sizes), (without, scales))
    )
    told = (sizes > 0).all() and unexplained > PULL * np.linalg.norm(target)
    return left / unexplained if told else 1.0


def _best(runs: Sequence[tuple[Array, Array, Array]]) -> tuple[str, Fit] | None:
    """Return the one term that explains the gradients with respect to X of most runs (A, Y, X)."""
    fits = {name: _fit(term, runs) for name, term in TERMS.items()}
    known = {name: fit for name, fit in fits.items() if fit is not None and fit.share >= MOST}
    if not known:
        return None
    name, fit = max(known.items(), key=lambda each: each[1].share)
    others = [other for key, other in known.items() if key != name]
    # Where entries of X are alike, each of two terms explains as much as the other.
    return (name, fit) if all(other.share < fit.share for other in others) else None


def _fit(term: Term, runs: Sequence[tuple[Array, Array, Array]]) -> Fit | None:
    sizes, asked = [], 0
    for A, Y, X in runs:
        there = POSITIVE * X.max(initial=0.0) < X
        if there.sum() < FEWEST:
            continue
        pull = (Y.T @ (A - Y @ X))[there]
        if not abs(pull).max() > PULL * float((Y.T @ A).max()):
            continue
        asked += 1
        part = term.of(Y, X)[there]
        square = float(part @ part)
        size = float(pull @ part) / square if square > 0 else 0.0
        if size > 0 and np.linalg.norm(pull - size * part) <= FITS * np.linalg.norm(pull):
            sizes.append(size)
    if len(sizes) < FEWEST:
        return None
    return Fit(asked, np.array(sizes))
