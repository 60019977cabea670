"""One component and every β: one product, how fast one gets there, and in one sweep for KL."""

from math import expm1, log, sqrt, tanh

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from divergences import (
    BETAS,
    exact_steps,
    fixed_point,
    is_stationary,
    of_fractions,
    residual,
    value,
)
from nmfcheck.families.rank_one.cases import case_of
from nmfcheck.judging.objectives import find
from nmfcheck.reference import beta_multiplicative_update, kl_multiplicative_update

HARDEST = np.array([[2, 0.5], [0.5, 2]])
"""Of all matrices with entries in [½, 2], it contracts least."""


def hilbert(x, y):
    return log((x / y).max()) - log((x / y).min())


def diameter(A):
    logs = np.log(A)
    rows = logs[:, None, :] - logs[None, :, :]
    return (rows[..., :, None] - rows[..., None, :]).max()


def positive(low, high, *shape):
    """Draw arrays, log-uniform."""
    size = int(np.prod(shape))
    entries = st.lists(st.floats(log(low), log(high)), min_size=size, max_size=size)
    return entries.map(lambda x: np.exp(x).reshape(shape))


matrices = st.tuples(st.integers(2, 5), st.integers(2, 5)).flatmap(lambda s: positive(0.5, 2, *s))


@given(matrices, st.sampled_from(BETAS), st.data())
def test_the_fixed_point_is_stationary_and_no_product_is_better(A, beta, data):
    w, h = fixed_point(beta, A)
    assert residual(beta, A, w[:, None], h[None]) < 1e-13
    least = value(beta, A, np.outer(w, h))
    other = data.draw(positive(0.1, 10, len(w))), data.draw(positive(0.1, 10, len(h)))
    for x, y in (other, (w * other[0] ** 0.01, h * other[1] ** 0.01)):
        assert value(beta, A, np.outer(x, y)) >= least - 1e-11  # β(β−1) may be 0.09


@given(matrices, st.sampled_from(BETAS), st.data())
def test_exact_minimisation_contracts_as_fast_as_the_bound(A, beta, data):
    kappa, delta = tanh(diameter(A) / 4), diameter(A)
    best_w, best_h = fixed_point(beta, A)
    w, bound = data.draw(positive(1e-6, 1e6, len(A))), delta
    for _ in range(6):
        h = A.T @ w ** (beta - 1) / (w**beta).sum()
        w = A @ h ** (beta - 1) / (h**beta).sum()
        assert hilbert(h, best_h) <= bound + 1e-12
        off = np.abs(np.log(np.outer(w, h) / np.outer(best_w, best_h))).max()
        assert off <= max(1, beta) * bound + 1e-12
        bound = min(bound, hilbert(h, best_h)) * ((beta - 1) * kappa) ** 2


def test_the_bound_is_sharp_for_itakura_saito():
    """The factor a sweep of Sinkhorn's iteration is 0.36 for the hardest matrix."""
    best_h = fixed_point(0.0, HARDEST)[1]
    off = [hilbert(exact_steps(0.0, HARDEST, np.array([1, 1.01]), t)[1], best_h) for t in (3, 4)]
    assert off[1] / off[0] == pytest.approx(0.36, rel=1e-3)


def sinkhorn(A):
    """Scale rows to sums of n, then columns to sums of m, again and again; return A over that."""
    S, (m, n) = A.copy(), A.shape
    for _ in range(100):
        S *= n / S.sum(axis=1, keepdims=True)
        S *= m / S.sum(axis=0)
    return A / S


@pytest.mark.parametrize("shape", [(2, 2), (4, 6), (9, 6)])
def test_itakura_saito_is_sinkhorns_scaling(shape):
    for draw in range(5):
        A = case_of(*shape, draw, "a case").A
        X = sinkhorn(A)
        np.testing.assert_allclose(np.outer(*fixed_point(0.0, A)), X, rtol=1e-13)
        np.testing.assert_allclose((A / X).sum(axis=0), shape[0], rtol=1e-13)
        np.testing.assert_allclose((A / X).sum(axis=1), shape[1], rtol=1e-13)


@given(matrices)
def test_closed_forms(A):
    margins = np.outer(A.sum(axis=1), A.sum(axis=0)) / A.sum()
    np.testing.assert_allclose(np.outer(*fixed_point(1.0, A)), margins, rtol=1e-13)
    u, s, v = np.linalg.svd(A)
    np.testing.assert_allclose(
        np.outer(*fixed_point(2.0, A)), s[0] * np.outer(u[:, 0], v[0]), rtol=1e-12
    )


@given(st.data())
def test_for_kl_one_sweep_is_exact_in_rational_arithmetic(data):
    """Also with zeros in A; and what is stationary has the right sums, so is this product."""
    m, n = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    A = of_fractions(data.draw, m, n, 0)
    assume(A.any())
    w, h = of_fractions(data.draw, m, 1, 1)[:, 0], of_fractions(data.draw, n, 1, 1)[:, 0]
    h = h * (A / np.multiply.outer(w, h)).T.dot(w) / w.sum()
    w = w * (A / np.where(A > 0, np.multiply.outer(w, h), 1)).dot(h) / h.sum()
    margins = np.multiply.outer(A.sum(axis=1), A.sum(axis=0)) / A.sum()
    assert (np.multiply.outer(w, h) == margins).all()
    assert is_stationary(1, A, w[:, None], h[None])


def test_kl_multiplicative_update_is_there_after_one_sweep():
    rng = np.random.default_rng(1)
    A = rng.random((200, 5, 4)) * (rng.random((200, 5, 4)) < 0.7)
    A[:, 0, 0] = 1
    W0, H0 = (np.exp(rng.normal(0, 3, s)) for s in ((200, 5, 1), (200, 1, 4)))
    found = kl_multiplicative_update(A, W0, H0, iterations=1)
    margins = A.sum(axis=2)[..., None] * A.sum(axis=1)[:, None] / A.sum(axis=(1, 2))[:, None, None]
    np.testing.assert_allclose(found.W @ found.H, margins, rtol=1e-13, atol=0)


def step_with_exponent(beta, gamma, A, w, h):
    """One sweep of multiplicative update, as it is defined, for one component."""
    for _ in range(2):
        X = np.outer(w, h)
        h = h * ((w @ (A * X ** (beta - 2))) / (w @ X ** (beta - 1))) ** gamma
        A, w, h = A.T, h, w
    return w, h


@given(matrices, st.sampled_from(BETAS), st.data())
def test_with_one_component_the_update_is_a_geometric_mean(A, beta, data):
    w, h = data.draw(positive(0.1, 10, A.shape[0])), data.draw(positive(0.1, 10, A.shape[1]))
    exact = exact_steps(beta, A, w, 1)
    for X, Y in zip(step_with_exponent(beta, 1.0, A, w, h), exact, strict=True):
        np.testing.assert_allclose(X, Y, rtol=1e-12)
    gamma = 1 / (2 - beta) if beta < 1 else 1.0
    after = step_with_exponent(beta, gamma, A, w, h)
    middle = h ** (1 - gamma) * (A.T @ w ** (beta - 1) / (w**beta).sum()) ** gamma
    np.testing.assert_allclose(after[1], middle, rtol=1e-12)
    found = beta_multiplicative_update(find(f"beta={beta}"))(A, w[:, None], h[None], iterations=1)
    np.testing.assert_allclose(found.W[:, 0], after[0], rtol=1e-12)
    np.testing.assert_allclose(found.H[0], after[1], rtol=1e-12)


def bounds(beta, kappa, distance, error):
    """Yield after each sweep what `d(h,h*)`, `d(w,w*)` and `max|log(X/X*)|` are at most."""
    g, h, w = (1 - beta) / (2 - beta), *distance
    while True:
        error, h = g * error + (1 - g) * w, g * (h + kappa * w)
        error, w = g * error + (1 - g) * h, g * (w + kappa * h)
        yield h, w, error


@given(matrices, st.sampled_from([b for b in BETAS if b < 1]), st.data())
def test_the_rate_with_the_smaller_exponent(A, beta, data):
    w, h = data.draw(positive(1e-4, 1, A.shape[0])), data.draw(positive(1e-4, 1, A.shape[1]))
    best_w, best_h = fixed_point(beta, A)

    def measured():
        off = np.abs(np.log(np.outer(w, h) / np.outer(best_w, best_h))).max()
        return hilbert(h, best_h), hilbert(w, best_w), off

    *distance, error = measured()
    assert max(distance) <= log(4e4) + 1e-9
    assert error <= log(8e8) + 1e-9
    bound = bounds(beta, tanh(diameter(A) / 4), distance, error)
    for _, most in zip(range(8), bound, strict=False):
        w, h = step_with_exponent(beta, 1 / (2 - beta), A, w, h)
        assert (np.array(measured()) <= np.array(most) + 1e-12).all()


def enough(beta, tolerance):
    sweeps = enumerate(bounds(beta, 0.6, [log(4e4)] * 2, log(8e8)), start=1)
    return next(t for t, (_, _, error) in sweeps if expm1(error) <= tolerance)


def test_how_many_sweeps_are_enough_with_the_smaller_exponent():
    assert [enough(0, tolerance) for tolerance in (1e-4, 1e-5, 1e-10)] == [44, 52, 95]
    assert max(enough(beta, 1e-10) for beta in np.linspace(0, 0.99, 100)) == 95
    g, x = 0.5, 0.5 * 0.36 / 2
    largest = g * (1 + x + sqrt(2 * x + x**2))
    assert largest == pytest.approx(0.762, abs=5e-4)
    matrix = [[g, g * 0.6], [g**2 * 0.6, g + g**2 * 0.36]]
    assert max(np.linalg.eigvals(matrix)) == pytest.approx(largest)


@pytest.mark.parametrize("beta", BETAS)
def test_the_reference_is_there_in_time(beta):
    """From any start with exponent 1, from entries between 1e-4 and 1 with the smaller one."""
    algorithm = beta_multiplicative_update(find(f"beta={beta}"))
    for m, n in ((2, 2), (4, 6), (9, 6)):
        rng = np.random.default_rng([m, n])
        A = np.array([case_of(m, n, draw, "a case").A for draw in range(10)])
        W0, H0 = 10 ** rng.uniform(-4, 0, (10, m, 1)), 10 ** rng.uniform(-4, 0, (10, 1, n))
        found = algorithm(A, W0, H0, iterations=95 if beta < 1 else 26)
        for a, X in zip(A, found.W @ found.H, strict=True):
            np.testing.assert_allclose(X, np.outer(*fixed_point(beta, a)), rtol=1e-10)
