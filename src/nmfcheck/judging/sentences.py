"""Pieces of the judge's sentences that every family shares.

Rows, columns and components count from 1 here, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array


def invalid_entry(W: Array, H: Array) -> str:
    """Name the first entry that is not finite, otherwise the most negative one."""
    for name, X in (("W", W), ("H", H)):
        if not np.isfinite(X).all():
            i, j = np.unravel_index(np.argmin(np.isfinite(X)), X.shape)
            return f"{name} is {X[i, j]} at row {i + 1}, column {j + 1}; expected finite numbers."
    lows = {"W": W / np.abs(W).max(axis=0, initial=0, keepdims=True).clip(min=5e-324)}
    lows["H"] = H / np.abs(H).max(axis=1, initial=0, keepdims=True).clip(min=5e-324)
    name = min(lows, key=lambda key: float(lows[key].min()))
    i, j = np.unravel_index(np.argmin(lows[name]), lows[name].shape)
    value = (W if name == "W" else H)[i, j]
    return f"{name} is {value:.3g} at row {i + 1}, column {j + 1}; expected nonnegative numbers."


def product_miss(R: Array) -> str:
    """Say by how much the product misses A, and where."""
    miss = np.abs(R)
    i, j = np.unravel_index(np.argmax(miss), miss.shape)
    return f"WH misses A by {miss[i, j]:.2g} at row {i + 1}, column {j + 1}"


def clipping(W: Array, H: Array) -> str:
    """Say that negative entries were taken for rounding, if some were."""
    low = min(W.min(), H.min())
    return f"; negative entries down to {low:.2g} are rounding and count as 0" if low < 0 else ""


def counted(noun: str, indices: Sequence[int]) -> str:
    """Name some rows or components, or say how many there are."""
    if len(indices) > 6:
        return f"{len(indices)} {noun}s"
    return f"{noun}{'s' * (len(indices) > 1)} {listed(indices)}"


def listed(indices: Sequence[int]) -> str:
    """Name indices, counting from 1."""
    *head, last = (str(i + 1) for i in indices)
    return f"{', '.join(head)} and {last}" if head else last
