"""The judge: grades, words, outcomes, sentences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nmfcheck import (
    Case,
    InputError,
    Outcome,
    bidiagonal,
    exact_factorization,
    judge,
    judge_batch,
    nearest_exact,
    reference,
)
from nmfcheck.families.bidiagonal.cases import case_of
from nmfcheck.families.bidiagonal.family import starting_point
from nmfcheck.families.bidiagonal.judge import CaseStack
from strategies import cases, factorizations, points


def starts(n, seeds):
    pairs = [starting_point(n, seed) for seed in seeds]
    return np.array([W for W, _ in pairs]), np.array([H for _, H in pairs])


def expected_word(n, switch, share):
    return "h" * (switch - 1) + ("h" if share == 0 else "w" if share == 1 else "b") + "w" * (
        n - 1 - switch
    )  # fmt: skip


@given(st.data())
def test_every_exact_factorization_is_judged_exact_with_the_right_word(data):
    case = data.draw(cases(min_n=2))
    place = data.draw(points(case))
    judgement = judge(case, *exact_factorization(case, **place))
    assert judgement.outcome is Outcome.EXACT
    assert judgement.grade == "exact"
    assert judgement.permutation == tuple(place["permutation"])
    assert judgement.form_defect == 0
    assert max(judgement.product_defect, judgement.kkt_residual) < 1e-14
    if case.eps > 0:
        assert judgement.word == expected_word(case.n, place["switch"], place["theta"])
    else:
        assert judgement.word is None


def test_a_1x1_matrix():
    for eps in (0.0, 0.1):
        case = bidiagonal([2.0], eps=eps)
        judgement = judge(case, [[4.0]], [[0.5]])
        assert judgement.outcome is Outcome.EXACT
        assert judgement.permutation == (0,)
        assert judge(case, [[4.0]], [[0.6]]).outcome is Outcome.UNCONVERGED
    assert judge(bidiagonal([2.0]), [[0.0]], [[0.0]]).outcome is Outcome.COLLAPSED


@pytest.mark.parametrize(
    ("word", "type_"), [("hh", "I"), ("ww", "II"), ("hw", "III"), ("wh", "IV")]
)
def test_types_of_the_papers_figure_2(word, type_):
    case = bidiagonal([1, 1, 1], eps=1e-3)
    W = np.eye(3) + np.diag([1e-3 * (letter == "w") for letter in word], 1)
    H = np.eye(3) + np.diag([1e-3 * (letter == "h") for letter in word], 1)
    judgement = judge(case, W, H)
    assert (judgement.word, judgement.type) == (word, type_)
    assert judgement.outcome is (Outcome.FIRST_ORDER if word == "wh" else Outcome.EXACT)


@pytest.mark.parametrize(("share", "type_"), [(0.3, "III"), (0.7, "II")])
def test_a_solution_that_is_not_clean_is_sorted_by_its_larger_share(share, type_):
    case = bidiagonal([1, 1, 1], eps=1e-3)
    judgement = judge(case, *exact_factorization(case, switch=1, theta=share))
    assert (judgement.word, judgement.type) == ("bw", type_)


def test_even_shares_are_sorted_alike_in_every_scale():
    case = bidiagonal([1, 1, 1], eps=1e-4)
    for w0 in ([1, 1, 1], [1, 1, 0.5], [3, 0.7, 1e5], [1, 1, 5]):
        W, H = exact_factorization(case, switch=2, theta=0.5, w0=w0)
        assert judge(case, W, H).type == "I"


@pytest.mark.parametrize("n", [2, 4, 5])
def test_types_are_for_3x3_only(n):
    case = bidiagonal(np.ones(n), eps=1e-3)
    assert judge(case, *exact_factorization(case)).type is None


@pytest.mark.parametrize(
    ("eps", "share", "letter"),
    [
        (1e-3, 0.5e-3, "h"),  # below ε: negligible
        (1e-3, 2e-3, "b"),
        (0.25, 0.005, "h"),  # below 0.01: negligible at any ε
        (0.25, 0.02, "b"),
        (0.25, 0.995, "w"),
    ],
)
def test_a_share_below_min_of_eps_and_0_01_is_negligible(eps, share, letter):
    case = bidiagonal([1, 2], eps=eps)
    assert judge(case, *exact_factorization(case, theta=share)).word == letter


def test_an_entry_that_nothing_explains_has_no_letter():
    judgement = judge(bidiagonal([1, 1, 1], eps=0.25), np.eye(3), np.eye(3))
    assert (judgement.word, judgement.type) == ("--", None)


class TestGrades:
    @pytest.mark.parametrize(
        ("off", "outcome"),
        [
            (0.9e-10, Outcome.EXACT),
            (1.1e-10, Outcome.FIRST_ORDER),
            (1.9e-6, Outcome.FIRST_ORDER),
            (2.1e-6, Outcome.UNCONVERGED),
        ],
    )
    @pytest.mark.parametrize("what", ["form", "product"])
    def test_thresholds(self, off, outcome, what):
        """For a ≡ 1, ε = 1e-3: exact up to 1e-10, first-order up to 2ε²."""
        case = bidiagonal([1, 1, 1], eps=1e-3)
        W, H = exact_factorization(case)
        if what == "form":
            W[2, 0] = off  # times H[0, 2] = 0 and H[0, 1] = ε: no product defect to speak of
        else:
            H[0, 0] += off
        judgement = judge(case, W, H)
        assert judgement.outcome is outcome
        defect = judgement.form_defect if what == "form" else judgement.product_defect
        assert defect == pytest.approx(off, rel=1e-3)

    @pytest.mark.parametrize(
        ("eps", "exists"), [(0.0, False), (0.029, True), (0.03, True), (0.031, False)]
    )
    def test_first_order_exists_up_to_0_03(self, eps, exists):
        case = bidiagonal([1, 1], eps=eps)
        W, H = exact_factorization(case)
        judgement = judge(case, W, H + np.diag([1e-9, 0]))
        assert judgement.grade == ("first-order" if exists else None)

    def test_the_limit_is_the_same_in_other_units(self):
        for unit in (1.0, 1e100, 1e-100, 3.0, 0.7):
            case = bidiagonal([unit, unit], [unit], eps=0.03)
            W, H = exact_factorization(case)
            assert judge(case, W, H * (1 + 1e-6)).grade == "first-order"

    def test_first_order_is_measured_against_the_smallest_diagonal_entry(self):
        """max(e)/min(a0) decides: 0.02/0.5 is too large, 0.02/1 is not."""
        for least, exists in ((0.5, False), (1.0, True)):
            case = bidiagonal([2, least], eps=0.02)
            W, H = exact_factorization(case)
            judgement = judge(case, W, H * (1 + 1e-6))
            assert judgement.grade == ("first-order" if exists else None)

    def test_first_order_tolerance(self):
        """2·max(e)²/(min a0 · max a0)."""
        case = bidiagonal([1, 4], [2], eps=1e-3)  # e = 2e-3: 2·4e-6/4 = 2e-6
        W, H = exact_factorization(case)
        for off, grade in ((1.9e-6, "first-order"), (2.1e-6, None)):
            assert judge(case, W, H + np.diag([off * 4, 0])).grade == grade

    def test_at_eps_0_the_superdiagonal_is_off_the_pattern(self):
        W, H = np.eye(2), np.eye(2)
        W[0, 1] = 1e-5
        assert judge(bidiagonal([1, 1]), W, H).form_defect == pytest.approx(1e-5)
        case = bidiagonal([1, 1], eps=1e-5)
        assert judge(case, W, H).form_defect == 0


def plain_kkt_residual(A, W, H):
    """Compute the KKT residual of balanced W, H entry by entry, from its definition."""
    alpha = A.max()
    A, W, H = A / alpha, W / np.sqrt(alpha), H / np.sqrt(alpha)
    n = len(A)
    for k in range(n):
        scale = np.sqrt(H[k].max() / W[:, k].max())
        W[:, k], H[k] = W[:, k] * scale, H[k] / scale
    worst = 0.0
    for i in range(n):
        for k in range(n):
            slope_W = sum((W[i] @ H[:, j] - A[i, j]) * H[k, j] for j in range(n))
            slope_H = sum(W[j, k] * (W[j] @ H[:, i] - A[j, i]) for j in range(n))
            worst = max(worst, abs(min(W[i, k], slope_W)), abs(min(H[k, i], slope_H)))
    return worst


@given(st.data())
def test_kkt_residual(data):
    case = data.draw(cases(max_n=4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    W, H = rng.random((case.n, case.n)), rng.random((case.n, case.n))
    spoiled = data.draw(st.sampled_from(["both", "W", "H"]))
    if spoiled != "both":  # one half solved for the other: only its own gradient is left
        for _ in range(300):
            if spoiled == "W":
                H = H * (W.T @ case.A) / (W.T @ W @ H)
            else:
                W = W * (case.A @ H.T) / (W @ H @ H.T)
    expected = plain_kkt_residual(case.A, W.copy(), H.copy())
    assert judge(case, W, H).kkt_residual == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    ("size", "outcome"), [(0.9e-3, Outcome.COLLAPSED), (1.1e-3, Outcome.UNCONVERGED)]
)
def test_a_collapsed_run_is_stationary_up_to_1e_3(size, outcome):
    """Both components explain row 1; moved off the stationary point by so much."""
    W, H = np.array([[0.5, 0.5], [0, 0]]), np.array([[1.0, 0], [1.0, 0]])
    W[0, 0] += size / np.sqrt(0.5)
    judgement = judge(bidiagonal([1, 0.1]), W, H)
    assert judgement.kkt_residual == pytest.approx(size, rel=0.05)
    assert judgement.outcome is outcome


@settings(max_examples=50)
@given(st.data())
def test_a_batch_is_judged_like_its_members(data):
    n = data.draw(st.integers(1, 5))
    some_cases = data.draw(st.lists(cases(min_n=n, max_n=n), min_size=1, max_size=6))
    pairs = [data.draw(factorizations(case)) for case in some_cases]
    W, H = np.array([W for W, _ in pairs]), np.array([H for _, H in pairs])
    W[0, 0, 0] = data.draw(st.sampled_from([np.nan, np.inf, -1.0, 1.0]))
    batch = judge_batch(some_cases, W, H)
    assert len(batch) == len(some_cases)
    for i, case in enumerate(some_cases):
        alone = judge(case, W[i], H[i])
        assert batch.outcome[i] == alone.outcome
        assert (batch.grade[i] or None) == alone.grade
        assert (batch.word[i] or None) == (alone.word or None)
        assert (batch.type[i] or None) == alone.type
        assert batch.clipped[i] == alone.clipped
        for name in ("form_defect", "product_defect", "kkt_residual"):
            np.testing.assert_array_equal(getattr(batch, name)[i], getattr(alone, name))
        permutation = tuple(batch.permutation[i].tolist())
        assert permutation == (alone.permutation or (-1,) * n)


def test_one_case_serves_a_whole_batch():
    case = bidiagonal([1, 1, 1], eps=0.25)
    W, H = starts(3, range(5000))  # several chunks
    one, each = judge_batch(case, W, H), judge_batch([case] * 5000, W, H)
    np.testing.assert_array_equal(one.product_defect, each.product_defect)
    np.testing.assert_array_equal(one.outcome, each.outcome)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_stack_of_cases_holds_what_each_of_them_does(n):
    some = [case_of(n, f"loguniform#{i}", eps) for i in range(3) for eps in (0.0, 1e-3, 0.25)]
    stack = CaseStack.of(some)
    for name in ("A", "a0", "e"):
        assert (
            getattr(stack, name).tobytes() == np.stack([getattr(c, name) for c in some]).tobytes()
        )
    assert stack.eps.tolist() == [case.eps for case in some]


def test_an_empty_batch():
    empty = np.empty((0, 3, 3))
    assert len(judge_batch([], empty, empty)) == 0
    assert len(judge_batch(bidiagonal([1, 1, 1]), empty, empty)) == 0


class TestOutcomesOfRealRuns:
    """Each outcome, produced by something real."""

    def test_exact(self):
        case = bidiagonal([1, 1, 1], eps=0.25)
        W, H, _ = reference.coordinate_descent(case.A, *starting_point(3, 0))
        assert judge(case, W, H).outcome is Outcome.EXACT

    def test_first_order(self):
        case = bidiagonal([1, 1, 1], eps=1e-3)
        W, H, _ = reference.multiplicative_update(case.A, *starting_point(3, 0), iterations=10**4)
        judgement = judge(case, W, H)
        assert judgement.outcome is Outcome.FIRST_ORDER
        assert "near the solution set, with the word" in judgement.explanation

    def test_collapsed(self):
        case = bidiagonal([1] * 5)
        W0, H0 = starts(5, range(40))
        found = reference.coordinate_descent(case.A, W0, H0)
        outcomes = judge_batch(case, found.W, found.H).outcome
        i = outcomes.tolist().index("collapsed")
        judgement = judge(case, found.W[i], found.H[i])
        assert judgement.outcome is Outcome.COLLAPSED
        assert judgement.kkt_residual < 1e-3
        assert judgement.product_defect > 0.1
        assert judgement.permutation is judgement.word is judgement.grade is None
        assert judgement.form_defect == np.inf
        assert judgement.explanation.endswith(
            ": a stationary point that accepted algorithms also reach in some runs."
        )

    def test_stopped_early_far_from_every_solution(self):
        case = bidiagonal([1] * 5)
        judgement = judge(
            case, *reference.multiplicative_update(case.A, *starting_point(5, 0), 2)[:2]
        )
        assert judgement.outcome is Outcome.UNCONVERGED
        assert judgement.permutation is None
        assert "no stationary point is there (KKT residual" in judgement.explanation

    def test_stopped_early_near_a_solution(self):
        case = bidiagonal([1, 1, 1], eps=0.25)
        W, H, _ = reference.multiplicative_update(case.A, *starting_point(3, 0), 1000)
        judgement = judge(case, W, H)
        assert judgement.outcome is Outcome.UNCONVERGED
        assert judgement.permutation is not None
        assert "each row is explained by a component of its own, but WH misses A by" in (
            judgement.explanation
        )

    def test_a_start_is_not_an_answer(self):
        case = bidiagonal([1, 1, 1], eps=1e-3)
        assert judge(case, *starting_point(3, 0)).outcome is Outcome.UNCONVERGED

    def test_zeros(self):
        judgement = judge(bidiagonal([1, 1]), np.zeros((2, 2)), np.zeros((2, 2)))
        assert judgement.outcome is Outcome.COLLAPSED  # zero is a stationary point, too
        assert judgement.explanation.startswith(
            "components 1 and 2 explain next to nothing; nothing explains rows 1 and 2: a"
        )
        assert "accepted algorithms" not in judgement.explanation

    def test_wrong_by_a_factor(self):
        case = bidiagonal([1, 1], eps=1e-3)
        W, H = exact_factorization(case)
        assert judge(case, 2 * W, H).outcome is Outcome.UNCONVERGED

    def test_huge_numbers(self):
        judgement = judge(bidiagonal([1, 1]), np.full((2, 2), 1e200), np.full((2, 2), 1e200))
        assert judgement.outcome is Outcome.UNCONVERGED
        assert judgement.product_defect == np.inf


@pytest.mark.parametrize(
    ("cases_", "W", "H", "said"),
    [
        ([bidiagonal([1, 1])], np.ones((2, 2, 2)), np.ones((2, 2, 2)), "1 cases for a batch of 2"),
        ([bidiagonal([1, 1])], np.ones((1, 3, 3)), np.ones((1, 3, 3)), r"W has shape \(1, 3, 3\)"),
        ([bidiagonal([1, 1])], np.ones((1, 2, 2)), np.ones((2, 2, 2)), "H has shape"),
        ([bidiagonal([1, 1])], np.ones((2, 2)), np.ones((2, 2)), "expected real numbers of shape"),
        ([bidiagonal([1, 1])], np.ones((1, 2, 2)) * 1j, np.ones((1, 2, 2)), "complex128"),
        ([], np.ones((1, 2, 2)), np.ones((1, 2, 2)), "no case for a batch of 1"),
        (
            [bidiagonal([1, 1]), bidiagonal([1])],
            np.ones((2, 2, 2)),
            np.ones((2, 2, 2)),
            r"cases of one size, not of n = \[1, 2\]",
        ),
    ],
)
def test_bad_batches_get_one_clear_line(cases_, W, H, said):
    with pytest.raises(InputError, match=said):
        judge_batch(cases_, W, H)


@pytest.mark.parametrize("wrong", [np.eye(2), "bidiagonal/n=2/ones/eps=0", None])
@pytest.mark.parametrize(
    "call",
    [
        lambda case: judge(case, np.eye(2), np.eye(2)),
        lambda case: judge_batch(case, np.ones((2, 2, 2)), np.ones((2, 2, 2))),
        lambda case: nearest_exact(case, np.eye(2), np.eye(2)),
        exact_factorization,
    ],
)
def test_a_matrix_is_no_case(call, wrong):
    with pytest.raises(InputError, match=r"expected a (bidiagonal )?Case"):
        call(wrong)


@pytest.mark.parametrize(
    "call",
    [
        lambda case: judge_batch(case, np.ones((1, 9, 3)), np.ones((1, 3, 6))),
        lambda case: judge_batch([case], np.ones((1, 9, 3)), np.ones((1, 3, 6))),
        lambda case: nearest_exact(case, np.ones((9, 3)), np.ones((3, 6))),
        exact_factorization,
    ],
)
def test_a_case_of_another_family_is_no_bidiagonal_one(call):
    with pytest.raises(InputError, match=r"expected a bidiagonal Case, .*not InflatedCase"):
        call(Case.from_id("inflated/9x6/k=3/dyadic#7/eps=0.25"))
