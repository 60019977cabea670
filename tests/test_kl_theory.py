"""Theorem 9: the KL divergence has inexact local minima of the right form, but not for n ≤ 4."""

from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from divergences import is_stationary, residual, residual_of_fractions, side, transposed, value
from nmfcheck.families.bidiagonal.exact import is_exact_word
from nmfcheck.judging.objectives import KL
from nmfcheck.reference import kl_multiplicative_update, kl_scalar_newton
from test_inflated_theory import exactly
from test_mixed_theory import drawn

entries = st.integers(1, 24).map(lambda i: Fraction(i, 12))


def several(strategy, size):
    return st.lists(strategy, min_size=size, max_size=size)


def bidiagonal(a0, e):
    """Return `diag(a0) + diag(e, 1)`, of fractions."""
    A = exactly(np.zeros((len(a0), len(a0))))
    for i, x in enumerate(a0):
        A[i, i] = Fraction(x)
    for i, x in enumerate(e):
        A[i, i + 1] = Fraction(x)
    return A


def ones(n, eps=Fraction(1, 4)):
    return bidiagonal([1] * n, [eps] * (n - 1))


def gradients(A, W, H):
    return side(1, *transposed(A, W, H))[0].T, side(1, A, W, H)[0]


def with_word(A, word):
    """Return the point of a word at which the gradient is 0 on its pattern: `r·cᵀ/N` each."""
    n = len(A)
    W, H = exactly(np.zeros((n, n))), exactly(np.zeros((n, n)))
    for k in range(n):
        rows = [k - 1, k] if k > 0 and word[k - 1] == "w" else [k]
        columns = [k, k + 1] if k < n - 1 and word[k] == "h" else [k]
        block = A[np.ix_(rows, columns)]
        W[rows, k], H[k, columns] = block.sum(axis=1), block.sum(axis=0) / block.sum()
    return W, H


def conditions(A, word):
    """Return the two sides of the theorem's inequalities, or None where a `wh` has no `wwhh`."""
    a, e = np.diag(A), np.diag(A, 1)
    found = []
    for i in range(len(word) - 1):  # letters i and i+1, from 0
        if word[i : i + 2] == "wh":
            if i == 0 or word[i - 1 : i + 3] != "wwhh":
                return None
            found.append((e[i - 1] / a[i], e[i + 1] / (a[i + 1] + e[i])))
            found.append((e[i + 2] / a[i + 2], e[i] / (a[i + 1] + e[i + 1])))
    return found


def words(n):
    return ["".join(letters) for letters in product("hw", repeat=n - 1)]


# --- Theorem 9, in rational arithmetic ------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_which_words_are_stationary(n):
    """All words, for a ≡ 1: to n = 4 the exact ones alone, beyond those with `wwhh` as well."""
    A, stationary = ones(n), []
    for word in words(n):
        W, H = with_word(A, word)
        assert (W.dot(H) == A).all() == is_exact_word(word)
        if is_stationary(1, A, W, H):
            stationary.append(word)
        assert is_stationary(1, A, W, H) == (conditions(A, word) is not None)
    inexact = [word for word in stationary if not is_exact_word(word)]
    assert len(stationary) - len(inexact) == n
    assert bool(inexact) == (n >= 5)
    assert (n != 5) or inexact == ["wwhh"]
    assert (n != 6) or {"hwwhh", "wwhhw", "wwwhh", "wwhhh"} == set(inexact)


@settings(max_examples=60)
@given(st.data())
def test_which_words_are_stationary_for_any_entries(data):
    n = data.draw(st.integers(3, 7))
    A = bidiagonal(data.draw(several(entries, n)), data.draw(several(entries, n - 1)))
    some = st.text("hw", min_size=n - 1, max_size=n - 1)
    if n >= 5:  # half of the time a word of the counterexample
        before = data.draw(st.integers(0, n - 5))
        some = st.one_of(some, st.just("h" * before + "wwhh" + "w" * (n - 5 - before)))
    word = data.draw(some)
    W, H = with_word(A, word)
    sides = conditions(A, word)
    expected = sides is not None and all(left >= right for left, right in sides)
    assert is_stationary(1, A, W, H) == expected
    # The gradient is 0 on the pattern, and where it should be positive it is.
    for F, slope in zip((W, H), gradients(A, W, H), strict=True):
        assert not slope[F > 0].any()
        off = ~np.eye(n, dtype=bool) & ~np.eye(n, k=1, dtype=bool)
        assert (slope[off] > 0).all()
    if expected:
        assert residual_of_fractions(1, A, W, H) == 0
        X = W.dot(H)
        for axis in (0, 1):
            assert (X.sum(axis=axis) == A.sum(axis=axis)).all()


@given(st.data())
def test_the_conditions_of_the_proof(data):
    """(a), (b) and (c) are the gradients on the two diagonals, whatever W and H are there."""
    n = data.draw(st.integers(2, 6))
    A = bidiagonal(data.draw(several(entries, n)), data.draw(several(entries, n - 1)))
    W = bidiagonal(data.draw(several(entries, n)), data.draw(several(entries | st.just(0), n - 1)))
    H = bidiagonal(data.draw(several(entries, n)), data.draw(several(entries | st.just(0), n - 1)))
    X = W.dot(H)
    assume((X > 0)[A > 0].all())
    G = 1 - A / np.where(A > 0, X, 1)
    slopes = gradients(A, W, H)
    h1, w1 = [*np.diag(H, 1), 0], [0, *np.diag(W, 1)]
    for i in range(n - 1):
        q = G[i, i + 1]
        assert slopes[0][i, i] == G[i, i] * H[i, i] + q * h1[i]
        assert slopes[0][i, i + 1] == q * H[i + 1, i + 1] + h1[i + 1]
        assert slopes[1][i, i + 1] == q * W[i, i] + w1[i]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_for_eps_0_off_the_diagonal_all_gradients_are_positive(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        A = exactly(np.diag(rng.integers(1, 9, n)))
        W, H = (
            bidiagonal(rng.integers(1, 9, n).tolist(), rng.integers(0, 9, n - 1).tolist())
            for _ in "WH"
        )
        for slope in gradients(A, W, H):
            assert (np.diag(slope, 1) > 0).all()


def of_the_form(W, H):
    off = ~np.eye(len(W), dtype=bool) & ~np.eye(len(W), k=1, dtype=bool)
    return max(W[off].max(), H[off].max()) == 0 and min(np.diag(W).min(), np.diag(H).min()) > 1e-3


@pytest.mark.parametrize("n", [3, 4, 5])
def test_descent_within_the_form(n):
    """From random bidiagonal starts, many with zeros: what it ends at is exact, or has `wwhh`."""
    rng, batch = np.random.default_rng(n), 60
    eye, upper = np.eye(n), np.eye(n, k=1)
    A = rng.uniform(0.5, 2, (batch, n, n)) * (eye + upper)
    W0, H0 = (
        rng.uniform(0.2, 1.5, (batch, n, n)) * (eye + upper * (rng.random((batch, n, n)) < 0.6))
        for _ in "WH"
    )
    if n == 5:  # near the counterexample, some of them
        W0[:20], H0[:20] = (X.astype(float) for X in with_word(ones(5), "wwhh"))
        A[:20] = ones(5).astype(float)
    W0 += upper * (W0 @ H0 == 0) * 0.5  # a finite value
    found = kl_scalar_newton(A, W0, H0, iterations=1500)
    settled, inexact = 0, 0
    for a, W, H in zip(A, found.W, found.H, strict=True):
        if of_the_form(W, H) and residual(1.0, a, W, H) < 1e-10:
            settled += 1
            w1, h1 = np.diag(W, 1), np.diag(H, 1)
            some = any(min(w1[i - 1], w1[i], h1[i + 1], h1[i + 2]) > 0 for i in range(1, n - 3))
            # At an isolated stationary point errors are of the order of the residual. Where a way
            # out of `wh` is still open, w1·h1 is of the order of its root.
            exact = np.abs(W @ H - a).max() < 1e-4
            inexact += not exact
            assert exact or some
    assert settled >= 30
    assert (inexact >= 20) == (n == 5)


# --- The local minimum ----------------------------------------------------------------------------


def test_what_the_counterexample_costs():
    A = ones(5)
    X = np.multiply.outer(*(Fraction(1, 1) * np.array(x) for x in ((1, 5), (5, 1)))) / 24
    W, H = with_word(A, "wwhh")
    assert (W.dot(H)[1:3, 2:4] == X).all()
    assert abs(W.dot(H) - A).max() == Fraction(1, 24)  # ε²/(1+2ε) = 1/24 = 0.042
    q, r = Fraction(-1, 5), Fraction(1, 25)
    cost = 2 * log(1 - q) / 4 + log(1 - r)
    assert value(1.0, A, W.dot(H)) == pytest.approx(cost, rel=1e-12)
    assert cost == pytest.approx(0.0503, abs=5e-5)
    for eps in (1e-2, 1e-3):  # about ε²: the next term is of the order of ε³
        small = 2 * eps * log(1 + eps / (1 + eps)) + log(1 - (eps / (1 + eps)) ** 2)
        assert small == pytest.approx(eps**2, rel=4 * eps)


def lowest_nearby(A, W, H, size, rng, tries=4000):
    """Return the least change of D among nonnegative points within some distance."""
    moves = [
        np.maximum(F + size * rng.uniform(-1, 1, (tries, *F.shape)) * keep, 0)
        for F in (W, H)
        for keep in [rng.random((tries, *F.shape)) < rng.random((tries, 1, 1))]
    ]
    every = np.broadcast_to(A, (tries, *A.shape))
    return (KL.divergence(every, moves[0] @ moves[1])).min() - value(1.0, A, W @ H)


@pytest.mark.parametrize("word", ["wwhh", "hwwhhw", "wwhhwwhh"])
def test_the_counterexample_is_a_local_minimum(word):
    exact_A = ones(len(word) + 1)
    points = with_word(exact_A, word)
    assert all(left > right for left, right in conditions(exact_A, word))
    A, W, H = (X.astype(float) for X in (exact_A, *points))
    rng = np.random.default_rng(len(word))
    for size in (1e-4, 1e-3, 1e-2):
        assert lowest_nearby(A, W, H, size, rng) > -1e-14 * A.sum()  # rounding of D


def test_a_word_without_wwhh_is_no_local_minimum():
    """The same search sees that: else it could not fail."""
    A, (W, H) = ones(4).astype(float), (X.astype(float) for X in with_word(ones(4), "wwh"))
    assert lowest_nearby(A, W, H, 1e-2, np.random.default_rng(0)) < -1e-6


@pytest.mark.parametrize("algorithm", [kl_multiplicative_update, kl_scalar_newton])
def test_runs_return_to_the_counterexample(algorithm):
    A, (W, H) = ones(5).astype(float), (X.astype(float) for X in with_word(ones(5), "wwhh"))
    rng = np.random.default_rng(5)
    W0, H0 = (F + 1e-3 * rng.random((20, 5, 5)) for F in (W, H))
    found = algorithm(A, W0, H0, iterations=1000)
    np.testing.assert_allclose(
        KL.divergence(np.broadcast_to(A, (20, 5, 5)), found.W @ found.H),
        value(1.0, A, W @ H),
        rtol=1e-6,  # D is of second order: an X that is off by 1e-3 would show
    )


# --- Collapse -------------------------------------------------------------------------------------


@given(several(entries, 4), st.integers(3, 4))
def test_a_collapsed_point_is_stationary_with_positive_gradients(a0, n):
    A = bidiagonal(a0[:n], [0] * (n - 1))
    W, H = exactly(np.zeros((n, n))), exactly(np.zeros((n, n)))
    W[:2, 0], H[0, :2] = a0[:2], np.array(a0[:2]) / sum(a0[:2])
    W[2, 1], W[2, 2], H[1, 2], H[2, 2] = a0[2] / 3, 2 * a0[2] / 3, 1, 1
    if n == 4:
        W[3, 3], H[3, 3] = a0[3], 1
    assert is_stationary(1, A, W, H)
    blocks = np.array([0, 1, 1, 2][:n]), np.array([0, 0, 1, 2][:n])  # of components, and of rows
    apart = blocks[1][:, None] != blocks[0]
    slopes = gradients(A, W, H)
    assert (slopes[0][apart] > 0).all()
    assert (slopes[1][apart.T] > 0).all()
    cost = sum(x * log(sum(a0[:2]) / x) for x in map(float, a0[:2]))
    assert value(1.0, A, W.dot(H)) == pytest.approx(cost, rel=1e-12)


def test_a_collapsed_point_is_a_local_minimum():
    W = np.array([[1, 0, 0], [1, 0, 0], [0, 0.5, 0.5]])
    H = np.array([[0.5, 0.5, 0], [0, 0, 1], [0, 0, 1]])
    for size in (1e-3, 1e-2):
        assert lowest_nearby(np.eye(3), W, H, size, np.random.default_rng(1)) > -1e-14


def test_a_component_that_is_0_can_always_be_of_use():
    """Stationary, and D falls by δ² times an entry of G, which is −1 here."""
    A, W, H = np.eye(2), np.array([[1.0, 0], [1, 0]]), np.array([[0.5, 0.5], [0, 0]])
    assert residual(1.0, A, W, H) == 0
    for delta in (1e-2, 1e-3):
        W1, H1 = W.copy(), H.copy()
        W1[0, 1] = H1[1, 0] = delta
        change = value(1.0, A, W1 @ H1) - value(1.0, A, W @ H)
        assert change == pytest.approx(-(delta**2), rel=2 * delta**2 + 1e-8)


@pytest.mark.parametrize("eps", [0, 0.25])
def test_where_runs_of_multiplicative_update_collapse_are_local_minima(eps):
    n, batch, rng = 4, 60, np.random.default_rng(4)
    A = np.eye(n) + eps * np.eye(n, k=1)
    found = kl_multiplicative_update(
        A, rng.random((batch, n, n)), rng.random((batch, n, n)), iterations=3000
    )
    collapsed = 0
    for W, H in zip(found.W, found.H, strict=True):
        if np.abs(W @ H - A).max() > 0.05 and residual(1.0, A, W, H) < 1e-13:
            collapsed += 1
            scale = np.sqrt(H.max(axis=1) / W.max(axis=0))
            low = lowest_nearby(A, W * scale, H / scale[:, None], 1e-3, rng, tries=1000)
            assert low > -1e-13  # rounding of D, and of where it is least
    assert collapsed >= 5


# --- Mixed matrices: geometric, not 1/t -----------------------------------------------------------


@pytest.mark.parametrize(("m", "n", "k"), [(6, 5, 2), (8, 7, 3), (12, 10, 4)])
def test_zeros_decay_geometrically(m, n, k):
    for i in range(4):
        case, _ = drawn(m, n, k, i)
        rng = np.random.default_rng(i)
        rows, columns = case.core_rows, case.core_columns
        W0, H0 = case.P * case.a0 + 1e-3 * rng.random((m, k)), case.Q + 1e-3 * rng.random((k, n))
        # Until the zeros are below 1e-8; what else there is to correct goes at a rate of its own.
        slowest = max(1 - 1 / case.Q.sum(axis=1).max(), 1 - 1 / case.P.sum(axis=0).max())
        start = round(log(1e-6) / log(slowest))
        before = kl_multiplicative_update(case.A, W0, H0, iterations=start, close_orbits=False)
        after = kl_multiplicative_update(case.A, before.W, before.H, iterations=1)
        off = ~np.eye(k, dtype=bool)
        factor_W = np.broadcast_to(1 - 1 / case.Q.sum(axis=1), (k, k))  # W(ρ_j, i): by i
        factor_H = np.broadcast_to((1 - 1 / case.P.sum(axis=0))[:, None], (k, k))
        seen_W, seen_H = (after.W / before.W)[rows], (after.H / before.H)[:, columns]
        # Factors are off by the order of what W and H are, and these by that of X (Theorem 4).
        assert np.abs(before.W @ before.H - case.A).max() < 1e-6
        np.testing.assert_allclose(seen_W[off], factor_W[off], rtol=1e-5)
        np.testing.assert_allclose(seen_H[off], factor_H[off], rtol=1e-5)
        end = kl_multiplicative_update(case.A, W0, H0, iterations=6 * start)
        assert np.abs(end.W @ end.H - case.A).max() < 1e-12
