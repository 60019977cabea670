"""Theorem 9 for inflated matrices: sums over classes are stationary, and the core is not enough."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from divergences import is_stationary, residual, value
from nmfcheck.families.bidiagonal.exact import is_exact_word
from nmfcheck.reference import kl_multiplicative_update, kl_scalar_newton
from test_inflated_theory import exactly
from test_kl_theory import bidiagonal, entries, several, with_word


def classes(P):
    return [np.flatnonzero(P[:, i]) for i in range(P.shape[1])]


def reduced(P, Q, W, H):
    """Return `S_u·X` and `Y·S_v`: sums over classes."""
    return (
        np.array([W[rows].sum(axis=0) for rows in classes(P)]),
        np.array([H[:, columns].sum(axis=1) for columns in classes(Q.T)]).T,
    )


@given(entries, entries, entries)
def test_a_core_of_the_right_form_is_not_enough(a, b, e):
    B = bidiagonal([a, b], [e])
    P, Q = exactly([[1, 0], [0, 1], [0, 1]]), exactly([[1, 1, 0], [0, 0, 1]])
    A = P.dot(B).dot(Q)
    s = b / (2 * a + e)
    t, p = a / (2 + 4 * s), (2 * b + e) / (2 + 4 * s)
    W = np.array([[Fraction(1), Fraction(1)], [Fraction(0), 2 * s], [2 * s, Fraction(0)]])
    H = np.array([[2 * t, Fraction(0), p], [Fraction(0), 2 * t, p]])
    assert is_stationary(1, A, W, H)
    assert residual(1.0, A, W, H) < 1e-13
    assert W[1, 0] == H[1, 0] == 0 < min(*np.diag(W), H[0, 0], H[1, 2])
    assert W.dot(H)[1, 1] == 4 * s * t > A[1, 1]
    # Part 1: the sums over classes are stationary for B', with the same divergence.
    smaller = np.diag(P.sum(axis=0)).dot(B).dot(np.diag(Q.sum(axis=1)))
    W1, H1 = reduced(P, Q, W, H)
    assert is_stationary(1, smaller, W1, H1)
    assert value(1.0, A, W.dot(H)) == pytest.approx(value(1.0, smaller, W1.dot(H1)), rel=1e-12)


def test_that_point_is_no_minimum():
    A = np.array([[1, 1, 0.25], [0, 0, 1], [0, 0, 1]])
    s, t, p = 4 / 9, 9 / 34, 81 / 136
    W, H = np.array([[1, 1], [0, 2 * s], [2 * s, 0]]), np.array([[2 * t, 0, p], [0, 2 * t, p]])
    assert residual(1.0, A, W, H) < 1e-14
    rng = np.random.default_rng(0)
    W0, H0 = W + 1e-3 * rng.random((20, 3, 2)), H + 1e-3 * rng.random((20, 2, 3))
    found = kl_multiplicative_update(A, W0, H0, iterations=5000)
    assert np.abs(found.W @ found.H - A).max() < 1e-3


@settings(max_examples=30)
@given(st.data())
def test_inflated_words_are_stationary_where_they_are_for_the_smaller_matrix(data):
    """(PX, YQ) is stationary for A if and only if (S_u·X, Y·S_v) is for B'."""
    k = data.draw(st.integers(2, 5))
    B = bidiagonal(data.draw(several(entries, k)), data.draw(several(entries, k - 1)))
    sides = []
    for _ in "PQ":
        extra = data.draw(st.lists(st.tuples(st.integers(0, k - 1), entries), max_size=2))
        weights = np.concatenate([exactly(np.eye(k)), exactly(np.zeros((len(extra), k)))])
        for r, (i, weight) in enumerate(extra):
            weights[k + r, i] = weight
        sides.append(weights)
    P, Q = sides[0], sides[1].T
    u, v = P.sum(axis=0), Q.sum(axis=1)
    word = data.draw(st.text("hw", min_size=k - 1, max_size=k - 1))
    smaller = B * u[:, None] * v
    W1, H1 = with_word(smaller, word)
    X, Y = W1 / u[:, None], H1 / v
    stationary = is_stationary(1, smaller, W1, H1)
    assert is_stationary(1, P.dot(B).dot(Q), P.dot(X), Y.dot(Q)) == stationary
    if k <= 4:
        assert stationary == is_exact_word(word)


def test_wherever_runs_end_classes_have_the_same_quotients():
    """Part 1 of the theorem at what descent finds, collapsed or not."""
    rng, batch, k = np.random.default_rng(9), 40, 3
    P = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0, 0], [0, 0, 0.75], [0, 0, 0]])
    Q = P[[0, 1, 2, 4, 3]].T
    B = np.diag(rng.uniform(0.5, 2, k)) + np.diag([0.3, 0.4], 1)
    A, smaller = P @ B @ Q, B * P.sum(axis=0)[:, None] * Q.sum(axis=1)
    found = kl_scalar_newton(A, rng.random((batch, 6, k)), rng.random((batch, k, 5)), 1500)
    settled = inexact = 0
    for W, H in zip(found.W, found.H, strict=True):
        if residual(1.0, A, W, H) < 1e-12:
            settled += 1
            inexact += np.abs(W @ H - A).max() > 0.01
            W1, H1 = reduced(P, Q, W, H)
            # N/P is a mean of quotients of classes for both, weighted in slightly different ways.
            assert residual(1.0, smaller, W1, H1) < 1e-9
            where, X = A > 0, np.where(smaller > 0, W1 @ H1, 1)
            expected = (P > 0).astype(float) @ (smaller / X) @ (Q > 0).astype(float)
            np.testing.assert_allclose(A[where] / (W @ H)[where], expected[where], rtol=1e-9)
    assert settled >= 20
    assert inexact >= 1
