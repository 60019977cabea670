"""Theorem 1, robust form: a small residual and nonnegativity imply the form."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nmfcheck import bidiagonal, exact_factorization, judge, judge_batch, reference
from nmfcheck.families.bidiagonal.family import starting_point
from nmfcheck.families.bidiagonal.form import pattern
from strategies import cases, points


def check_bounds(case, W, H):
    """Assert the theorem for W, H as they are; say whether its condition was met."""
    n = case.n
    delta = np.abs(case.A - W @ H).max()
    eta = np.sqrt(delta * (case.e.max(initial=0) + delta))
    if n * eta >= case.a0.min() - delta:
        return False
    explained = W * H.T  # row i, component k
    p = explained.argmax(axis=1)
    assert sorted(p) == list(range(n))
    W, H = W[:, p], H[p]
    scale = np.sqrt(np.diag(H) / np.diag(W))
    W, H = W * scale, H / scale[:, None]  # now w0 = h0
    slack = 1 + 1e-9
    off = ~pattern(n, case.eps)
    for i in range(n):
        bound = slack * delta / np.sqrt(case.a0[i] - delta - (n - 1) * eta) + 1e-300
        assert W[off[:, i], i].max(initial=0) <= bound
        assert H[i, off[i]].max(initial=0) <= bound
    if case.eps > 0:
        w1, h1 = np.diag(W, 1), np.diag(H, 1)
        assert (w1[:-1] * h1[1:] <= slack * delta + 1e-300).all()
    return True


@settings(max_examples=300)
@given(st.data())
def test_near_solutions(data):
    case = data.draw(cases(min_n=2))
    W, H = exact_factorization(case, **data.draw(points(case)))
    size = 10.0 ** data.draw(st.floats(-14, -1))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    W = W + size * rng.random(W.shape) * (rng.random(W.shape) < 0.5)
    H = H + size * rng.random(H.shape) * (rng.random(H.shape) < 0.5)
    assume(check_bounds(case, W, H))


@pytest.mark.parametrize("eps", [0.0, 1e-3, 0.25])
@pytest.mark.parametrize("iterations", [20, 100, 1000])
def test_runs_of_multiplicative_update(eps, iterations):
    n = 4
    case = bidiagonal(np.ones(n), eps=eps)
    pairs = [starting_point(n, seed) for seed in range(50)]
    found = reference.multiplicative_update(
        case.A, [W for W, _ in pairs], [H for _, H in pairs], iterations
    )
    met = sum(check_bounds(case, W, H) for W, H in zip(found.W, found.H, strict=True))
    assert met >= (25 if iterations == 1000 else 0)


@settings(max_examples=200)
@given(st.data())
def test_where_the_form_holds_under_some_permutation_M_shows_that_one(data):
    """So carrying P from ε = 0 on, and looking again where it does not fit, is reading P off M."""
    case = data.draw(cases(min_n=2, eps=(0.0, 1e-3, 0.01)))
    place = data.draw(points(case))
    W, H = exact_factorization(case, **place)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    size = data.draw(st.sampled_from([0.0, 1e-11, 1e-7, 1e-4]))
    W, H = W + size * rng.random(W.shape), H + size * rng.random(H.shape)
    judgement = judge(case, W, H)
    if judgement.grade is not None:
        assert judgement.permutation == tuple(place["permutation"])


def test_a_row_of_M_near_zero_is_no_match():
    """The row maxima of M lie in distinct columns here, and yet a diagonal entry is missing."""
    case = bidiagonal([2, 0.5])
    W, H = np.array([[0.8, 1.2], [0, 1e-9]]), np.array([[0.8, 0], [1.1333, 1e-9]])
    judgements = judge_batch(case, W[None], H[None])
    assert judgements.outcome[0] == "collapsed"
    assert (judgements.permutation == -1).all()


@given(st.data())
def test_shares_that_a_residual_allows(data):
    """`share_w(i)·share_h(i+1) ≤ δ·(a0(i+1) + δ)/(e_i·e_{i+1})`."""
    case = data.draw(cases(min_n=3, eps=(1e-3, 0.25)))
    W, H = exact_factorization(case, **data.draw(points(case)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    size = 10.0 ** data.draw(st.floats(-9, -2))
    W, H = W + size * rng.random(W.shape), H + size * rng.random(H.shape)
    p = np.argmax(W * H.T, axis=1)
    W, H = W[:, p], H[p]
    delta = np.abs(case.A - W @ H).max()
    assume(sorted(p) == list(range(case.n)))
    share_w = np.diag(W, 1) * np.diag(H)[1:] / case.e
    share_h = np.diag(W)[:-1] * np.diag(H, 1) / case.e
    # w0(i+1)·h0(i+1) ≤ a0(i+1) + δ, and w1(i)·h1(i+1) ≤ δ.
    bound = delta * (case.a0[1:-1] + delta) / (case.e[:-1] * case.e[1:])
    assert (share_w[:-1] * share_h[1:] <= bound * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("eps", "tolerance", "equal", "random"),
    [
        (0, 1e-2, 98, 23),
        (0, 0.1, 8, 1),
        (0.25, 1e-3, 63, 15),
        (0.25, 1e-2, 19, 4),
        (0.25, 0.1, 4, 0),
    ],
)
def test_up_to_which_size_a_tolerance_implies_the_form(eps, tolerance, equal, random):
    """What docs/theory.md, 5, says of looser tolerances: for a ≡ 1, and at worst in [½, 2]."""

    def meets(n, a0, a1):
        delta = tolerance * max(a0)
        eta = np.sqrt(delta * (eps * max(a1) + delta))
        return n * eta < min(a0) - delta

    for a0, a1, largest in (([1], [1], equal), ([0.5, 2], [2], random)):
        assert [meets(n, a0, a1) for n in range(1, 120)] == [n <= largest for n in range(1, 120)]
