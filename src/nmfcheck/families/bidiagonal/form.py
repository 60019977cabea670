"""The bidiagonal form: which component explains which row, and what is off the two diagonals.

Arrays have shape (batch, n, n), and components are balanced.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...arrays import Array, Bools, Ints
from .tolerances import FORM


def match_rows(W: Array, H: Array, a0: Array) -> Array:
    """Return `M(i,k) = W(i,k)·H(k,i)/a0(i)`: the part of A(i,i) that component k explains."""
    M: Array = W * H.swapaxes(1, 2)
    M /= a0[:, :, None]
    return M


def read_permutation(M: Array) -> tuple[Ints, Bools]:
    """Return the component with the largest entry in each row of M, and whether M is a permutation.

    It is one if these components are distinct and each entry exceeds 1/2. Otherwise the run is
    near no solution (robust form of Theorem 1), and what was returned means nothing.
    """
    batch, n, _ = M.shape
    permutation = M.argmax(axis=2)
    largest = M.take(permutation + n * np.arange(batch * n).reshape(batch, n))
    taken = np.zeros(batch * n, dtype=bool)  # whether a component has a row
    taken[permutation + n * np.arange(batch)[:, None]] = True
    # Exactly 1/2, a natural value, does not exceed it: whatever rounding makes of it.
    matched = taken.reshape(batch, n) & (largest > FORM.matched * (1 + 1e-9))
    return permutation, matched.all(axis=1)


def align(W: Array, H: Array, permutation: Ints) -> tuple[Array, Array]:
    """Return `WP` and `P⁻¹H`."""
    batch, n, columns = H.shape
    rows = permutation + n * np.arange(batch)[:, None]  # of all H, one below the other
    W_rows = W.swapaxes(1, 2).reshape(batch * n, -1)  # the columns of all W, likewise
    return W_rows[rows].swapaxes(1, 2), H.reshape(-1, columns)[rows]


@lru_cache
def pattern(n: int, eps: float) -> Bools:
    """Say where aligned factors may be positive: on both diagonals, for ε = 0 on the main one."""
    allowed = np.eye(n, dtype=bool)
    if eps > 0:
        allowed |= np.eye(n, k=1, dtype=bool)
    allowed.setflags(write=False)
    return allowed


def diagonals(W: Array, H: Array, permutation: Ints) -> tuple[Array, Array, Array, Array, Array]:
    """Return w0, w1, h0, h1 of W and H once they are aligned, and the largest entry elsewhere.

    They are read off W and H as they are, which takes half the time of aligning these.
    """
    batch, n = permutation.shape
    run, row = n * n * np.arange(batch)[:, None], np.arange(n)
    in_W, in_H = run + n * row, run + n * permutation  # where rows begin in all W, and in all H
    W, H = W.flatten(), H.flatten()
    found = []
    for X, places in (
        (W, in_W + permutation),
        (W, in_W[:, :-1] + permutation[:, 1:]),
        (H, in_H + row),
        (H, in_H[:, :-1] + row[1:]),
    ):
        found.append(X.take(places))
        X[places] = 0.0
    w0, w1, h0, h1 = found
    return w0, w1, h0, h1, np.maximum(W, H).reshape(batch, -1).max(axis=1)


def form_defect(w1: Array, h1: Array, elsewhere: Array, eps: Array) -> Array:
    """Return the largest entry of aligned W and H off the pattern."""
    upper = np.maximum(w1, h1).max(axis=1, initial=0.0)
    defect: Array = np.where(eps == 0, np.maximum(elsewhere, upper), elsewhere)
    return defect + 0.0  # no −0


def portions(W: Array, H: Array, e: Array) -> tuple[Array, Array]:
    """Return the portions of each superdiagonal entry that W and H have, once they are aligned."""
    w0, w1, h0, h1 = (np.diagonal(X, k, 1, 2) for X in (W, H) for k in (0, 1))
    return portions_of(w0, w1, h0, h1, e)


def portions_of(w0: Array, w1: Array, h0: Array, h1: Array, e: Array) -> tuple[Array, Array]:
    """Return `w1(i)·h0(i+1)/e_i` and `w0(i)·h1(i)/e_i`: they sum to 1 if exact."""
    e = np.where(e > 0, e, 1.0)
    return w1 * h0[:, 1:] / e, w0[:, :-1] * h1 / e
