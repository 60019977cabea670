"""Thomas's matrix and the hexagon's: least residuals, some of them certified, none of them 0."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmfcheck.families.optima.cases import MATRICES, OPTIMA, case_of
from nmfcheck.families.optima.judge import judged
from nmfcheck.reference import als, coordinate_descent, multiplicative_update

SQUARES = {"thomas": [4, 2, 2, 0], "hexagon": [36, 12, 12, 0, 0, 0]}
"""The squares of the singular values."""

CERTIFIED = [("thomas", 1), ("thomas", 2), ("hexagon", 1), ("hexagon", 2)]
BEST_KNOWN = {
    ("thomas", 3): 0.7653668647301796,
    ("hexagon", 3): 1.5374024032601978,
    ("hexagon", 4): 0.7318521424558888,
}


def exactly(X):
    return np.vectorize(Fraction, otypes=[object])(X)


def fractions(text):
    """Read a matrix: rows are separated by semicolons."""
    return np.array([[Fraction(x) for x in row.split()] for row in text.split(";")])


def matrix(name):
    return exactly(MATRICES[name])


def residual(A, W, H):
    """Return the square of the residual."""
    return ((A - W.dot(H)) ** 2).sum()


# --- Singular values ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SQUARES)
def test_the_singular_values(name):
    """The polynomial with these zeros annihilates `AᵀA`, and two traces count how often each is."""
    A = matrix(name)
    gram = A.T.dot(A)
    identity = exactly(np.eye(len(A), dtype=int))
    value = identity
    for zero in set(SQUARES[name]):
        value = value.dot(gram - zero * identity)
    assert not value.any()
    assert np.trace(gram) == sum(SQUARES[name])
    assert np.trace(gram.dot(gram)) == sum(square**2 for square in SQUARES[name])
    np.testing.assert_allclose(
        np.linalg.svd(MATRICES[name], compute_uv=False) ** 2, SQUARES[name], atol=1e-12
    )


@given(st.data())
def test_no_product_of_rank_k_is_nearer_than_the_tail(data):
    """In rational arithmetic, for any W and H, nonnegative or not."""
    name = data.draw(st.sampled_from(list(SQUARES)))
    A = matrix(name)
    k = data.draw(st.integers(1, 3))
    entries = st.integers(-6, 6).map(lambda i: Fraction(i, 6))
    W, H = (
        np.array(data.draw(st.lists(entries, min_size=k * len(A), max_size=k * len(A))))
        for _ in "WH"
    )
    assert residual(A, W.reshape(-1, k), H.reshape(k, -1)) >= sum(SQUARES[name][k:])


# --- Theorem 8 ------------------------------------------------------------------------------------

ATTAINED = {
    ("thomas", 1): (fractions("1; 1; 1; 1"), fractions("1/2 1/2 1/2 1/2")),
    ("thomas", 2): (fractions("1 0; 0 1; 1/2 1/2; 1/2 1/2"), fractions("1 1 0 0; 0 0 1 1")),
    ("hexagon", 1): (fractions("1; 1; 1; 1; 1; 1"), fractions("1 1 1 1 1 1")),
    ("hexagon", 2): (
        fractions("0 1; 1/2 1/2; 1 0; 1 0; 1/2 1/2; 0 1"),
        fractions("2 3/2 1/2 0 1/2 3/2; 0 1/2 3/2 2 3/2 1/2"),
    ),
}


@pytest.mark.parametrize(("name", "k"), CERTIFIED)
def test_the_tail_is_attained_by_nonnegative_factors(name, k):
    A = matrix(name)
    W, H = ATTAINED[name, k]
    assert W.shape == (len(A), k)
    assert (W >= 0).all()
    assert (H >= 0).all()
    assert residual(A, W, H) == sum(SQUARES[name][k:])
    optimum = OPTIMA[name, k]
    assert optimum.certified
    assert optimum.residual**2 == pytest.approx(float(residual(A, W, H)), rel=1e-15)
    tail = np.linalg.norm(np.linalg.svd(MATRICES[name], compute_uv=False)[k:])
    assert tail == pytest.approx(optimum.residual, rel=1e-14)


@pytest.mark.parametrize(("name", "k"), CERTIFIED)
def test_the_excess_is_of_second_order(name, k):
    A, eps = matrix(name), Fraction(1, 10)
    W, H = ATTAINED[name, k]
    excess = residual(A, (1 - eps) * W, H) - residual(A, W, H)
    assert excess == eps**2 * (W.dot(H) ** 2).sum()
    assert excess < (A**2).sum() / 100


def truncated(name, angle):
    """Return the truncated SVD at k = 2 with this direction in the plane of `σ₂ = σ₃`."""
    c, s = np.cos(angle), np.sin(angle)
    if name == "thomas":
        return 0.5 + 0.5 * np.outer([c, -c, s, -s], [c + s, c - s, s - c, -c - s])
    turns = np.arange(6) * np.pi / 3
    rows, columns = np.cos(turns + 7 * np.pi / 6 - angle), np.cos(turns - angle)
    return 1 + 2 / np.sqrt(3) * np.outer(rows, columns)


@pytest.mark.parametrize(("name", "count"), [("thomas", 4), ("hexagon", 6)])
def test_the_best_products_at_rank_two_are_a_handful(name, count):
    """Of the circle of truncated SVDs, which all have the tail as residual, so many are ≥ 0."""
    A = MATRICES[name]
    for angle in np.linspace(0, np.pi, 241):  # after half a turn the same come again
        X = truncated(name, angle)
        assert np.linalg.matrix_rank(X, tol=1e-9) == 2
        assert ((A - X) ** 2).sum() == pytest.approx(sum(SQUARES[name][2:]))
        on_the_grid = abs(angle / (np.pi / count) - round(angle / (np.pi / count))) < 1e-9
        assert (X.min() > -1e-12) == on_the_grid
    X = [truncated(name, i * np.pi / count) for i in range(count)]
    assert min(np.abs(x - y).max() for x, y in combinations(X, 2)) > 0.1
    W, H = ATTAINED[name, 2]
    np.testing.assert_allclose(X[0], W.dot(H).astype(float), atol=1e-12)


@pytest.mark.parametrize(("name", "count"), [("thomas", 4), ("hexagon", 6)])
def test_each_of_them_has_a_diagonal_block_and_so_one_factorization(name, count):
    for i in range(count):
        X = truncated(name, i * np.pi / count)
        pairs = permutations(range(len(X)), 2)
        blocks = [X[np.ix_(*both)] for both in product(pairs, repeat=2)]
        assert any(np.abs(x - np.diag([x[0, 0], x[1, 1]])).max() < 1e-12 < x.max() for x in blocks)


@pytest.mark.parametrize(("name", "count"), [("thomas", 4), ("hexagon", 6)])
def test_what_coordinate_descent_finds_at_rank_two_is_one_of_them(name, count):
    found = runs(coordinate_descent, name, 2, 3000)
    seen = Counter()
    for X in found.W @ found.H:
        off = [np.abs(X - truncated(name, i * np.pi / count)).max() for i in range(count)]
        assert min(off) < 1e-6
        seen[int(np.argmin(off))] += 1
    assert len(seen) == count


# --- No exact factorization -----------------------------------------------------------------------


def rectangles(support):
    """Return the largest rectangles in a support, as sets of entries."""
    found = set()
    for size in range(1, len(support) + 1):
        for rows in combinations(range(len(support)), size):
            columns = support[list(rows)].all(axis=0)
            found.add(frozenset((r, int(c)) for r in rows for c in np.flatnonzero(columns)))
    return [x for x in found if x and not any(x < y for y in found)]


def can_be_covered(left, rectangles, k):
    """Say whether k rectangles cover what is left: one of them has its first entry."""
    if not left:
        return True
    first = min(left)
    return k > 0 and any(
        can_be_covered(left - x, rectangles, k - 1) for x in rectangles if first in x
    )


@pytest.mark.parametrize(("name", "count"), [("thomas", 4), ("hexagon", 5)])
def test_fewer_rectangles_do_not_cover_the_support(name, count):
    """So with fewer components no product is A, although 3 are enough for its rank."""
    support = MATRICES[name] > 0
    entries = frozenset((int(r), int(c)) for r, c in np.argwhere(support))
    assert not can_be_covered(entries, rectangles(support), count - 1)
    assert can_be_covered(entries, rectangles(support), count)
    assert sum(square > 0 for square in SQUARES[name]) == 3


# --- Best known -----------------------------------------------------------------------------------


def runs(algorithm, name, k, iterations):
    """Run an algorithm from 200 random starts."""
    A = MATRICES[name]
    rng = np.random.default_rng(k)
    W0, H0 = rng.random((200, len(A), k)), rng.random((200, k, len(A)))
    stack = np.broadcast_to(A, (200, *A.shape)).copy()
    return algorithm(stack, W0, H0, iterations=iterations, threads=1)


def excess(name, k, found, optimum):
    A = MATRICES[name]
    squares = ((A - found.W @ found.H) ** 2).sum(axis=(1, 2))
    return (squares - optimum**2) / (A**2).sum()


@pytest.mark.parametrize(("name", "k"), CERTIFIED)
def test_certified_optima_are_reached_from_every_start(name, k):
    optimum = OPTIMA[name, k].residual
    for algorithm, tolerance in ((coordinate_descent, 1e-10), (multiplicative_update, 1e-6)):
        off = excess(name, k, runs(algorithm, name, k, 3000), optimum)
        assert off.min() > -1e-14
        assert off.max() < tolerance
    # ALS now and then ends with twins.
    assert (excess(name, k, runs(als, name, k, 500), optimum) < 1e-10).mean() > 0.9


@given(st.sampled_from(CERTIFIED), st.data())
def test_no_factors_are_judged_to_be_below_a_certified_optimum(which, data):
    """However they are scaled, and however near they are: rounding stays above −1e-12·‖A‖²."""
    name, k = which
    case = case_of(name, k, data.draw(st.integers(0, 99)), "")
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    start = rng.random((6, k)), rng.random((k, 6))
    m, n = case.A.shape
    found = coordinate_descent(
        case.A, start[0][:m], start[1][:, :n], iterations=data.draw(st.integers(0, 300)), threads=1
    )
    D = 2.0 ** data.draw(st.integers(-40, 40)) * rng.random(k)
    (judgement,) = judged([case], (found.W * D)[None], (found.H / D[:, None])[None])
    assert "below" not in judgement.labels


@pytest.mark.parametrize(("name", "k"), BEST_KNOWN)
def test_best_known_values_are_reached_and_not_undercut(name, k):
    """Some runs are held up for long near other stationary points."""
    assert not OPTIMA[name, k].certified
    assert OPTIMA[name, k].residual == pytest.approx(BEST_KNOWN[name, k], rel=1e-8)
    for algorithm, tolerance in ((coordinate_descent, 1e-12), (multiplicative_update, 1e-6)):
        off = excess(name, k, runs(algorithm, name, k, 3000), BEST_KNOWN[name, k])
        assert off.min() > -1e-14
        assert (off < tolerance).mean() > 0.9


@pytest.mark.parametrize(("name", "k"), BEST_KNOWN)
def test_clipped_als_never_gets_there(name, k):
    """Which is one reason why nothing is required for these."""
    found = runs(als, name, k, 500)
    assert excess(name, k, found, BEST_KNOWN[name, k]).min() > 1e-3


def test_factors_that_attain_the_best_known_for_thomas():
    """In `a + b√2` with rational a and b: the square of the residual is `2 − √2`."""
    W = fractions("1 1/2 0; 0 -1/4 3/4; 0 3/4 -1/4; 1 0 1/2")
    W_root = fractions("0 0 0; 0 1/4 1/4; 0 1/4 1/4; 0 0 0")
    H = fractions("1/4 1 0 1/4; 1 0 0 0; 0 0 0 1")
    H_root = fractions("0 0 0 0; 0 0 1/2 0; 0 0 1/2 0")
    R = matrix("thomas") - W.dot(H) - 2 * W_root.dot(H_root)
    R_root = -W.dot(H_root) - W_root.dot(H)
    assert (R**2).sum() + 2 * (R_root**2).sum() == 2
    assert 2 * (R * R_root).sum() == -1
    for X, X_root in ((W, W_root), (H, H_root)):
        assert (X.astype(float) + np.sqrt(2) * X_root.astype(float) >= 0).all()


# --- Draws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SQUARES)
def test_draws_are_the_matrix_with_rows_and_columns_shuffled(name):
    drawn = [case_of(name, 2, i, "a case").A for i in range(10)]
    assert len({A.tobytes() for A in drawn}) > 1
    for A in drawn:
        assert sorted(map(sorted, A)) == sorted(map(sorted, MATRICES[name]))
        np.testing.assert_allclose(
            np.linalg.svd(A, compute_uv=False) ** 2, SQUARES[name], atol=1e-12
        )
        assert case_of(name, 2, 0, "a case").optimum == OPTIMA[name, 2]
