"""β-divergences for tests: what is implemented, and what it should be, in rational arithmetic."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from nmfcheck.judging.objectives import divergence, divergence_residual

BETAS = [0.0, 0.3, 0.5, 0.9, 1.0, 1.2, 1.5, 1.9, 2.0]


def residual(beta, A, W, H):
    """Return what is implemented, of a single point in any arithmetic."""
    A, W, H = (np.asarray(X, dtype=float)[None] for X in (A, W, H))
    return float(divergence_residual(beta, A, W, H)[0])


def value(beta, A, X):
    return float(divergence(beta, np.asarray(A, float)[None], np.asarray(X, float)[None])[0])


def transposed(A, W, H):
    return A.T, H.T, W.T


def side(beta, A, W, H):
    """Return gradient, P and N for H, of fractions, β = 0, 1 or 2: by loops and definitions."""
    X = W.dot(H)
    m, n = A.shape
    P, N = (np.array([[Fraction(0)] * n for _ in H]) for _ in range(2))
    for k in range(len(H)):
        for j in range(n):
            for i in range(m):
                P[k, j] += W[i, k] * (X[i, j] ** (beta - 1) if beta != 1 else 1)
                if A[i, j] > 0:
                    N[k, j] += W[i, k] * A[i, j] * X[i, j] ** (beta - 2)
    return P - N, P, N


def is_stationary(beta, A, W, H):
    def holds(A, W, H):
        gradient, _, _ = side(beta, A, W, H)
        return (gradient >= 0).all() and not gradient[H > 0].any()

    return holds(A, W, H) and holds(*transposed(A, W, H))


def residual_of_fractions(beta, A, W, H):
    worst = Fraction(0)
    for a, w, h in ((A, W, H), transposed(A, W, H)):
        _, P, N = side(beta, a, w, h)
        X = w.dot(h)
        mass = np.where(a > 0, a * np.where(X > 0, X, 1) ** (beta - 1), Fraction(0))
        for (k, j), part in np.ndenumerate(h):
            if P[k, j] > 0:
                whole = mass[:, j].sum() or mass.sum()
                worst = max(worst, abs(min(part * P[k, j] / whole, 1 - N[k, j] / P[k, j])))
    return worst


def of_fractions(draw, m, n, least):
    entries = st.integers(least, 4).map(Fraction)
    return np.array(draw(st.lists(entries, min_size=m * n, max_size=m * n))).reshape(m, n)


def exact_steps(beta, A, w, sweeps):
    """`h = Aᵀw^(β−1)/Σw^β`, then the same for w."""
    for _ in range(sweeps):
        h = A.T @ w ** (beta - 1) / (w**beta).sum()
        w = A @ h ** (beta - 1) / (h**beta).sum()
    return w, h


def fixed_point(beta, A):
    return exact_steps(beta, A, np.ones(len(A)), 60)
