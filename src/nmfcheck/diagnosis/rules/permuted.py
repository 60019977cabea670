"""The components of W and H are in different orders."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from ..evidence import Evidence
from ..findings import Cause, Finding


def permuted(evidence: Evidence) -> Finding | None:
    """Say so if W·H becomes A when the components of H are put in W's order."""
    if not evidence.unconverged.product_is(_in_one_order):
        return None
    sentence = (
        "The components of W and of H are in different orders: one was permuted alone, or each in "
        "its own way."
    )
    return Finding(Cause.PERMUTED, sentence)


def _in_one_order(A: Array, W: Array, H: Array) -> Array:
    """Return the product of W and H with the rows of H put in the order that fits A best."""
    from scipy.optimize import linear_sum_assignment  # late: SciPy takes long to import

    # ‖A − Σ w_j h_p(j)‖² is least where Σ w_jᵀ A h_p(j)ᵀ is largest, if components are distinct.
    with np.errstate(all="ignore"):
        fits = np.nan_to_num(W.T @ A @ H.T, posinf=1e300, neginf=0.0)
    product: Array = W @ H[linear_sum_assignment(-fits)[1]]
    return product
