"""β-divergences: their KKT residual is 0 where it should be, and does not depend on scales."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from divergences import (
    BETAS,
    fixed_point,
    is_stationary,
    of_fractions,
    residual,
    residual_of_fractions,
    side,
    transposed,
    value,
)


@st.composite
def problems(draw, beta):
    """Draw A, W and H of small whole numbers, with zeros in A if β has no objection."""
    m, n, k = (draw(st.integers(1, 3)) for _ in range(3))
    W, H = of_fractions(draw, m, k, 0), of_fractions(draw, k, n, 0)
    kind = draw(st.sampled_from(["any", "exact", "margins"]))
    if kind == "margins":  # equal components: stationary for β = 1
        A = of_fractions(draw, m, n, 1 if beta == 0 else 0)
        assume(A.any())
        W = np.repeat(A.sum(axis=1)[:, None], k, axis=1)
        H = np.repeat(A.sum(axis=0)[None] / A.sum() / k, k, axis=0)
    elif kind == "exact":
        A = W.dot(H)
    else:
        A = of_fractions(draw, m, n, 1 if beta == 0 else 0)
    assume(A.any() and (W.dot(H) > 0)[A > 0].all())
    assume(beta > 0 or (A > 0).all())
    return A, W, H


@pytest.mark.parametrize("beta", [0, 1, 2])
@given(st.data())
def test_the_residual_is_0_exactly_at_stationary_points(beta, data):
    A, W, H = data.draw(problems(beta))
    expected = residual_of_fractions(beta, A, W, H)
    assert (expected == 0) == is_stationary(beta, A, W, H)
    # Sums of at most 3 positive terms, a difference and a few products: some 20 roundings, each
    # relative to numbers of at most 1 + max N/P, which here is below 500.
    assert residual(float(beta), A, W, H) == pytest.approx(float(expected), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("beta", BETAS)
def test_the_residual_is_infinite_where_something_is_left_out(beta):
    assert residual(beta, np.ones((2, 2)), [[1], [0]], [[1, 1]]) == np.inf
    assert residual(beta, np.ones((2, 2)), np.zeros((2, 1)), np.zeros((1, 2))) == np.inf


@pytest.mark.parametrize("beta", [0, 1, 2])
@given(st.data())
def test_what_complementarity_adds_up_to(beta, data):
    """`Σ_k H∘∇_H` is `Σ_i X^β − A∘X^(β−1)`: at stationary points both sums agree."""
    A, W, H = data.draw(problems(beta))
    for a, w, h in ((A, W, H), transposed(A, W, H)):
        gradient, P, _ = side(beta, a, w, h)
        X = w.dot(h)
        mass = (a * (X ** (beta - 1) if beta != 1 else 1)).sum(axis=0)
        power = (X**beta if beta else np.ones_like(X)).sum(axis=0)
        assert ((h * gradient).sum(axis=0) == power - mass).all()
        if is_stationary(beta, A, W, H):
            assert (power == mass).all()
            assert ((h * P).sum(axis=0) == mass).all()  # so that the parts add up to 1


@st.composite
def smooth_problems(draw):
    m, n, k = (draw(st.integers(1, 4)) for _ in range(3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    beta = draw(st.sampled_from(BETAS))
    A, W, H = rng.uniform(0.1, 2, (m, n)), rng.random((m, k)) + 0.01, rng.random((k, n)) + 0.01
    if beta >= 1:
        A *= rng.random(A.shape) < 0.7
        A[0, 0] = 1
    return beta, A, W, H, rng


@given(smooth_problems())
def test_rescaling_components_and_units_changes_nothing(problem):
    beta, A, W, H, rng = problem
    before = residual(beta, A, W, H)
    D = 10.0 ** rng.uniform(-30, 30, W.shape[1])
    for unit, part in ((1.0, 1.0), (1e20, 1e-3), (1e-20, 1.0)):
        after = residual(beta, A * unit, W * D * part, H / D[:, None] * (unit / part))
        # Some 20 roundings in numbers of at most 1 + N/P, and N/P ≤ max A/X ≤ 2/1e-4.
        assert after == pytest.approx(before, rel=1e-10, abs=1e-10)
    order = rng.permutation(W.shape[1])
    assert residual(beta, A, W[:, order], H[order]) == pytest.approx(before, rel=1e-10, abs=1e-10)
    assert residual(beta, A.T, H.T, W.T) == pytest.approx(before, rel=1e-10, abs=1e-10)


@given(smooth_problems())
def test_rows_and_columns_can_be_scaled_for_itakura_saito(problem):
    _, A, W, H, rng = problem
    A = np.where(A > 0, A, 1.0)
    R, C = 10.0 ** rng.uniform(-3, 3, (A.shape[0], 1)), 10.0 ** rng.uniform(-3, 3, A.shape[1])
    after = residual(0.0, R * A * C, R * W, H * C)
    assert after == pytest.approx(residual(0.0, A, W, H), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("beta", [0.5, 1.0, 1.5, 2.0])
def test_rows_cannot_be_scaled_for_other_objectives(beta):
    A = np.array([[2.0, 1], [1, 3]])
    w, h = fixed_point(beta, A)
    assert residual(beta, A, w[:, None], h[None]) < 1e-14
    R = np.array([[1.0], [2.0]])
    assert residual(beta, R * A, R * w[:, None], h[None]) > 1e-2


@pytest.mark.parametrize("beta", BETAS)
@given(st.floats(0.01, 10), st.floats(0.01, 10))
def test_divergences_have_the_derivative_that_defines_them(beta, a, x):
    def each(x):
        return value(beta, [[a]], [[x]])

    assert each(a) == pytest.approx(0, abs=1e-11 * (1 + a**2))
    step = 1e-4 * x  # a central difference: errors of 1e-8, and of rounding over the step
    slope = (each(x + step) - each(x - step)) / (2 * step)
    size = x ** (beta - 2) * (x + a)
    assert slope == pytest.approx(x ** (beta - 2) * (x - a), abs=1e-6 * size + 1e-9 / x)
