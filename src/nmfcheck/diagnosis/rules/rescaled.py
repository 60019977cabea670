"""A = D₁·W·D₂·H·D₃ with diagonal D: a scaling that was not undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...arrays import Array
from ...judging.turned import misses
from ..evidence import Evidence
from ..experiments import lines
from ..findings import Cause, Finding
from .least_squares import least_squares

FEWEST = 4
NEARLY_ALL = 0.9
"""It must hold in so many of them: a few components can be scaled to much."""


LITTLE = 0.1
"""Who takes less than this off A, in nearly every run, is taken to have a bias."""


DIGITS = 9
"""Directions of rows that agree to so many decimals are the same."""

STAYS = (
    "Started at exact factorizations it stays there, so that this is not what is done to A before "
    "or to W and H afterwards: probably updates get the sizes wrong, as those do that change W and "
    "H at the same time, each with the old value of the other; or the W and H that "
    "come back are of different iterations."
)
"""What is wrong then cannot be done each time."""


def rescaled(evidence: Evidence) -> Finding | None:
    """Say which scaling makes W·H to A, if one does."""
    for what, (spare, fitted) in _SCALED.items():
        telling = [
            (A, W, H) for A, W, H in evidence.astray if (A > 0).sum() > spare(A, W)
        ]  # in others there is nothing that it could not explain
        if len(telling) < FEWEST:
            continue
        fits = [
            misses(A, fitted(A, W, H)) <= min(misses(A, W @ H), 1.0) / 1000 for A, W, H in telling
        ]
        if np.mean(fits) < NEARLY_ALL or _shrunk(telling):
            continue
        unit = _unit_parts(telling) if what == _INNER else ""
        seen = (
            f"W·H is A but for the sizes of {what}: with a diagonal matrix {_PLACES[what]} it is "
            f"A{unit}."
        )
        often = f"so in {sum(fits)} of {len(fits)} answers that miss A"
        if evidence.tried.stays:
            return Finding(Cause.AT_ONCE, f"{seen} {STAYS}", certain=False, evidence=often)
        certain = bool(unit) or not evidence.tried.followed or lines.scales(evidence.tried.followed)
        why = (
            "A scaling is done on one side only, or is not undone."
            if certain
            else "Probably a scaling is done on one side only, or is not undone, or an update aims "
            "at a multiple of A: a factor is missing in a gradient, say."
        )
        return Finding(Cause.RESCALED, f"{seen} {why}", certain=certain, evidence=often)
    return None


def _shrunk(runs: Sequence[tuple[Array, Array, Array]]) -> bool:
    """Say whether W·H is a little less than A in nearly all runs, as a penalty makes it."""
    parts = [float((W @ H).sum() / A.sum()) for A, W, H in runs]
    return bool(np.mean([1 - LITTLE < part < 1 for part in parts]) >= NEARLY_ALL)


def inner(A: Array, W: Array, H: Array) -> Array:
    """Return W·D·H for the D with which it is nearest to A."""
    components = np.stack([np.outer(W[:, j], H[j]).ravel() for j in range(W.shape[1])], axis=1)
    d = least_squares(components, A.ravel())
    return np.asarray(W @ H if d is None else (W * np.maximum(d, 0.0)) @ H)


def _rows(A: Array, W: Array, H: Array) -> Array:
    """Return D·W·H for the D with which it is nearest to A."""
    X = W @ H
    size = (X * X).sum(axis=1, keepdims=True)
    return np.asarray(X * (X * A).sum(axis=1, keepdims=True) / np.where(size > 0, size, 1.0))


def _columns(A: Array, W: Array, H: Array) -> Array:
    return _rows(A.T, H.T, W.T).T


def _both(A: Array, W: Array, H: Array) -> Array:
    """Return D₁·W·H·D₃ nearest to A in logarithms, where both are positive."""
    X = W @ H
    m, n = A.shape
    i, j = np.nonzero((A > 0) & (X.max() * 1e-12 < X))
    if not len(i):
        return X
    system = np.zeros((len(i), m + n))
    system[np.arange(len(i)), i] = system[np.arange(len(i)), m + j] = 1.0
    logarithms = least_squares(system, np.log(A[i, j] / X[i, j]))
    if logarithms is None:
        return X
    sizes = np.exp(logarithms)
    return np.asarray(sizes[:m, None] * X * sizes[m:])


def _beyond_scaling(A: Array, _: Array) -> int:
    """Return what A's positive entries must be more than, to tell a scaling of rows and columns.

    Rows that are multiples of each other count once, and so do columns: all that they need is the
    same scaling.
    """
    rows, columns = _different(A), _different(A.T)
    core = A[np.ix_(rows, columns)]
    return sum(core.shape) + int((A > 0).sum() - (core > 0).sum())


def _different(A: Array) -> list[int]:
    """Return the first of all rows that are multiples of each other, without those of zeros."""
    sizes = np.linalg.norm(A, axis=1, keepdims=True)
    units = np.round(A / np.where(sizes > 0, sizes, 1.0), DIGITS)
    first = {tuple(row): i for i, row in reversed(list(enumerate(units))) if row.any()}
    return sorted(first.values())


_INNER = "its components"
_PLACES = {
    _INNER: "between W and H",
    "its rows": "before W",
    "its columns": "behind H",
    "its rows and columns": "before W and one behind H",
}
_SCALED: dict[str, tuple[Callable[[Array, Array], int], Callable[[Array, Array, Array], Array]]] = {
    _INNER: (lambda _, W: W.shape[1], inner),
    "its rows": (lambda A, _: A.shape[0], _rows),
    "its columns": (lambda A, _: A.shape[1], _columns),
    "its rows and columns": (_beyond_scaling, _both),
}
"""What is scaled: how many entries that explains whatever they are, and what comes out."""

_SIZES: dict[str, Callable[[Array], Array]] = {
    "sum to 1": lambda X: X.sum(axis=0),
    "have norm 1": lambda X: np.sqrt((X * X).sum(axis=0)),
    "have a largest entry of 1": lambda X: X.max(axis=0),
}


def _unit_parts(runs: Sequence[tuple[Array, Array, Array]]) -> str:
    """Say which columns of W or rows of H were normalised, where one way alone fits all."""
    fitting = [
        f" (the {what} {how})"
        for what, part in (("columns of W", 1), ("rows of H", 2))
        for how, size in _SIZES.items()
        if all(_are_one(size(run[part] if part == 1 else run[part].T)) for run in runs)
    ]
    return fitting[0] if len(fitting) == 1 else ""


def _are_one(sizes: Array) -> bool:
    return np.allclose(sizes[sizes > 0], 1.0, atol=1e-6)
