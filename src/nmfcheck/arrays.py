"""The array types, and the checks that turn what a user gives into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InputError

Array = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def real_array(name: str, values: Any) -> Array:
    """Return `values` as float64, or say in one line why they are no finite real numbers."""
    try:
        raw = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} is ragged: its rows have different lengths") from None
    if raw.dtype.kind not in "fiub":
        raise InputError(f"{name} must hold real numbers, not {raw.dtype} ({values!r:.60})")
    array = raw.astype(np.float64)
    if not np.isfinite(array).all():
        bad = array[~np.isfinite(array)][0]
        raise InputError(f"{name} must be finite, but holds {bad}")
    return array


def real_number(name: str, value: Any) -> float:
    """Return `value` as a finite float, or say what was expected."""
    array = real_array(name, value)
    if array.ndim:
        raise InputError(f"{name} must be one number, not an array of shape {array.shape}")
    return float(array)


def frozen(array: Array) -> Array:
    """Return a read-only copy."""
    copy = np.array(array, dtype=np.float64, order="C")
    copy.setflags(write=False)
    return copy


def stacked(matrices: Sequence[Array]) -> Array:
    """Return what `np.stack` does, for float64 matrices of one shape, in a fifth of the time."""
    try:
        entries = bytearray().join(matrices)  # type: ignore[arg-type]  # arrays are buffers
    except (BufferError, TypeError):  # one of them does not lie row by row in memory
        return np.stack(matrices)
    return np.frombuffer(entries).reshape(len(matrices), *matrices[0].shape)


def copies(matrices: Sequence[Array]) -> list[Array]:
    """Return copies of float64 matrices of one shape, side by side in one block of memory.

    Two thirds of the time of copying one by one are saved. Each begins at a multiple of 16 bytes,
    as one that is copied alone does: what is computed from it must not depend on its place.
    """
    rows, columns = matrices[0].shape
    size = rows * columns
    gap = bytearray(8 * (size % 2))
    try:
        entries = gap.join([*matrices, b""])  # type: ignore[list-item]  # arrays are buffers
    except (BufferError, TypeError):  # one of them does not lie row by row in memory
        return [matrix.copy() for matrix in matrices]
    block = np.frombuffer(entries).reshape(len(matrices), size + size % 2)
    return list(block[:, :size].reshape(len(matrices), rows, columns))


KEPT = 8 << 20
"""So many bytes that are freed are kept for what comes next, where glibc manages memory."""


def keep_freed_memory() -> None:
    """Have the memory of one batch's arrays serve the next, and not given back in between.

    What is given back has to be taken again page by page, which costs 4 % of the time of a stage.
    glibc keeps as much as the largest block that was freed, twice over (mallopt(3), "dynamic mmap
    threshold"): so one is freed, of which no page was ever touched. Elsewhere this does nothing.
    """
    np.empty(KEPT // 2, dtype=np.uint8)


def whole_number(name: str, value: Any, least: int) -> int:
    """Return `value` as an int of at least `least`, or say what was expected."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)
