"""Noise that is orthogonal to X leaves X the best approximation; multiplicative update."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmfcheck.families.mixed import cases as mixed_cases
from nmfcheck.families.noisy.cases import case_of
from test_inflated_theory import coordinate_descent, exactly, rank, several, sixty_fourths
from test_mixed_theory import Mixed, check_bounds, matched, mixed

SHAPES = [(4, 4, 2), (6, 5, 2), (7, 9, 3), (12, 10, 4), (6, 6, 5), (4, 3, 1)]


def noisy(m, n, k, i):
    return case_of(m, n, k, i, f"noisy/{m}x{n}/k={k}/{i}")


def parts(case):
    """Return P, D's diagonal and Q of the exact part."""
    return Mixed(case.core.a0, case.rows.matrix, case.columns.matrix.T)


def ratio(X, N, k):
    """Return ν."""
    return np.linalg.norm(N, 2) / np.linalg.svd(X, compute_uv=False)[k - 1]


# --- Theorem 5 ------------------------------------------------------------------------------------


def orthogonal_pair(rng, m, n, k, nu):
    """Return X of rank k and N orthogonal to it on both sides, ‖N‖₂ = ν·σ_k(X)."""
    U, _ = np.linalg.qr(rng.normal(size=(m, m)))
    V, _ = np.linalg.qr(rng.normal(size=(n, n)))
    r = min(m, n)
    sigma = np.concatenate([1 + rng.exponential(size=k), nu * rng.random(r - k)])
    sigma[k - 1], sigma[k] = 1, nu
    parts = (U[:, :r] * sigma, V[:, :r].T)
    return parts[0][:, :k] @ parts[1][:k], parts[0][:, k:] @ parts[1][k:]


@given(st.data())
def test_growth_away_from_X(data):
    """For X' of rank at most k of any kind: far from X, near it, and with parts of N in it.

    N may be larger than X.
    """
    k = data.draw(st.integers(1, 3))
    m, n = data.draw(st.integers(k + 1, 6)), data.draw(st.integers(k + 1, 6))
    nu, size = data.draw(st.floats(0.01, 4)), 10.0 ** data.draw(st.floats(-3, 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    X, N = orthogonal_pair(rng, m, n, k, nu)
    U, sigma, V = np.linalg.svd(X + N)
    chosen = rng.permutation(min(m, n))[:k]
    others = [
        size * rng.random((m, k)) @ rng.random((k, n)),
        (U[:, :k] + size * rng.normal(size=(m, k))) * sigma[:k] @ V[:k],
        (U[:, :k] * sigma[:k] + size * N @ rng.normal(size=(n, k)))
        @ (V[:k] + size * rng.normal(size=(k, m)) @ N),
        U[:, chosen] * sigma[chosen] @ V[chosen],
    ]
    for other in others:
        away = np.linalg.norm(X - other) ** 2
        left, right = np.linalg.norm(X + N - other) ** 2, np.linalg.norm(N) ** 2 + (1 - nu) * away
        assert left >= right - 1e-12 * (left + away)


def test_the_growth_is_the_best_one():
    """X = diag(1, 0), N = diag(0, ν), X' = (1, t)ᵀ(1, t): the quotient goes to 1 − ν."""
    for nu in (0.1, 0.5, 0.9, 1, 1.5, 3):
        t = 1e-4
        other = np.outer([1, t], [1, t])
        more = np.linalg.norm(np.diag([1, nu]) - other) ** 2 - nu**2
        assert more / np.linalg.norm(np.diag([1, 0]) - other) ** 2 == pytest.approx(
            1 - nu, abs=1e-6
        )


def squared(F):
    return (F * F).sum()


pairs = several(st.fractions(-4, 4, max_denominator=64), 2)


@given(st.fractions(0, 4, max_denominator=64), pairs, pairs)
def test_growth_in_exact_arithmetic(nu, u, v):
    """X = diag(1, 0), N = diag(0, ν), also for ν > 1; at X' = diag(0, 1) both sides are equal."""
    X, N = exactly(np.diag([1, 0])), np.diag([Fraction(0), nu])
    for other in (np.outer(u, v), nu * np.outer(u, v), N):
        assert squared(X + N - other) >= squared(N) + (1 - nu) * squared(X - other)
    other = exactly(np.diag([0, 1]))
    assert squared(X + N - other) == squared(N) + (1 - nu) * squared(X - other)


@given(st.fractions(1, 100, max_denominator=64))
def test_X_need_not_be_the_best_product_if_the_noise_is_larger(nu):
    """At ν = 1 the product diag(0, ν) is as near to A as X = diag(1, 0) is, and nearer at ν > 1."""
    X, N = exactly(np.diag([1, 0])), np.diag([Fraction(0), nu])
    assert not X.T.dot(N).any()
    assert not N.dot(X.T).any()
    w, h = exactly(np.array([[0], [1]])), np.array([[Fraction(0), nu]])
    found, of_X = squared(X + N - w.dot(h)), squared(N)
    assert found == 1
    assert found < of_X if nu > 1 else found == of_X


def test_larger_noise_takes_the_place_of_X():
    X, N = orthogonal_pair(np.random.default_rng(0), 6, 5, 2, 1.5)
    U, sigma, V = np.linalg.svd(X + N)
    best = U[:, :2] * sigma[:2] @ V[:2]
    assert np.linalg.norm(X + N - best) < 0.9 * np.linalg.norm(N)


# --- The construction -----------------------------------------------------------------------------


@settings(max_examples=50)
@given(st.data())
def test_noise_from_any_Z_is_orthogonal_and_there_is_no_other(data):
    case = data.draw(mixed(max_k=3, least=1, most=3))
    rows, columns = case.mixed_rows, Mixed(case.a0, case.Q.T, case.P.T).mixed_rows
    left = np.zeros((len(case.P), len(rows)), dtype=int) + exactly(0)
    left[case.core_rows], left[rows] = -case.P[rows].T, np.eye(len(rows), dtype=int)
    right = np.zeros((len(columns), case.Q.shape[1]), dtype=int) + exactly(0)
    right[:, case.core_columns] = -case.Q[:, columns].T
    right[:, columns] = np.eye(len(columns), dtype=int)
    Z = np.array(data.draw(several(several(sixty_fourths, len(columns)), len(rows))), dtype=object)
    N = left.dot(Z).dot(right)
    assert not case.A.T.dot(N).any()
    assert not N.dot(case.A.T).any()
    assert (N[np.ix_(case.core_rows, case.core_columns)] > 0).all()
    assert (N[np.ix_(rows, columns)] == Z).all()
    assert (case.A[N < 0] > 0).all()
    # All that is orthogonal on the left: as many dimensions as [−Cᵀ; I] has columns.
    assert rank(left) == len(rows) == len(case.P) - rank(case.A)
    assert rank(right) == len(columns) == case.Q.shape[1] - rank(case.A)


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_draws_are_exact_as_stored(m, n, k):
    for i in range(4):
        case = noisy(m, n, k, i)
        P, Q, a0 = (exactly(F) for F in (parts(case).P, parts(case).Q, case.core.a0))
        A, X = exactly(case.A), exactly(case.X)
        N = A - X
        assert ((P * a0).dot(Q) == X).all()
        assert not X.T.dot(N).any()
        assert not N.dot(X.T).any()
        assert rank(X) == k
        assert rank(A) == k + rank(N) > k
        assert (A > 0).all()
        assert (8 * A >= X).all()
        # At the answer all gradients vanish.
        R = (P * a0).dot(Q) - A
        assert not R.dot(Q.T).any()
        assert not (P * a0).T.dot(R).any()
        # No column and no row of A is a combination of those of X.
        assert all(rank(np.concatenate([X, A[:, [c]]], axis=1)) == k + 1 for c in range(n))
        assert all(rank(np.concatenate([X, A[[r]]])) == k + 1 for r in range(m))


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
def test_the_noise_of_draws_is_smaller_than_X(m, n, k):
    for i in range(30):
        case = noisy(m, n, k, i)
        X, N = case.X, case.A - case.X
        assert ratio(X, N, k) <= 0.9 + 1e-12
        sigma = np.linalg.svd(X, compute_uv=False)
        assert sigma[k - 1] >= case.core.a0.min() * (1 - 1e-12)
        assert case.noise == pytest.approx(np.linalg.norm(N), rel=1e-14)
        # The consequence: X is the truncated singular value decomposition of A.
        U, of_A, V = np.linalg.svd(case.A, full_matrices=False)
        np.testing.assert_allclose(of_A[:k], sigma[:k], rtol=1e-12)
        np.testing.assert_allclose(U[:, :k] * of_A[:k] @ V[:k], X, atol=1e-12)
        assert np.linalg.norm(of_A[k:]) == pytest.approx(case.noise, rel=1e-10)
        single = case.A.astype(np.float32).astype(float)
        assert (np.abs(single - case.A) <= case.A * 2.0**-24).all()


def test_single_precision_rounds_most_draws():
    drawn = [noisy(12, 10, 4, i).A for i in range(20)]
    assert sum((A.astype(np.float32) != A).any() for A in drawn) > 10


@pytest.mark.parametrize(("m", "n", "k"), [(6, 5, 2), (12, 10, 4)])
def test_residuals_bound_the_distance_to_X_and_descent_gets_there(m, n, k):
    rng = np.random.default_rng([m, n, k])
    cases = [noisy(m, n, k, i) for i in range(30)]
    A, X = (np.array([getattr(case, name) for case in cases]) for name in "AX")
    W, H = rng.random((30, m, k)), rng.random((30, k, n))
    for sweeps in (0, 3, 30, 600):
        W, H = coordinate_descent(A, W, H, sweeps)
        for case, product in zip(cases, W @ H, strict=True):
            more = np.linalg.norm(case.A - product) ** 2 - case.noise**2
            assert more >= -1e-14 * np.linalg.norm(case.A) ** 2  # ‖A − WH‖/‖N‖ is at least 1
            nu = ratio(case.X, case.A - case.X, k)
            assert np.linalg.norm(case.X - product) <= np.sqrt(max(more, 0) / (1 - nu)) + 1e-6
    right = np.abs(X - W @ H).max(axis=(1, 2)) < 1e-10
    assert right.sum() >= 27
    for case, *factors in zip(np.array(cases)[right], W[right], H[right], strict=True):
        assert np.linalg.norm(case.A - factors[0] @ factors[1]) == pytest.approx(case.noise)
        assert check_bounds(parts(case), *factors)  # of X: the factors are right as well


# --- Multiplicative update, on mixed and noisy matrices -------------------------------------------


def multiplicative_update(A, W, H, iterations):
    for _ in range(iterations):
        H = H * (W.T @ A) / (W.T @ W @ H)
        W = W * (A @ H.T) / (W @ (H @ H.T))
    return W, H


def nndsvd(A, k):
    """Return the positive or negative parts of singular vectors, whichever are larger."""
    U, sigma, V = np.linalg.svd(A, full_matrices=False)
    W, H = np.abs(U[:, :k]) * np.sqrt(sigma[:k]), np.abs(V[:k]) * np.sqrt(sigma[:k, None])
    for j in range(1, k):
        signed = [(np.maximum(s * U[:, j], 0), np.maximum(s * V[j], 0)) for s in (1, -1)]
        W[:, j], H[j] = max(signed, key=lambda p: np.linalg.norm(p[0]) * np.linalg.norm(p[1]))
    return W, H


def unlocked(answer, W, H):
    """Say whether the supports contain the answer's, for some permutation."""
    return any(
        W[:, p][answer.P > 0].all() and H[list(p)][answer.Q > 0].all()
        for p in permutations(range(answer.k))
    )


def mixed_case(m, n, k, i):
    return mixed_cases.case_of(m, n, k, i, f"mixed/{m}x{n}/k={k}/{i}")


@pytest.mark.parametrize("family", [mixed_case, noisy])
@pytest.mark.parametrize(
    ("m", "n", "k"), [(3, 3, 2), (5, 5, 4), (6, 5, 2), (12, 10, 3), (12, 10, 4)]
)
def test_nndsvd_starts_are_locked_in_all_but_small_matrices(family, m, n, k):
    count = 0
    for i in range(200):
        case = family(m, n, k, i)
        W, H = nndsvd(case.A, k)
        assert (W[:, 0] > 0).all()
        assert all((W[:, j] == 0).any() and (H[j] == 0).any() for j in range(1, k))
        count += unlocked(parts(case), W, H)
        if i < 5:
            W1, H1 = multiplicative_update(case.A, W, H, 1000)
            assert not W1[W == 0].any()
            assert not H1[H == 0].any()
            check_bounds(parts(case), W1, H1)  # 3: what a zero in a mixed row costs
            assert m < 12 or np.abs(case.X - W1 @ H1).max() > 0.02 * case.core.a0.max()
    assert 50 < count < 130 if m in {3, 5} else count <= 2 if m == 6 else count == 0


def test_multiplicative_update_from_a_start_that_is_not_locked_gets_there():
    starts = ((case, *nndsvd(case.A, 2)) for case in (mixed_case(3, 3, 2, i) for i in range(9)))
    case, W, H = next(start for start in starts if unlocked(parts(start[0]), *start[1:]))
    W, H = multiplicative_update(case.A, W, H, 5000)
    assert np.abs(case.A - W @ H).max() < 1e-3


@pytest.mark.parametrize("family", [mixed_case, noisy])
def test_multiplicative_update_is_one_over_t(family):
    """The factor of an entry that goes to 0 goes to 1, and t times the entry settles."""
    case, rng = family(12, 10, 3, 1), np.random.default_rng(1)
    W, H, seen, t = rng.random((12, 3)), rng.random((3, 10)), [], 0
    columns = parts(case).core_columns
    for until in (2000, 4000, 8000):
        W, H = multiplicative_update(case.A, W, H, until - t)
        t = until
        X, Y = matched(parts(case), W, H)
        assert np.abs((X.T @ case.A) / (X.T @ X @ Y) - 1)[:, columns].max() < 4 / t
        seen.append(t * np.where(np.eye(3), 0, Y[:, columns]).max())
    assert 0.1 < seen[0] < 5
    np.testing.assert_allclose(seen, seen[-1], rtol=0.15)


def test_one_entry_alone_decays_like_N_over_beta_t():
    """With all else at the answer, 1/x grows by β/N with each iteration."""
    case = mixed_case(6, 5, 2, 0)
    W, H = (F.copy() for F in case.answer)
    c, x = case.columns.core[0], 0.1
    N, beta = W[:, 1] @ case.A[:, c], W[:, 1] @ W[:, 1]
    for t in range(1, 2001):
        H[1, c] = x
        x *= (W.T @ case.A)[1, c] / (W.T @ W @ H)[1, c]
        assert 1 / x == pytest.approx(10 + t * beta / N)
