"""Rays: `A = WH` with rows `e_i + α·e_j` in W and columns in H alike has one factorization."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment, nnls

from nmfcheck.families.rays.cases import ALPHA, case_of
from nmfcheck.reference import coordinate_descent

QUARTER, HALF, ONE = Fraction(1, 4), Fraction(1, 2), Fraction(1)
NEARLY = Fraction(49, 100)
SHAPES = [(3, 0, 0), (3, 0, 4), (4, 3, 0), (5, 0, 2)]

# --- Rational arithmetic --------------------------------------------------------------------------


def identity(k):
    return np.array([[Fraction(int(i == j)) for j in range(k)] for i in range(k)])


def unit(k, i):
    return identity(k)[i]


def rays(k, alpha):
    """Return the rows `e_i + α·e_j`, i ≠ j."""
    return np.array([unit(k, i) + alpha * unit(k, j) for i in range(k) for j in range(k) if i != j])


def far(k, alpha, j):
    """Return g_j: ones, and −α in place j."""
    return np.full(k, ONE) - (1 + alpha) * unit(k, j)


def inverse(Q):
    """Return the inverse of a matrix of fractions, or None."""
    k = len(Q)
    M = np.concatenate([Q, identity(k)], axis=1)
    for i in range(k):
        pivot = next((r for r in range(i, k) if M[r, i]), None)
        if pivot is None:
            return None
        M[[i, pivot]] = M[[pivot, i]]
        M[i] = M[i] / M[i, i]
        for r in set(range(k)) - {i}:
            M[r] = M[r] - M[r, i] * M[i]
    return M[:, k:]


def exactly(X):
    """Return the numbers that doubles are."""
    return np.vectorize(Fraction, otypes=[object])(X)


# --- The cone -------------------------------------------------------------------------------------


def edges_of_the_cone(W):
    """Return all extreme rays of `{q : Wq ≥ 0}`, scaled to a largest entry of 1, by enumeration.

    Each is where k − 1 of the rows vanish, and so a multiple of their minors of order k − 1. These
    are whole numbers far below 2⁵³.
    """
    k = W.shape[1]
    W = (W * max(x.denominator for x in W.ravel())).astype(float)
    chosen = W[list(combinations(range(len(W)), k - 1))]
    minors = [(-1) ** j * np.linalg.det(np.delete(chosen, j, axis=-1)) for j in range(k)]
    q = np.unique(np.rint(minors).T, axis=0)
    q = np.concatenate([q, -q])
    q = q[(q @ W.T >= 0).all(axis=1) & q.any(axis=1)]
    return {tuple(Fraction(int(x), int(abs(side).max())) for x in side) for side in q}


CONES = [(3, 0), (3, QUARTER), (3, HALF), (4, QUARTER), (4, HALF), (4, 1), (5, QUARTER), (5, 1)]


@pytest.mark.parametrize(("k", "alpha"), CONES)
def test_the_extreme_rays_of_the_cone(k, alpha):
    """`e_1, …, e_k` and `g_1, …, g_k`; for α = 0 the units alone."""
    expected = {tuple(unit(k, i)) for i in range(k)}
    if alpha:
        expected |= {tuple(far(k, alpha, j)) for j in range(k)}
    assert edges_of_the_cone(rays(k, Fraction(alpha))) == expected


def test_with_further_rows_the_cone_is_smaller_and_still_touches_the_round_one_in_the_units():
    units = {tuple(unit(3, i)) for i in range(3)}
    for draw in range(5):
        edges = edges_of_the_cone(exactly(case_of(3, 4, 0, draw, "a case").answer[0]))
        assert {q for q in edges if sum(q) ** 2 <= sum(x**2 for x in q)} == units


@given(st.integers(3, 9), st.fractions(0, 1, max_denominator=50))
def test_the_far_rays_are_inside_the_round_cone_below_the_threshold(k, alpha):
    """`(1ᵀg)² − ‖g‖² = (k−1)(k−2−2α)`."""
    g = far(k, alpha, 0)
    assert g.sum() > 0
    assert g.sum() ** 2 - (g**2).sum() == (k - 1) * (k - 2 - 2 * alpha)


# --- Theorem 6 ------------------------------------------------------------------------------------


def is_another(W, H, Q, P):
    """Say whether `WQ, PH` with `P = Q⁻¹` is nonnegative, and not `W, H` again."""
    monomial = all((line != 0).sum() == 1 for line in (*Q, *Q.T))
    return (W.dot(Q) >= 0).all() and (P.dot(H) >= 0).all() and not monomial


@pytest.mark.parametrize("k", [3, 4])
def test_at_the_threshold_and_beyond_there_is_another_factorization(k):
    """`Q = (2/k)·J − I`, whose columns are `(2/k)·g_j` for α at the threshold."""
    Q = np.full((k, k), Fraction(2, k)) - identity(k)
    assert (Q.dot(Q) == identity(k)).all()
    threshold = Fraction(k - 2, 2)
    for alpha in (threshold, (threshold + 1) / 2):
        W, H = rays(k, alpha), rays(k, alpha).T
        assert (W.dot(Q).dot(Q.dot(H)) == W.dot(H)).all()
        assert is_another(W, H, Q, Q)
    below = threshold - Fraction(1, 100)
    assert not is_another(rays(k, below), rays(k, below).T, Q, Q)


ALPHAS = {3: [0, QUARTER, NEARLY], 4: [0, QUARTER, 2 * NEARLY], 5: [QUARTER, 1]}


@st.composite
def changes_of_basis(draw):
    """Draw Q, invertible, whose columns are in the cone of W: many on its edges and faces."""
    k = draw(st.integers(3, 5))
    alpha, beta = (Fraction(draw(st.sampled_from(ALPHAS[k]))) for _ in "WH")
    edges = [unit(k, i) for i in range(k)] + [far(k, alpha, j) for j in range(k)] * bool(alpha)
    weights = st.dictionaries(st.sampled_from(range(len(edges))), st.integers(1, 9), min_size=1)
    columns = [sum(c * edges[i] for i, c in draw(weights).items()) for _ in range(k)]
    return k, alpha, beta, np.array(columns).T


@given(changes_of_basis())
@example((3, NEARLY, NEARLY, np.array([far(3, NEARLY, j) for j in range(3)])))
@example((5, ONE, ONE, np.array([far(5, ONE, j) for j in range(5)])))
def test_no_other_change_of_basis_is_nonnegative(drawn):
    k, alpha, beta, Q = drawn
    P = inverse(Q)
    assume(P is not None)
    W, H = rays(k, alpha), rays(k, beta).T
    assert (W.dot(Q) >= 0).all()
    assert not is_another(W, H, Q, P)


# For k = 3 a factorization is a triangle between two hexagons.


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def hexagons(alpha, beta):
    """Return the section of W's cone, counterclockwise, and the columns of H, both in the plane."""
    outer = [q for i in range(3) for q in (unit(3, i), far(3, alpha, (i + 2) % 3))]
    return [(q / q.sum())[:2] for q in outer], [(h / h.sum())[:2] for h in rays(3, beta)]


def next_corner(outer, inner, place):
    """Go from a place on the outer hexagon, along the inner one, to the outer one again.

    A place is the number of an edge plus the part of it that lies behind.
    """
    start = outer[int(place)] + place % 1 * (outer[(int(place) + 1) % 6] - outer[int(place)])
    touched = next(c for c in inner if all(cross(c - start, x - start) >= 0 for x in inner))
    ahead = touched - start
    met = []
    for j in range(6):
        edge = outer[(j + 1) % 6] - outer[j]
        if (slope := cross(ahead, edge)) != 0:
            reach, along = (cross(outer[j] - start, x) / slope for x in (edge, ahead))
            if 0 <= along < 1:
                met.append((reach, j + along))
    return max(met)[1]  # the other one is the start


def three_steps(alpha, beta, place):
    """Return how far around three steps lead; a triangle closes if it is 6 or more."""
    outer, inner = hexagons(alpha, beta)
    way = Fraction(0)
    for _ in range(3):
        following = next_corner(outer, inner, place)
        way, place = way + (following - place) % 6, following
    return way


PLACES = [Fraction(i, 10) for i in range(60)]


@pytest.mark.parametrize(("alpha", "beta"), [(QUARTER, QUARTER), (NEARLY, Fraction(2, 5))])
def test_the_only_triangle_between_the_hexagons_is_that_of_the_units(alpha, beta):
    for place in PLACES:
        way = three_steps(alpha, beta, place)
        assert way == 6 if place in (0, 2, 4) else way < 6


def test_at_the_threshold_a_second_triangle_appears_and_beyond_there_are_many():
    closed = [place for place in PLACES if three_steps(HALF, HALF, place) >= 6]
    assert closed == list(range(6))
    assert sum(three_steps(Fraction(3, 5), Fraction(3, 5), place) > 6 for place in PLACES) > 3


# --- Robust form ----------------------------------------------------------------------------------


def constants(alpha, k):
    """Return c and γ."""
    total = k - 1 - alpha
    return 1 + (k - 1 + alpha) / total, 1 - np.sqrt(k - 1 + alpha**2) / total


@given(st.integers(3, 5), st.floats(0.05, 0.45), st.integers(0, 2**32))
def test_the_slack_in_the_round_cone(k, alpha, seed):
    """`r/k + γ·Σμ ≤ σ`, with equality on the far rays; and what it says of the distance."""
    rng = np.random.default_rng(seed)
    lam, mu = (10.0 ** rng.uniform(-4, 0, k) * (rng.random(k) < 0.5) for _ in "λμ")
    lam[0] = 2 * lam.max()
    c, gamma = constants(alpha, k)
    G = np.array([far(k, alpha, j) for j in range(k)]).astype(float) / (k - 1 - alpha)
    q, r = lam + mu @ G, lam[1:].sum()
    slack = q.sum() - np.linalg.norm(q)
    assert r / k + gamma * mu.sum() <= slack + 1e-12
    assert G.sum(axis=1) - np.linalg.norm(G, axis=1) == pytest.approx(gamma)
    off = np.abs(q - q.sum() * np.eye(k)[0]).sum()
    assert off <= max(2 * k, c / gamma) * slack + 1e-12


def distance(alpha, k, rho, omega):
    """Return a and η: so far from a unit vector is a column of Q at most."""
    a = (k + np.sqrt(k)) * omega / rho
    c, gamma = constants(alpha, k)
    return a, 2 * k * a * max(2 * k, c / gamma) + 2 * k * omega / (rho * (1 - a))


def check_bounds(alpha, W, H, V, G):
    """Assert the robust form for `VG ≈ WH`; say whether its conditions were met."""
    k = W.shape[1]
    size_W, size_H = (np.linalg.norm(np.linalg.pinv(X), 2) for X in (W, H))
    size = np.linalg.norm(V @ G - W @ H, 2)
    omega = size * max(size_W, size_H) / (1 - size_W * size_H * size)
    sums = np.concatenate([W.sum(axis=1), H.sum(axis=0)])
    a, eta = distance(alpha, k, sums[sums > 0].min(), omega)
    if not (size_W * size_H * size < 1 and a < 1 and eta < 1 / 3):
        return False
    Q = np.linalg.pinv(W) @ V
    assert (Q.sum(axis=0) > 0).all()
    order = np.argsort(Q.argmax(axis=0))
    V, G = (V / Q.sum(axis=0))[:, order], (G.T * Q.sum(axis=0)).T[order]
    Q = (Q / Q.sum(axis=0))[:, order]
    assert (np.abs(Q - np.eye(k)).sum(axis=0) <= eta + 1e-13).all()
    bound = eta * W.max(axis=1, keepdims=True) + omega / (1 - a)
    assert (np.abs(V - W) <= bound + 1e-13).all()
    bound = (eta * H.sum(axis=0) + np.sqrt(k) * omega) / (1 - eta)
    assert (np.abs(G - H) <= bound + 1e-13).all()
    return True


@given(st.sampled_from(SHAPES), st.integers(0, 50), st.integers(0, 2**32), st.floats(-12, -2))
def test_robust_form_near_the_answer(shape, draw, seed, exponent):
    W, H = case_of(*shape, draw, "a case").answer
    W, rng = np.pad(W, ((0, draw % 2), (0, 0))), np.random.default_rng(seed)  # a row may be 0
    order, scale = rng.permutation(shape[0]), np.exp(rng.uniform(-3, 3, shape[0]))
    moves = [rng.uniform(-1, 1, X.shape) * (rng.random(X.shape) < 0.5) for X in (W, H)]
    size, met = 10.0**exponent, False
    while not met:  # by less, until the conditions are met
        V, G = np.maximum(W + size * moves[0], 0), np.maximum(H + size * moves[1], 0)
        met = check_bounds(ALPHA, W, H, V[:, order] * scale, (G[order].T / scale).T)
        size /= 10


@given(st.integers(3, 5), st.floats(0.05, 0.45), st.integers(0, 2**32), st.floats(-9, 0))
def test_robust_form_of_changes_of_basis(k, alpha, seed, exponent):
    """Any Q, not only those of a product near A, with the least ω that it has."""
    rng = np.random.default_rng(seed)
    W = np.exp2(rng.uniform(-1, 1, (k * (k - 1), 1))) * rays(k, alpha).astype(float)
    H = W[rng.permutation(len(W))].T
    toward = rng.uniform(-1, 1, (k, k)) * (rng.random((k, k)) < 0.5)
    toward[:, 0] = far(k, alpha, 0).astype(float)
    Q = np.eye(k) + 10.0**exponent * toward
    Q /= Q.sum(axis=0)
    P = np.linalg.inv(Q)
    pairs = (W, Q), (H.T, P.T)
    omega = max(0, *(-(X @ Y / np.linalg.norm(Y, axis=0)).min() for X, Y in pairs))
    a, eta = distance(alpha, k, W.sum(axis=1).min(), omega)
    if a < 1:
        assert ((1 - a) * np.linalg.norm(Q, axis=0) >= (1 - a) ** (2 * k) - 1e-12).all()
        assert min(np.abs(Q[:, 0] - e).sum() for e in np.eye(k)) <= eta + 1e-12


def balanced(W, H):
    scale = np.sqrt(H.max(axis=1) / W.max(axis=0))
    return W * scale, H * (1 / scale)[:, None]


def cosines(W, H, V, G):
    """Return the cosine of each rank-one term of WH with each one of VG."""
    W, V, H, G = (X / np.linalg.norm(X, axis=0) for X in (W, V, H.T, G.T))
    return (W.T @ V) * (H.T @ G)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_coordinate_descent_finds_is_the_answer(shape):
    """From random starts, and on the way: the form is as near as the product, up to a factor."""
    rng, k = np.random.default_rng(1), shape[0]
    cases = [case_of(*shape, draw, "a case") for draw in range(40)]
    A = np.array([case.A for case in cases])
    found = rng.random((40, A.shape[1], k)), rng.random((40, k, A.shape[2]))
    exact = bounded = 0
    for sweeps in (50, 50, 100, 2800):
        found = coordinate_descent(A, *found, iterations=sweeps, threads=1)[:2]
        for case, V, G in zip(cases, *found, strict=True):
            order = linear_sum_assignment(cosines(*case.answer, V, G), maximize=True)[1]
            factors = zip(balanced(*case.answer), balanced(V[:, order], G[order]), strict=True)
            form = max(np.abs(X - Y).max() for X, Y in factors) / np.sqrt(case.A.max())
            product = np.abs(case.A - V @ G).max() / case.A.max()
            if product < 1e-2:
                assert form < 10 * product + 1e-14
            exact += sweeps == 2800 and form < 1e-10
            bounded += check_bounds(ALPHA, *case.answer, V, G)
    assert exact >= 36
    assert bounded >= 60


def test_nearer_the_threshold_more_runs_collapse():
    """They come to rest at stationary points far from the answer; at α = ¼ few do, if any."""
    rng = np.random.default_rng(5)
    right = {0.25: 0, 0.45: 0}
    for alpha in right:
        lengths = np.exp2(rng.uniform(-1, 1, (2, 60, 6, 1)))
        W, H = lengths * rays(3, alpha).astype(float)
        H = H.swapaxes(1, 2)
        W0, H0 = rng.random((60, 6, 3)), rng.random((60, 3, 6))
        found = coordinate_descent(W @ H, W0, H0, iterations=3000, threads=1)
        for i in range(60):
            V, G = balanced(found.W[i], found.H[i])
            R = V @ G - W[i] @ H[i]
            assert np.abs(np.minimum(V, R @ G.T)).max() < 1e-6
            assert np.abs(np.minimum(G, V.T @ R)).max() < 1e-6
            similar = cosines(W[i], H[i], V, G)
            cosine = similar[linear_sum_assignment(similar, maximize=True)].min()
            assert cosine > 0.999 if np.abs(R).max() < 1e-6 else cosine < 0.9
            right[alpha] += cosine > 0.999
    assert right[0.25] >= 54
    assert right[0.45] <= 48


# --- Nothing is pure ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_no_row_or_column_is_a_multiple_of_one_of_the_factors(shape):
    case = case_of(*shape, 0, "a case")
    A, W, H = (exactly(X) for X in (case.A, *case.answer))
    for factor, lines in ((W.T, A.T), (H, A)):
        for x in factor:
            i = x.argmax()
            assert all((line[i] * x != x[i] * line).any() for line in lines)


def test_no_three_columns_and_no_three_rows_are_a_factor():
    for draw in range(5):
        A = case_of(3, 0, 2, draw, "a case").A
        for lines in (A, A.T):
            for chosen in combinations(range(lines.shape[1]), 3):
                missed = [nnls(lines[:, chosen], column)[1] for column in lines.T]
                assert max(missed) > 0.01 * A.max()


# --- Draws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [*SHAPES, (3, 9, 9), (6, 1, 1)])
def test_draws_are_what_they_are_said_to_be_and_have_rank_k_as_stored(shape):
    k, more_rows, more_columns = shape
    for draw in range(3):
        case = case_of(*shape, draw, "a case")
        W, H = case.answer
        assert case.A.shape == (k * (k - 1) + more_rows, k * (k - 1) + more_columns)
        stored = exactly(case.A)
        assert (stored == exactly(W).dot(exactly(H))).all()
        assert all(inverse(X.T.dot(X)) is not None for X in (exactly(W), exactly(H).T))
        assert all((x * 2**16).denominator == 1 and x <= Fraction(17, 4) for x in stored.ravel())
        # In single precision, too, however it is computed.
        assert (W.astype(np.float32) @ H.astype(np.float32) == case.A).all()
        assert (case.A > 0).all() == (k == 3)
        # Terms of different components are far from parallel.
        assert (cosines(W, H, W, H) - np.eye(k)).max() < 0.5
        for X, more in ((exactly(W), more_rows), (exactly(H.T), more_columns)):
            assert {tuple(x / x.max()) for x in X} >= {tuple(x) for x in rays(k, Fraction(ALPHA))}
            assert X.sum(axis=1).min() >= Fraction(5, 8)
            assert [sum(x) for x in X if (x > 0).all()] == [1] * more
