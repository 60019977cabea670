"""Objectives: what a factorization is to minimise, and how far from stationary one is.

A problem names its objective; whoever needs a KKT residual or a reference algorithm looks it up
here by that name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import InputError
from .measures import largest_entry


@dataclass(frozen=True)
class Objective:
    """An objective.

    Attributes
    ----------
    name : what problems call it.
    formula : in words, for reports.
    kkt_residual : of a batch of A, W, H: 0 exactly at its stationary points over W, H ≥ 0.
    """

    name: str
    formula: str
    kkt_residual: Callable[[Array, Array, Array], Array]


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
    return np.maximum(largest_entry(pull_W), largest_entry(pull_H))


FROBENIUS = Objective("frobenius", "½‖A − WH‖²", kkt_residual)
OBJECTIVES = {objective.name: objective for objective in (FROBENIUS,)}


def find(name: str) -> Objective:
    """Return the objective of this name."""
    if name not in OBJECTIVES:
        raise InputError(f"no objective {name!r}; there are {', '.join(OBJECTIVES)}")
    return OBJECTIVES[name]
