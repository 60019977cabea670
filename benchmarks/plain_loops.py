"""The algorithms for one problem in plain NumPy, as one would write them down in a lecture.

What the engine's speed is measured against, and what the tests compare results with. Each function
is the half of an iteration that updates H.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from nmfcheck.arrays import Array


@dataclass
class Memory:
    """What NeNMF remembers from one iteration to the next, and how many inner steps it took."""

    tolerance: float
    steps: int = 0


def multiplicative_update(A: Array, W: Array, H: Array, _: Memory) -> Array:
    return H * (W.T @ A) / (W.T @ W @ H)


def als(A: Array, W: Array, _H: Array, _: Memory) -> Array:
    return np.maximum(np.linalg.lstsq(W, A, rcond=None)[0], 0)


def gradient_descent(A: Array, W: Array, H: Array, _: Memory) -> Array:
    WtA, WtWH = W.T @ A, W.T @ W @ H
    G = H * WtA / WtWH - H
    WG = W @ G
    length = np.sum(WG * WG)
    if length == 0:
        return H + G
    best = np.sum((WtA - WtWH) * G) / length
    shrinking = G < 0
    boundary = np.min(-H[shrinking] / G[shrinking], initial=np.inf)
    return H + max(1.0, min(best, 0.99 * boundary)) * G


def coordinate_descent(A: Array, W: Array, H: Array, _: Memory) -> Array:
    WtA, WtW, H = W.T @ A, W.T @ W, H.copy()
    for j in range(len(H)):
        if WtW[j, j] > 0:
            H[j] = np.maximum(H[j] + (WtA[j] - WtW[j] @ H) / WtW[j, j], 0)
    return H


def nenmf(A: Array, W: Array, H: Array, memory: Memory) -> Array:
    WtA, WtW = W.T @ A, W.T @ W
    L = np.linalg.norm(WtW, 2)
    Y, alpha = H, 1.0
    gradient = WtW @ Y - WtA
    for inner in range(1, 1001):
        before, H = H, np.maximum(Y - gradient / L, 0)
        next_alpha = (1 + np.sqrt(1 + 4 * alpha**2)) / 2
        Y = H + (alpha - 1) / next_alpha * (H - before)
        alpha = next_alpha
        gradient = WtW @ Y - WtA
        if inner >= 10 and projected_norm(Y, gradient) <= memory.tolerance:
            break
    memory.steps += inner
    if inner == 10:
        memory.tolerance /= 10
    return H


def anls(A: Array, W: Array, _H: Array, _: Memory) -> Array:
    return np.array([nnls(W, a)[0] for a in A.T]).T


def projected_norm(X: Array, gradient: Array) -> float:
    return float(np.linalg.norm(gradient[(gradient < 0) | (X > 0)]))


def kl_multiplicative_update(A: Array, W: Array, H: Array, _: Memory) -> Array:
    return H * (W.T @ ratio(A, W @ H)) / W.sum(axis=0)[:, None]


def kl_scalar_newton(A: Array, W: Array, H: Array, _: Memory) -> Array:
    H = H.copy()
    for c, w in enumerate(W.T):
        if not w.any():
            continue
        for a, h in zip(A.T, H.T, strict=True):
            Wh = W @ h
            g, f = np.sum(w * (1 - ratio(a, Wh))), np.sum(w**2 * ratio(a, Wh**2))
            d = max(-h[c], -g / f) if f > 0 else -h[c]
            length = np.sqrt(f / np.min(a[a > 0], initial=np.inf)) * abs(d)
            h[c] += d / (1 + length) if g > 0 and length > 0.683802 else d
    return H


def ratio(X: Array, Y: Array) -> Array:
    return np.divide(X, Y, out=np.zeros_like(X), where=Y != 0)


HALVES = {
    "multiplicative_update": multiplicative_update,
    "als": als,
    "gradient_descent": gradient_descent,
    "nenmf": nenmf,
    "coordinate_descent": coordinate_descent,
    "anls": anls,
    "kl_multiplicative_update": kl_multiplicative_update,
    "kl_scalar_newton": kl_scalar_newton,
}


def plain_loop(
    name: str, A: Array, W: Array, H: Array, iterations: int
) -> tuple[Array, Array, int]:
    """Return W, H, and NeNMF's number of inner steps."""
    half = HALVES[name]
    R = W @ H - A
    norms = projected_norm(H, W.T @ R), projected_norm(W, R @ H.T)
    for_H, for_W = (Memory(1e-3 * float(np.hypot(*norms))) for _ in range(2))
    with np.errstate(invalid="ignore"):
        for _ in range(iterations):
            H = half(A, W, H, for_H)
            W = half(A.T, H.T, W.T, for_W).T
    return W, H, for_H.steps + for_W.steps
