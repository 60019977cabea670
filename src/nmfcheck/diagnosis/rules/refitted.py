"""A factor fitted again, with the other one as it is."""

from __future__ import annotations

import numpy as np

from ...arrays import Array


def refitted(A: Array, W: Array) -> Array | None:
    """Return the best nonnegative H for A and W; None where it takes too long."""
    from scipy.optimize import nnls  # late: SciPy takes long to import

    try:
        return np.column_stack([nnls(W, column)[0] for column in A.T])
    except (RuntimeError, ValueError):  # ValueError: for numbers that are too large
        return None
