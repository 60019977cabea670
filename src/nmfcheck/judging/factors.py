"""What an implementation returns, as a plain matrix, or the reason why it is none."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array

FLOAT64 = np.dtype(np.float64)


class UnusableError(Exception):
    """A returned factor that is not a real matrix of the right shape; says why, in one line."""


def is_factor(value: Any, shape: tuple[int, int]) -> bool:
    """Say whether something is a float64 array of this shape already."""
    return type(value) is np.ndarray and value.dtype == FLOAT64 and value.shape == shape


def as_factor(name: str, value: Any, shape: tuple[int, int]) -> Array:
    """Return a factor as a float64 array of this shape, or raise `UnusableError`.

    Accepts NumPy arrays, `np.matrix`, SciPy sparse matrices, PyTorch tensors, lists, and objects
    with `__array__`.
    Values are not looked at: NaN, infinities and negative entries are the judge's business.
    """
    if is_factor(value, shape):
        copy: Array = value.copy()  # as nearly always
        return copy
    try:
        if hasattr(value, "toarray"):  # SciPy sparse
            value = value.toarray()
        if hasattr(value, "detach"):  # PyTorch: a parameter, perhaps on another device
            value = value.detach().cpu()
        if np.ma.is_masked(value):
            raise UnusableError(f"{name} has masked entries; expected a number in each")
        array = np.asarray(value)
    except UnusableError:
        raise
    except ValueError:
        raise UnusableError(f"{name} is ragged: its rows have different lengths") from None
    except Exception as error:  # whatever a foreign __array__ raises, it is not a matrix
        reason = " ".join(str(error).split())
        raise UnusableError(f"{name} is not a matrix ({type(error).__name__}: {reason})") from None
    if array.dtype.kind == "c":
        raise UnusableError(f"{name} is complex ({array.dtype}); expected real numbers")
    if array.dtype.kind not in "fiub":
        raise UnusableError(f"{name} holds {_kind(array)}, not numbers")
    if array.shape != shape:
        raise UnusableError(f"{name} has shape {array.shape}; expected {shape}")
    with np.errstate(over="ignore"):  # beyond double precision is infinite, and judged as such
        return np.array(array, dtype=np.float64)


def _kind(array: np.ndarray[Any, Any]) -> str:
    if array.dtype == object:
        return "Python objects" if array.ndim else f"a single {type(array.item()).__name__}"
    return f"values of type {array.dtype}"
