"""Mixed matrices `A = P·D·Q`: one factorization, and what a small product defect implies."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls, root

from nmfcheck.families.mixed.cases import case_of
from test_inflated_theory import (
    coordinate_descent,
    covers,
    eliminated,
    exactly,
    fractions,
    kkt_residual,
    of_order_1,
    rank,
    rank_one_terms,
    several,
    solutions_on,
    zeros,
)

# --- The family -----------------------------------------------------------------------------------


@dataclass
class Mixed:
    """`A = P·D·Q`, in whatever arithmetic its arrays have."""

    a0: np.ndarray
    P: np.ndarray
    Q: np.ndarray

    @property
    def A(self):
        return (self.P * self.a0).dot(self.Q)

    @property
    def k(self):
        return len(self.a0)

    @property
    def core_rows(self):
        return [next(r for r in range(len(self.P)) if self.P[r, i] == 1) for i in range(self.k)]

    @property
    def core_columns(self):
        return Mixed(self.a0, self.Q.T, self.P.T).core_rows

    @property
    def mixed_rows(self):
        return [r for r in range(len(self.P)) if r not in self.core_rows]

    def in_doubles(self):
        return Mixed(*(X.astype(float) for X in (self.a0, self.P, self.Q)))


def below_the_identity(rows, k):
    return np.concatenate([exactly(np.eye(k)), np.array(rows, dtype=object).reshape(-1, k)])


@st.composite
def mixings(draw, k, least, most):
    """Draw P: the rows of the identity, and some mixtures, in any order."""
    weights = draw(st.lists(several(st.integers(1, 9), k), min_size=least, max_size=most))
    P = below_the_identity([[Fraction(w, sum(row)) for w in row] for row in weights], k)
    return P[draw(st.permutations(range(len(P))))]


@st.composite
def mixed(draw, min_k=1, max_k=3, least=0, most=2, entries=fractions):
    k = draw(st.integers(min_k, max_k))
    a0 = np.array(draw(several(entries, k)), dtype=object)
    return Mixed(a0, draw(mixings(k, least, most)), draw(mixings(k, least, most)).T)


def built(a0, C, E):
    """Build a case from its diagonal and its mixtures."""
    P, Q = (below_the_identity(exactly(rows), len(a0)) for rows in (C, E))
    return Mixed(exactly(a0), P, Q.T)


def drawn(m, n, k, i):
    """Return a draw of the family."""
    case = case_of(m, n, k, i, f"mixed/{m}x{n}/k={k}/{i}")
    return Mixed(case.core.a0, case.rows.matrix, case.columns.matrix.T), case


def rank_factorization(A):
    """Return some factors of A, by elimination: as many as its rank, and perhaps negative."""
    rows, pivots = eliminated(A)
    return A[:, pivots], np.array(rows[: len(pivots)], dtype=object)


def inverse(M):
    rows, _ = eliminated(np.concatenate([M, np.eye(len(M), dtype=int)], axis=1))
    return np.array(rows)[:, len(M) :]


# --- Theorem 4: padding ---------------------------------------------------------------------------


@st.composite
def nonnegative(draw, rows, columns):
    entry = st.one_of(st.just(Fraction(0)), fractions)
    return np.array(draw(several(entry, rows * columns)), dtype=object).reshape(rows, columns)


@st.composite
def paddings(draw, size):
    """Draw P with a row of its own for each column, and L with `LP = I`."""
    own = np.diag(np.array(draw(several(fractions, size)), dtype=object)) + zeros(size, size)
    P = np.concatenate([own, draw(nonnegative(draw(st.integers(0, 2)), size))])
    order = draw(st.permutations(range(len(P))))
    L = np.concatenate([inverse(own), zeros(size, len(P) - size)], axis=1)
    return P[order], L[:, order]


@settings(max_examples=40)
@given(st.data())
def test_all_factorizations_are_padded_ones_of_the_core(data):
    k = data.draw(st.integers(1, 3))
    r, s = data.draw(st.integers(k, 3)), data.draw(st.integers(k, 3))
    # 30 is more than the other entries of a row together: X and Y have rank k.
    X = data.draw(nonnegative(r, k)) + 30 * np.eye(r, k, dtype=int)
    Y = data.draw(nonnegative(k, s)) + 30 * np.eye(k, s, dtype=int)
    B = X.dot(Y)
    (P, L), (Q, R) = data.draw(paddings(r)), (F.T for F in data.draw(paddings(s)))
    assert (L.dot(P) == np.eye(r, dtype=int)).all()
    assert (Q.dot(R) == np.eye(s, dtype=int)).all()
    A = P.dot(B).dot(Q)
    assert rank(A) == k
    assert (P.dot(X).dot(Y.dot(Q)) == A).all()  # what is padded is a factorization,

    W, H = rank_factorization(A)  # and any one of this inner dimension is padded
    M = exactly(data.draw(several(several(st.integers(-3, 3), k), k))) + 7 * np.eye(k, dtype=int)
    W, H = W.dot(M), inverse(M).dot(H)
    assert (W.dot(H) == A).all()
    assert (P.dot(L.dot(W)) == W).all()
    assert (H.dot(R).dot(Q) == H).all()
    assert (L.dot(W).dot(H.dot(R)) == B).all()


@given(st.data())
def test_left_inverses_are_nonnegative_if_and_only_if_each_column_has_a_row_of_its_own(data):
    P = data.draw(nonnegative(data.draw(st.integers(1, 5)), k := data.draw(st.integers(1, 3))))
    own = all(any(row[i] > 0 and (row > 0).sum() == 1 for row in P) for i in range(k))
    missed = [nnls(P.T.astype(float), np.eye(k)[i])[1] for i in range(k)]
    assert (max(missed) < 1e-10) == own


@settings(max_examples=30)
@example(built([1, 2, 0.5], [[0.25, 0.5, 0.25]], [[0.125, 0.125, 0.75]]))
@given(mixed(max_k=2, most=2))
def test_brute_force_over_supports_finds_one_factorization(case):
    """Every set of k rectangles in the support of A, solved in rational arithmetic."""
    A, k = case.A, case.k
    found = [solutions_on(A, components) for components in covers(A > 0, k)]
    answer = rank_one_terms(case.P * case.a0, case.Q)
    assert [ends for ends in found if ends is not None] == [frozenset([answer])]


def extreme_rays(W):
    """Return the extreme rays of the cone `{x : Wx ≥ 0}`, one point W·x each with sum 1."""
    k, rays = W.shape[1], set()
    for chosen in combinations(range(len(W)), k - 1):
        rows, pivots = eliminated(W[list(chosen)])
        if len(pivots) < k - 1:
            continue
        free = next(i for i in range(k) if i not in pivots)
        x = zeros(k)
        x[free], x[pivots] = 1, [-row[free] for row in rows]
        y = W.dot(x)
        if (y >= 0).all() or (y <= 0).all():
            rays.add(tuple(y / y.sum()))
    return rays


SHAPES = [(3, 3, 2), (6, 5, 2), (12, 10, 3), (9, 8, 4)]


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_the_cone_of_all_columns_leaves_no_room(m, n, k):
    """Columns of W are in a cone of k rays; each ray is a column of A as stored, so W has it."""
    for i in range(3):
        case, stored = drawn(m, n, k, i)
        A = exactly(stored.A)
        rays = extreme_rays(rank_factorization(A)[0])
        assert rays == {tuple(column / column.sum()) for column in A[:, case.core_columns].T}


def test_a_core_on_one_side_is_not_enough():
    P = built([1, 1], [[0.5, 0.5]], [[0.5, 0.5]]).P
    H, M = exactly([[2, 1, 1], [1, 1, 2]]), exactly([[2, 1], [1, 2]])
    W2, H2 = P.dot(M), inverse(M).dot(H)
    assert (H2 >= 0).all()
    assert (W2.dot(H2) == P.dot(H)).all()
    assert rank_one_terms(W2, H2) != rank_one_terms(P, H)


@settings(max_examples=40)
@given(mixed(most=3))
def test_k_columns_can_be_picked_if_and_only_if_they_are_the_core(case):
    A, k = case.A, case.k
    for chosen in combinations(range(A.shape[1]), k):
        rows, pivots = eliminated(np.concatenate([A[:, chosen], A], axis=1))
        H = np.array(rows[:k])[:, k:]  # the only one, if the columns are independent
        right = pivots == list(range(k)) and (H >= 0).all()
        assert right == (k == 1 or set(chosen) == set(case.core_columns))


# --- Robust form ----------------------------------------------------------------------------------


def matched(case, W, H):
    """Return W and H with components numbered by the rows that they explain, and w0 = h0."""
    W1, H1 = W[case.core_rows], H[:, case.core_columns]
    order = (W1 * H1.T).argmax(axis=1)
    assert sorted(order) == list(range(case.k))
    scale = np.sqrt(np.diag(H1[order]) / np.diag(W1[:, order]))
    return W[:, order] * scale, H[order] / scale[:, None]


def check_bounds(case, W, H):
    """Assert the robust form for W, H as they are; say whether its condition was met."""
    k, A, a0 = case.k, case.A, case.a0
    delta = np.abs(A - W @ H).max()
    for r in case.mixed_rows:  # 3, on no condition
        assert W[r].all() or delta >= case.P[r].min() * a0.min() / 3
    if (k + 1) * delta >= a0.min():
        return False
    W, H = matched(case, W, H)
    W1, H1 = W[case.core_rows], H[:, case.core_columns]
    slack = delta * (1 + 1e-9) + 1e-15 * A.max()
    # 1. The core.
    w0h0 = np.diag(W1) * np.diag(H1)
    assert (w0h0 >= a0 - k * slack).all()
    assert (w0h0 <= a0 + slack).all()
    off = ~np.eye(k, dtype=bool)
    small = np.broadcast_to(slack / np.sqrt(a0 - k * delta), (k, k))
    assert (W1[off] <= small[off]).all()
    assert (H1[off] <= small.T[off]).all()
    # 2. The mixtures.
    kappa = 1 / (a0.min() - k * delta)
    assert (np.abs(W - case.P @ W1) <= 2 * slack * kappa * W1.sum(axis=0)).all()
    assert (np.abs(H - H1 @ case.Q) <= 2 * slack * kappa * H1.sum(axis=1)[:, None]).all()
    return True


@given(st.data())
def test_robust_form_near_the_answer(data):
    case = data.draw(mixed(max_k=5, most=4, entries=of_order_1)).in_doubles()
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    size = 10.0 ** data.draw(st.floats(-12, 0))
    W, H = case.P * case.a0, case.Q
    move_W, move_H = (rng.uniform(-1, 1, F.shape) * (rng.random(F.shape) < 0.5) for F in (W, H))
    while not check_bounds(
        case, np.maximum(W + size * move_W, 0), np.maximum(H + size * move_H, 0)
    ):
        size /= 10


@given(st.data())
def test_a_zero_in_a_mixed_row_costs_a_third_of_its_weight(data):
    """The best H, for a W with one zero more, and the best W for that H."""
    case = data.draw(mixed(min_k=2, max_k=4, least=1, entries=of_order_1)).in_doubles()
    r = data.draw(st.sampled_from(case.mixed_rows))
    W = case.P * case.a0
    W[r, data.draw(st.integers(0, case.k - 1))] = 0
    held = W[r] > 0
    for _ in range(5):
        H = np.array([nnls(W, column)[0] for column in case.A.T]).T
        check_bounds(case, W, H)
        W = np.array([nnls(H.T, row)[0] for row in case.A])
        W[r] = 0
        W[r, held] = nnls(H[held].T, case.A[r])[0]


def test_one_percent_is_within_the_robust_form_for_k_up_to_12():
    """For a0 from ½ to 2: its condition holds, and M(i,i) is more than ½."""
    delta = 0.01 * 2
    assert [k for k in range(1, 40) if (k + 1) * delta < 0.5 < 1 - k * delta / 0.5][-1] == 12


# --- Stationary points ----------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.data())
def test_the_diagonal_of_what_is_stationary(data):
    """(c) of the proof, and what (d) leaves out of it, in rational arithmetic."""
    case = data.draw(mixed(max_k=3, least=1))
    rows, columns, k = case.core_rows, case.core_columns, case.k
    W, F = data.draw(nonnegative(len(case.P), k)), data.draw(nonnegative(k, case.Q.shape[1]))
    W[rows], F[:, columns] = np.eye(k, dtype=int), np.eye(k, dtype=int)
    x = np.array(data.draw(several(fractions, k)), dtype=object)
    gamma, phi = W.T.dot(W), F.dot(F.T)
    R = (W * x).dot(F) - case.A
    U, V, omega = W.T.dot(R)[:, columns], R.dot(F.T)[rows], W.T.dot(R).dot(F.T)
    left, right = gamma * x - U, x[:, None] * phi - V
    assert (left == W.T.dot(case.P) * case.a0).all()
    assert (right == case.a0[:, None] * case.Q.dot(F.T)).all()
    assert ((gamma * x).dot(phi) - omega == (left / case.a0).dot(right)).all()
    v, less = x * (1 - x / case.a0), gamma * phi * x**2 - left * right.T
    assert ((gamma * phi).dot(v) + less.dot(1 / case.a0) == np.diag(omega)).all()


@given(st.data())
def test_for_k_2_and_positive_entries_a0_is_not_exceeded(data):
    """(e) of the proof: where `x ≥ a0`, the right side is not negative, but v would be."""
    a0, x, u = (np.array(data.draw(several(fractions, 2)), dtype=object) for _ in range(3))
    G, F = (data.draw(nonnegative(3, 2)) for _ in range(2))
    gamma, phi = (inverse(M.T.dot(M) + np.eye(2, dtype=int)) for M in (G, F))
    U = np.array([[0, u[0]], [u[1], 0]])
    right = gamma.dot(U + (U / a0).dot(U)).dot(phi) - gamma.dot(U) * x / a0
    right = np.diag(right - (x / a0)[:, None] * U.dot(phi))
    assert (right[x >= a0] >= 0).all()


def slopes(case, z):
    """Return W and H with the zeros of the answer, all gradients, and what is 0 if they are."""
    m, k = case.P.shape
    may = np.concatenate([case.P.ravel(), case.Q.ravel()]) > 0
    W, H = np.where(may, z, 0)[: m * k].reshape(m, k), np.where(may, z, 0)[m * k :].reshape(k, -1)
    R = W @ H - case.A
    gradients = np.concatenate([(R @ H.T).ravel(), (W.T @ R).ravel()])
    return W, H, gradients, np.where(may, gradients, z)


@pytest.mark.parametrize(("m", "n"), [(3, 3), (5, 3), (4, 4)])
def test_stationary_points_with_positive_entries_are_exact(m, n):
    """Solve the equations from many starts, k = 2: whatever is stationary is the answer."""
    rng, found = np.random.default_rng([m, n]), 0
    for i in range(25):
        case, start = drawn(m, n, 2, i)[0], rng.exponential(size=2 * (m + n))
        z = root(lambda z, case=case: slopes(case, z)[-1], start, method="lm").x
        W, H, gradients, equations = slopes(case, z)
        stationary = np.abs(equations).max() < 1e-10 and min(*z, *gradients) > -1e-9
        if stationary and np.diag(W[case.core_rows] @ H[:, case.core_columns]).min() > 1e-3:
            assert np.abs(case.A - W @ H).max() < 1e-6
            found += 1
    assert found >= 5


@pytest.mark.parametrize(("m", "n", "k"), [(4, 4, 3), (4, 6, 3), (6, 6, 3), (8, 7, 4), (12, 10, 4)])
def test_descent_to_a_diagonal_core_ends_at_the_answer(m, n, k):
    """What is stationary is exact or has no form: proved for one mixture, seen for more."""
    rng = np.random.default_rng([m, n, k])
    cases = [drawn(m, n, k, i)[0] for i in range(40)]
    A = np.array([case.A for case in cases])
    W, H = coordinate_descent(A, rng.random((40, m, k)), rng.random((40, k, n)), sweeps=800)
    missed = np.abs(A - W @ H).max(axis=(1, 2))
    for case, W0, H0, error in zip(cases, W, H, missed, strict=True):
        if error > 1e-9:  # then it is beyond the gap, and M is no permutation
            assert error > 0.02
            assert kkt_residual(case.A, W0, H0) < 1e-3
            M = W0[case.core_rows] * H0[:, case.core_columns].T / case.a0[:, None]
            assert len(set(M.argmax(axis=1))) < k or M.max(axis=1).min() <= 0.5
    assert (missed < 1e-9).sum() >= 34


# --- Judging, and draws ---------------------------------------------------------------------------


@given(st.data())
def test_padded_factors_are_judged_as_their_core(data):
    """Units, balance and product defect are exactly those of the core."""
    case = data.draw(mixed(max_k=4))
    X, Y = (data.draw(nonnegative(case.k, case.k)) for _ in range(2))
    W, H = case.P.dot(X), Y.dot(case.Q)
    assert case.A.max() == case.a0.max()
    assert (W.max(axis=0) == X.max(axis=0)).all()
    assert (H.max(axis=1) == Y.max(axis=1)).all()
    assert abs(case.A - W.dot(H)).max() == abs(np.diag(case.a0) - X.dot(Y)).max()


@pytest.mark.parametrize(("m", "n", "k"), [*SHAPES, (4, 3, 1), (5, 4, 4)])
def test_draws_have_rank_k_as_stored(m, n, k):
    for i in range(5):
        case, stored = drawn(m, n, k, i)
        P, Q, a0 = exactly(case.P), exactly(case.Q), exactly(case.a0)
        for side, weights in ((stored.rows, P), (stored.columns, Q.T)):
            assert (weights[side.core] == np.eye(k, dtype=int)).all()
            assert (weights[side.mixed] > 0).all()
            assert (weights.sum(axis=1) == 1).all()
            assert not (64 * weights % 1).any()
        assert not (64 * a0 % 1).any()
        assert 0.5 <= a0.min() <= a0.max() <= 2
        A = exactly(stored.A)
        assert ((P * a0).dot(Q) == A).all()
        assert rank(A) == k
        assert (stored.A.astype(np.float32) == stored.A).all()  # in single precision, too
        assert (A == 0).sum() == k * (k - 1)
