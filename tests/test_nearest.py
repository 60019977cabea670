"""The nearest exact factorization."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmfcheck import InputError, bidiagonal, exact_factorization, judge, nearest_exact
from nmfcheck.judging.measures import balance
from strategies import cases, factorizations, points


@given(st.data())
def test_an_exact_factorization_is_its_own_nearest(data):
    case = data.draw(cases())
    place = data.draw(points(case))
    W, H = exact_factorization(case, **place)
    nearest = nearest_exact(case, W, H)
    assert nearest.distance < 1e-13
    np.testing.assert_allclose(nearest.W, W, rtol=1e-9, atol=1e-9 * W.max())
    np.testing.assert_allclose(nearest.H, H, rtol=1e-9, atol=1e-9 * H.max())
    assert nearest.permutation == tuple(place["permutation"])
    if case.eps > 0 and case.n > 1 and 0 < place["theta"] < 1:
        assert nearest.switch == place["switch"]
        assert nearest.theta == pytest.approx(place["theta"], abs=1e-6)


@pytest.mark.slow
@given(st.data())
def test_what_is_returned_is_exact(data):
    case = data.draw(cases())
    nearest = nearest_exact(case, *data.draw(factorizations(case)))
    assert judge(case, nearest.W, nearest.H).grade == "exact"


@settings(max_examples=40)
@given(st.data())
def test_no_other_point_of_the_chain_is_nearer(data):
    """Against a fine walk along the whole chain, under the same permutation."""
    case = data.draw(cases(min_n=2, max_n=4))
    W, H = data.draw(factorizations(case))
    nearest = nearest_exact(case, W, H)
    unit = np.array([case.a0.max()])
    mine = np.concatenate(balance(W[None], H[None], unit))
    for switch in range(1, case.n):
        for share in np.linspace(0, 1, 41):
            point = exact_factorization(
                case, switch=switch, theta=share, permutation=nearest.permutation
            )
            other = np.concatenate(balance(point[0][None], point[1][None], unit))
            distance = np.linalg.norm(mine - other) / np.sqrt(2 * (case.a0 / unit).sum())
            assert nearest.distance <= distance + 1e-9


def brute_force(case, W, H):
    """Return the distance to the nearest of many points, over all permutations."""
    unit = np.array([case.a0.max()])
    mine = np.concatenate(balance(W[None], H[None], unit))
    distances = []
    for p in permutations(range(case.n)):
        for switch in range(1, max(case.n, 2)):
            for share in np.linspace(0, 1, 21):
                point = exact_factorization(case, switch=switch, theta=share, permutation=p)
                other = np.concatenate(balance(point[0][None], point[1][None], unit))
                distances.append(np.linalg.norm(mine - other))
    return min(distances) / np.sqrt(2 * (case.a0 / unit).sum())


@pytest.mark.parametrize("kind", ["random", "dead", "sparse"])
@pytest.mark.parametrize("n", [2, 3])
def test_no_other_permutation_is_nearer(n, kind):
    """Also where M is no permutation, on many random factorizations."""
    rng = np.random.default_rng([n, len(kind)])
    for _ in range(12):
        case = bidiagonal(
            rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, n - 1), rng.choice([0.1, 1.0, 3.0])
        )
        W, H = rng.random((n, n)), rng.random((n, n))
        if kind == "dead":
            W[:, 0] = 0
        if kind == "sparse":
            W[rng.random((n, n)) < 0.5] = 0
        assert nearest_exact(case, W, H).distance <= brute_force(case, W, H) + 1e-9


def test_a_permutation_that_M_does_not_show():
    W = np.array([[0, 0.5], [0, 0]])
    nearest = nearest_exact(bidiagonal([1, 1]), W, W)
    assert nearest.distance == pytest.approx(np.sqrt(0.5))
    assert nearest.permutation == (1, 0)


@pytest.mark.parametrize(
    ("a0", "eps"), [([2, 1], 3), ([0.6, 0.3], 0.9), ([2, 1, 1], 3), ([1, 1], 1e-170), ([1, 1], 1e6)]
)
def test_where_the_balancing_changes_its_form(a0, eps):
    """For e = a0(s) + a0(s+1) the two changes coincide, up to rounding."""
    case = bidiagonal(a0, eps=eps)
    nearest = nearest_exact(case, np.eye(len(a0)), np.eye(len(a0)))
    assert np.isfinite(nearest.distance)
    assert 0 <= nearest.theta <= 1


def test_the_distance_is_that_of_balanced_factors():
    case = bidiagonal([1, 1])
    W, H = np.array([[1e50, 0], [0, 1]]), np.array([[1e-50, 0], [0, 1.1]])
    # Component 2 is balanced to √1.1 and √1.1; √(2·Σa0) = 2.
    expected = np.sqrt(2) * (np.sqrt(1.1) - 1) / 2
    assert nearest_exact(case, W, H).distance == pytest.approx(expected)


def test_it_lies_beside_its_argument():
    """Same order of components, same scale of each."""
    case = bidiagonal([1, 2, 3], eps=0.25)
    W, H = exact_factorization(case, w0=[1e8, 1, 1e-8], permutation=[2, 0, 1])
    nearest = nearest_exact(case, W + 1e-3 * W.max(axis=0), H)
    np.testing.assert_allclose(nearest.W.max(axis=0), W.max(axis=0), rtol=0.01)
    np.testing.assert_allclose(nearest.W @ nearest.H, case.A, atol=1e-12)


@pytest.mark.parametrize("n", [1, 3])
def test_at_eps_0_the_chain_is_a_point(n):
    case = bidiagonal(np.ones(n))
    nearest = nearest_exact(case, np.eye(n), np.eye(n))
    assert (nearest.switch, nearest.theta) == (None, None)


def test_a_collapsed_run_has_a_nearest_one_too():
    case = bidiagonal([2, 0.5], eps=0.25)
    nearest = nearest_exact(case, [[0.8, 1.2], [0, 0]], [[0.8, 0], [1.1333, 0]])
    assert nearest.distance > 0.1
    np.testing.assert_allclose(nearest.W @ nearest.H, case.A, atol=1e-12)


@pytest.mark.parametrize(
    ("W", "said"),
    [
        (np.full((2, 2), np.nan), "W is nan at row 1, column 1; expected finite numbers"),
        (-np.eye(2), "W is -1 at row 1, column 1; expected nonnegative numbers"),
        (np.ones((3, 2)), r"W has shape \(3, 2\); expected \(2, 2\)"),
        (np.ones((2, 2)) * 1j, "W is complex"),
    ],
)
def test_bad_factors_get_one_clear_line(W, said):
    with pytest.raises(InputError, match=said):
        nearest_exact(bidiagonal([1, 1]), W, np.eye(2))
