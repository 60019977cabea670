"""One component: one stationary product, and how fast, and how biased, one gets there."""

from fractions import Fraction
from math import exp, log, sqrt, tanh

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmfcheck.families.rank_one.cases import case_of
from nmfcheck.reference import (
    als,
    anls,
    coordinate_descent,
    gradient_descent,
    multiplicative_update,
    nenmf,
)

ALGORITHMS = [multiplicative_update, als, gradient_descent, nenmf, coordinate_descent, anls]
SHAPES = [(2, 2), (4, 6), (9, 6)]
HARDEST = np.array([[2, 0.5], [0.5, 2]])
"""Of all matrices with entries in [½, 2], it contracts least."""


def leading(A):
    """Return `σ₁, u₁, v₁`, both vectors positive."""
    u, s, v = np.linalg.svd(A)
    return s[0], np.abs(u[:, 0]), np.abs(v[0])


def best(A):
    s, u, v = leading(A)
    return s * np.outer(u, v)


def defect(X, A):
    return np.abs(X - best(A)).max() / best(A).max()


def power_method(A, w, sweeps):
    """`h = Aᵀw/‖w‖²`, then `w = Ah/‖h‖²`, in whatever arithmetic A and w have."""
    for _ in range(sweeps):
        h = A.T.dot(w) / w.dot(w)
        w = A.dot(h) / h.dot(h)
    return w, h


def positive(low, high, *shape):
    """Draw arrays, log-uniform."""
    size = int(np.prod(shape))
    entries = st.lists(st.floats(log(low), log(high)), min_size=size, max_size=size)
    return entries.map(lambda x: np.exp(x).reshape(shape))


@st.composite
def matrices(draw, low=0.5, high=2.0):
    m, n = draw(st.integers(2, 5)), draw(st.integers(2, 5))
    return draw(positive(low, high, m, n))


@st.composite
def matrices_of_fractions(draw):
    m, n = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    entries = st.integers(1, 60).map(lambda i: Fraction(i, 12))
    A = np.array(draw(st.lists(entries, min_size=m * n, max_size=m * n))).reshape(m, n)
    zeros = [np.array(draw(st.lists(st.integers(0, 5), min_size=s, max_size=s))) for s in (m, n)]
    return A, *(np.array([Fraction(int(x)) for x in z]) for z in zeros)


# --- Theorem 7: stationary points -----------------------------------------------------------------


@given(matrices_of_fractions())
def test_on_the_boundary_nothing_is_stationary_but_zero(drawn):
    """Where h is not 0, ∇_w is negative at every zero of w; the same for w and h exchanged."""
    A, w, h = drawn
    R = np.multiply.outer(w, h) - A
    for x, y, gradient in ((w, h, R.dot(h)), (h, w, R.T.dot(w))):
        if y.any():
            assert (gradient[x == 0] < 0).all()
        else:
            assert not gradient.any()


@given(matrices(0.1, 10.0))
def test_the_best_product_is_stationary_and_positive(A):
    s, u, v = leading(A)
    w, h = s * u, v
    assert (best(A) > 0).all()
    R = np.outer(w, h) - A
    assert np.abs(R @ h).max() < 1e-12 * s
    assert np.abs(R.T @ w).max() < 1e-12 * s**2
    # No stationary product is far from it: AᵀA has one positive eigenvector.
    values, vectors = np.linalg.eigh(A.T @ A)
    one_sign = [(vector > 0).all() or (vector < 0).all() for vector in vectors.T]
    assert one_sign == [False] * (len(values) - 1) + [True]


def test_zero_is_stationary_and_no_minimum():
    A = case_of(4, 6, 0, "a case").A
    for t in (1e-1, 1e-3):
        assert np.linalg.norm(A - t * best(A)) < np.linalg.norm(A)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_start_leads_to_the_one_product(shape):
    m, n = shape
    for draw in range(5):
        case = case_of(m, n, draw, "a case")
        rng = np.random.default_rng(draw)
        W0, H0 = (np.exp(rng.uniform(-20, 20, s)) for s in ((40, m, 1), (40, 1, n)))
        A = np.broadcast_to(case.A, (40, m, n)).copy()
        found = coordinate_descent(A, W0, H0, iterations=28, threads=1)
        assert np.abs(found.W @ found.H - case.X).max() < 1e-10 * case.X.max()


def test_a_rational_example():
    """`[[2, 1], [1, 2]]` has `σ₁ = 3` and the best product 3/2 everywhere."""
    A = np.array([[Fraction(2), Fraction(1)], [Fraction(1), Fraction(2)]])
    w, h = power_method(A, np.array([Fraction(1), Fraction(0)]), 12)
    assert abs(np.multiply.outer(w, h) - Fraction(3, 2)).max() < Fraction(1, 10**10)
    w, h = power_method(A, np.array([Fraction(7), Fraction(7)]), 1)
    assert (np.multiply.outer(w, h) == Fraction(3, 2)).all()


# --- One sweep of every algorithm is a step of the power method -----------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("sweeps", [1, 2, 5])
def test_all_references_are_the_power_method(algorithm, sweeps):
    """Not only in the limit: W and H are the same after every sweep."""
    for draw in range(10):
        A = case_of(5, 4, draw, "a case").A
        rng = np.random.default_rng(draw)
        W0, H0 = rng.random((5, 1)), rng.random((1, 4))
        w, h = power_method(A, W0[:, 0], sweeps)
        found = algorithm(A, W0, H0, iterations=sweeps)
        np.testing.assert_allclose(found.W[:, 0], w, rtol=1e-12)
        np.testing.assert_allclose(found.H[0], h, rtol=1e-12)


# --- Contraction ----------------------------------------------------------------------------------


def hilbert(x, y):
    return log((x / y).max()) - log((x / y).min())


def diameter(A):
    logs = np.log(A)
    rows = logs[:, None, :] - logs[None, :, :]
    return (rows[..., :, None] - rows[..., None, :]).max()


@given(st.data())
def test_positive_matrices_contract(data):
    A = data.draw(matrices(0.1, 10.0))
    x, y = (data.draw(positive(1e-6, 1e6, A.shape[1])) for _ in "xy")
    after = hilbert(A @ x, A @ y)
    assert after <= tanh(diameter(A) / 4) * hilbert(x, y) + 1e-12
    assert after <= diameter(A) + 1e-12
    # With zeros, too, the images are not farther apart than that.
    x[1:] = 0
    assert hilbert(A @ x, A @ y) <= diameter(A) + 1e-12


def test_the_factor_of_contraction_is_attained():
    for size in (0.1, 1.0, 4 * log(2)):
        A = np.array([[exp(size / 2), 1], [1, exp(size / 2)]])
        assert diameter(A) == pytest.approx(size)
        x, y = np.array([exp(1e-4), 1]), np.ones(2)
        assert hilbert(A @ x, A @ y) == pytest.approx(tanh(size / 4) * hilbert(x, y), rel=1e-4)


@given(matrices())
def test_entries_from_a_half_to_two_contract_by_0_6(A):
    assert diameter(A) <= 4 * log(2) + 1e-12
    assert tanh(log(2)) == pytest.approx(0.6)
    assert diameter(HARDEST) == pytest.approx(4 * log(2))


def enough(tolerance):
    """Return the sweeps after which the product is right to a tolerance, from any start."""
    return next(t for t in range(1, 100) if exp(8 * log(2) * 0.36 ** (t - 1)) - 1 <= tolerance)


def test_how_many_sweeps_are_enough():
    assert [enough(tolerance) for tolerance in (1e-4, 1e-5, 1e-10)] == [12, 14, 26]


@given(st.data())
def test_the_bound_on_the_product(data):
    """After t sweeps every entry is within a factor `exp(±2·Δ·κ^(2t−2))` of the best one."""
    A = data.draw(matrices())
    w = data.draw(positive(1e-8, 1e8, len(A)))
    delta, sweeps = diameter(A), data.draw(st.integers(1, 12))
    w, h = power_method(A, w, sweeps)
    off = np.abs(np.log(np.outer(w, h) / best(A))).max()
    assert off <= 2 * delta * tanh(delta / 4) ** (2 * sweeps - 2) + 1e-12


def test_the_hardest_matrix_needs_nearly_as_many():
    """Its `(σ₂/σ₁)²` is 0.36: so the factor a sweep cannot be improved on."""
    assert np.linalg.svd(HARDEST, compute_uv=False) == pytest.approx([2.5, 1.5])
    missed = [
        defect(np.outer(*power_method(HARDEST, np.array([1, 1e-9]), t)), HARDEST)
        for t in range(1, 15)
    ]
    ratios = np.divide(missed[6:], missed[5:-1])
    assert ratios == pytest.approx(0.36, rel=1e-2)
    assert missed[13] < 1e-5 < missed[9]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_reference_is_there_in_time(algorithm):
    for m, n in SHAPES:
        for draw in range(10):
            case = case_of(m, n, draw, "a case")
            rng = np.random.default_rng(draw)
            start = rng.random((m, 1)), rng.random((1, n))
            for tolerance in (1e-4, 1e-5, 1e-10):
                found = algorithm(case.A, *start, iterations=enough(tolerance))
                assert np.abs(found.W @ found.H - case.X).max() <= tolerance * case.X.max()


# --- Biases ---------------------------------------------------------------------------------------


def left_over(X, A):
    """Return `⟨A − X, X⟩`, which is 0 after every update that has no bias."""
    return float(((A - X) * X).sum())


def balanced_start(A):
    """Return the best w and h, scaled to the same sum, so that a scale need not be waited for."""
    s, u, v = leading(A)
    scale = sqrt(s * u.sum() * v.sum())
    return u * scale / u.sum(), v * scale / v.sum()


def ridge(A, w, sweeps, penalty):
    for _ in range(sweeps):
        h = A.T @ w / (w @ w + penalty)
        w = A @ h / (h @ h + penalty)
    return w, h


def lasso(A, w, sweeps, penalty):
    for _ in range(sweeps):
        h = np.maximum(0, A.T @ w - penalty) / (w @ w)
        w = np.maximum(0, A @ h - penalty) / (h @ h)
    return w, h


def with_constant(A, w, h, sweeps, constant):
    """Multiplicative update with a constant in its denominators."""
    for _ in range(sweeps):
        h = h * (A.T @ w) / (w @ w * h + constant)
        w = w * (A @ h) / (h @ h * w + constant)
    return w, h


@given(matrices(), st.floats(0.001, 0.5))
def test_ridge_shrinks_the_best_product_by_its_share_of_the_singular_value(A, penalty):
    """At rest, `X = (1 − λ/σ₁)·X*`: from any start, but the scale takes about 1/λ sweeps."""
    s, u, v = leading(A)
    root = sqrt(s - penalty)
    w, h = ridge(A, root * u, 1, penalty)
    np.testing.assert_allclose(w, root * u, rtol=1e-12)
    np.testing.assert_allclose(h, root * v, rtol=1e-12)
    np.testing.assert_allclose(np.outer(w, h), (1 - penalty / s) * best(A), rtol=1e-11)


def test_ridge_gets_there_slowly_and_vanishes_if_the_penalty_is_large():
    A = case_of(4, 6, 1, "a case").A
    s = leading(A)[0]
    w, h = ridge(A, np.ones(4), 2000, 0.1)
    assert defect(np.outer(w, h), A) == pytest.approx(0.1 / s, rel=1e-9)
    w, h = ridge(A, np.ones(4), 10, 0.1)
    assert defect(np.outer(w, h), A) != pytest.approx(0.1 / s, rel=1e-2)
    w, h = ridge(A, np.ones(4), 2000, 1.1 * s)
    assert np.outer(w, h).max() < 1e-12


@given(matrices(), st.integers(1, 5), st.floats(0.001, 0.1))
def test_what_is_left_after_an_update_shows_the_penalty(A, sweeps, penalty):
    """`⟨A − X, X⟩` is 0 without a bias, `λ‖w‖²` for ridge and `λ·Σw` for lasso."""
    start = np.ones(len(A))
    scale = (A**2).sum()
    w, h = power_method(A, start, sweeps)
    assert abs(left_over(np.outer(w, h), A)) < 1e-12 * scale
    w, h = ridge(A, start, sweeps, penalty)
    assert left_over(np.outer(w, h), A) == pytest.approx(penalty * w @ w, rel=1e-8)
    w, h = lasso(A, start, sweeps, penalty)
    assert (w > 0).all()
    assert left_over(np.outer(w, h), A) == pytest.approx(penalty * w.sum(), rel=1e-8)


@pytest.mark.parametrize("size", [0.05, 0.01])
def test_a_constant_in_denominators_is_a_lasso_penalty(size):
    for m, n in SHAPES:
        A = case_of(m, n, 2, "a case").A
        s, u, v = leading(A)
        w, h = with_constant(A, *balanced_start(A), round(100 / size), size)
        X = np.outer(w, h)
        np.testing.assert_allclose(h @ h * w + size, A @ h, rtol=1e-9)
        np.testing.assert_allclose(w @ w * h + size, A.T @ w, rtol=1e-9)
        assert w.sum() == pytest.approx(h.sum(), rel=1e-7)
        assert left_over(X, A) == pytest.approx(size * sqrt(X.sum()), rel=1e-7)
        np.testing.assert_allclose(np.outer(*lasso(A, w, 10, size)), X, rtol=1e-7)
        # To first order in δ.
        shrunk = 1 - u @ X @ v / s
        assert shrunk == pytest.approx(size * sqrt(u.sum() * v.sum()) / s**1.5, rel=size)
        assert shrunk < size / (sqrt(m * n) * A.min() ** 1.5)
        assert 0.5 * shrunk < defect(X, A) < 1.5 * shrunk


@pytest.mark.parametrize(("m", "n", "low", "high"), [(4, 3, 0.1, 0.5), (9, 6, 0.05, 0.15)])
def test_how_much_a_constant_shows(m, n, low, high):
    for draw in range(20):
        A = case_of(m, n, draw, "a case").A
        for size in (1e-3, 1e-9):
            w, h = lasso(A, balanced_start(A)[0], 100, size)
            assert low * size < defect(np.outer(w, h), A) < high * size


def test_a_constant_in_denominators_on_a_constant_matrix():
    """The product p solves `(a − p)·√p = δ/√(mn)`."""
    a, m, n, size = 1.5, 5, 3, 0.1
    w, h = with_constant(np.full((m, n), a), np.full(m, 1.2), np.full(n, 1.2), 3000, size)
    p = w[0] * h[0]
    np.testing.assert_allclose(np.outer(w, h), p, rtol=1e-12)
    assert (a - p) * sqrt(p) == pytest.approx(size / sqrt(m * n), rel=1e-9)


# --- What only this family sees -------------------------------------------------------------------


@given(st.data())
def test_the_best_product_for_the_kullback_leibler_divergence(data):
    """`r·cᵀ/N`: no other product has a smaller one."""
    A = data.draw(matrices())
    m, n = A.shape

    def divergence(X):
        return (A * np.log(A / X) - A + X).sum()

    margins = np.outer(A.sum(axis=1), A.sum(axis=0)) / A.sum()
    w, h = data.draw(positive(0.5, 2.0, m)), data.draw(positive(0.5, 2.0, n))
    assert divergence(margins * np.outer(w, h)) >= divergence(margins) - 1e-12
    assert divergence(np.outer(w, h)) >= divergence(margins) - 1e-12


@pytest.mark.parametrize("shape", [(4, 6), (9, 6), (12, 10)])
def test_other_losses_weightings_and_precisions_have_other_answers(shape):
    for draw in range(20):
        A = case_of(*shape, draw, "a case").A
        divergence = np.outer(A.sum(axis=1), A.sum(axis=0)) / A.sum()
        assert defect(divergence, A) > 1e-3
        norms = np.linalg.norm(A, axis=0)
        assert defect(best(A / norms) * norms, A) > 1e-3
        assert 1e-5 < defect(best(A.astype(np.float16).astype(float)), A) < 1e-3


# --- Draws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [*SHAPES, (12, 10)])
def test_draws(shape):
    factors = []
    for draw in range(20):
        case = case_of(*shape, draw, "a case")
        assert case.A.min() >= 0.5
        assert case.A.max() <= 2
        assert (case.A * 4096 % 1 == 0).all()
        assert (case.A.astype(np.float32) == case.A).all()
        assert (case.A.astype(np.float16) != case.A).any()
        assert (case.X > 0).all()
        w, h = power_method(case.A, np.ones(shape[0]), 40)
        assert np.abs(np.outer(w, h) - case.X).max() < 1e-12
        s = np.linalg.svd(case.A, compute_uv=False)
        assert s[1] > 1e-6 * s[0]
        factors.append((s[1] / s[0]) ** 2)
    assert np.median(factors) < 0.1
