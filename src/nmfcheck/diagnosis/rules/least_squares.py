"""Least squares, also where answers have grown beyond all bounds."""

from __future__ import annotations

import numpy as np

from ...arrays import Array


def least_squares(system: Array, target: Array) -> Array | None:
    """Return the x with the least ‖system·x − target‖; None where numbers are too large.

    LAPACK need not come to an end where something is infinite.
    """
    if not (np.isfinite(system).all() and np.isfinite(target).all()):
        return None
    try:
        return np.asarray(np.linalg.lstsq(system, target, rcond=None)[0], dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
