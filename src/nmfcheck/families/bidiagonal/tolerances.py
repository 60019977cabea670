"""The tolerances of the bidiagonal form, and what each of them bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Array


@dataclass(frozen=True)
class FormTolerance:
    """What each number bounds.

    Attributes
    ----------
    first_order_range : the grade first-order exists for `0 < max(e)/min(a0) ≤` this.
    matched : every row maximum of M must exceed this for M to count as a permutation.
    portion : a portion of a superdiagonal entry below `min(ε, portion)` is negligible.
    idle : a component takes no part, in words, if none of its entries of M exceeds this.
    explains : a component is spread over a second row, in words, if its entry of M there exceeds
        this.
    """

    first_order_range: float = 0.03
    matched: float = 0.5
    portion: float = 0.01
    idle: float = 1e-3
    explains: float = 0.05

    def first_order(self, a0: Array, e: Array) -> Array:
        """Return the first-order tolerance `2·max(e)²/(min a0 · max a0)`; −1 where there is none.

        Parameters
        ----------
        a0, e : diagonals and superdiagonals of a batch of cases, shapes (batch, n), (batch, n−1).
        """
        # With the batch along the last axis: NumPy is slow along short ones.
        a0, e = np.ascontiguousarray(a0.T), np.ascontiguousarray(e.T)
        top = e.max(axis=0, initial=0.0)
        ratio = top / a0.min(axis=0)
        # A case at the limit stays there in other units, where its ratio is rounded differently.
        exists = (ratio > 0) & (ratio <= self.first_order_range * (1 + 1e-12))
        # As two ratios: squares of entries near 1e±200 would leave the range of doubles.
        return np.where(exists, 2 * ratio * (top / a0.max(axis=0)), -1.0)


FORM = FormTolerance()
