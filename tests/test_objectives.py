"""Objectives by name: what they measure, and what does not depend on units."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmfcheck import InputError
from nmfcheck.judging.objectives import FROBENIUS, ITAKURA_SAITO, KL, OBJECTIVES, find

BETAS = ("kl", "itakura-saito", "beta=0.5", "beta=1.5")


class TestNames:
    @pytest.mark.parametrize(
        ("name", "objective"),
        [
            ("frobenius", FROBENIUS), ("beta=2", FROBENIUS), ("kl", KL), ("KL", KL),
            ("kullback-leibler", KL), ("beta=1", KL), ("beta=1.0", KL), ("is", ITAKURA_SAITO),
            ("itakura-saito", ITAKURA_SAITO), ("beta=0", ITAKURA_SAITO),
        ],
    )  # fmt: skip
    def test_several_for_one(self, name, objective):
        assert find(name) is objective

    def test_any_beta(self):
        half = find("beta=0.50")
        assert (half.name, half.beta) == ("beta=0.5", 0.5)
        assert find(half.name) == half

    @pytest.mark.parametrize("name", ["beta=-1", "beta=2.5", "beta=x", "hellinger", ""])
    def test_no_such(self, name):
        with pytest.raises(InputError, match=f"no objective {name!r}; expected frobenius, kl"):
            find(name)

    def test_a_slip(self):
        with pytest.raises(InputError, match="did you mean 'frobenius'"):
            find("frobenus")

    def test_where_zeros_are_not_allowed(self):
        assert [each.needs_positive for each in OBJECTIVES.values()] == [False, False, True]
        assert find("beta=0.5").needs_positive


def drawn(seed, m=4, n=5, k=3, zeros=0.0):
    rng = np.random.default_rng(seed)
    A = rng.uniform(0.5, 2, (1, m, n)) * (rng.random((1, m, n)) >= zeros)
    return A, rng.uniform(0.1, 1, (1, m, k)), rng.uniform(0.1, 1, (1, k, n))


class TestDivergence:
    @pytest.mark.parametrize("name", [*BETAS, "frobenius"])
    def test_zero_at_a_fit_and_positive_elsewhere(self, name):
        A, W, H = drawn(1)
        loss = find(name)
        assert abs(loss.divergence(W @ H, W @ H)[0]) < 1e-13
        assert loss.divergence(A, W @ H)[0] > 0.1

    @pytest.mark.parametrize("beta", [0.0, 1.0, 2.0])
    def test_the_limits_of_beta(self, beta):
        """The three named ones are limits of those between them, up to O(the step)."""
        A, W, H = drawn(2)
        near = 1e-5 if beta < 2 else -1e-5
        there = find(f"beta={beta + near:.5f}").divergence(A, W @ H)[0]
        np.testing.assert_allclose(find(f"beta={beta}").divergence(A, W @ H)[0], there, rtol=1e-3)

    def test_kullback_leibler_with_zeros(self):
        A, X = np.array([[[0.0, 1.0]]]), np.array([[[0.5, 1.0]]])
        assert KL.divergence(A, X)[0] == 0.5
        assert KL.divergence(X, A)[0] == np.inf


class TestResidual:
    @pytest.mark.parametrize("name", BETAS)
    @given(seed=st.integers(0, 10**6), exponents=st.lists(st.integers(-20, 20), min_size=4))
    def test_the_same_under_every_rescaling(self, name, seed, exponents):
        """Of components by powers of two, which round nothing, and of A with the product."""
        A, W, H = drawn(seed, zeros=0.3 * (name == "kl"))
        *D, size = (2.0**e for e in exponents[:4])
        loss, D = find(name), np.array(D)
        before = loss.kkt_residual(A, W, H)
        np.testing.assert_allclose(loss.kkt_residual(A, W * D, H / D[:, None]), before, rtol=1e-13)
        np.testing.assert_allclose(loss.kkt_residual(size * A, size * W, H), before, rtol=1e-12)

    @pytest.mark.parametrize("name", BETAS)
    @given(seed=st.integers(0, 10**6))
    def test_against_differences_of_the_divergence(self, name, seed):
        """The gradient, of which it is made, by central differences: entry by entry."""
        A, W, H = drawn(seed)
        loss, step = find(name), 1e-6
        X = W @ H
        slope, pull = X ** (loss.beta - 1), A * X ** (loss.beta - 2)
        P, N = W[0].T @ slope[0], W[0].T @ pull[0]
        for c, j in np.ndindex(H.shape[1:]):
            low, high = H.copy(), H.copy()
            low[0, c, j] -= step
            high[0, c, j] += step
            difference = loss.divergence(A, W @ high) - loss.divergence(A, W @ low)
            np.testing.assert_allclose(difference[0] / (2 * step), (P - N)[c, j], atol=1e-6)
        mass = (A[0] * slope[0]).sum(axis=0)
        of_H = np.abs(np.minimum(H[0] * P / mass, 1 - N / P)).max()
        P, N = slope[0] @ H[0].T, pull[0] @ H[0].T
        mass = (A[0] * slope[0]).sum(axis=1)[:, None]
        of_W = np.abs(np.minimum(W[0] * P / mass, 1 - N / P)).max()
        np.testing.assert_allclose(loss.kkt_residual(A, W, H)[0], max(of_H, of_W), rtol=1e-12)

    def test_what_is_missing_altogether(self):
        A, W, H = drawn(3)
        assert KL.kkt_residual(A, 0 * W, H)[0] == np.inf

    def test_dead_components_do_not_count(self):
        W, H = np.array([[[1.0, 0.0], [2.0, 0.0]]]), np.array([[[1.0, 3.0], [5.0, 7.0]]])
        assert KL.kkt_residual(W @ H, W, H)[0] < 1e-15

    def test_zero_columns_are_measured_by_all_of_a(self):
        """What is left there goes to 0 with the run, and not a part of nothing."""
        W = np.array([[[1.0], [1.0]]])
        A = np.array([[[1.0, 0.0], [1.0, 0.0]]])
        assert KL.kkt_residual(A, W, np.array([[[1.0, 1e-9]]]))[0] < 2e-9
