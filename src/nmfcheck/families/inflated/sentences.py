"""Why a run on an inflated matrix was judged so, in one sentence.

Rows, columns and components count from 1, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...arrays import Array, Ints
from ...judging.outcomes import Outcome
from ...judging.sentences import clipping, invalid_entry, product_miss
from ...judging.tolerances import TOLERANCE
from ..bidiagonal.sentences import inexact_word, near, unmatched
from .cases import InflatedCase, Side


def explain(
    case: InflatedCase,
    W: Array,
    H: Array,
    outcome: Outcome,
    *,
    word: str | None,
    measures: Mapping[str, float],
    M: Array,
    permutation: Ints,
    off: tuple[Array, Array],
) -> str:
    """Say in one sentence why W and H were judged so.

    Parameters
    ----------
    M, permutation : as for the core.
    off : how far each row of W, and column of H, is from the right multiple, balanced.
    """
    if outcome is Outcome.INVALID:
        return invalid_entry(W, H)
    if outcome in (Outcome.EXACT, Outcome.FIRST_ORDER):
        bare = "a component for each class of rows and columns"
        sentence = near(outcome, word, measures["form_defect"], measures["product_defect"], bare)
    elif permutation[0] < 0:
        sentence = unmatched(M, outcome, measures["kkt_residual"], rows=case.rows.core)
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            missed = product_miss(case.A - np.maximum(W, 0.0) @ np.maximum(H, 0.0))
        sentence = (
            f"the rows of the core are explained by a component each, but {missed}"
            f"{_padding(case, measures, *off)} (KKT residual {measures['kkt_residual']:.2g})"
        )
        sentence += inexact_word(word)
    return f"{sentence}{clipping(W, H)}."


def _padding(case: InflatedCase, measures: Mapping[str, float], off_W: Array, off_H: Array) -> str:
    """Name the row of W or column of H that is furthest from the right multiple."""
    if max(measures["padding_defect"], measures["form_defect"]) <= TOLERANCE.exact:
        return ""
    if not measures["padding_defect"] > measures["form_defect"]:
        return f" and the core has {measures['form_defect']:.2g} off the pattern"
    by_row, by_column = np.abs(off_W).max(axis=1), np.abs(off_H).max(axis=0)
    if by_row.max() >= by_column.max():
        return f", and row {_multiple('W', 'row', case.rows, by_row)}"
    return f", and column {_multiple('H', 'column', case.columns, by_column)}"


def _multiple(factor: str, noun: str, side: Side, off: Array) -> str:
    i = int(np.argmax(off))
    if side.classes[i] < 0:
        return f"{i + 1} of {factor} is not 0, as it is in A ({off[i]:.2g} once balanced)"
    other = side.core[side.classes[i]]
    return (
        f"{i + 1} of {factor} is not {side.weights[i]:g} times {noun} {other + 1}, as it is in A "
        f"({off[i]:.2g} off once balanced)"
    )
