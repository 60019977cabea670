"""What is no finite, nonnegative real matrix of the right shape, and what will do."""

import re

import numpy as np
import pytest
import scipy.sparse

from nmfcheck import Case, Outcome, bidiagonal, check, exact_factorization, judge
from nmfcheck.families.bidiagonal.judge import BidiagonalJudgement


class Grumpy:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("not today")


class TestInvalid:
    case = bidiagonal([1, 1, 1], eps=1e-3)

    def judged(self, change_W=lambda W: W, change_H=lambda H: H):
        W, H = exact_factorization(self.case)
        judgement = judge(self.case, change_W(W), change_H(H))
        if judgement.outcome is Outcome.INVALID:
            assert judgement.grade is None
            assert judgement.labels == judgement.measures == {}
            assert np.isnan([judgement.product_defect, judgement.kkt_residual]).all()
        if judgement.outcome is Outcome.INVALID and isinstance(judgement, BidiagonalJudgement):
            assert judgement.word is judgement.permutation is None
            assert np.isnan(judgement.form_defect)
        return judgement

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_not_finite(self, bad):
        def spoil(H):
            H[1, 2] = bad
            return H

        judgement = self.judged(change_H=spoil)
        assert judgement.outcome is Outcome.INVALID
        assert isinstance(judgement, BidiagonalJudgement)
        assert judgement.explanation == (f"H is {bad} at row 2, column 3; expected finite numbers.")

    @pytest.mark.parametrize("bad", [-1e-3, -1e-11])
    def test_negative(self, bad):
        def spoil(W):
            W[2, 0] = bad
            return W

        judgement = self.judged(spoil)
        assert judgement.outcome is Outcome.INVALID
        assert judgement.explanation == (
            f"W is {bad:.3g} at row 3, column 1; expected nonnegative numbers."
        )

    def test_negative_of_rounding_size_is_clipped_and_said(self):
        def spoil(W):
            W[2, 0] = -5e-13
            return W

        judgement = self.judged(spoil)
        assert judgement.outcome is Outcome.EXACT
        assert judgement.clipped
        assert judgement.form_defect == 0
        assert "negative entries down to -5e-13 are rounding and count as 0" in (
            judgement.explanation
        )

    def test_a_column_that_is_nothing_but_noise(self):
        """Beside the other columns −1e-18 is rounding, whatever its own column is."""
        W, H = exact_factorization(self.case)
        W[:, 0] = [0, -1e-18, 0]
        judgement = judge(self.case, W, H)
        assert judgement.outcome is not Outcome.INVALID
        assert judgement.clipped
        W[:, 0], H[0] = [1, -1e-3, 0], 1e-10 * H[0]  # small, but no noise
        assert judge(self.case, W, H).outcome is Outcome.INVALID
        W[:, 0], H[0] = [0, -5, 0], 0  # and this is negative, although it adds nothing
        assert judge(self.case, W, H).outcome is Outcome.INVALID

    def test_rounding_is_relative_to_the_component(self):
        """−1e-11 beside 1e3 is rounding, beside 1 it is not."""
        W, H = exact_factorization(self.case)
        W[2, 0] = -1e-11
        scale = np.array([1e3, 1, 1])
        W[0, 0] *= 1e3
        H[0] /= 1e3
        assert judge(self.case, W, H).outcome is Outcome.EXACT
        W[2, 0] = -1e-8
        assert judge(self.case, W, H).outcome is Outcome.INVALID
        assert judge(self.case, W / scale, H * scale[:, None]).outcome is Outcome.INVALID

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda W: W[:2], r"W has shape \(2, 3\); expected \(3, 3\)"),
            (lambda W: W.ravel(), r"W has shape \(9,\)"),
            (lambda W: W[None], r"W has shape \(1, 3, 3\)"),
            (lambda W: W + 0j, r"W is complex \(complex128\)"),
            (lambda W: W.astype(object), "W holds Python objects, not numbers"),
            (lambda W: W.astype(str), "W holds values of type <U32, not numbers"),
            (lambda _: None, "W holds a single NoneType, not numbers"),
            (lambda _: [[1, 2], [3]], "W is ragged: its rows have different lengths"),
            (lambda _: Grumpy(), r"W is not a matrix \(RuntimeError: not today\)"),
        ],
    )
    def test_no_matrix_of_numbers(self, change, said):
        judgement = self.judged(change)
        assert judgement.outcome is Outcome.INVALID
        assert re.match(said, judgement.explanation)
        assert "\n" not in judgement.explanation

    @pytest.mark.parametrize(
        "change",
        [
            lambda W: W.tolist(),
            np.asfortranarray,
            scipy.sparse.csr_matrix,
            scipy.sparse.coo_array,
            np.ma.masked_array,
        ],
    )
    def test_any_kind_of_matrix_will_do(self, change):
        assert self.judged(change, change).outcome is Outcome.EXACT

    @pytest.mark.filterwarnings("ignore:the matrix subclass")
    def test_np_matrix_will_do(self):
        assert self.judged(np.asmatrix, np.asmatrix).outcome is Outcome.EXACT

    def test_integers_will_do(self):
        assert judge(bidiagonal([1, 2]), [[1, 0], [0, 2]], [[1, 0], [0, 1]]).grade == "exact"

    def test_single_precision_shows(self):
        W, H = exact_factorization(self.case, w0=[0.3, 0.7, 1.9])
        judgement = judge(self.case, np.float32(W), np.float32(H))
        assert judgement.grade == "first-order"
        assert 1e-9 < judgement.product_defect < 1e-7


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        (((6, 3), (3, 9)), r"W has shape \(6, 3\); expected \(9, 3\)"),
        (((9, 3), (6, 3)), r"H has shape \(6, 3\); expected \(3, 6\)"),
        (((9, 2), (2, 6)), r"W has shape \(9, 2\); expected \(9, 3\)"),
    ],
)
def test_the_right_shape_of_a_rectangular_matrix(shapes, said):
    case = Case.from_id("inflated/9x6/k=3/dyadic#7/eps=0.25")
    judgement = judge(case, *map(np.ones, shapes))
    assert judgement.outcome is Outcome.INVALID
    assert re.match(said, judgement.explanation)


@pytest.mark.parametrize(
    ("bad", "expected"), [(np.nan, "finite"), (np.inf, "finite"), (-1e-3, "nonnegative")]
)
def test_a_bad_entry_of_a_rectangular_matrix(bad, expected):
    case = Case.from_id("inflated/9x6/k=3/dyadic#7/eps=0.25")
    W, H = np.ones((9, 3)), np.ones((3, 6))
    H[1, 4] = bad
    judgement = judge(case, W, H)
    assert judgement.outcome is Outcome.INVALID
    assert judgement.labels == judgement.measures == {}
    told = f"H is {bad:.3g} at row 2, column 5; expected {expected} numbers."
    assert judgement.explanation == told


def test_negative_entries_are_told_before_what_they_make_of_the_objective():
    def starts_below_zero(A, rank, *, W0, H0):
        return 3 * W0 - 1, H0

    report = check(starts_below_zero, isolate=False, families="mixed", trials=8, laws=["descent"])
    assert "negative" in report.findings[0].sentence
    assert any("'descent' is broken" in finding.sentence for finding in report.findings)
