"""Steps of the references for other objectives than the Frobenius norm: none goes up."""

from math import log1p, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from divergences import BETAS, value
from nmfcheck.judging.objectives import find
from nmfcheck.reference import (
    beta_multiplicative_update,
    kl_multiplicative_update,
    kl_scalar_newton,
)
from nmfcheck.reference.kl_scalar_newton import WHOLE, swept


def test_where_0_683802_comes_from():
    def psi(x):
        return x * x + x + log1p(-x)

    zero = brentq(psi, 0.6, 0.9, xtol=1e-15)
    assert int(zero * 1e6) == 683802 == round(WHOLE * 1e6)
    grid = np.linspace(1e-3, WHOLE, 1000)
    assert all(psi(x) > 0 for x in grid)
    assert psi(0.683803) < 0
    assert all(log1p(x) - x < 0 for x in (1e-3, 1, 100))


@pytest.mark.parametrize("length", [0.1, 0.5, 0.68, 0.6838, 0.6839, 0.69, 0.95])
def test_0_683802_is_sharp(length):
    """With one term, `φ(s) = s − log(x + s)`, a whole step of that length rises beyond it."""
    x = 1 + length
    g, f = 1 - 1 / x, 1 / x**2
    assert sqrt(f) * g / f == pytest.approx(length)
    change = -g / f - log1p(-g / f / x)
    assert change == pytest.approx(-(length**2) - length - log1p(-length))
    assert (change <= 0) == (length <= WHOLE)
    damped = -g / f / (1 + length)
    assert damped - log1p(damped / x) < 0


terms = st.tuples(st.sampled_from([0.0, 0.01, 1.0, 5.0]), st.floats(0, 3), st.floats(0.01, 5))


@given(st.lists(terms, min_size=1, max_size=5), st.floats(0, 1), st.floats(0, 1))
def test_one_newton_step(drawn, part, rest):
    """The reference's step on one entry: φ does not rise, nothing of A is left out."""
    a, w, other = (np.array(column) for column in zip(*drawn, strict=True))
    h, A = 10 * part, a[:, None, None]
    W = np.stack([w, other * rest + 1e-3], axis=1)[..., None]  # so that X > 0
    H = np.array([h, 1.0])[:, None, None]
    with np.errstate(over="ignore"):  # as the references are run; w may be 1e-308
        after = swept(A, W, H)[0, 0, 0]
    x = W[:, 0, 0] * h + W[:, 1, 0]

    def phi(s):
        held = a > 0
        return w.sum() * s - (a[held] * np.log1p(w[held] * s / x[held])).sum()

    assert after >= 0
    assert (x + w * (after - h) > 0)[a > 0].all()
    # Rounding: of h itself, and of sums whose terms are at most w·h + a·log.
    assert phi(after - h) <= 1e-14 * (1 + w.sum() * max(h, after) + a.sum() * 20)
    gradient = w.sum() - (a * w / x).sum()
    if gradient < -1e-9:  # it went up, and not beyond the minimum
        assert after > h
        assert w.sum() - (a * w / (x + w * (after - h))).sum() <= 1e-12 * w.sum()


def with_zeros(rng, m, n, k):
    A = rng.uniform(0.01, 2, (m, n)) * (rng.random((m, n)) < 0.6)
    return A, rng.random((m, k)) + 1e-3, rng.random((k, n)) + 1e-3


def rounding(beta, A, X):
    """Return how far off the value can be: each step and each term by some roundings."""
    terms = A.sum() + X.sum() if beta == 1 else (A**beta + X**beta + A * X ** (beta - 1)).sum()
    if beta == 1:
        terms += np.abs(A * np.log(np.where(A > 0, A, 1) / np.where(A > 0, X, 1))).sum()
    return 100 * 2**-52 * terms / (abs(beta * (beta - 1)) or 1)


def check_descent(algorithm, beta, A, W, H, iterations=12):
    for _ in range(iterations):
        X = W @ H
        W, H, _ = algorithm(A, W, H, iterations=1)
        assert (W @ H > 0)[A > 0].all()
        assert value(beta, A, W @ H) <= value(beta, A, X) + rounding(beta, A, X)


shapes = st.tuples(*(st.integers(1, 5) for _ in "mn"), st.integers(1, 4), st.integers(0, 2**32))


@settings(max_examples=40)
@pytest.mark.parametrize("algorithm", [kl_multiplicative_update, kl_scalar_newton])
@given(shapes)
def test_the_divergence_never_rises_with_zeros_in_A(algorithm, shape):
    m, n, k, seed = shape
    rng = np.random.default_rng(seed)
    check_descent(algorithm, 1.0, *with_zeros(rng, m, n, k))


@settings(max_examples=40)
@given(shapes, st.sampled_from(BETAS))
def test_no_other_divergence_rises(shape, beta):
    m, n, k, seed = shape
    A, W, H = with_zeros(np.random.default_rng(seed), m, n, k)
    A = A if beta >= 1 else A + 0.01
    check_descent(beta_multiplicative_update(find(f"beta={beta}")), beta, A, W, H)


@given(shapes)
def test_sums_are_right_after_each_half_step_of_multiplicative_update(shape):
    m, n, k, seed = shape
    A, W, H = with_zeros(np.random.default_rng(seed), m, n, k)
    found = kl_multiplicative_update(A, W, H, iterations=1)
    np.testing.assert_allclose((W @ found.H).sum(axis=0), A.sum(axis=0), rtol=1e-13, atol=0)
    np.testing.assert_allclose((found.W @ found.H).sum(axis=1), A.sum(axis=1), rtol=1e-13, atol=0)
