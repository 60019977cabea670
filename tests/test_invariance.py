"""Judgements depend neither on the scale and order of components nor on the units of A."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmfcheck import Case, Outcome, bidiagonal, exact_factorization, judge
from nmfcheck.families.inflated.cases import inflate, inflated_factors
from strategies import cases, factorizations, inflated_cases, inflated_factorizations

scales = st.floats(-100, 100).map(lambda power: 10.0**power)


def assert_same_judgement(one, other):
    for name in ("outcome", "grade", "word", "type", "clipped"):
        assert getattr(one, name) == getattr(other, name)
    for name in ("form_defect", "product_defect", "kkt_residual"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-6, abs=1e-14)


@settings(max_examples=300)
@given(st.data())
def test_judgements_do_not_depend_on_the_scale_of_components(data):
    case = data.draw(cases())
    W, H = data.draw(factorizations(case))
    d = np.array(data.draw(st.lists(scales, min_size=case.n, max_size=case.n)))
    before, after = judge(case, W, H), judge(case, W * d, H / d[:, None])
    assert_same_judgement(before, after)
    assert before.permutation == after.permutation


@given(st.data())
def test_judgements_do_not_depend_on_the_order_of_components(data):
    case = data.draw(cases())
    W, H = data.draw(factorizations(case))
    p = data.draw(st.permutations(range(case.n)))
    before, after = judge(case, W, H), judge(case, W[:, p], H[p])
    assert_same_judgement(before, after)
    if before.permutation is not None:
        assert tuple(p[k] for k in after.permutation) == before.permutation


@given(st.data(), st.sampled_from([1e-100, 1e-17, 3.0, 1e100]), st.floats(0, 1))
def test_judgements_do_not_depend_on_the_units_of_A(data, unit, part):
    case = data.draw(cases())
    W, H = data.draw(factorizations(case))
    scaled = bidiagonal(unit * case.a0, unit * case.a1, case.eps)
    for_W = unit**part
    before, after = judge(case, W, H), judge(scaled, W * for_W, H * (unit / for_W))
    assert_same_judgement(before, after)
    assert before.permutation == after.permutation


class TestInflated:
    """The same of rectangular matrices, whose other rows and columns are judged, too."""

    def assert_same(self, one, other):
        for name in ("outcome", "grade", "word", "type", "clipped"):
            assert getattr(one, name) == getattr(other, name)
        assert one.labels.keys() == other.labels.keys()
        assert one.measures == pytest.approx(other.measures, rel=1e-6, abs=1e-14)

    @settings(max_examples=200)
    @given(st.data())
    def test_the_scale_of_components(self, data):
        case = data.draw(inflated_cases())
        W, H = data.draw(inflated_factorizations(case))
        d = np.array(data.draw(st.lists(scales, min_size=case.rank, max_size=case.rank)))
        before, after = judge(case, W, H), judge(case, W * d, H / d[:, None])
        self.assert_same(before, after)
        assert before.permutation == after.permutation

    @given(st.data())
    def test_the_order_of_components(self, data):
        case = data.draw(inflated_cases())
        W, H = data.draw(inflated_factorizations(case))
        p = data.draw(st.permutations(range(case.rank)))
        before, after = judge(case, W, H), judge(case, W[:, p], H[p])
        self.assert_same(before, after)
        if before.permutation is not None:
            assert tuple(p[k] for k in after.permutation) == before.permutation

    @given(st.data(), st.sampled_from([1e-100, 1e-17, 3.0, 1e100]), st.floats(0, 1))
    def test_the_units_of_A(self, data, unit, part):
        case = data.draw(inflated_cases())
        W, H = data.draw(inflated_factorizations(case))
        core = bidiagonal(unit * case.core.a0, unit * case.core.a1, case.core.eps)
        scaled = replace(case, A=inflate(core, case.rows, case.columns), core=core)
        for_W = unit**part
        before, after = judge(case, W, H), judge(scaled, W * for_W, H * (unit / for_W))
        self.assert_same(before, after)
        assert before.permutation == after.permutation

    def test_what_is_exact_stays_so(self):
        """One run by hand: scaled by powers of two, nothing is rounded, and nothing may change."""
        case = Case.from_id("inflated/9x6/k=3/dyadic#7/eps=0.25")
        W, H = inflated_factors(case, *exact_factorization(case.core, switch=2, theta=0.5))
        d = np.array([2.0**40, 1.0, 2.0**-300])
        before = judge(case, W, H)
        assert before.outcome is Outcome.EXACT
        assert before.permutation == (0, 1, 2)
        assert judge(case, W * d, H / d[:, None]) == before
        turned = judge(case, W[:, [2, 0, 1]], H[[2, 0, 1]])
        assert (turned.outcome, turned.word, turned.permutation) == (
            Outcome.EXACT,
            before.word,
            (1, 2, 0),
        )
