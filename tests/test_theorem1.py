"""Theorem 1: all exact nonnegative factorizations of the bidiagonal case."""

from fractions import Fraction
from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmfcheck import InputError, bidiagonal, exact_factorization
from nmfcheck.families.bidiagonal.exact import closed_form, exact_words, is_exact_word
from strategies import cases, points


def support_of_A(n):
    return frozenset((i, i) for i in range(n)) | frozenset((i, i + 1) for i in range(n - 1))


def subsets(n):
    return [frozenset(i for i in range(n) if bits >> i & 1) for bits in range(2**n)]


def supports_with_the_right_product(n):
    """All pairs (support of W, support of H) whose product has exactly the support of A.

    A component is a rectangle of rows × columns, and nothing cancels in a sum of nonnegative
    terms: so the rectangles must lie in the support of A and cover it. Pairs are searched
    component by component; nothing else of the theorem is used.
    """
    target = support_of_A(n)
    rectangles = [
        (rows, columns, frozenset(product(rows, columns)))
        for rows in subsets(n)
        for columns in subsets(n)
        if frozenset(product(rows, columns)) <= target
    ]

    def extend(chosen, covered):
        if len(chosen) == n:
            if covered == target:
                yield tuple(chosen)
            return
        for rows, columns, entries in rectangles:
            yield from extend([*chosen, (rows, columns)], covered | entries)

    return extend([], frozenset())


def is_feasible(n, components):
    """Say whether positive values on these supports multiply to A = ones, ε = 0.5.

    Multiplicative updates keep zeros and positive entries as they are, so from a positive start on
    a support they search that support alone.
    """
    A = bidiagonal(np.ones(n), eps=0.5).A
    W, H = np.zeros((n, n)), np.zeros((n, n))
    for k, (rows, columns) in enumerate(components):
        W[sorted(rows), k] = H[k, sorted(columns)] = 0.7
    with np.errstate(invalid="ignore"):
        for _ in range(3000):
            H = np.nan_to_num(H * (W.T @ A) / (W.T @ W @ H))
            W = np.nan_to_num(W * (A @ H.T) / (W @ H @ H.T))
    return np.abs(A - W @ H).max() < 1e-9


@pytest.mark.parametrize(
    ("n", "expected"), [(2, 6), (3, 30), pytest.param(4, 168, marks=pytest.mark.slow)]
)
def test_brute_force_over_supports(n, expected):
    found = [c for c in supports_with_the_right_product(n) if is_feasible(n, c)]
    assert len(found) == expected == factorial(n) * (2 * n - 1)

    from_theorem = set()
    for p in permutations(range(n)):
        for switch in range(1, n):
            for share in (0.0, 0.5, 1.0):
                W, H = exact_factorization(
                    bidiagonal(np.ones(n), eps=0.5), switch=switch, theta=share, permutation=p
                )
                from_theorem.add((tuple(map(tuple, W > 0)), tuple(map(tuple, H > 0))))
    by_search = set()
    for components in found:
        W, H = np.zeros((n, n), bool), np.zeros((n, n), bool)
        for k, (rows, columns) in enumerate(components):
            W[sorted(rows), k] = True
            H[k, sorted(columns)] = True
        by_search.add((tuple(map(tuple, W)), tuple(map(tuple, H))))
    assert by_search == from_theorem


@pytest.mark.parametrize("n", [2, 3])
def test_brute_force_over_all_pairs_of_supports(n):
    """The search by rectangles misses none of the 2^(2n²) pairs of supports."""
    target = np.zeros((n, n), bool)
    target[tuple(zip(*support_of_A(n), strict=True))] = True
    matrices = np.array([np.reshape(bits, (n, n)) for bits in product([False, True], repeat=n * n)])
    hits = sum(
        int(((W.astype(int) @ matrices.astype(int) > 0) == target).all(axis=(1, 2)).sum())
        for W in matrices
    )
    assert hits == sum(1 for _ in supports_with_the_right_product(n))


@pytest.mark.parametrize("n", range(1, 5))
def test_without_superdiagonal_only_monomial_factors_are_left(n):
    """ε = 0: n! pairs of supports, each a permutation and its inverse."""
    singles = [(r, c) for r in subsets(n) for c in subsets(n) if len(r) <= 1 and r == c]
    rectangles = [
        (r, c) for r in subsets(n) for c in subsets(n) if all(i == j for i in r for j in c)
    ]
    covers = [
        components
        for components in product(rectangles, repeat=n)
        if {(i, j) for r, c in components for i in r for j in c} == {(i, i) for i in range(n)}
    ] if n < 4 else None  # fmt: skip
    if covers is not None:
        assert len(covers) == factorial(n)
        assert all(component in singles for components in covers for component in components)
    W, H = exact_factorization(bidiagonal(np.arange(1.0, n + 1)), permutation=range(n)[::-1])
    assert ((W > 0).sum(axis=0) == 1).all()
    assert ((H > 0).sum(axis=1) == 1).all()


fractions = st.fractions(min_value=Fraction(1, 20), max_value=20, max_denominator=50)


@given(st.data(), st.integers(2, 8))
def test_the_closed_form_is_exact_in_rational_arithmetic(data, n):
    def some(size):
        return np.array(data.draw(st.lists(fractions, min_size=size, max_size=size)), dtype=object)

    a0, w0, e = some(n), some(n), some(n - 1)
    switch = data.draw(st.integers(1, n - 1))
    share = data.draw(st.fractions(0, 1, max_denominator=30))
    w1, h0, h1 = closed_form(a0, e, w0, switch, share)

    def diagonal(values, k):
        return np.diag(values, k) if len(values) else np.zeros((n, n), dtype=object)

    W = diagonal(w0, 0) + diagonal(w1, 1)
    H = diagonal(h0, 0) + diagonal(h1, 1)
    A = diagonal(a0, 0) + diagonal(e, 1)
    assert (W.dot(H) == A).all()
    assert (W >= 0).all()
    assert (H >= 0).all()
    # Conditions 2, 3 and 4 of the theorem.
    assert all(w0 * h0 == a0)
    assert all(w0[:-1] * h1 + w1 * h0[1:] == e)
    assert all(w1[:-1] * h1[1:] == 0)


@given(fractions, fractions, fractions, fractions, fractions, st.fractions(0, 1))
def test_equation_11_of_the_paper_is_n_2(a01, a02, e, w01, w02, share):
    """(11) with its missing condition, 0 ≤ w1(1) ≤ e·w0(2)/a0(2); (9) is a0 = a1 = 1."""
    a0, w0 = np.array([a01, a02]), np.array([w01, w02])
    (w1,), h0, (h1,) = closed_form(a0, np.array([e]), w0, 1, share)
    assert 0 <= w1 <= e * w02 / a02
    assert h0.tolist() == [a01 / w01, a02 / w02]
    assert h1 == (e - w1 * a02 / w02) / w01


@given(fractions, fractions, fractions, st.fractions(0, 1))
def test_equation_9_of_the_paper(eps, w01, w02, share):
    one = Fraction(1)
    (w1,), h0, (h1,) = closed_form(
        np.array([one, one]), np.array([eps]), np.array([w01, w02]), 1, share
    )
    assert h0.tolist() == [1 / w01, 1 / w02]
    assert h1 == (eps - w1 / w02) / w01


@given(st.data())
def test_every_point_multiplies_to_A(data):
    case = data.draw(cases())
    W, H = exact_factorization(case, **data.draw(points(case)))
    assert (W >= 0).all()
    assert (H >= 0).all()
    np.testing.assert_allclose(W @ H, case.A, rtol=1e-14, atol=1e-15)


def test_neighbouring_segments_of_the_chain_meet():
    case = bidiagonal([1, 2, 3, 1.5], [1, 2, 0.5], eps=0.3)
    for s in (2, 3):
        for one, other in zip(
            exact_factorization(case, switch=s, theta=1.0),
            exact_factorization(case, switch=s - 1, theta=0.0),
            strict=True,
        ):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n", range(2, 9))
def test_exact_words(n):
    pure = ["".join(letters) for letters in product("hw", repeat=n - 1)]
    exact = [word for word in pure if is_exact_word(word)]
    assert len(exact) == n
    assert len(pure) - len(exact) == 2 ** (n - 1) - n
    every = ["".join(letters) for letters in product("hwb", repeat=n - 1)]
    assert sorted(filter(is_exact_word, every)) == sorted(exact_words(n))
    assert len(exact_words(n)) == 2 * n - 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"switch": 0}, "switch must be a whole number of at least 1, not 0"),
        ({"switch": 3}, "switch is 3; for n = 3 it must be at most 2"),
        ({"switch": 1.5}, "switch must be a whole number"),
        ({"theta": 1.5}, "theta is 1.5; it must be between 0 and 1"),
        ({"theta": float("nan")}, "theta must be finite"),
        ({"w0": [1, 2]}, "w0 must be 3 positive numbers"),
        ({"w0": [1, 2, 0]}, "w0 must be 3 positive numbers"),
        ({"permutation": [0, 0, 1]}, r"permutation must hold 0\.\.2 once each"),
        ({"permutation": [0, 1]}, r"permutation must hold 0\.\.2 once each"),
    ],
)
def test_bad_places_get_one_clear_line(arguments, said):
    with pytest.raises(InputError, match=said):
        exact_factorization(bidiagonal([1, 1, 1], eps=0.1), **arguments)
