"""Exact intervals and tests, against SciPy's own and against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nmfcheck.intervals import MOST_FURTHER, Share, further_trials, holm
from nmfcheck.presenting.words import rate
from nmfcheck.text import percent


@st.composite
def shares(draw, most=2000):
    whole = draw(st.integers(1, most))
    return Share(draw(st.integers(0, whole)), whole)


@given(shares(10**6))
def test_only_all_is_100_percent_and_only_none_is_0(share):
    """However few decimals are asked for."""
    for digits in (0, 1):
        number = float(percent(share.value, digits).removesuffix(" %"))
        assert (number == 100) == (share.part == share.whole)
        assert (number == 0) == (share.part == 0)
    assert rate(share) == percent(share.value, 0)


@given(shares())
def test_the_interval_is_clopper_and_pearsons(share):
    low, high = stats.binomtest(share.part, share.whole).proportion_ci(0.95, method="exact")
    assert share.interval == pytest.approx((low, high), abs=1e-12)


@given(shares())
def test_the_lower_bound_is_one_sided(share):
    test = stats.binomtest(share.part, share.whole, alternative="greater")
    assert share.lower == pytest.approx(test.proportion_ci(0.95, method="exact").low, abs=1e-12)


@given(shares(), st.floats(0, 1))
def test_the_p_value_is_the_exact_tests(share, p):
    expected = stats.binomtest(share.part, share.whole, p, alternative="less").pvalue
    # Below 1e-100, of which no verdict makes a difference, the two lose digits in different ways.
    assert share.p_value(p) == pytest.approx(expected, rel=1e-9, abs=1e-100)


@given(shares())
def test_bound_and_test_say_the_same(share):
    """The lower bound is the share at which so many or more would be just 5 % probable."""
    if share.part:
        at_least = 1 - Share(share.part - 1, share.whole).p_value(share.lower)
        assert at_least == pytest.approx(0.05, rel=1e-6)


def test_nothing_says_nothing():
    nothing = Share(0, 0)
    assert math.isnan(nothing.value)
    assert nothing.interval == (0, 1)
    assert nothing.p_value(0.9) == 1


@pytest.mark.parametrize(("whole", "p"), [(100, 0.9), (60, 0.5), (1400, 0.87)])
def test_the_lower_bound_covers(whole, p):
    """Summed over all results: the bound is above the true share in at most 5 % of cases."""
    parts = np.arange(whole + 1)
    misses = [Share(int(k), whole).lower > p for k in parts]
    assert stats.binom.pmf(parts, whole, p)[misses].sum() <= 0.05


class TestHolm:
    def test_a_worked_example(self):
        """Holm's steps at 5 %: 0.01 ≤ 0.05/4 and 0.015 ≤ 0.05/3, but 0.03 > 0.05/2 ends it."""
        assert holm([0.03, 0.01, 0.04, 0.015], 0.05) == [False, True, False, True]

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.2))
    def test_between_bonferroni_and_no_correction(self, p_values, level):
        rejected = holm(p_values, level)
        for p, out in zip(p_values, rejected, strict=True):
            assert out or p > level / len(p_values)
            assert not out or p <= level

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.2))
    def test_the_adjusted_p_values_say_the_same(self, p_values, level):
        """Another way to it: the running maximum of (m − i)·p, compared with the level."""
        order = np.argsort(p_values, kind="stable")
        steps = np.array(p_values)[order]
        m = len(steps)
        # As in the definition, each p is compared with level/(m − i): no rounding of products.
        passes = np.minimum.accumulate([p <= level / (m - i) for i, p in enumerate(steps)])
        assert sorted(np.flatnonzero(holm(p_values, level))) == sorted(order[passes])

    def test_nothing_to_reject(self):
        assert holm([], 0.01) == []


class TestFurtherTrials:
    @given(shares(300), st.floats(0.05, 0.95))
    def test_so_many_more_settle_the_question(self, share, bound):
        def settled(share):
            return share.lower >= bound

        more = further_trials(share, settled)
        if more is None:
            whole = share.whole + MOST_FURTHER
            assert not settled(Share(math.floor(share.value * whole + 1e-9), whole))
        else:
            whole = share.whole + more
            assert settled(Share(math.floor(share.value * whole + 1e-9), whole))


def test_above_a_bound_below_it_or_open():
    assert Share(90, 100).is_above(0.5)
    assert Share(10, 100).is_above(0.5) is False
    assert Share(52, 100).is_above(0.5) is None
    assert Share(0, 0).is_above(0.5) is None
