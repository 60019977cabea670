"""Components of a run: those of a core, and those of a known answer that they match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..arrays import Array, Ints
from ..judging.measures import balance
from .family import Nearest


class Padded(Protocol):
    """Rows of A, or its columns, among which are those of a core."""

    @property
    def core(self) -> Ints:
        """The row of A that each row of the core is."""
        ...


class PaddedCase(Protocol):
    """A case with a core that is padded on both sides."""

    @property
    def rows(self) -> Padded:
        """How rows are padded."""
        ...

    @property
    def columns(self) -> Padded:
        """How columns are padded."""
        ...


def core_factors(cases: Sequence[PaddedCase], W: Array, H: Array) -> tuple[Array, Array]:
    """Return W₁ and H₁: the rows of W and the columns of H that belong to the core."""
    rows = np.stack([case.rows.core for case in cases])
    columns = np.stack([case.columns.core for case in cases])
    return (
        np.take_along_axis(W, rows[:, :, None], axis=1),
        np.take_along_axis(H, columns[:, None, :], axis=2),
    )


def matched(answer: tuple[Array, Array], W: Array, H: Array) -> tuple[Ints, Array]:
    """Return which component of a run is each of the answer's, and the cosines between them.

    The cosine of two components is that of their rank-one terms, `w·hᵀ` as vectors; the assignment
    with the largest sum of cosines is taken. It does not depend on how components are scaled.
    """
    from scipy.optimize import linear_sum_assignment  # late: it takes long to import

    cosines = _cosines(answer[0], W) * _cosines(answer[1].T, H.T)
    _, of = linear_sum_assignment(cosines, maximize=True)
    return of, cosines[np.arange(len(of)), of]


def _cosines(X: Array, Y: Array) -> Array:
    """Return the cosines between columns; 0 where a column is 0."""

    def directions(Z: Array) -> Array:
        Z = Z / np.where((top := Z.max(axis=0)) > 0, top, 1.0)
        lengths = np.linalg.norm(Z, axis=0)
        scaled: Array = Z / np.where(lengths > 0, lengths, 1.0)
        return scaled

    cosines: Array = directions(X).T @ directions(Y)
    return cosines


def nearest_answer(answer: tuple[Array, Array], W: Array, H: Array, unit: float) -> Nearest:
    """Return the only answer, its components ordered and scaled like those of a run."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # of any size
        return _nearest(answer, np.maximum(W, 0.0), np.maximum(H, 0.0), unit)


def _nearest(answer: tuple[Array, Array], W: Array, H: Array, unit: float) -> Nearest:
    of, _ = matched(answer, W, H)
    order = np.argsort(of)  # which component of the answer each of the run's is
    true_W, true_H = answer[0][:, order], answer[1][order]
    (one_W, one_H), (two_W, two_H) = (
        balance(first[None], second[None], np.array([unit]))
        for first, second in ((W, H), (true_W, true_H))
    )
    given, right = (np.concatenate([X.ravel(), Y.ravel()])
                    for X, Y in ((one_W, one_H), (two_W, two_H)))  # fmt: skip
    distance = float(np.linalg.norm(given - right) / np.linalg.norm(right))
    top_W, top_H = W.max(axis=0), H.max(axis=1)
    alive = (top_W > 0) & (top_H > 0)
    scale = np.where(alive, top_W / true_W.max(axis=0), 1.0)
    return Nearest(true_W * scale, true_H / scale[:, None], distance)
