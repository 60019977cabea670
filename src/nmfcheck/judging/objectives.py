"""Objectives: what a factorization is to minimise, and how far from stationary one is.

A problem names its objective; whoever needs a divergence, a KKT residual or a reference algorithm
looks it up by that name. All of them are β-divergences: β = 2 is the squared Frobenius norm, β = 1
the Kullback–Leibler divergence, β = 0 that of Itakura and Saito (docs/theory.md, 15).
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Protocol

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..text import decimal
from .measures import largest_entry


class Residual(Protocol):
    """How far from stationary factorizations are."""

    def __call__(self, A: Array, W: Array, H: Array, X: Array | None = None, /) -> Array:
        """Return a number for each of a batch; X is WH, where that is known."""
        ...


@dataclass(frozen=True)
class Objective:
    """An objective.

    Attributes
    ----------
    name : what problems call it.
    title : what sentences call it.
    formula : what is minimised.
    beta : which β-divergence it is.
    kkt_residual : of a batch of A, W, H: 0 exactly at its stationary points over W, H ≥ 0. Where
        the product WH is known, it may be given, too.
    """

    name: str
    title: str
    formula: str
    beta: float
    kkt_residual: Residual = field(compare=False, repr=False)

    @property
    def needs_positive(self) -> bool:
        """Whether A must not have zeros.

        For β = 0 the divergence is then infinite, whatever W and H are; for β < 1 its gradient is,
        where W·H is 0 as it should be.
        """
        return self.beta < 1

    def divergence(self, A: Array, X: Array) -> Array:
        """Return the divergence of each X, which is WH, from A; infinite where it is."""
        return divergence(self.beta, A, X)


def frobenius_residual(A: Array, W: Array, H: Array, X: Array | None = None) -> Array:
    """Return the largest entry of `min(W, ∇_W)` and `min(H, ∇_H)`, in units of max(A).

    `∇_W = (WH−A)Hᵀ` and `∇_H = Wᵀ(WH−A)` are the gradients of `½‖A − WH‖_F²`; both minima vanish
    exactly at its stationary points over W, H ≥ 0.
    """
    top = A.reshape(len(A), -1).max(axis=1)[:, None, None]
    if (top != 1).any():
        A, W, H, X = A / top, W / np.sqrt(top), H / np.sqrt(top), None
    R = (W @ H if X is None else X) - A
    pull_W = np.minimum(W, R @ H.swapaxes(1, 2))
    pull_H = np.minimum(H, W.swapaxes(1, 2) @ R)
    if W.shape == H.shape:  # one search for the largest of both takes half the time
        return largest_entry(np.maximum(np.abs(pull_W), np.abs(pull_H)))
    return np.maximum(largest_entry(pull_W), largest_entry(pull_H))


def divergence_residual(beta: float, A: Array, W: Array, H: Array, X: Array | None = None) -> Array:
    """Return the largest of `|min(μ, 1 − N/P)|` over H and, mirrored, over W.

    With `X = WH`, `P = Wᵀ·X^(β−1)` and `N = Wᵀ·(A∘X^(β−2))`, the gradient for H is `P − N`, and
    `μ(k,j) = H(k,j)·P(k,j)/Σᵢ A(i,j)·X(i,j)^(β−1)` is the part of component k in column j: for
    β = 1, in its sum. Both are without units, and the same however components and A are scaled.
    A column without a sum is measured by all of A. Infinite where A > 0 = X.
    """
    T = np.swapaxes
    X = W @ H if X is None else X
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = np.ones_like(X) if beta == 1 else X ** (beta - 1)
        ratio = np.where(A == 0, 0.0, A * X ** (beta - 2))
        mass = np.where(A == 0, 0.0, A * slope)
        of_H = _pull(H, T(W, 1, 2) @ slope, T(W, 1, 2) @ ratio, mass)
        of_W = _pull(T(W, 1, 2), H @ T(slope, 1, 2), H @ T(ratio, 1, 2), T(mass, 1, 2))
        residual = np.maximum(of_H, of_W)
    residual[((A > 0) & ~(X > 0)).any(axis=(1, 2))] = np.inf
    return residual


def _pull(H: Array, P: Array, N: Array, mass: Array) -> Array:
    """Return the largest `|min(H·P/Σ mass, 1 − N/P)|`; dead components count 0."""
    whole = mass.sum(axis=1, keepdims=True)
    whole = np.where(whole > 0, whole, whole.sum(axis=2, keepdims=True))
    alive = P > 0
    part = H * P / np.where(whole > 0, whole, 1.0)
    slack = 1 - N / np.where(alive, P, 1.0)
    return largest_entry(np.where(alive, np.minimum(part, slack), 0.0))


def divergence(beta: float, A: Array, X: Array) -> Array:
    """Return `Σ d_β(A|X)` of each matrix of a batch: ½(A−X)² for β = 2.

    `d₁ = A·log(A/X) − A + X`, `d₀ = A/X − log(A/X) − 1`, and in between
    `(A^β + (β−1)·X^β − β·A·X^(β−1)) / (β(β−1))`.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if beta == 2:
            each = (A - X) ** 2 / 2
        elif beta == 1:
            each = np.where(A == 0, X, A * np.log(A / X) - A + X)
        elif beta == 0:
            each = A / X - np.log(A / X) - 1
        else:
            each = (A**beta + (beta - 1) * X**beta - beta * A * X ** (beta - 1)) / (
                beta * (beta - 1)
            )
    total: Array = each.sum(axis=(1, 2))
    return np.where(np.isnan(total), np.inf, total)


FROBENIUS = Objective("frobenius", "the Frobenius norm", "½‖A − WH‖²", 2.0, frobenius_residual)
KL = Objective(
    "kl",
    "the Kullback–Leibler divergence",
    "Σ A·log(A/WH) − A + WH",
    1.0,
    partial(divergence_residual, 1.0),
)
ITAKURA_SAITO = Objective(
    "itakura-saito",
    "the Itakura–Saito divergence",
    "Σ A/WH − log(A/WH) − 1",
    0.0,
    partial(divergence_residual, 0.0),
)
OBJECTIVES = {objective.name: objective for objective in (FROBENIUS, KL, ITAKURA_SAITO)}
"""Those with a name of their own; `find` also knows ``beta=0.5`` and its like."""

_ALSO = {"kullback-leibler": "kl", "is": "itakura-saito"}


@lru_cache
def find(name: str) -> Objective:
    """Return the objective of this name, such as ``kl`` or ``beta=0.5``."""
    text = str(name).strip().lower()
    text = _ALSO.get(text, text)
    if text in OBJECTIVES:
        return OBJECTIVES[text]
    match = re.fullmatch(r"beta=(\d+(?:\.\d*)?|\.\d+)", text)
    beta = float(match[1]) if match else math.nan
    if not 0 <= beta <= 2:
        known = f"{', '.join(OBJECTIVES)}, or beta=… from 0 to 2"
        close = difflib.get_close_matches(text, OBJECTIVES, n=1)
        hint = f"did you mean {close[0]!r}?" if close and not match else f"expected {known}"
        raise InputError(f"no objective {name!r}; {hint}")
    for objective in OBJECTIVES.values():
        if objective.beta == beta:
            return objective
    shown = decimal(beta)
    return Objective(
        f"beta={shown}",
        f"the β-divergence with β = {shown}",
        f"Σ d_β(A|WH), β = {shown}",
        beta,
        partial(divergence_residual, beta),
    )
