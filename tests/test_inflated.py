"""The inflated family: its draws, its judge, and what it tells apart. The theory has its own file.

See docs/theory.md, 9, and `test_inflated_theory.py`.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nmfcheck
from nmfcheck import Case, InputError, Outcome, Trial, exact_factorization, judge
from nmfcheck.families import find
from nmfcheck.families.inflated.cases import DYADIC, ZEROS, draw, inflated_factors
from nmfcheck.families.inflated.family import CELLS

FAMILY = find("inflated")
ALL_CELLS = [FAMILY.cell(name) for name in CELLS["full"]]
ASKS = [ask.name for ask in FAMILY.asks]


@st.composite
def cases(draw_, asks=ASKS):
    """Draw a case of any small shape, with and without zero rows and columns."""
    k = draw_(st.integers(1, 4))
    m, n = (k + draw_(st.integers(0, 4)) for _ in range(2))
    kind = draw_(st.sampled_from([DYADIC, ZEROS] if max(m, n) > k else [DYADIC]))
    i = draw_(st.integers(0, 10**6))
    return Case.from_id(f"inflated/{m}x{n}/k={k}/{kind}#{i}/{draw_(st.sampled_from(asks))}")


@st.composite
def exact_answers(draw_, case):
    """Draw a point of the solution set, its components in any order and of any scale."""
    k = case.rank
    switch, share = draw_(st.integers(1, max(k - 1, 1))), draw_(st.floats(0, 1))
    order = draw_(st.permutations(range(k)))
    w0 = draw_(st.lists(st.floats(0.1, 10.0), min_size=k, max_size=k))
    core = exact_factorization(case.core, switch=switch, theta=share, permutation=order, w0=w0)
    return inflated_factors(case, *core)


@given(cases())
def test_a_is_p_times_b_times_q(case):
    P, Q = case.rows.matrix, case.columns.matrix.T
    assert np.allclose(case.A, P @ case.core.A @ Q, rtol=1e-15, atol=0)
    for side in (P, Q.T):
        assert ((side > 0).sum(axis=1) <= 1).all()
        assert (side.max(axis=0) == 1).all()
        assert ((side == 0) | ((side >= 0.5) & (side <= 1))).all()


@given(cases(asks=["eps=0", "eps=0.25"]))
def test_a_is_exact_in_single_precision_and_of_rank_k_as_stored(case):
    assert (case.A.astype(np.float32) == case.A).all()
    assert (case.A * 64**3 % (1 / 4) == 0).all()
    rows = [[Fraction(x) for x in row] for row in case.A.tolist()]
    assert _rank(rows) == case.rank


def _rank(rows):
    """Return the rank of a matrix of fractions, by elimination."""
    rank = 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column] != 0), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            factor = rows[i][column] / rows[rank][column]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


@pytest.mark.parametrize("kind", [DYADIC, ZEROS])
def test_zero_rows_and_columns_are_in_cells_of_their_own(kind):
    for i in range(50):
        drawn = draw(7, 6, 3, kind, i)
        for side in (drawn.rows, drawn.columns):
            assert (side.classes == -1).any() == (kind == ZEROS)


def test_the_bytes_of_draws_and_starts_are_pinned():
    digest = hashlib.sha256()
    for cell in sorted(ALL_CELLS, key=lambda cell: cell.name):
        for i in (0, 7):
            trial = FAMILY.trial(cell, i)
            for X in (trial.case("eps=0.25").A, *trial.start()):
                digest.update(np.ascontiguousarray(X, "<f8").tobytes())
    assert digest.hexdigest()[:16] == "52903a1dc4a8d279"


@pytest.mark.parametrize("cell", ALL_CELLS, ids=lambda cell: cell.name)
def test_ids_give_trials_and_cases_back(cell):
    trial = FAMILY.trial(cell, 7)
    assert trial.id == f"inflated/{cell.name}#7/seed=7"
    assert Trial.from_id(trial.id) == trial
    case = trial.case("eps=1e-3")
    assert (case.m, case.n, case.rank) == (cell.m, cell.n, cell.k)
    assert (Case.from_id(case.id).A == case.A).all()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("9x6/k=7/dyadic", "no rank 7 of a 9×6 matrix"),
        ("9x6/k=0/dyadic", "no rank 0"),
        ("3x3/k=3/zeros", "no room for a zero row or column"),
        ("9x6/k=3/ones", "no cell '9x6/k=3/ones' of inflated"),
    ],
)
def test_impossible_cells_are_refused_in_a_line(name, told):
    with pytest.raises(InputError, match=told):
        FAMILY.cell(name)


def test_every_suite_has_tall_and_wide_and_low_rank_cells():
    for suite in ("quick", "standard", "full"):
        cells = list(FAMILY.cells(suite))
        assert any(cell.m > cell.n for cell in cells)
        assert any(cell.m < cell.n for cell in cells)
        assert any(cell.k < min(cell.m, cell.n) for cell in cells)
        assert any(cell.name.endswith(ZEROS) for cell in cells)
        assert set(FAMILY.cells("quick")) <= set(cells)


@given(st.data())
def test_every_point_of_the_solution_set_is_judged_exact(data):
    case = data.draw(cases())
    judgement = judge(case, *data.draw(exact_answers(case)))
    assert judgement.outcome is Outcome.EXACT
    assert judgement.measures["padding_defect"] < 1e-14


@given(st.data())
def test_a_row_that_is_not_the_right_multiple_is_named(data):
    case = data.draw(cases(asks=["eps=0.25"]).filter(lambda case: case.m > case.rank))
    W, H = data.draw(exact_answers(case))
    padding = [i for i in range(case.m) if i not in case.rows.core]
    row = data.draw(st.sampled_from(padding))
    W[row] += 0.3 * W[case.rows.core].max(axis=0)
    judgement = judge(case, W, H)
    assert judgement.outcome is Outcome.UNCONVERGED
    assert judgement.measures["padding_defect"] > 0.01
    assert f"row {row + 1} of W" in judgement.explanation


def test_a_zero_row_that_is_not_zero_is_named():
    case = Case.from_id("inflated/6x5/k=2/zeros#3/eps=0")
    W, H = inflated_factors(case, *exact_factorization(case.core))
    empty = int(np.flatnonzero(case.rows.classes < 0)[0])
    W[empty] = 0.01
    judgement = judge(case, W, H)
    assert judgement.outcome is Outcome.UNCONVERGED
    assert f"row {empty + 1} of W is not 0, as it is in A" in judgement.explanation


@settings(max_examples=30)
@given(cases(asks=["eps=0"]), st.integers(0, 2**32))
def test_collapse_names_rows_of_a(case, seed):
    k = case.rank
    if k < 2:
        return
    rng = np.random.default_rng(seed)
    W, H = inflated_factors(case, *exact_factorization(case.core))
    W, H = W[:, [0, *range(1, k - 1), 0]], H[[0, *range(1, k - 1), 0]]  # the last one is a twin
    share = rng.uniform(0.2, 0.8)
    W[:, 0] *= share
    W[:, k - 1] *= 1 - share
    judgement = judge(case, W, H)
    assert judgement.outcome is Outcome.COLLAPSED
    shared, lost = case.rows.core[0] + 1, case.rows.core[k - 1] + 1
    assert f"explain row {shared}" in judgement.explanation
    assert f"nothing explains row {lost}" in judgement.explanation


@given(st.data())
def test_the_nearest_exact_factorization_of_an_exact_one_is_itself(data):
    case = data.draw(cases())
    W, H = data.draw(exact_answers(case))
    nearest = FAMILY.nearest(case, W, H)
    assert nearest.distance < 1e-7
    assert np.allclose(nearest.W @ nearest.H, case.A, atol=1e-12)
    assert np.allclose(nearest.W, W, atol=1e-6 * W.max())


def _a_and_identity(A, rank):
    return A, np.eye(rank, A.shape[1])


def _square_only(A, rank, *, W0, H0):
    W, H = W0.copy(), H0.copy()
    for _ in range(200):
        H *= (W.T @ A) / np.maximum(W.T @ W @ H, 1e-300)
        W *= (H @ A).T / np.maximum(W @ H @ H.T, 1e-300)  # H @ A.T is meant
    return W, H


@pytest.mark.parametrize(
    ("subject", "outcomes"),
    [
        (_a_and_identity, {Outcome.INVALID}),  # it runs, and W has the wrong shape
        (_square_only, {Outcome.ERROR}),  # it cannot run: the shapes do not fit
    ],
)
def test_what_only_works_for_square_matrices_shows(subject, outcomes):
    trials = [FAMILY.trial(cell, i) for cell in FAMILY.cells("quick") for i in range(8)]
    found = [nmfcheck.run_trial(subject, trial) for trial in trials]
    assert {result.stages[0].outcome for result in found} <= outcomes
    assert not any(result.passed for result in found)


def test_a_right_algorithm_passes_as_often_as_the_theory_says():
    trials = [FAMILY.trial(FAMILY.cell("5x4/k=2/dyadic"), i) for i in range(100)]
    passed = sum(nmfcheck.run_trial("coordinate-descent", trial).passed for trial in trials)
    assert passed > 70  # 88 of 100 are expected; fewer have probability below 1e-6
