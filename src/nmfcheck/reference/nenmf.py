"""NeNMF: alternating nonnegative least squares, each solved by Nesterov's method.

N. Guan, D. Tao, Z. Luo and B. Yuan, "NeNMF: an optimal gradient method for nonnegative matrix
factorization", IEEE Transactions on Signal Processing, 2012. The paper's citation for its
Algorithm 3 may mean this one.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .factorization import Algorithm
from .lanes import T, from_lanes, keep, matmul, same_bits, total
from .orbits import State

FEWEST_STEPS, MOST_STEPS = 10, 1000


def solved(A: Array, W: Array, H: Array, tolerance: Array) -> tuple[Array, Array]:
    """Return nearly `argmin_{H ≥ 0} ‖WH − A‖_F` from H on, and the next tolerance.

    Inner steps go on, 10 at least and 1000 at most, until the projected gradient at Y is within
    the tolerance; where 10 were enough, the next tolerance is a tenth.
    """
    WtW, WtA = matmul(T(W), W), matmul(T(W), A)
    L = _largest_eigenvalue(WtW)
    result, next_tolerance = np.array(H), np.array(tolerance)
    open_lanes = np.arange(H.shape[-1])
    Y, alpha = H, 1.0
    gradient = matmul(WtW, Y) - WtA
    for inner in range(1, MOST_STEPS + 1):
        previous_H, previous_Y = H, Y
        H = np.maximum(Y - gradient / L, 0.0)
        next_alpha = (1 + np.sqrt(1 + 4 * alpha**2)) / 2
        Y = H + (alpha - 1) / next_alpha * (H - previous_H)
        alpha = next_alpha
        gradient = matmul(WtW, Y) - WtA
        if inner < FEWEST_STEPS:
            continue
        reached = projected_norm(Y, gradient) <= tolerance
        # Where neither H nor Y moves any more, no later step would move them either.
        done = reached | (same_bits(H, previous_H) & same_bits(Y, previous_Y))
        if inner == FEWEST_STEPS:
            next_tolerance[open_lanes[reached]] /= 10
        if done.any() or inner == MOST_STEPS:
            result[..., open_lanes] = H
            left = ~done
            open_lanes, tolerance, L = open_lanes[left], tolerance[left], L[left]
            H, Y, gradient = keep(H, left), keep(Y, left), keep(gradient, left)
            WtW, WtA = keep(WtW, left), keep(WtA, left)
            if len(open_lanes) == 0:
                break
    return result, next_tolerance


def projected_norm(X: Array, gradient: Array) -> Array:
    """Return the norm of the gradient without the entries that the bound X ≥ 0 holds back."""
    return np.sqrt(total(np.where((gradient < 0) | (X > 0), np.square(gradient), 0.0)))


def _largest_eigenvalue(G: Array) -> Array:
    """Return `‖G‖₂`, and 1 where G is 0: then the gradient is 0, and no step is too long."""
    L = np.linalg.eigvalsh(from_lanes(G))[:, -1]
    return np.where(L > 0, L, 1.0)


def _step(A: Array, state: State) -> State:
    W, H, tolerance_H, tolerance_W = state
    H, tolerance_H = solved(A, W, H, tolerance_H)
    Wt, tolerance_W = solved(T(A), T(H), T(W), tolerance_W)
    return T(Wt), H, tolerance_H, tolerance_W


def _first_tolerances(A: Array, W: Array, H: Array) -> State:
    """Return a thousandth of the projected gradient's norm at the start, for H and for W."""
    R = matmul(W, H) - A
    norm = np.hypot(projected_norm(H, matmul(T(W), R)), projected_norm(W, matmul(R, T(H))))
    return 1e-3 * norm, 1e-3 * norm


nenmf = Algorithm(
    "nenmf",
    _step,
    10**3,
    "Factorize A by NeNMF; `iterations` counts the outer ones.",
    reads=(0, 1, 2, 3),
    remember=_first_tolerances,
)
