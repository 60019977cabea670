"""Theorem 2: what a word that no exact factorization has costs, and that it is no resting place."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from nmfcheck import InputError, Outcome, bidiagonal, judge, reference
from nmfcheck.families.bidiagonal.exact import is_exact_word, word_residual
from strategies import EPSILONS, cases


def supports(word):
    """Where W and H may be positive for this word."""
    n = len(word) + 1
    W = np.eye(n, dtype=bool) | np.diag([letter == "w" for letter in word], 1)
    H = np.eye(n, dtype=bool) | np.diag([letter == "h" for letter in word], 1)
    return W, H


def best_with_word(case, word, sweeps=400):
    """Alternating least squares on the supports of a word: the residual it ends with."""
    support_W, support_H = supports(word)
    W = support_W * np.sqrt(case.a0.mean())
    H = support_H * np.sqrt(case.a0.mean())
    for _ in range(sweeps):
        for j in range(case.n):
            use = support_H[:, j]
            H[use, j] = np.linalg.lstsq(W[:, use], case.A[:, j], rcond=None)[0]
        for i in range(case.n):
            use = support_W[i]
            W[i, use] = np.linalg.lstsq(H[use].T, case.A[i], rcond=None)[0]
    assert (W >= 0).all()
    assert (H >= 0).all()
    return np.linalg.norm(case.A - W @ H)


@settings(max_examples=40)
@given(st.data())
def test_residual_of_a_word(data):
    case = data.draw(cases(min_n=2, max_n=5, eps=(0.01, 0.1, 0.25, 0.5)))
    word = data.draw(st.text("hw", min_size=case.n - 1, max_size=case.n - 1))
    # A minimum known to 1e-8 relative: the search stops where the residual no longer falls.
    assert best_with_word(case, word) == pytest.approx(
        word_residual(case, word), rel=1e-6, abs=1e-13
    )


@given(st.data())
def test_residual_of_a_word_from_singular_values(data):
    """Each `wh` leaves one component alone with a 2×2 block; σ₂ of it is what it misses."""
    case = data.draw(cases(min_n=3, max_n=8, eps=EPSILONS))
    word = data.draw(st.text("hw", min_size=case.n - 1, max_size=case.n - 1))
    missed = [
        np.linalg.svd(case.A[i : i + 2, i + 1 : i + 3], compute_uv=False)[1]
        for i in range(case.n - 2)
        if word[i : i + 2] == "wh"
    ]
    # The singular values come with an absolute error of the order of 1e-16·σ₁.
    assert word_residual(case, word) == pytest.approx(np.linalg.norm(missed), rel=1e-9, abs=1e-14)


def test_a_word_costs_nothing_if_and_only_if_it_is_exact():
    for n in range(2, 7):
        case = bidiagonal(np.ones(n), eps=0.25)
        for letters in product("hw", repeat=n - 1):
            word = "".join(letters)
            assert (word_residual(case, word) == 0) == is_exact_word(word)


def test_type_IV_misses_by_eps_squared():
    case = bidiagonal([1, 1, 1], eps=1e-3)
    assert word_residual(case, "wh") == pytest.approx(1e-6, rel=1e-5)


@pytest.mark.parametrize("word", ["", "w", "whh", "bw", "xy"])
def test_bad_words_get_one_clear_line(word):
    with pytest.raises(InputError, match="is not a word of 2 letters h and w"):
        word_residual(bidiagonal([1, 1, 1], eps=0.1), word)


positive = st.floats(0.3, 3.0)
superdiagonal = st.one_of(st.just(0.0), st.floats(0.01, 2.0))


@pytest.mark.parametrize("eps", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_stationary_bidiagonal_factors_are_exact(n, eps):
    """Minimise over bidiagonal W, H ≥ 0 from random starts, many with zeros: the ends are exact.

    The proof uses the gradient on the two diagonals alone, which is what such a search makes 0.
    """
    rng = np.random.default_rng([n, int(100 * eps)])
    main, upper = np.diag_indices(n), (np.arange(n - 1), np.arange(1, n))

    def factors(x):
        W, H = np.zeros((n, n)), np.zeros((n, n))
        W[main], H[main], W[upper], H[upper] = np.split(x, [n, 2 * n, 3 * n - 1])
        return W, H

    def objective(x):
        W, H = factors(x)
        R = W @ H - A
        slopes = R @ H.T, W.T @ R
        gradient = [slopes[0][main], slopes[1][main], slopes[0][upper], slopes[1][upper]]
        return 0.5 * np.sum(R**2), np.concatenate(gradient)

    for _ in range(10):
        A = bidiagonal(rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, n - 1), eps).A
        start = rng.uniform(0.2, 1.5, 4 * n - 2)
        start[2 * n :] *= rng.random(2 * n - 2) < 0.5
        bounds = [(1e-3, None)] * (2 * n) + [(0, None)] * (2 * n - 2)
        found = minimize(
            objective, start, jac=True, bounds=bounds, method="L-BFGS-B",
            options={"ftol": 0, "gtol": 1e-10, "maxiter": 10**5, "maxfun": 10**6},
        )  # fmt: skip
        x, (_, slope) = found.x, objective(found.x)
        stationary = np.abs(np.where(x > 0, slope, np.minimum(slope, 0))).max() < 1e-8
        assert stationary
        assert (x[: 2 * n] > 1e-2).all()  # positive diagonals: not held by their bound
        W, H = factors(x)
        # The objective is quartic where a word is left: a slope of 1e-8 leaves a residual of 1e-5.
        assert np.abs(W @ H - A).max() < 1e-4


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_coordinate_descent_leaves_every_inexact_word(n):
    """From each inexact word at its best, ε = 0.25: not one is a place to stay at."""
    case = bidiagonal(np.ones(n), eps=0.25)
    words = ["".join(x) for x in product("hw", repeat=n - 1) if not is_exact_word("".join(x))]
    starts = [supports(word) for word in words]
    W0 = np.array([W * np.where(np.eye(n), 1.0, 0.25) for W, _ in starts])
    H0 = np.array([H * np.where(np.eye(n), 1.0, 0.25) for _, H in starts])
    found = reference.coordinate_descent(case.A, W0, H0, iterations=2 * 10**4)
    for W, H in zip(found.W, found.H, strict=True):
        assert judge(case, W, H).outcome is Outcome.EXACT


def type_IV(eps):
    W0 = np.eye(3)
    W0[0, 1] = eps
    H0 = np.eye(3)
    H0[1, 2] = eps
    return bidiagonal([1, 1, 1], eps=eps), W0, H0


@pytest.mark.parametrize("sweeps", [1000, 5000, 20000])
def test_coordinate_descent_leaves_type_IV_slowly(sweeps):
    """`w1 = h1 = ε/√(1 + 2ε²t)` for a ≡ 1 and a symmetric start, up to O(ε)."""
    case, W0, H0 = type_IV(0.01)
    W, H, _ = reference.coordinate_descent(case.A, W0, H0, iterations=sweeps)
    expected = 0.01 / np.sqrt(1 + 2 * 0.01**2 * sweeps)
    assert W[0, 1] == pytest.approx(expected, rel=0.01)
    assert H[1, 2] == pytest.approx(expected, rel=0.01)


def test_multiplicative_update_never_leaves_type_IV():
    case, W0, H0 = type_IV(0.25)
    W, H, _ = reference.multiplicative_update(case.A, W0, H0, iterations=5000)
    assert judge(case, W, H).word == "wh"
    assert np.linalg.norm(case.A - W @ H) == pytest.approx(word_residual(case, "wh"), rel=1e-9)


@given(superdiagonal, superdiagonal, st.lists(positive, min_size=3, max_size=3))
def test_every_bidiagonal_mixture_is_a_fixed_point_of_als_for_n_3(first, second, w0):
    """Clipped ALS solves without bounds: where W is invertible, `WH = A` until it is clipped."""
    case = bidiagonal([1, 1, 1], eps=0.25)
    share_w = np.array([first, second]) / 2  # in [0, 1]
    W = np.diag(w0) + np.diag(share_w * 0.25 * np.array(w0[1:]), 1)
    once = reference.als(case.A, W, np.zeros((3, 3)), iterations=1)
    twice = reference.als(case.A, W, np.zeros((3, 3)), iterations=2)
    np.testing.assert_allclose(twice.W, once.W, rtol=1e-12, atol=1e-15)
