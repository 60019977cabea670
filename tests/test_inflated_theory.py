"""Inflated matrices `A = P·B·Q`: Theorems 1 and 2 carry over from the bidiagonal core B."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from nmfcheck import bidiagonal, exact_factorization

# --- The family -----------------------------------------------------------------------------------


@dataclass
class Inflated:
    """`A = P·B·Q`, in whatever arithmetic its arrays have."""

    B: np.ndarray
    P: np.ndarray
    Q: np.ndarray

    @property
    def A(self):
        return self.P.dot(self.B).dot(self.Q)

    @property
    def k(self):
        return len(self.B)

    @property
    def core_rows(self):
        """The first row of largest weight of each class."""
        return [max(range(len(self.P)), key=lambda r: self.P[r, i]) for i in range(self.k)]

    @property
    def core_columns(self):
        return [max(range(self.Q.shape[1]), key=lambda c: self.Q[j, c]) for j in range(self.k)]

    @property
    def zero_rows(self):
        return [r for r in range(len(self.P)) if not self.P[r].any()]

    @property
    def zero_columns(self):
        return [c for c in range(self.Q.shape[1]) if not self.Q[:, c].any()]

    def in_doubles(self):
        return Inflated(*(X.astype(float) for X in (self.B, self.P, self.Q)))


def zeros(*shape):
    return np.full(shape, Fraction(0), dtype=object)


def two_diagonals(main, upper):
    X = zeros(len(main), len(main))
    for i, value in enumerate(main):
        X[i, i] = value
    for i, value in enumerate(upper):
        X[i, i + 1] = value
    return X


fractions = st.integers(1, 210).map(lambda i: Fraction(i, 21))
sixty_fourths = st.integers(1, 64).map(lambda i: Fraction(i, 64))
of_order_1 = st.integers(32, 128).map(lambda i: Fraction(i, 64))


def several(strategy, size):
    return st.lists(strategy, min_size=size, max_size=size)


@st.composite
def classes_and_weights(draw, k, extra, weights, core=None):
    """Draw P: a row for each class and up to `extra` more, repeated or zero, in any order.

    The first row of each class has the weight `core`, where one is given.
    """
    more = draw(st.lists(st.sampled_from([None, *range(k)]), max_size=extra))
    rows = draw(st.permutations([*range(k), *more]))
    P = zeros(len(rows), k)
    for r, i in enumerate(rows):
        if i is not None:
            P[r, i] = draw(weights) if core is None or i in rows[:r] else core
    return P


@st.composite
def inflated(draw, max_k=3, extra=3, entries=fractions, weights=fractions, core=None, eps=None):
    k = draw(st.integers(1, max_k))
    eps = draw(st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1)])) if eps is None else eps
    e = [eps * a1 for a1 in draw(several(entries, k - 1))]
    B = two_diagonals(draw(several(entries, k)), e)
    P = draw(classes_and_weights(k, extra, weights, core))
    Q = draw(classes_and_weights(k, extra, weights, core)).T
    return Inflated(B, P, Q)


def built(rows, columns, a0, e):
    """Build a case from the classes of its rows and columns; ``-`` is a row or column of zeros."""

    def inflating(classes):
        P = zeros(len(classes), len(a0))
        for r, i in enumerate(classes):
            if i != "-":
                P[r, int(i)] = Fraction(r + 2, r + 3)
        return P

    B = two_diagonals([Fraction(x) for x in a0], [Fraction(x) for x in e])
    return Inflated(B, inflating(rows.split()), inflating(columns.split()).T)


def weighted(**more):
    """Weights as in the test matrices: at most 1, and 1 in the core."""
    return inflated(weights=sixty_fourths, core=Fraction(1), **more)


def closed_form(B, shares, w0):
    """Theorem 1's closed form in exact arithmetic: `shares` of the superdiagonal come from W."""
    k = len(B)
    h0 = [B[i, i] / w0[i] for i in range(k)]
    w1 = [shares[i] * B[i, i + 1] / B[i + 1, i + 1] * w0[i + 1] for i in range(k - 1)]
    h1 = [(1 - shares[i]) * B[i, i + 1] / B[i, i] * h0[i] for i in range(k - 1)]
    return two_diagonals(w0, w1), two_diagonals(h0, h1)


def vertices(B):
    """Return the ends of the chain's segments: shares 0, …, 0, 1, …, 1."""
    k = len(B)
    ones = [Fraction(1)] * k
    return [
        closed_form(B, [Fraction(int(i >= switch)) for i in range(k - 1)], ones)
        for switch in range(k)
    ]


@st.composite
def points(draw, B):
    k = len(B)
    switch = draw(st.integers(0, max(k - 2, 0)))
    share = draw(st.fractions(0, 1, max_denominator=20))
    shares = [Fraction(int(i > switch)) if i != switch else share for i in range(k - 1)]
    X, Y = closed_form(B, shares, draw(several(fractions, k)))
    p = draw(st.permutations(range(k)))
    return X[:, p], Y[p]


@st.composite
def any_factors(draw, k):
    """Nonnegative k×k matrices X, Y of fractions, many entries 0, of no particular form."""
    entry = st.one_of(st.just(Fraction(0)), fractions)
    return tuple(np.array(draw(several(entry, k * k))).reshape(k, k) for _ in range(2))


def eliminated(rows):
    """Reduced row echelon form in exact arithmetic, and the columns of its pivots."""
    rows = [list(row) for row in rows]
    pivots = []
    for column in range(len(rows[0]) if rows else 0):
        r = len(pivots)
        found = next((i for i in range(r, len(rows)) if rows[i][column]), None)
        if found is None:
            continue
        rows[r], rows[found] = rows[found], rows[r]
        rows[r] = [x / rows[r][column] for x in rows[r]]
        for i, row in enumerate(rows):
            if i != r and row[column]:
                rows[i] = [x - row[column] * y for x, y in zip(row, rows[r], strict=True)]
        pivots.append(column)
    return rows, pivots


def rank(A):
    return len(eliminated(A)[1])


# --- Theorem 3: all exact factorizations ----------------------------------------------------------


@given(st.data())
def test_inflated_factorizations_of_the_core_multiply_to_A(data):
    case = data.draw(inflated(max_k=5))
    X, Y = data.draw(points(case.B))
    W, H = case.P.dot(X), Y.dot(case.Q)
    assert (W >= 0).all()
    assert (H >= 0).all()
    assert (W.dot(H) == case.A).all()
    assert not W[case.zero_rows].any()
    assert not H[:, case.zero_columns].any()


@given(st.data())
def test_what_exact_factorization_returns_can_be_inflated(data):
    case = data.draw(weighted(max_k=5)).in_doubles()
    k = case.k
    e = np.diag(case.B, 1)
    core = bidiagonal(np.diag(case.B), e if e.any() else None, 1.0 if e.any() else 0.0)
    np.testing.assert_array_equal(core.A, case.B)
    X, Y = exact_factorization(
        core,
        switch=data.draw(st.integers(1, max(k - 1, 1))),
        theta=data.draw(st.floats(0, 1)),
        permutation=data.draw(st.permutations(range(k))),
    )
    np.testing.assert_allclose(case.P @ X @ Y @ case.Q, case.A, rtol=1e-13, atol=1e-14)


@given(inflated(max_k=5))
def test_the_rank_is_k(case):
    """So no factorization has fewer than k components, nor a dead one among k."""
    assert rank(case.A) == case.k


def rectangles_in(support):
    """All products of sets of rows and columns inside a support; the empty one is a dead component.

    Nothing cancels in a sum of nonnegative terms: so the support of a component is one of these.
    """
    m, n = support.shape
    found = [((), (), 0)]
    for chosen in range(1, 2**m):
        rows = [r for r in range(m) if chosen >> r & 1]
        common = [c for c in range(n) if support[rows, c].all()]
        for size in range(1, len(common) + 1):
            for columns in combinations(common, size):
                cells = sum(1 << r * n + c for r in rows for c in columns)
                found.append((tuple(rows), columns, cells))
    return found


def covers(support, k):
    """All choices of k rectangles whose union is the support, by brute force."""
    n = support.shape[1]
    target = sum(1 << int(r * n + c) for r, c in np.argwhere(support))
    for chosen in combinations_with_replacement(rectangles_in(support), k):
        union = 0
        for _, _, cells in chosen:
            union |= cells
        if union == target:
            yield [(rows, columns) for rows, columns, _ in chosen]


def own_entries(components):
    """Return the entries of each component that no other one covers."""
    cells = [set(product(rows, columns)) for rows, columns in components]
    return [
        sorted(mine.difference(*(other for d, other in enumerate(cells) if d != c)))
        for c, mine in enumerate(cells)
    ]


def known_factors(A, components):
    """Return what follows for W and H from the entries of A that one component covers alone.

    Each component is scaled to `W(r, c) = 1` in one such row. Returns None on a contradiction.
    """
    W, H = {}, {}
    for c, own in enumerate(own_entries(components)):
        assert own, "a component without an entry of its own: this solver is too simple"
        W[own[0][0], c] = Fraction(1)
        for _ in own:  # often enough for every consequence
            for r, s in own:
                if (r, c) in W:
                    H.setdefault((c, s), A[r, s] / W[r, c])
                elif (c, s) in H:
                    W.setdefault((r, c), A[r, s] / H[c, s])
        if any(W[r, c] * H[c, s] != A[r, s] for r, s in own if (r, c) in W and (c, s) in H):
            return None
    return W, H


def equations(A, components, W, H):
    """Write `WH = A` as linear equations in the entries of W and H that are not known yet."""
    unknown = [("W", r, c) for c, (rows, _) in enumerate(components) for r in rows]
    unknown += [("H", c, s) for c, (_, columns) in enumerate(components) for s in columns]
    unknown = [x for x in unknown if x[1:] not in (W if x[0] == "W" else H)]
    place = {name: i for i, name in enumerate(unknown)}
    rows = []
    for r, s in zip(*np.nonzero(A), strict=True):
        row = [Fraction(0)] * len(unknown) + [A[r, s]]
        for c, component in enumerate(components):
            if r in component[0] and s in component[1]:
                w, h = W.get((r, c)), H.get((c, s))
                assert w is not None or h is not None, "not linear: this solver is too simple"
                if w is None:
                    row[place["W", r, c]] += h
                elif h is None:
                    row[place["H", c, s]] += w
                else:
                    row[-1] -= w * h
        rows.append(row)
    return unknown, rows


def positive_segment(size, rows):
    """Return the ends of the open segment of positive solutions of linear equations.

    A single solution is returned twice; None says that there are none.
    """
    reduced, pivots = eliminated(rows)
    if size in pivots:
        return None  # 0 = 1
    free = [i for i in range(size) if i not in pivots]
    assert len(free) <= 1, "more than a segment"
    start, slope = [Fraction(0)] * size, [Fraction(int(i in free)) for i in range(size)]
    for row, i in zip(reduced, pivots, strict=False):
        start[i] = row[-1]
        slope[i] = -row[free[0]] if free else Fraction(0)
    both = list(zip(start, slope, strict=True))
    low = max((-x / d for x, d in both if d > 0), default=0)
    high = min((-x / d for x, d in both if d < 0), default=0)
    if any(x <= 0 for x, d in both if d == 0) or low > high or (free and low == high):
        return None
    return tuple([x + t * d for x, d in both] for t in (low, high))


def solutions_on(A, components):
    """Return all W, H > 0 on these supports with `WH = A`, in exact arithmetic.

    Modulo scaling they are a point or an open segment. Returns the set of its ends, each as the set
    of its rank-one terms, which neither permuting nor rescaling changes; None if there are none.
    """
    known = known_factors(A, components)
    if known is None:
        return None
    unknown, rows = equations(A, components, *known)
    segment = positive_segment(len(unknown), rows)
    if segment is None:
        return None
    ends = set()
    for values in segment:
        W, H = zeros(len(A), len(components)), zeros(len(components), A.shape[1])
        for X, entries in zip((W, H), known, strict=True):
            for place, value in entries.items():
                X[place] = value
        for (name, *place), value in zip(unknown, values, strict=True):
            (W if name == "W" else H)[tuple(place)] = value
        assert (W.dot(H) == A).all()
        ends.add(rank_one_terms(W, H))
    return frozenset(ends)


def rank_one_terms(W, H):
    return frozenset(
        tuple(np.multiply.outer(W[:, c], H[c]).ravel().tolist()) for c in range(W.shape[1])
    )


@settings(max_examples=60)
@example(built("0 0 - 1", "1 0 - 0", [1, 2], [Fraction(1, 4)]))
@example(built("2 0 1 0 -", "1 - 0 2 2", [1, 2, Fraction(3, 2)], [Fraction(1, 4), 1]))
@example(built("0 0 1 1 2", "2 1 1 0 0", [1, 2, Fraction(3, 2)], [Fraction(1, 4), 1]))
@example(built("3 0 1 2 2 -", "1 0 0 3 2", [1, 2, 1, 3], [1, Fraction(1, 2), 1]))
@given(inflated(max_k=3, extra=2))
def test_brute_force_over_supports_finds_the_inflated_chain_and_nothing_else(case):
    """Every set of k rectangles in the support of A, solved in rational arithmetic."""
    A, k = case.A, case.k
    found = [solutions_on(A, components) for components in covers(A > 0, k)]
    found = [ends for ends in found if ends is not None]

    chain = [rank_one_terms(case.P.dot(X), Y.dot(case.Q)) for X, Y in vertices(case.B)]
    expected = {frozenset([end]) for end in chain}
    expected |= {frozenset(pair) for pair in pairwise(chain)}
    assert set(found) == expected
    # Each once; with ε = 0, and for k = 1, the chain is one point.
    assert len(found) == len(expected) == (2 * k - 1 if np.diag(case.B, 1).any() else 1)


# --- Theorem 2, inflated --------------------------------------------------------------------------


def kkt_residual(A, W, H):
    """Return the largest entry of `|min(W, ∇_W)|` and `|min(H, ∇_H)|`, components balanced."""
    alive = (W.max(axis=0) > 0) & (H.max(axis=1) > 0)
    W, H = W[:, alive], H[alive]
    scale = np.sqrt(H.max(axis=1) / W.max(axis=0))
    W, H = W * scale, H / scale[:, None]
    R = W @ H - A
    return max(np.abs(np.minimum(W, R @ H.T)).max(), np.abs(np.minimum(H, W.T @ R)).max())


@given(st.data())
def test_the_residual_of_inflated_factors_is_that_of_a_bidiagonal_matrix(data):
    """`‖A − WH‖² = ‖S_u·B·S_v − (S_u·X)(Y·S_v)‖²` for `W = PX`, `H = YQ`, in exact arithmetic.

    `S_u²` and `S_v²` hold the sums of squares of P's columns and Q's rows: no roots are needed.
    """
    case = data.draw(inflated())
    X, Y = data.draw(any_factors(case.k))
    residual = case.A - case.P.dot(X).dot(Y.dot(case.Q))
    su2, sv2 = (case.P**2).sum(axis=0), (case.Q**2).sum(axis=1)
    assert (case.P.T.dot(case.P) == two_diagonals(su2, [])).all()
    assert (case.Q.dot(case.Q.T) == two_diagonals(sv2, [])).all()
    assert (su2 > 0).all()
    assert (sv2 > 0).all()
    core = case.B - X.dot(Y)
    assert (residual**2).sum() == (su2[:, None] * core**2 * sv2).sum()


@given(st.data())
def test_the_gradients_of_inflated_factors_are_those_of_a_bidiagonal_matrix(data):
    """Row r of ∇_W is its weight times a row of `G = (XY − B)·S_v²·Yᵀ`, so their signs agree."""
    case = data.draw(inflated())
    X, Y = data.draw(any_factors(case.k))
    W, H = case.P.dot(X), Y.dot(case.Q)
    R = W.dot(H) - case.A
    core = X.dot(Y) - case.B
    su2, sv2 = (case.P**2).sum(axis=0), (case.Q**2).sum(axis=1)
    assert (R.dot(H.T) == case.P.dot((core * sv2).dot(Y.T))).all()
    assert (W.T.dot(R) == X.T.dot(su2[:, None] * core).dot(case.Q)).all()


@given(st.data())
def test_best_rows_of_proportional_rows_are_proportional(data):
    """If H has full row rank, the best W ≥ 0 is `P·X`: same multiples, and 0 for zero rows."""
    case = data.draw(weighted(extra=4)).in_doubles()
    k, rng = case.k, np.random.default_rng(data.draw(st.integers(0, 2**32)))
    H = rng.random((k, case.A.shape[1]))  # its core has the form, the other columns are anything
    H[:, case.core_columns] = np.diag(rng.uniform(0.5, 2, k)) + np.diag(rng.random(k - 1), 1)
    W = np.array([nnls(H.T, row)[0] for row in case.A])
    np.testing.assert_allclose(W, case.P @ W[case.core_rows], rtol=1e-9, atol=1e-9)


def random_case(rng, k, eps, m, n):
    """Draw a case in doubles: weights in [1/2, 1], 1 in the core, and one row and column of 0."""

    def inflating(size):
        classes = np.concatenate([np.arange(k), rng.integers(0, k, size - k - 1)])
        P = np.zeros((size, k))
        P[np.arange(size - 1), classes] = rng.integers(32, 65, size - 1) / 64
        P[np.arange(k), np.arange(k)] = 1
        return rng.permutation(P)

    a0, a1 = rng.uniform(0.5, 2, k), rng.uniform(0.5, 2, k - 1)
    return Inflated(bidiagonal(a0, a1, eps).A, inflating(m), inflating(n).T)


def core_of(case, W, H):
    """Return the core of W and H, its components numbered by the rows that they explain."""
    W1, H1 = W[case.core_rows], H[:, case.core_columns]
    order = (W1 * H1.T).argmax(axis=1)
    return W1[:, order], H1[order], order


def has_the_form(case, W, H, tolerance):
    """Say whether the core is upper bidiagonal with positive diagonals, up to a permutation."""
    W1, H1, order = core_of(case, W, H)
    if sorted(order) != list(range(case.k)) or (np.diag(W1) * np.diag(H1) < 0.01).any():
        return False
    scale = np.sqrt(np.diag(H1) / np.diag(W1))
    off = ~(np.eye(case.k, dtype=bool) | np.eye(case.k, k=1, dtype=bool))
    entries = np.concatenate([(W1 * scale)[off], (H1 / scale[:, None])[off]])
    return entries.max(initial=0) < tolerance


def coordinate_descent(A, W, H, sweeps):
    """Cyclic coordinate descent on a batch of starts, with nothing of nmfcheck in it."""

    def half_sweep(A, W, H):
        WtA, WtW = W.swapaxes(1, 2) @ A, W.swapaxes(1, 2) @ W
        for j in range(H.shape[1]):
            step = WtA[:, j] - (WtW[:, j, None] @ H)[:, 0]
            H[:, j] = np.maximum(0, H[:, j] + step / np.maximum(WtW[:, j, j, None], 1e-300))

    W, H = W.copy(), H.copy()
    for _ in range(sweeps):
        half_sweep(A, W, H)
        half_sweep(A.swapaxes(-1, -2), H.swapaxes(1, 2), W.swapaxes(1, 2))
    return W, H


@pytest.mark.parametrize(("k", "eps"), [(1, 0.0), (2, 0.0), (2, 0.5), (3, 0.0), (3, 0.5), (4, 1.0)])
def test_stationary_points_whose_core_has_the_form_are_exact(k, eps):
    """Descend from random starts, half of them inflated words, exact or not, with some noise."""
    rng = np.random.default_rng([k, int(100 * eps)])
    cases = [random_case(rng, k, eps, m=k + 4, n=k + 3) for _ in range(40)]
    A = np.array([case.A for case in cases])
    W, H = rng.random((40, k + 4, k)), rng.random((40, k, k + 3))
    for i in range(0, 40, 2):
        letters = rng.random(k - 1) < 0.5
        X = np.diag(rng.uniform(0.5, 1.5, k)) + np.diag(eps * letters, 1)
        Y = np.diag(rng.uniform(0.5, 1.5, k)) + np.diag(eps * ~letters, 1)
        W[i], H[i] = cases[i].P @ X + 0.05 * W[i], Y @ cases[i].Q + 0.05 * H[i]
    W, H = coordinate_descent(A, W, H, sweeps=2000)
    exact = 0
    for case, *factors in zip(cases, W, H, strict=True):
        if kkt_residual(case.A, *factors) > 1e-8:
            continue  # not there yet
        missed = np.abs(case.A - factors[0] @ factors[1]).max()
        if has_the_form(case, *factors, 1e-3):
            # As in the square case, a slope of 1e-8 leaves a residual of 1e-5 near a wrong word.
            assert missed < 1e-4
            exact += 1
        else:
            assert missed > 0.01  # collapsed
    assert exact >= 20


def test_stationary_points_without_the_form_need_not_be_exact():
    """Collapse, inflated: two components explain the rows of class 1, class 2 is left out."""
    case = built("0 1 0 - 1", "1 0 - 0", [2, Fraction(1, 2)], [0])
    X = np.array([[Fraction(4, 5), Fraction(6, 5)], [Fraction(0), Fraction(0)]])
    Y = np.array([[Fraction(4, 5), Fraction(0)], [Fraction(17, 15), Fraction(0)]])
    W, H = case.P.dot(X), Y.dot(case.Q)
    R = W.dot(H) - case.A
    assert not R.dot(H.T).any()
    assert not W.T.dot(R).any()
    assert R.any()


def best_with_word(B, word):
    """Return the best X, Y on the supports of a word of letters h and w.

    Every entry of B belongs to one component, so each of them has a block of its own, of which it
    is the best approximation of rank one.
    """
    k = len(B)
    X, Y = np.zeros((k, k)), np.zeros((k, k))
    for c in range(k):
        rows = [c - 1, c] if c > 0 and word[c - 1] == "w" else [c]
        columns = [c, c + 1] if c < k - 1 and word[c] == "h" else [c]
        u, sigma, v = np.linalg.svd(B[np.ix_(rows, columns)])
        X[rows, c], Y[c, columns] = np.abs(u[:, 0]) * sigma[0], np.abs(v[0])
    return X, Y


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_inflated_words_are_stationary_if_and_only_if_they_are_exact(k):
    """Each word at its best, which is its best for the bidiagonal matrix `S_u·B·S_v`."""
    case = random_case(np.random.default_rng(k), k, eps=0.5, m=k + 4, n=k + 3)
    su, sv = np.sqrt((case.P**2).sum(axis=0)), np.sqrt((case.Q**2).sum(axis=1))
    for letters in product("hw", repeat=k - 1):
        X, Y = best_with_word(su[:, None] * case.B * sv, "".join(letters))
        W, H = case.P @ (X / su[:, None]), (Y / sv) @ case.Q
        assert has_the_form(case, W, H, 1e-12)
        if "wh" in "".join(letters):
            assert kkt_residual(case.A, W, H) > 0.01
        else:
            assert kkt_residual(case.A, W, H) < 1e-12
            assert np.abs(case.A - W @ H).max() < 1e-12


# --- Robust form ----------------------------------------------------------------------------------


def check_bounds(case, W, H):
    """Assert the robust form for W, H as they are; say whether its conditions were met."""
    k, A, B, a0 = case.k, case.A, case.B, np.diag(case.B)
    delta = np.abs(A - W @ H).max()
    eta = np.sqrt(delta * (np.diag(B, 1).max(initial=0) + delta))
    inverse = np.linalg.inv(B)
    if k * eta >= a0.min() - delta or k * delta * np.linalg.norm(inverse, 1) >= 1:
        return False
    if k * delta * np.linalg.norm(inverse, np.inf) >= 1:
        return False
    rows, columns = case.core_rows, case.core_columns
    W1, H1, order = core_of(case, W, H)
    assert sorted(order) == list(range(k))
    scale = np.sqrt(np.diag(H1) / np.diag(W1))
    W, H = W[:, order] * scale, H[order] / scale[:, None]
    W1, H1 = W[rows], H[:, columns]  # now w0 = h0
    slack = delta * (1 + 1e-9) + 1e-15 * A.max()  # the rounding of δ, and of differences below

    # 1. The core is a factorization of B with the same defect.
    assert (np.abs(B - W1 @ H1) <= slack).all()
    # 2. What is 0 in every exact factorization, in any row and column.
    small = slack / np.sqrt(a0 - delta - (k - 1) * eta)
    for j in range(k):
        assert W[A[:, columns[j]] == 0, j].max(initial=0) <= small[j]
        assert H[j, A[rows[j]] == 0].max(initial=0) <= small[j]
    # 3. Every row is the right multiple of its core row, every column of its core column.
    for order_of_norm, padding, weights, size in (
        (1, np.abs(W - case.P @ W1), case.P.sum(axis=1), np.abs(W1).sum(axis=0)),
        (np.inf, np.abs(H - H1 @ case.Q).T, case.Q.sum(axis=0), np.abs(H1).sum(axis=1)),
    ):
        norm = np.linalg.norm(inverse, order_of_norm)
        kappa = norm / (1 - k * delta * norm)
        assert (padding <= (1 + weights[:, None]) * slack * kappa * size).all()
    return True


@given(st.data())
def test_robust_form_near_solutions(data):
    case = data.draw(weighted(max_k=5, extra=4, entries=of_order_1))
    X, Y = data.draw(points(case.B))
    case, X, Y = case.in_doubles(), X.astype(float), Y.astype(float)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    size = 10.0 ** data.draw(st.floats(-12, -1))
    W, H = case.P @ X, Y @ case.Q
    # Some entries of any row and column move, up or down, by less until the conditions are met.
    move_W, move_H = (rng.uniform(-1, 1, F.shape) * (rng.random(F.shape) < 0.5) for F in (W, H))
    while not check_bounds(
        case, np.maximum(W + size * move_W, 0), np.maximum(H + size * move_H, 0)
    ):
        size /= 10


@pytest.mark.parametrize(("k", "eps"), [(1, 0.0), (2, 0.5), (3, 0.0), (3, 0.5)])
def test_what_coordinate_descent_finds_is_inflated(k, eps):
    """From random starts: every run that ends at the product A ends at `P·X`, `Y·Q`."""
    rng = np.random.default_rng([k, int(100 * eps)])
    case = random_case(rng, k, eps, m=k + 4, n=k + 3)
    W, H = rng.random((40, k + 4, k)), rng.random((40, k, k + 3))
    W, H = coordinate_descent(case.A, W, H, sweeps=1500)
    right = np.abs(case.A - W @ H).max(axis=(1, 2)) < 1e-12
    assert right.sum() >= 20
    for X, Y in zip(W[right], H[right], strict=True):
        assert check_bounds(case, X, Y)
        assert np.abs(X - case.P @ X[case.core_rows]).max() < 1e-10 * X.max()
        assert np.abs(Y - Y[:, case.core_columns] @ case.Q).max() < 1e-10 * Y.max()


# --- Judging --------------------------------------------------------------------------------------


@given(st.data())
def test_inflated_factors_are_judged_as_their_core(data):
    """Units, balance and product defect are exactly those of the core."""
    case = data.draw(weighted(max_k=4))
    X, Y = data.draw(any_factors(case.k))
    W, H = case.P.dot(X), Y.dot(case.Q)
    assert case.A.max() == case.B.max()
    assert (W.max(axis=0) == X.max(axis=0)).all()
    assert (H.max(axis=1) == Y.max(axis=1)).all()
    assert (W[case.core_rows] == X).all()
    assert (H[:, case.core_columns] == Y).all()
    assert abs(case.A - W.dot(H)).max() == abs(case.B - X.dot(Y)).max()


@given(st.data())
def test_right_forms_with_any_shares_meet_half_the_first_order_tolerance(data):
    """They miss A by `θ_i·(1 − θ_{i+1})·e_i·e_{i+1}/a0(i+1)` at (i, i+2), and nowhere else."""
    case = data.draw(weighted(max_k=4, eps=Fraction(1, 1000)))
    k, a0, e = case.k, np.diag(case.B), np.diag(case.B, 1)
    shares = data.draw(several(st.sampled_from([Fraction(i, 4) for i in range(5)]), k - 1))
    X, Y = closed_form(case.B, shares, data.draw(several(fractions, k)))
    missed = case.A - case.P.dot(X).dot(Y.dot(case.Q))
    expected = [shares[i] * (1 - shares[i + 1]) * e[i] * e[i + 1] / a0[i + 1] for i in range(k - 2)]
    assert abs(missed).max() == max(expected, default=0)
    tolerance = 2 * max(e, default=0) ** 2 / (min(a0) * max(a0))
    assert abs(missed).max() / max(a0) <= tolerance / 2


def test_for_ones_type_IV_misses_by_half_the_first_order_tolerance():
    """So that half is not to be improved on: `max|A − WH| = ε²`, the tolerance is 2ε²."""
    eps = Fraction(1, 1000)
    case = built("0 1 2 - 1", "0 - 1 2", [1, 1, 1], [eps, eps])
    case.P[case.P > 0] = case.Q[case.Q > 0] = Fraction(1)
    X, Y = closed_form(case.B, [Fraction(1), Fraction(0)], [Fraction(1)] * 3)
    assert abs(case.A - case.P.dot(X).dot(Y.dot(case.Q))).max() == eps**2


@given(inflated(extra=2))
def test_k_columns_of_A_are_a_factor_if_and_only_if_they_are_one_of_each_class(case):
    A, k = case.A, case.k
    class_of = [next((j for j in range(k) if column[j]), None) for column in case.Q.T]
    for chosen in combinations(range(A.shape[1]), k):
        classes = [class_of[c] for c in chosen]
        one_of_each = None not in classes and len(set(classes)) == k
        assert (rank(A[:, chosen]) == k) == one_of_each
        if one_of_each:
            H = np.array([case.Q[class_of[c]] / case.Q[class_of[c], c] for c in chosen])
            assert (A[:, chosen].dot(H) == A).all()


# --- Draws ----------------------------------------------------------------------------------------


def dyadic(k, m, n, draw, eps):
    """Draw a case in doubles whose a0, a1 and weights are multiples of 1/64."""
    rng = np.random.default_rng([k, m, n, draw])
    case = random_case(rng, k, 0.0, m, n)
    a0, a1 = (np.round(64 * np.exp2(rng.uniform(-1, 1, size))) / 64 for size in (k, k - 1))
    return Inflated(bidiagonal(a0, a1, eps).A, case.P, case.Q), a0, a1


def exactly(X):
    """Return the numbers that doubles are."""
    return np.vectorize(Fraction, otypes=[object])(X)


SIZES = [(1, 4, 3), (2, 5, 7), (3, 7, 6), (4, 8, 9)]


@pytest.mark.parametrize("eps", [0.0, 0.25])
@pytest.mark.parametrize(("k", "m", "n"), SIZES)
def test_dyadic_draws_have_rank_k_as_stored(k, m, n, eps):
    for draw in range(5):
        case, a0, a1 = dyadic(k, m, n, draw, eps)
        stored = exactly(case.A)
        B = two_diagonals(exactly(a0), Fraction(eps) * exactly(a1))
        assert (stored == exactly(case.P).dot(B).dot(exactly(case.Q))).all()
        assert rank(stored) == k
        assert (case.A.astype(np.float32) == case.A).all()  # in single precision, too


def test_other_eps_round_A_and_its_rank_is_larger_as_stored():
    """At ε = 1e-3 four roundings are in an entry: of ε, of ε·a1 and of the two weights."""
    larger = 0
    for draw in range(10):
        case, a0, a1 = dyadic(3, 7, 6, draw, 1e-3)
        B = two_diagonals(exactly(a0), Fraction(1, 1000) * exactly(a1))
        A = exactly(case.P).dot(B).dot(exactly(case.Q))
        stored = exactly(case.A)
        assert (abs(stored - A) <= A * Fraction(5, 2**53)).all()
        larger += rank(stored) > 3
    assert larger > 0
