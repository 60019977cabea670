"""Judgements depend neither on the scale and order of components nor on the units of A."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmfcheck import bidiagonal
from nmfcheck.families.bidiagonal import judge
from strategies import cases, factorizations

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
