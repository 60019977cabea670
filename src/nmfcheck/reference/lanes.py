"""Many small matrices side by side: the last axis of every array is the batch.

An array of shape (m, n, lanes) holds `lanes` matrices. All arithmetic here is elementwise along
that axis and adds up in an order that is written down, so that what comes out of a lane depends on
nothing but what went into it: not on the other lanes, not on their number, not on the machine.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Bools


def to_lanes(stack: Array) -> Array:
    """Turn shape (batch, m, n) into (m, n, batch)."""
    return np.ascontiguousarray(np.moveaxis(stack, 0, -1))


def from_lanes(lanes: Array) -> Array:
    """Turn shape (m, n, batch) into (batch, m, n)."""
    return np.ascontiguousarray(np.moveaxis(lanes, -1, 0))


def keep(X: Array, lanes: Bools) -> Array:
    """Return only these lanes; unlike indexing, with the lanes still side by side in memory."""
    return np.compress(lanes, X, axis=-1)


def T(X: Array) -> Array:
    """Transpose the matrix in every lane."""
    return X.swapaxes(0, 1)


def matmul(X: Array, Y: Array) -> Array:
    """Multiply the matrices in every lane, adding up from the first inner index to the last."""
    product: Array = X[:, 0, None] * Y[0]
    for inner in range(1, len(Y)):
        product += X[:, inner, None] * Y[inner]
    return product


def added(X: Array) -> Array:
    """Add up the rows of the matrix in every lane, from the first to the last."""
    sums: Array = X[0].copy()
    for row in X[1:]:
        sums += row
    return sums


def total(X: Array) -> Array:
    """Add up each lane's entries, by halves."""
    terms: Array = X.reshape(-1, X.shape[-1])
    while len(terms) > 1:
        half = len(terms) // 2
        rest = terms[2 * half :]
        terms = terms[:half] + terms[half : 2 * half]
        if len(rest):
            terms[0] += rest[0]
    sums: Array = terms[0]
    return sums


def quotient(X: Array, Y: Array) -> Array:
    """Divide, with 0 wherever the denominator is 0."""
    ratio: Array = X / np.where(Y == 0, np.inf, Y)
    return ratio


def same_bits(X: Array, Y: Array) -> Bools:
    """Say for each lane whether all its bits are the same: −0 is not 0, and NaN is NaN."""
    equal = X.view(np.int64) == Y.view(np.int64)
    same: Bools = equal.all(axis=tuple(range(equal.ndim - 1)))
    return same
