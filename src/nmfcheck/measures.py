"""What can be measured of factorizations W, H of a batch, before any of it is graded.

W and H are only defined up to `W·D, D⁻¹·H`, so components are balanced first and sizes are in
units given by the case: no measure depends on how an implementation normalises its factors, nor on
the units of A (docs/theory.md, 4). Arrays have shape (batch, n, n).
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, Bools, Ints
from .tolerances import TOLERANCE


def validity(W: Array, H: Array, unit: Array) -> tuple[Bools, Bools]:
    """Say which runs are finite and nonnegative up to rounding, and which have to be clipped.

    A negative entry is rounding if it is small beside the largest of its column of W or row of H,
    or if its component is nothing but noise: its whole product is as small beside A.
    """
    valid = np.ones(len(W), dtype=bool)
    clipped = np.zeros(len(W), dtype=bool)
    if all(X.min() >= 0 and X.max() < np.inf for X in (W, H)):
        return valid, clipped  # as nearly always; NaN fails both comparisons
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        low_W, low_H = W.min(axis=1), H.min(axis=2)
        size_W, size_H = np.maximum(W.max(axis=1), -low_W), np.maximum(H.max(axis=2), -low_H)
        product = size_W * size_H
        noise = (product > 0) & (product <= TOLERANCE.rounding * unit[:, None])
        for low, size in ((low_W, size_W), (low_H, size_H)):
            rounding = (low >= -TOLERANCE.rounding * size) | noise
            valid &= (np.isfinite(size) & rounding).all(axis=1)
            clipped |= (low < 0).any(axis=1)
    return valid, clipped


def balance(W: Array, H: Array, unit: Array) -> tuple[Array, Array]:
    """Scale each component so that `max W[:,k] = max H[k,:]`, in units of √unit.

    A component with `W[:,k] = 0` or `H[k,:] = 0` is dead: its product is zero whatever the size of
    the other half, so that half is scaled to a largest entry of 1. Leaving it as it is would make
    the judgement depend on a scale that means nothing.

    Parameters
    ----------
    W, H : shape (batch, m, k) and (batch, k, n), nonnegative.
    unit : shape (batch,), the size of A.
    """
    top_W, top_H = W.max(axis=1), H.max(axis=2)
    alive = (top_W > 0) & (top_H > 0)
    # Root by root: top_W·top_H itself could leave the range of double precision.
    size = np.where(alive, np.sqrt(top_W) * np.sqrt(top_H) / np.sqrt(unit)[:, None], 1.0)
    W = W / np.where(top_W > 0, top_W, 1.0)[:, None, :] * size[:, None, :]
    H = H / np.where(top_H > 0, top_H, 1.0)[:, :, None] * size[:, :, None]
    return W, H


def match_rows(W: Array, H: Array, a0: Array) -> Array:
    """Return `M(i,k) = W(i,k)·H(k,i)/a0(i)`: the part of A(i,i) that component k explains."""
    M: Array = W * H.swapaxes(1, 2) / a0[:, :, None]
    return M


def read_permutation(M: Array) -> tuple[Ints, Bools]:
    """Return the component with the largest entry in each row of M, and whether M is a permutation.

    It is one if these components are distinct and each entry exceeds 1/2. Otherwise the run is
    near no solution (robust form of Theorem 1), and what was returned means nothing.
    """
    permutation = M.argmax(axis=2)
    top = np.take_along_axis(M, permutation[:, :, None], axis=2)[:, :, 0]
    distinct = (np.sort(permutation, axis=1) == np.arange(M.shape[1])).all(axis=1)
    # Exactly 1/2, a natural value, does not exceed it: whatever rounding makes of it.
    return permutation, distinct & (top > TOLERANCE.matched * (1 + 1e-9)).all(axis=1)


def align(W: Array, H: Array, permutation: Ints) -> tuple[Array, Array]:
    """Return `WP` and `P⁻¹H`."""
    return (
        np.take_along_axis(W, permutation[:, None, :], axis=2),
        np.take_along_axis(H, permutation[:, :, None], axis=1),
    )


def pattern(n: int, eps: float) -> Bools:
    """Say where aligned factors may be positive: on both diagonals, for ε = 0 on the main one."""
    main = np.eye(n, dtype=bool)
    return main | np.eye(n, k=1, dtype=bool) if eps > 0 else main


def form_defect(W: Array, H: Array, eps: Array) -> Array:
    """Return the largest entry of aligned W and H off the pattern."""
    elsewhere = ~pattern(W.shape[1], eps=1.0)
    defect = np.zeros(len(W))
    for X in (W, H):
        off = X.max(axis=(1, 2), where=elsewhere, initial=0.0)
        upper = np.diagonal(X, 1, 1, 2).max(axis=1, initial=0.0)
        defect = np.maximum(defect, np.where(eps == 0, np.maximum(off, upper), off))
    return defect


def product_defect(A: Array, W: Array, H: Array) -> Array:
    """Return `max|A − WH|`."""
    return _largest(A - W @ H)


def shares(W: Array, H: Array, e: Array) -> tuple[Array, Array]:
    """Return `w1(i)·h0(i+1)/e_i` and `w0(i)·h1(i)/e_i` of aligned W, H: they sum to 1 if exact."""
    w0, w1, h0, h1 = (np.diagonal(X, k, 1, 2) for X in (W, H) for k in (0, 1))
    e = np.where(e > 0, e, 1.0)
    return w1 * h0[:, 1:] / e, w0[:, :-1] * h1 / e


def kkt_residual(A: Array, W: Array, H: Array) -> Array:
    """Return the largest entry of `min(W, ∇_W)` and `min(H, ∇_H)`, in units of max(A).

    `∇_W = (WH−A)Hᵀ` and `∇_H = Wᵀ(WH−A)` are the gradients of `½‖A − WH‖_F²`; both minima vanish
    exactly at its stationary points over W, H ≥ 0.
    """
    top = A.max(axis=(1, 2))[:, None, None]
    if (top != 1).any():
        A, W, H = A / top, W / np.sqrt(top), H / np.sqrt(top)
    R = W @ H - A
    pull_W = np.minimum(W, R @ H.swapaxes(1, 2))
    pull_H = np.minimum(H, W.swapaxes(1, 2) @ R)
    return np.maximum(_largest(pull_W), _largest(pull_H))


def _largest(X: Array) -> Array:
    largest: Array = np.abs(X).reshape(len(X), -1).max(axis=1)
    return largest


SAME = 1e-8
"""Two answers are the same if no balanced entry differs by more."""


def same_factors(one: tuple[Array, Array], other: tuple[Array, Array], unit: float) -> bool:
    """Say whether two pairs (W, H) are the same up to rounding, and up to scaling of components."""
    if all(np.array_equal(x, y, equal_nan=True) for x, y in zip(one, other, strict=True)):
        return True
    W, H = (np.stack(pair) for pair in zip(one, other, strict=True))
    if not (np.isfinite(W).all() and np.isfinite(H).all()):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        W, H = balance(W, H, np.full(2, unit))
    # A component that is dead, or as good as dead, may have its other half of any size.
    alive = (abs(W).max(axis=1) > SAME) & (abs(H).max(axis=2) > SAME)
    W, H = W * alive[:, None, :], H * alive[:, :, None]
    return all(bool((abs(X[0] - X[1]) <= SAME).all()) for X in (W, H))
