"""The ALS step and the arithmetic in lanes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmfcheck import bidiagonal, judge_batch, reference
from nmfcheck.families.bidiagonal.family import starting_point
from nmfcheck.reference.als import least_squares
from nmfcheck.reference.lanes import from_lanes, matmul, quotient, to_lanes, total


class TestLeastSquares:
    """The ALS step: ordinary least squares, of minimum norm where W is rank-deficient."""

    def solved(self, W, A):
        return from_lanes(least_squares(to_lanes(W[None]), to_lanes(A[None])))[0]

    @settings(max_examples=200)
    @given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.integers(0, 2**32))
    def test_generic(self, m, n, k, seed):
        rng = np.random.default_rng(seed)
        W, A = rng.random((m, k)), rng.random((m, n))
        expected = np.linalg.lstsq(W, A, rcond=None)[0]
        sigma = np.linalg.svd(W, compute_uv=False)
        condition = sigma[0] / sigma[sigma > 1e-13 * sigma[0]].min()
        np.testing.assert_allclose(
            self.solved(W, A),
            expected,
            rtol=0,
            atol=1e-13 * condition**2 * (1 + abs(expected).max()),
        )

    def test_a_dead_component(self):
        rng = np.random.default_rng(1)
        W, A = rng.random((4, 3)), rng.random((4, 5))
        W[:, 1] = 0
        H = self.solved(W, A)
        np.testing.assert_allclose(H, np.linalg.lstsq(W, A, rcond=None)[0], atol=1e-13)
        assert (H[1] == 0).all()

    def test_twin_components(self):
        rng = np.random.default_rng(2)
        W, A = rng.random((4, 3)), rng.random((4, 5))
        W[:, 2] = 3 * W[:, 0]
        H = self.solved(W, A)
        np.testing.assert_allclose(H, np.linalg.lstsq(W, A, rcond=None)[0], atol=1e-12)
        np.testing.assert_allclose(H[2], 3 * H[0], atol=1e-12)  # minimum norm

    def test_nearly_twin_components(self):
        """Where the normal equations would lose all digits."""
        rng = np.random.default_rng(3)
        W, A = rng.random((4, 2)), rng.random((4, 3))
        W[:, 1] = W[:, 0] + 1e-9 * W[:, 1]
        expected = np.linalg.lstsq(W, A, rcond=None)[0]
        np.testing.assert_allclose(self.solved(W, A), expected, rtol=1e-5)

    def test_a_component_of_rounding_size_counts_as_zero(self):
        rng = np.random.default_rng(5)
        W, A = rng.random((4, 3)), rng.random((4, 5))
        W[:, 1] *= 1e-16
        H = self.solved(W, A)
        np.testing.assert_allclose(H, np.linalg.lstsq(W, A, rcond=None)[0], atol=1e-13)

    @pytest.mark.parametrize("s", [1.2e-4, 1e-3, 1e-5, 1e-7])
    def test_angles_that_add_up(self, s):
        """No two columns are nearly parallel, and yet the normal equations lose every digit."""
        W = np.array([[1, 1, 0.3], [0, s, 1], [0, 0, s]])
        expected = np.random.default_rng(6).random((3, 4))
        found = self.solved(W, W @ expected)
        assert np.abs(found - expected).max() < 1e-13 / s**2  # as good as the condition allows

    def test_the_same_cutoff_as_lstsq(self):
        W, A = np.array([[1, 2e-12], [0, 3e-16]]), np.eye(2)
        np.testing.assert_allclose(
            self.solved(W, A), np.linalg.lstsq(W, A, rcond=None)[0], atol=1e-9
        )

    def test_lengths_of_columns_do_not_matter(self):
        rng = np.random.default_rng(4)
        W, A = rng.random((4, 3)), rng.random((4, 5))
        d = np.array([1e-5, 1.0, 1e5])
        np.testing.assert_allclose(
            self.solved(W * d, A) * d[:, None], self.solved(W, A), rtol=1e-10
        )

    def test_singular_steps_happen_in_real_runs(self):
        """From the paper's own kind of start: runs that collapse end with twin components.

        No exact factorization has a singular W. Whether such a run is at rest, or still goes round,
        depends on the machine's LAPACK.
        """
        case = bidiagonal(np.ones(6))
        pairs = [starting_point(6, seed) for seed in range(100)]
        found = reference.als(
            case.A, [W for W, _ in pairs], [H for _, H in pairs], 300, engine="numpy"
        )
        lengths = np.linalg.norm(found.W, axis=1, keepdims=True)
        angles = np.linalg.svd(found.W / lengths, compute_uv=False)
        singular = angles[:, -1] < 1e-12
        assert singular.any()
        outcomes = judge_batch(case, found.W, found.H).outcome[singular]
        assert set(outcomes) <= {"collapsed", "unconverged"}
        assert (outcomes == "collapsed").mean() > 0.5
        assert np.isfinite(found.W).all()


class TestLanes:
    @given(st.integers(1, 70), st.integers(1, 3), st.integers(0, 2**32))
    def test_total(self, terms, lanes, seed):
        X = np.random.default_rng(seed).random((terms, 1, lanes))
        np.testing.assert_allclose(total(X), X.sum(axis=(0, 1)), rtol=1e-14)

    def test_matmul(self):
        rng = np.random.default_rng(0)
        X, Y = rng.random((5, 3, 4)), rng.random((5, 4, 2))
        np.testing.assert_allclose(from_lanes(matmul(to_lanes(X), to_lanes(Y))), X @ Y, rtol=1e-14)

    def test_quotient(self):
        got = quotient(np.array([1.0, 0.0, 2.0]), np.array([2.0, 0.0, 0.0]))
        assert got.tolist() == [0.5, 0.0, 0.0]
