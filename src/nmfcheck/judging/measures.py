"""What can be measured of factorizations W, H of a batch, whatever the family.

W and H are only defined up to `W·D, D⁻¹·H`, so components are balanced first and sizes are in
units given by the case: no measure depends on how an implementation normalises its factors, nor on
the units of A (docs/theory.md, 4). Arrays have shape (batch, m, k) and (batch, k, n).
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array, Bools
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


def as_judged(W: Array, H: Array, unit: Array) -> tuple[Array, Array, Bools, Bools]:
    """Return W and H as they are judged, which runs are valid, and which were clipped for it."""
    valid, clipped = validity(W, H, unit)
    if clipped.any() or not valid.all():
        W, H = clipped_factors(W, H, valid)
    return W, H, valid, clipped


def without_nan(*measures: Array) -> None:
    """Make infinite what is not a number: a run that diverged is as far off as can be."""
    for measure in measures:
        measure[np.isnan(measure)] = np.inf


def clipped_factors(W: Array, H: Array, valid: Bools) -> tuple[Array, Array]:
    """Return W and H without negative entries, and zeros where a run is invalid.

    So nothing that is measured later has to mind NaN.
    """
    W = np.maximum(np.where(valid[:, None, None], W, 0.0), 0.0)
    H = np.maximum(np.where(valid[:, None, None], H, 0.0), 0.0)
    return W, H


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
    top_W, top_H = _largest(W.swapaxes(0, 1)), _largest(H.transpose(2, 0, 1))
    alive = (top_W > 0) & (top_H > 0)
    # Root by root: top_W·top_H itself could leave the range of double precision.
    size = np.where(alive, np.sqrt(top_W) * np.sqrt(top_H) / np.sqrt(unit)[:, None], 1.0)
    W = W / np.where(top_W > 0, top_W, 1.0)[:, None, :]
    H = H / np.where(top_H > 0, top_H, 1.0)[:, :, None]
    W *= size[:, None, :]
    H *= size[:, :, None]
    return W, H


def _largest(X: Array) -> Array:
    """Return the largest along the first axis, laid out for it: short axes are slow."""
    largest: Array = np.ascontiguousarray(X).max(axis=0)
    return largest


def product_defect(A: Array, W: Array, H: Array) -> Array:
    """Return `max|A − WH|`."""
    return largest_entry(A - W @ H)


def largest_entry(X: Array) -> Array:
    """Return the largest absolute entry of each matrix."""
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
