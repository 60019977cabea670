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
            f"{R[i, j]:.2g} at row {i + 1}, column {j + 1}{_where(case, measures, *off)} "
            f"(KKT residual {measures['kkt_residual']:.2g})"
        )
    if case.noise > 0:
        ratio = measures["residual_over_noise"]
        least = abs(ratio - 1) < 1e-6
        left = "the noise" if least else f"{ratio:.4g} times the noise, the least possible"
        sentence += f"; what is left of A is {left}"
    return f"{sentence}{clipping(W, H)}."


def _where(case: MixedCase, measures: Mapping[str, float], off_W: Array, off_H: Array) -> str:
    """Name the mixtures that are furthest off, or say that the core is."""
    padding, form = measures["padding_defect"], measures["form_defect"]
    if max(padding, form) <= TOLERANCE.exact:
        return ""
    if not padding > form:
        return f", and the pure rows and columns have {form:.2g} off the pattern"
    by_row, by_column = (np.abs(off).max(axis=1) for off in (off_W, off_H))
    if by_row.max() >= by_column.max():
        return _mixtures("row", "W", case.rows, by_row)
    return _mixtures("column", "H", case.columns, by_column)


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
