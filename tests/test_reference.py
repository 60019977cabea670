"""The reference algorithms: each against a plain loop, and against what theory says of it."""

import copy
import inspect
import pickle
import pydoc
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from engines import each_engine  # noqa: F401 - used by all tests here
from nmfcheck import InputError, bidiagonal, judge_batch, reference
from nmfcheck.families.bidiagonal.family import starting_point
from nmfcheck.judging.objectives import frobenius_residual as kkt_residual
from nmfcheck.reference.coordinate_descent import swept
from nmfcheck.reference.gradient_descent import descended
from nmfcheck.reference.lanes import T, from_lanes, matmul, to_lanes
from nmfcheck.reference.multiplicative_update import updated
from plain_loops import plain_loop

ALGORITHMS = {
    "multiplicative_update": reference.multiplicative_update,
    "als": reference.als,
    "gradient_descent": reference.gradient_descent,
    "nenmf": reference.nenmf,
    "coordinate_descent": reference.coordinate_descent,
    "anls": reference.anls,
    "kl_multiplicative_update": reference.kl_multiplicative_update,
    "kl_scalar_newton": reference.kl_scalar_newton,
}
each_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


def problems(m, n, k, batch=6):
    rng = np.random.default_rng([m, n, k])
    return rng.random((batch, m, n)), rng.random((batch, m, k)), rng.random((batch, k, n))


SHAPES = [(2, 2, 2), (4, 4, 4), (5, 3, 2), (3, 6, 3), (4, 5, 1), (1, 1, 1), (3, 3, 5)]


@each_algorithm
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_agrees_with_a_plain_loop_over_single_problems(name, shape):
    A, W0, H0 = problems(*shape)
    # Rounding grows along the way, so few iterations; ALS on random A is not even stable.
    iterations = {"als": 3, "nenmf": 4}.get(name, 12)
    found = ALGORITHMS[name](A, W0, H0, iterations)
    for i in range(len(A)):
        W, H, _ = plain_loop(name, A[i], W0[i], H0[i], iterations)
        np.testing.assert_allclose(found.W[i], W, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.H[i], H, rtol=1e-6, atol=1e-9)


@each_algorithm
def test_agrees_with_a_plain_loop_on_the_papers_matrix(name):
    n = 3
    case = bidiagonal(np.ones(n), eps=1e-3)
    iterations = {"nenmf": 6}.get(name, 60)
    for seed in range(5):
        W0, H0 = starting_point(n, seed)
        found = ALGORITHMS[name](case.A, W0, H0, iterations)
        W, H, _ = plain_loop(name, case.A, W0, H0, iterations)
        np.testing.assert_allclose(found.W, W, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(found.H, H, rtol=1e-6, atol=1e-9)


@each_algorithm
def test_defaults_are_the_papers_counts(name):
    defaults = {
        "multiplicative_update": 10**6,
        "als": 10**6,
        "gradient_descent": 10**4,
        "nenmf": 10**3,
        "coordinate_descent": 2 * 10**4,
        "anls": 10**4,
        "kl_multiplicative_update": 2 * 10**4,
        "kl_scalar_newton": 10**4,
    }
    assert ALGORITHMS[name].iterations == defaults[name]
    settled = []  # from a solution, where the orbit closes at once
    ALGORITHMS[name](np.eye(2), np.eye(2), np.eye(2), progress=settled.append)
    assert sum(settled) == defaults[name]


@each_algorithm
def test_it_is_known_by_its_name(name):
    algorithm = ALGORITHMS[name]
    assert isinstance(algorithm, reference.Algorithm)
    assert callable(algorithm)
    assert algorithm.name == algorithm.__name__ == algorithm.__qualname__ == name
    assert repr(algorithm) == f"<reference algorithm {name}>"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        pickled = pickle.dumps(algorithm, protocol)
        assert len(pickled) < 100
        assert pickle.loads(pickled) is algorithm
    assert copy.deepcopy(algorithm) is algorithm


@each_algorithm
def test_its_help_is_its_own(name):
    algorithm = ALGORITHMS[name]
    shown = pydoc.render_doc(algorithm, renderer=pydoc.plaintext)
    assert name in shown
    assert algorithm.about in shown
    for other in set(ALGORITHMS.values()) - {algorithm}:
        assert other.about not in shown
    for parameter in inspect.signature(algorithm).parameters:
        assert re.search(rf"^    (\w+, )*{parameter}(, \w+)* : ", shown, flags=re.MULTILINE)


@each_algorithm
def test_no_iterations_return_the_start(name):
    A, W0, H0 = problems(3, 4, 2)
    found = ALGORITHMS[name](A, W0, H0, 0)
    np.testing.assert_array_equal(found.W, W0)
    np.testing.assert_array_equal(found.H, H0)
    assert (found.iterations == 0).all()


@each_algorithm
def test_one_problem_or_any_leading_dimensions(name):
    A, W0, H0 = problems(3, 4, 2, batch=6)
    flat = ALGORITHMS[name](A, W0, H0, 5)
    shaped = ALGORITHMS[name](
        A.reshape(2, 3, 3, 4), W0.reshape(2, 3, 3, 2), H0.reshape(2, 3, 2, 4), 5
    )
    assert shaped.W.shape == (2, 3, 3, 2)
    assert shaped.iterations.shape == (2, 3)
    np.testing.assert_array_equal(shaped.W.reshape(6, 3, 2), flat.W)
    single = ALGORITHMS[name](A[0], W0[0], H0[0], 5)
    assert single.W.shape == (3, 2)
    assert single.iterations == 5
    one_matrix = ALGORITHMS[name](A[0], W0, H0, 5)  # leading dimensions broadcast
    np.testing.assert_array_equal(one_matrix.H[0], single.H)


@each_algorithm
@pytest.mark.parametrize("eps", [0.0, 1e-3])
def test_a_problem_ends_in_the_same_bits_alone_and_in_any_company(name, eps):
    n = 4
    case = bidiagonal(np.ones(n), eps=eps)
    pairs = [starting_point(n, seed) for seed in range(30)]
    W0, H0 = np.array([W for W, _ in pairs]), np.array([H for _, H in pairs])
    iterations = 8 if name == "nenmf" else 200
    together = ALGORITHMS[name](case.A, W0, H0, iterations)
    for lanes in ([0], [7, 3], list(range(11, 30))):
        some = ALGORITHMS[name](case.A, W0[lanes], H0[lanes], iterations)
        assert some.W.tobytes() == together.W[lanes].tobytes()
        assert some.H.tobytes() == together.H[lanes].tobytes()
        assert (some.iterations == together.iterations[lanes]).all()


@each_algorithm
def test_input_is_left_as_it_was(name):
    A, W0, H0 = problems(3, 3, 3)
    before = [X.copy() for X in (A, W0, H0)]
    ALGORITHMS[name](A, W0, H0, 3)
    for X, old in zip((A, W0, H0), before, strict=True):
        np.testing.assert_array_equal(X, old)


@each_algorithm
@settings(max_examples=30)
@given(st.data())
def test_factors_stay_finite_and_nonnegative(name, data):
    m, n, k = (data.draw(st.integers(1, 5)) for _ in range(3))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    A, W0, H0 = rng.random((m, n)), rng.random((m, k)), rng.random((k, n))
    for X in (A, W0, H0):  # zeros anywhere
        X[rng.random(X.shape) < data.draw(st.sampled_from([0.0, 0.3, 0.8]))] = 0
    W, H, _ = ALGORITHMS[name](A, W0, H0, 5)
    for X in (W, H):
        assert np.isfinite(X).all()
        assert (X >= 0).all()


def objective(A, W, H):
    return 0.5 * np.sum((A - W @ H) ** 2, axis=(-1, -2))


@pytest.mark.parametrize(
    "name", ["multiplicative_update", "gradient_descent", "coordinate_descent", "nenmf", "anls"]
)
@settings(max_examples=25)
@given(st.data())
def test_the_objective_never_rises(name, data):
    m, n, k = (data.draw(st.integers(1, 6)) for _ in range(3))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    A, W, H = rng.random((m, n)), rng.random((m, k)), rng.random((k, n))
    step = ALGORITHMS[name]
    before = objective(A, W, H)
    for _ in range({"nenmf": 5, "anls": 8}.get(name, 30)):
        W, H, _ = step(A, W, H, 1)
        after = objective(A, W, H)
        # Rounding of the objective itself: a sum of m·n squares of numbers of order 1.
        assert after <= before + 1e-15 * m * n
        before = after


def test_clipped_als_may_rise():
    """Why it is missing above: clipping is not the solution of the bounded problem."""
    case = bidiagonal(np.ones(6))
    pairs = [starting_point(6, seed) for seed in range(100)]
    W, H = np.array([W for W, _ in pairs]), np.array([H for _, H in pairs])
    values = []
    for _ in range(100):
        W, H, _ = reference.als(case.A, W, H, 1)
        values.append(objective(case.A, W, H))
    rises = np.diff(values, axis=0).max(axis=0)
    assert (rises > 1e-3).any()


@pytest.mark.parametrize(
    ("name", "iterations"),
    [
        ("multiplicative_update", 5000),
        ("gradient_descent", 2000),
        ("coordinate_descent", 5000),
        ("nenmf", 30),
        ("anls", 200),
    ],
)
def test_converged_runs_are_stationary(name, iterations):
    """On the paper's matrix at ε = 0, where convergence is fast, solutions and collapses alike."""
    case = bidiagonal(np.ones(4))
    pairs = [starting_point(4, seed) for seed in range(40)]
    W0, H0 = np.array([W for W, _ in pairs]), np.array([H for _, H in pairs])
    found = ALGORITHMS[name](case.A, W0, H0, iterations)
    pull = kkt_residual(np.broadcast_to(case.A, found.W.shape), found.W, found.H)
    assert np.mean(pull < 1e-8) >= 0.9


@pytest.mark.parametrize("name", ["multiplicative_update", "gradient_descent", "als", "anls"])
def test_zero_rows_and_columns_stay_zero(name):
    A, W0, H0 = problems(4, 5, 2)
    A[:, 1], A[:, :, 3] = 0, 0
    found = ALGORITHMS[name](A, W0, H0, 10)
    assert (found.W[:, 1] == 0).all()
    assert (found.H[:, :, 3] == 0).all()


@each_algorithm
def test_zero_rows_and_columns_of_the_product_vanish(name):
    A, W0, H0 = problems(4, 5, 2)
    A[:, 1], A[:, :, 3] = 0, 0
    found = ALGORITHMS[name](A, W0, H0, 20)
    product = found.W @ found.H
    assert np.abs(product[:, 1]).max() < 1e-12
    assert np.abs(product[:, :, 3]).max() < 1e-12


@each_algorithm
def test_a_zero_matrix(name):
    _, W0, H0 = problems(3, 3, 2)
    found = ALGORITHMS[name](np.zeros((3, 3)), W0, H0, 3)
    np.testing.assert_array_equal(found.W @ found.H, np.zeros((6, 3, 3)))


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if name != "nenmf"])
def test_scaling_A_by_a_power_of_two_scales_the_answer_bit_for_bit(name):
    """`A → cA` with `H0 → cH0`; powers of two, so that nothing is rounded differently.

    NeNMF's first tolerance mixes the gradients for W and for H, which do not scale alike.
    """
    A, W0, H0 = problems(4, 3, 2)
    once = ALGORITHMS[name](A, W0, H0, 20)
    scaled = ALGORITHMS[name](4 * A, W0, 4 * H0, 20)
    assert scaled.W.tobytes() == once.W.tobytes()
    assert scaled.H.tobytes() == (4 * once.H).tobytes()


@each_algorithm
def test_permuting_rows_and_columns_permutes_the_answer(name):
    A, W0, H0 = problems(4, 3, 2)
    rows, columns = [2, 0, 3, 1], [1, 2, 0]
    once = ALGORITHMS[name](A, W0, H0, 5)
    moved = ALGORITHMS[name](A[:, rows][:, :, columns], W0[:, rows], H0[:, :, columns], 5)
    np.testing.assert_allclose(moved.W, once.W[:, rows], rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(moved.H, once.H[:, :, columns], rtol=1e-6, atol=1e-10)


class TestANLS:
    """Each half is the solution of min ‖WH − A‖ for H ≥ 0, by its conditions and by SciPy's."""

    @settings(max_examples=100)
    @given(st.data())
    def test_the_conditions_of_the_solution(self, data):
        m, n, k = (data.draw(st.integers(1, 7)) for _ in range(3))
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
        zeros = data.draw(st.sampled_from([0.0, 0.3, 0.7]))
        A, W, H = (rng.random(s) * (rng.random(s) >= zeros) for s in ((m, n), (m, k), (k, n)))
        H = reference.anls(A, W, H, 1).H
        assert (H >= 0).all()
        gradient = W.T @ (W @ H - A)
        size = np.outer(np.linalg.norm(W, axis=0), np.linalg.norm(A, axis=0))
        # A component that depends on others, to 2⁻²⁰ of its length, may have been left out.
        bound = 1e-10 * size if np.linalg.cond(W) < 1e4 else 1e-5 * size
        assert (gradient >= -bound).all()
        assert (np.abs(gradient[H > 0]) <= bound[H > 0]).all()

    @pytest.mark.parametrize("shape", [(4, 4, 4), (9, 5, 3), (5, 9, 6), (20, 20, 20)], ids=str)
    def test_no_higher_than_scipys(self, shape):
        A, W, H = problems(*shape)
        W[np.random.default_rng(5).random(W.shape) < 0.4] = 0
        H = reference.anls(A, W, H, 1).H
        for a, w, h in zip(A, W, H, strict=True):
            expected = sum(nnls(w, column)[1] ** 2 for column in a.T)
            assert np.sum((w @ h - a) ** 2) <= expected * (1 + 1e-12) + 1e-25

    @pytest.mark.parametrize("apart", [0.0, 1e-16, 1e-12, 1e-9])
    def test_twin_components(self, apart):
        """One of them is enough; which, and how both are mixed, does not matter."""
        A, W, H = problems(6, 4, 3)
        W[:, :, 2] = 2 * W[:, :, 0] * (1 + apart * A[:, :, 0])
        both = reference.anls(A, W, H, 1).H
        one = reference.anls(A, W[:, :, :2], H[:, :2], 1).H
        assert np.isfinite(both).all() and (both >= 0).all()
        np.testing.assert_allclose(W @ both, W[:, :, :2] @ one, rtol=1e-7, atol=1e-10)

    def test_a_component_of_zeros_stays_one(self):
        A, W, H = problems(4, 5, 3)
        W[:, :, 1] = 0
        found = reference.anls(A, W, H, 3)
        assert not found.W[:, :, 1].any() and not found.H[:, 1].any()

    def test_its_collapses_are_components_of_zeros_and_come_at_once(self):
        """Why it collapses more often than others (docs/verdict.md)."""
        case = bidiagonal(np.ones(4))
        pairs = [starting_point(4, seed) for seed in range(200)]
        W0, H0 = np.array([W for W, _ in pairs]), np.array([H for _, H in pairs])
        early, late = (reference.anls(case.A, W0, H0, iterations) for iterations in (2, 100))
        dead, still_dead = (~found.H.any(axis=2).all(axis=1) for found in (early, late))
        collapsed = judge_batch(case, late.W, late.H).outcome == "collapsed"
        assert (collapsed == dead).all() and (collapsed == still_dead).all()
        assert 0.25 < collapsed.mean() < 0.5
        # Many sweeps are nearly the exact solution, but leave what does not matter as it is.
        A, W, H = (to_lanes(X) for X in (np.broadcast_to(case.A, W0.shape), W0, H0))
        for _ in range(8):
            for _ in range(100):
                H = swept(A, W, H)
            for _ in range(100):
                W = T(swept(T(A), T(H), T(W)))
        found = judge_batch(case, from_lanes(W), from_lanes(H))
        assert np.mean(found.outcome == "exact") > 0.85


class TestGradientDescent:
    """`s* ≥ 1`, `s_max ≥ 1`; s = 1 is multiplicative update."""

    @settings(max_examples=100)
    @given(st.integers(0, 2**32), st.sampled_from([0.0, 0.3]))
    def test_steps_are_at_least_those_of_multiplicative_update(self, seed, zeros):
        rng = np.random.default_rng(seed)
        A, W, H = (rng.random((4, 4, 1)) for _ in range(3))
        for X in (A, W, H):
            X[rng.random(X.shape) < zeros] = 0
        G = updated(A, W, H) - H
        WG = matmul(W, G)
        gradient = matmul(T(W), matmul(W, H) - A)
        if (WG**2).sum() > 1e-20:
            assert -(gradient * G).sum() / (WG**2).sum() >= 1 - 1e-9
        if (G < 0).any():
            assert (-H[G < 0] / G[G < 0]).min() >= 1
        before = np.sum((A - matmul(W, H)) ** 2)
        by_update = np.sum((A - matmul(W, updated(A, W, H))) ** 2)
        by_descent = np.sum((A - matmul(W, descended(A, W, H))) ** 2)
        assert by_descent <= by_update + 1e-14
        assert by_update <= before + 1e-14

    def test_where_nothing_moves_it_stays(self):
        case = bidiagonal([1, 1])
        eye = np.eye(2)
        found = reference.gradient_descent(case.A, eye, eye, 3)
        np.testing.assert_array_equal(found.W, eye)
        np.testing.assert_array_equal(found.H, eye)


class TestMultiplicativeUpdate:
    def test_a_zero_denominator_gives_zero(self):
        W0, H0 = np.array([[1.0, 0.0], [1.0, 0.0]]), np.ones((2, 2))
        W, H, _ = reference.multiplicative_update(np.ones((2, 2)), W0, H0, 1)
        np.testing.assert_array_equal(H[1], [0, 0])
        np.testing.assert_allclose(W @ H, np.ones((2, 2)))

    def test_zeros_stay_zero(self):
        A, W0, H0 = problems(4, 4, 3)
        W0[:, 0, 0] = H0[:, 1, 2] = 0
        found = reference.multiplicative_update(A, W0, H0, 50)
        assert (found.W[:, 0, 0] == 0).all()
        assert (found.H[:, 1, 2] == 0).all()

    def test_off_pattern_entries_decay_like_eps_over_t(self):
        """Ten times the iterations, a tenth of the form defect."""
        case = bidiagonal([1, 1, 1], eps=0.1)
        W0, H0 = starting_point(3, 0)
        defects = [
            judge_batch(case, *(X[None] for X in reference.multiplicative_update(
                case.A, W0, H0, count)[:2])).form_defect[0]
            for count in (2000, 20000)
        ]  # fmt: skip
        assert defects[0] / defects[1] == pytest.approx(10, rel=0.1)


@each_algorithm
@pytest.mark.parametrize(
    ("A", "W0", "H0", "iterations", "said"),
    [
        (np.ones((2, 2)), np.ones((2, 0)), np.ones((0, 2)), 1, "the rank must be at least 1"),
        (np.ones((2, 2)), np.ones((3, 2)), np.ones((2, 2)), 1, "do not make a matrix of A's shape"),
        (np.ones((2, 2)), np.ones((2, 1)), np.ones((2, 2)), 1, "do not make a matrix of A's shape"),
        (np.ones((0, 2)), np.ones((0, 2)), np.ones((2, 2)), 1, "A has shape"),
        (np.ones(2), np.ones((2, 2)), np.ones((2, 2)), 1, "A has shape"),
        (np.full((2, 2), np.nan), np.ones((2, 2)), np.ones((2, 2)), 1, "A must be finite"),
        (np.ones((2, 2)), np.full((2, 2), np.inf), np.ones((2, 2)), 1, "W0 must be finite"),
        (-np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2)), 1, "A has a negative entry, -1"),
        (np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2)), -1, "at least 0, not -1"),
        (np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2)), 1.5, "whole number"),
        ([[1, 2], [3]], np.ones((2, 2)), np.ones((2, 2)), 1, "A is ragged"),
        (np.ones((2, 2)), np.ones((3, 2, 2)), np.ones((4, 2, 2)), 1, "do not fit together"),
    ],
)
def test_bad_input_gets_one_clear_line(name, A, W0, H0, iterations, said):
    with pytest.raises(InputError, match=said) as caught:
        ALGORITHMS[name](A, W0, H0, iterations)
    assert "\n" not in str(caught.value)


@each_algorithm
def test_an_empty_batch(name):
    found = ALGORITHMS[name](np.ones((2, 2)), np.ones((0, 2, 2)), np.ones((0, 2, 2)), 5)
    assert found.W.shape == (0, 2, 2)
