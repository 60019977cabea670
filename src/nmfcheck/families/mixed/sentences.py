"""Why a run on a mixed or a noisy matrix was judged so, in one sentence.

Rows, columns and components count from 1, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...arrays import Array
from ...judging.outcomes import Outcome
from ...judging.sentences import clipping, counted, invalid_entry
from ...judging.tolerances import TOLERANCE
from ..bidiagonal.sentences import unmatched
from .cases import MixedCase, Side

ROUNDING = 1e-8
"""What is left of a noisy A is at least the noise (docs/theory.md, 11), up to this part of it."""


def explain(
    case: MixedCase,
    W: Array,
    H: Array,
    outcome: Outcome,
    *,
    measures: Mapping[str, float],
    M: Array,
    matched: bool,
    off: tuple[Array, Array],
) -> str:
    """Say in one sentence why W and H were judged so.

    Parameters
    ----------
    M : the part of each entry of the core's diagonal that each component explains.
    matched : whether it shows a permutation.
    off : how far each row of W, and column of H, is from the right mixture, balanced; H transposed.
    """
    if outcome is Outcome.INVALID:
        return invalid_entry(W, H)
    if outcome.grade is not None:
        sentence = (
            f"each component is found: form defect {measures['form_defect']:.2g}, product defect "
            f"{measures['product_defect']:.2g}"
        )
    elif not matched:
        sentence = unmatched(M, outcome, measures["kkt_residual"], rows=case.rows.core)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            R = np.abs(case.X - np.maximum(W, 0.0) @ np.maximum(H, 0.0))
        i, j = np.unravel_index(np.argmax(R), R.shape)
        best = "the best product" if case.noise > 0 else "A"
        sentence = (
            f"each pure row is explained by a component of its own, but WH misses {best} by "
            f"{R[i, j]:.2g} at row {i + 1}, column {j + 1}{_where(case, measures, R, *off)} "
            f"(KKT residual {measures['kkt_residual']:.2g})"
        )
    if case.noise > 0:
        sentence += f"; what is left of A is {_left(measures['residual_over_noise'])}"
    return f"{sentence}{clipping(W, H)}."


def _left(ratio: float) -> str:
    """Say how what is left of A compares with the noise, which is the least possible."""
    if ratio < 1 - ROUNDING:
        return f"{ratio:.4g} times the least possible, the noise: this is an error in arithmetic"
    return "the noise" if ratio < 1 + 1e-6 else f"{ratio:.4g} times the least possible, the noise"


def _where(
    case: MixedCase, measures: Mapping[str, float], R: Array, off_W: Array, off_H: Array
) -> str:
    """Name what is furthest off: pure rows or columns, or mixtures where the core is right."""
    padding, form = measures["padding_defect"], measures["form_defect"]
    if max(padding, form) <= TOLERANCE.exact or not np.isfinite(R).all():
        return ""
    if not padding > form:
        return f", and the pure rows and columns have {form:.2g} off the pattern"
    if R[np.ix_(case.rows.core, case.columns.core)].max() >= R.max() / 10:
        return _pure(case, R)  # then the mixtures are compared with rows that are wrong themselves
    by_row, by_column = (np.abs(off).max(axis=1) for off in (off_W, off_H))
    if by_row.max() >= by_column.max():
        return _mixtures("row", "W", case.rows, by_row)
    return _mixtures("column", "H", case.columns, by_column)


def _pure(case: MixedCase, R: Array) -> str:
    """Name the pure rows or columns in which WH is off, or where the core is."""
    for noun, side, by_line in (
        ("row", case.rows, R.max(axis=1)),
        ("column", case.columns, R.max(axis=0)),
    ):
        worst = np.flatnonzero(by_line >= R.max() / 10).tolist()
        others = R.shape[noun == "row"] > 1  # otherwise a row is no more than an entry
        if others and len(worst) < len(by_line) and set(worst) <= set(side.core.tolist()):
            pure = "a pure one, is" if len(worst) == 1 else "pure ones, are"
            return f": only {counted(noun, worst)}, {pure} off by a tenth of that or more"
    core = R[np.ix_(case.rows.core, case.columns.core)]
    i, j = np.unravel_index(np.argmax(core), core.shape)
    row, column = case.rows.core[i] + 1, case.columns.core[j] + 1
    there = (
        f" and by {core[i, j]:.2g} at row {row}, column {column}," if core.max() < R.max() else ""
    )
    return f",{there} which are both pure"


def _mixtures(noun: str, factor: str, side: Side, off: Array) -> str:
    """Name the rows that are about as far off as the furthest."""
    worst = np.flatnonzero(off > off.max() / 10).tolist()
    amount = f"({off.max():.2g} off once balanced)"
    if len(worst) == len(side.mixed) > 1:
        return f": no mixed {noun} of {factor} is the mixture of pure ones that it is in A {amount}"
    one = len(worst) == 1
    what = "is not the mixture" if one else "are not the mixtures"
    they = "it is" if one else "they are"
    return f": {counted(noun, worst)} of {factor} {what} of pure ones that {they} in A {amount}"
