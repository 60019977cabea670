"""Sentences of the diagnosis that would be false of somebody else: when they are said, and how."""

import time
from functools import partial

import numpy as np
import pytest

import followed
from cheats import multiply
from nmfcheck import check
from nmfcheck.checking import campaign
from nmfcheck.diagnosis import Cause, Finding
from nmfcheck.diagnosis.broken_laws import broken_laws
from nmfcheck.diagnosis.experiments import perform
from nmfcheck.diagnosis.experiments.alone import CHANGES, CONTROLS, _not_as_before
from nmfcheck.diagnosis.experiments.record import Begin, Run
from nmfcheck.diagnosis.order import in_order, with_symptoms
from nmfcheck.diagnosis.rules.early import _changes
from nmfcheck.diagnosis.rules.least_squares import least_squares
from nmfcheck.diagnosis.rules.penalised import TERMS, _part_left
from nmfcheck.diagnosis.rules.rescaled import _both, inner
from nmfcheck.diagnosis.rules.unsigned import _lost_signs
from nmfcheck.families import find
from nmfcheck.families.bidiagonal.family import cell_of
from nmfcheck.intervals import Share
from nmfcheck.judging.outcomes import Outcome
from nmfcheck.laws import LawResult, Severity, State
from nmfcheck.trials.stage import Stage
from nmfcheck.verdict.decision import (
    CellVerdict,
    Decision,
    QuestionVerdict,
    failed_early,
    pooled,
)
from nmfcheck.verdict.sequential import worst
from nmfcheck.verdict.tally import CellTally, _with_one_answer
from zoo import descend, hals

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def first(function, *families, trials=8, **more):
    """Return the first finding that is not a rate of collapse that is usual."""
    report = check(function, families=families, trials=trials, isolate=False, laws=[], **more)
    return next(f for f in report.findings if f.cause not in (Cause.NORMAL, Cause.INEXACT))


def test_a_capped_rank_is_named():
    def caps(A, rank, *, W0, H0):
        k = max(1, min(rank, min(A.shape) - 1))
        W, H = np.zeros_like(W0), np.zeros_like(H0)
        W[:, :k], H[:k] = descend(A, W0[:, :k].copy(), H0[:k].copy())
        return W, H

    finding = first(caps, "bidiagonal", "mixed")
    assert (finding.cause, finding.certain) == (Cause.PRUNED, False)
    assert "Probably the rank is capped at min(m, n) − 1" in finding.sentence
    assert "and in none of" in finding.sentence
    finding = first(caps, "bidiagonal")
    assert "the rank is capped below what was asked for, or a loop or a slice" in finding.sentence


def test_a_component_that_is_left_out_at_high_ranks_is_another_cap():
    def caps_at_2(A, rank, *, W0, H0):
        W, H = np.zeros_like(W0), np.zeros_like(H0)
        W[:, :2], H[:2] = descend(A, W0[:, :2].copy(), H0[:2].copy())
        return W, H

    finding = first(caps_at_2, "mixed", "bidiagonal", trials=12)
    assert "Probably the rank is capped at 2," in finding.sentence


def test_no_factor_is_called_right_where_any_would_do():
    """With as many components as rows, a best H fits many a wrong W."""

    def returns_another_h(A, rank, *, W0, H0):
        W, H = descend(A, W0, H0)
        return W, np.sqrt(H)

    finding = first(returns_another_h, "bidiagonal")
    assert "that of an exact factorization" not in finding.sentence
    finding = first(returns_another_h, "mixed")
    assert finding.cause is Cause.HALF
    assert not finding.certain
    assert finding.sentence.startswith("W is that of an exact factorization, and H is not")


def test_a_constraint_is_no_weight_and_no_other_factor():
    def rows_of_w_sum_to_1(A, rank, *, W0, H0):
        W, H = W0, H0
        for _ in range(60):
            W = hals(A, W, H, sweeps=1)[0]
            W = W / np.where(W.sum(axis=1) > 0, W.sum(axis=1), 1)[:, None]
            H = hals(A.T, H.T, W.T, sweeps=1)[0].T
        return W, H

    report = check(
        rows_of_w_sum_to_1, families=["rays", "bidiagonal"], trials=8, isolate=False, laws=[]
    )
    causes = [finding.cause for finding in report.findings]
    assert causes[0] is Cause.CONSTRAINED
    assert not {Cause.WEIGHTED, Cause.HALF, Cause.CEILING} & set(causes)


def test_what_is_said_of_a_is_not_said_where_no_product_is_a():
    def divides_h_as_well(A, rank, *, W0, H0):
        W, H = descend(A, W0, H0)
        norms = np.where(W.any(axis=0), np.linalg.norm(W, axis=0), 1)
        return W / norms, H / norms[:, None]

    finding = first(divides_h_as_well, "mixed", "noisy")
    assert finding.sentence.startswith("mixed: W·H is A but for the sizes of its components")
    assert "The same shows in" not in finding.sentence
    finding = first(divides_h_as_well, "noisy")
    assert finding.sentence.startswith("experiments with bidiagonal and mixed matrices: W·H is A")


@pytest.mark.slow
def test_nan_after_an_overflow_is_no_zero_over_zero():
    def grows(A, rank, *, W0, H0):
        W, H = W0.copy(), H0.copy()
        for _ in range(2000):
            W, H = W - (W @ H - A) @ H.T, H - W.T @ (W @ H - A)
        return W, H

    def grows_in_w(A, rank, *, W0, H0):
        return np.where(np.eye(*W0.shape) > 0, np.nan, 1e200), H0

    def divides_by_zero(A, rank, *, W0, H0):
        return W0 / 0 * 0, H0

    sentence = first(grows_in_w, "bidiagonal").sentence
    assert "probably numbers grow until they overflow" in sentence
    sentence = first(divides_by_zero, "bidiagonal").sentence
    assert "NaN usually comes from 0/0, or from numbers that overflow" in sentence
    report = check(grows, families=["bidiagonal"], trials=4, isolate=False, laws=[])
    told = " ".join(finding.sentence for finding in report.findings)
    counts = {name: told.partition(f"{name} has entries that are NaN in ")[2][:3] for name in "WH"}
    assert counts["W"] == counts["H"] != ""  # each is NaN wherever the other is


@pytest.mark.slow
def test_nan_where_nothing_is_large_is_probably_zero_over_zero():
    def divides_where_a_component_died(A, rank, *, W0, H0):
        W, H = descend(A, W0, H0)
        return W / (W.max(axis=0) * H.max(axis=1)) * (W.max(axis=0) * H.max(axis=1)), H

    finding = first(divides_where_a_component_died, "bidiagonal", "inflated", trials=40, whole=True)
    assert (finding.cause, finding.certain) == (Cause.HARD, False)
    assert "probably from 0/0 (a component that has become 0, say)" in finding.sentence


@pytest.mark.parametrize(("letters", "one"), [("eee", True), ("eei", False), ("iii", False)])
def test_answers_of_nan_are_not_one_answer(letters, one):
    tallied = CellTally(cell_of(3, "ones"), (0, 1, 2), {"eps=0": letters})
    assert _with_one_answer(tallied, {tallied.cell.id}).one_answer == one


@pytest.mark.slow
def test_signs_may_be_lost_in_each_iteration():
    def takes_absolute_values(A, rank, *, W0, H0):
        W = W0
        for _ in range(300):
            H = abs(np.linalg.lstsq(W, A, rcond=None)[0])
            W = abs(np.linalg.lstsq(H.T, A.T, rcond=None)[0]).T
        return W, H

    finding = first(takes_absolute_values, "bidiagonal", trials=20)
    assert finding.cause is Cause.UNSIGNED
    assert "at the end" not in finding.sentence


@pytest.mark.slow
def test_an_exception_after_an_overflow_says_that_it_diverges(tmp_path):
    source = tmp_path / "grows.py"
    source.write_text(
        "import warnings\nimport numpy as np\n"
        "warnings.simplefilter('always')\n"
        "def nmf(A, rank, *, W0, H0):\n"
        "    W, H = W0, H0\n"
        "    if rank < 3:\n        return W, H\n"
        "    for _ in range(500):\n"
        "        W = W + 10 * (W @ H - A) @ H.T\n"
        "        H = H + 10 * W.T @ (W @ H - A)\n"
        "        if not np.isfinite(W).all():\n"
        "            raise ValueError('no norm')\n"
    )
    report = check(f"py:{source}:nmf", families=["bidiagonal"], trials=3, laws=[])
    finding = next(each for each in report.findings if each.cause is Cause.SILENT)
    assert "overflow encountered" in finding.sentence
    assert "probably its numbers grow until they overflow" in finding.sentence


UNSTABLE, NAN = Finding(Cause.UNSTABLE, "", certain=False), Finding(Cause.HARD, "NaN")
HALF = Finding(Cause.HALF, "", certain=False)
DESCENT, OTHER = Finding(Cause.LAW, "descent"), Finding(Cause.LAW, "another law")


@pytest.mark.parametrize("leading", [[], [UNSTABLE], [UNSTABLE, DESCENT], [DESCENT], [HALF]])
def test_why_numbers_grow_is_told_before_nan(leading):
    told = with_symptoms([*leading, OTHER, UNSTABLE], [NAN], [DESCENT])
    assert told == [*leading, NAN, OTHER, UNSTABLE]


def broken(law, sentence):
    return LawResult(law, Severity.MUST, State.BROKEN, sentence)


def test_laws_without_an_answer_are_told_once_and_without_what_they_usually_mean():
    laws = [
        broken("valid", "tall: W has 6 entries that are NaN"),
        broken("rank-one", "it raised LinAlgError: no"),
        broken("units", "A times 1e+06 ends worse, by 0.92 of A's own objective"),
        broken("zero-rows", "a zero row: H is not finite"),
    ]
    told = broken_laws(laws, Cause.LAW, silent_elsewhere=True)
    assert [finding.sentence for finding in told] == [
        "The law 'valid' is broken: tall: W has 6 entries that are NaN. So are the laws 'rank-one' "
        "and 'zero-rows', where no valid answer came back either.",
        told[1].sentence,
    ]
    assert "Usually: a fixed constant" in told[1].sentence
    told = broken_laws(laws, Cause.LAW, silent_elsewhere=False)
    assert "Usually: a division by zero" in told[0].sentence
    assert told[1].sentence.endswith("So is the law 'zero-rows', where no valid answer came back "
                                     "either.")  # fmt: skip


def control(W, kept=True, seed=0):
    room = find("bidiagonal")
    trial, ask = room.trial(room.cell("n=3/ones"), seed), room.ask("eps=0")
    ones = np.ones((3, 3))
    run = Run(trial, ask, Begin.GIVEN, *trial.start(), 0, W=W, H=None if W is None else ones)
    stage = Stage(trial, ask, Outcome.UNCONVERGED, "", W=ones if kept else None, H=ones)
    return run, stage


def test_why_there_is_nothing_to_compare_with():
    ones = np.ones((3, 3))
    same = [control(ones, seed=seed) for seed in (0, 1)]
    assert _not_as_before(same * CONTROLS) == ""
    assert _not_as_before(same[:1]) == _not_as_before([]) == "the time was up"
    other = control(2 * ones, seed=1)
    assert _not_as_before([control(2 * ones, seed=0), other]) == CHANGES
    assert _not_as_before([same[0], other]).endswith("not always give the same answers")
    assert _not_as_before([same[0], control(None, seed=1)]).endswith("no usable answer")
    assert "no answers were kept" in _not_as_before([same[0], control(ones, kept=False, seed=1)])


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (1.0, 0.999, "is 1 before and after"),
        (1.0, 0.5, "falls from 1 to 0.5"),
        (0.5, 1.0, "is 0.5 before and 1 after"),
    ],
)
def test_an_error_falls_only_where_the_digits_show_it(before, after, said):
    assert _changes(before, after, ".2g") == said


def test_an_average_over_iterations_is_told_from_stopping_early():
    def averages(A, rank, *, W0, H0, sweeps=60):
        W, H = W0, H0
        W_mean, H_mean = 0 * W0, 0 * H0
        for i in range(1, sweeps + 1):
            W, H = hals(A, W, H, sweeps=1)
            W_mean, H_mean = W_mean + (W - W_mean) / i, H_mean + (H - H_mean) / i
        return W_mean, H_mean

    finding = first(averages, "bidiagonal", sizes=[2, 3])
    assert (finding.cause, finding.certain) == (Cause.SPOILED, True)
    assert "not the best that is there: in the end `W` and `H`" in finding.sentence


def test_an_average_over_iterations_that_are_not_seen_is_told_from_stopping_early():
    def averages(A, rank, *, W0, H0, sweeps=60):
        pairs = [(W0, H0)]
        while len(pairs) <= sweeps:
            pairs.append(hals(A, *pairs[-1], sweeps=1))
        return tuple(np.mean(each[1:], axis=0) for each in zip(*pairs, strict=True))

    finding = first(averages, "bidiagonal", sizes=[2, 3])
    assert (finding.cause, finding.certain) == (Cause.EARLY, False)
    assert finding.sentence.startswith("Probably it returns an average over its iterations")


@pytest.mark.slow
def test_a_slow_subject_is_continued_as_well():
    def slow(A, rank, *, W0, H0):
        time.sleep(0.3)
        return hals(A, W0, H0, sweeps=2)

    report = check(slow, families=["bidiagonal"], sizes=[3], trials=4, isolate=False, laws=[])
    made = {each.name: each for each in report._subject.experiments}
    assert "the time was up" in made["start at the answer"].left_out
    assert made["continue"].runs > 0
    assert made["start at the answer"].runs > 0


def test_where_there_is_no_answer_is_told_by_the_shape():
    def loops_to_m(A, rank, *, W0, H0):
        W, H = descend(A, W0, H0)
        for j in range(len(A)):
            H[:, j] *= 1
        return W, H

    finding = first(loops_to_m, "mixed", trials=10, whole=True)
    assert finding.cause is Cause.SILENT
    assert "runs in which A has more rows than columns, and in none of the" in finding.sentence

    def dies_now_and_then(A, rank, *, W0, H0):
        W, H = descend(A, W0, H0)
        if A.shape[0] > A.shape[1] and W0[0, 0] < 0.5:
            raise IndexError("no luck")
        return W, H

    assert "That is so" not in first(dies_now_and_then, "mixed", trials=10, whole=True).sentence


def test_who_stops_whatever_the_options_say():
    def has_a_limit_of_its_own(A, rank, *, W0, H0, max_iter=500, tol=1e-12):
        return hals(A, W0, H0, sweeps=min(max_iter, 15))

    finding = first(has_a_limit_of_its_own, "mixed", "rays", trials=20)
    assert (finding.cause, finding.certain) == (Cause.EARLY, False)
    assert "stops early, whatever its options say: with max_iter=5000 and tol=1e-18" in (
        finding.sentence
    )
    assert "runs end at the same error as before" in finding.sentence


@pytest.mark.slow
def test_who_keeps_something_gives_other_answers_and_the_same_in_new_processes(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(campaign, "perform", partial(perform, seconds=60))  # on a busy machine
    module = tmp_path / "keeps.py"
    module.write_text(KEEPS)
    finding = next(
        finding
        for finding in check(
            f"py:{module}:factorize", families=["mixed"], trials=6, laws=[]
        ).findings
        if finding.cause is Cause.REMEMBERS
    )
    assert finding.certain
    assert "asked for the same problem once more, it gives another answer" in finding.sentence


@pytest.mark.slow
def test_a_seed_of_0_that_is_taken_for_none(monkeypatch):
    monkeypatch.setattr(campaign, "perform", partial(perform, seconds=60))  # on a busy machine
    name = f"py:{followed.__file__}:takes_seed_0_for_none"
    first, *_ = check(name, families=["mixed"], trials=6, laws=[]).findings
    assert "0 is probably taken for no seed" in first.sentence


KEEPS = """
import numpy as np
calls = 0

def factorize(A, rank, *, W0, H0):
    global calls
    calls += 1
    return W0 + calls, H0
"""


def test_lines_of_zeros_that_are_put_back_elsewhere():
    def at_the_end(A, rank, *, W0, H0):
        rows, columns = A.any(axis=1), A.any(axis=0)
        W, H = np.zeros_like(W0), np.zeros_like(H0)
        part = A[rows][:, columns]
        W[: len(part)], H[:, : part.shape[1]] = descend(part, W0[rows], H0[:, columns])
        return W, H

    report = check(at_the_end, families=["inflated"], trials=8, isolate=False, laws=[], whole=True)
    finding = next(f for f in report.findings if f.cause is Cause.PERMUTED)
    assert finding.certain
    assert "W·H is A but for its rows or columns of zeros, which are in another" in finding.sentence
    assert not any("at the end only" in finding.sentence for finding in report.findings)


@pytest.mark.parametrize(("step", "which"), [(1, "before it"), (-1, "behind it")])
def test_components_that_are_fitted_one_after_another(step, which):
    def leaves_the_others_out(A, rank, *, W0, H0):
        W, H = W0.copy(), H0.copy()
        for _ in range(100):
            rest = A.copy()
            for j in range(rank)[::step]:
                W[:, j] = np.maximum(0, rest @ H[j] / (H[j] @ H[j] + 1e-300))
                H[j] = np.maximum(0, W[:, j] @ rest / (W[:, j] @ W[:, j] + 1e-300))
                rest -= np.outer(W[:, j], H[j])
        return W, H

    finding = first(leaves_the_others_out, "mixed")
    assert (finding.cause, finding.certain) == (Cause.GREEDY, True)
    assert f"fitted to what those {which} leave of A" in finding.sentence


def test_columns_of_norm_1_are_not_clipped():
    def normalises_alone(A, rank, *, W0, H0):
        W, H = descend(A, W0, H0)
        W = W / np.maximum(np.linalg.norm(W, axis=0), 1e-300)
        return W, np.sqrt(H)

    report = check(normalises_alone, families=["bidiagonal"], trials=8, isolate=False, laws=[])
    assert not any(finding.cause is Cause.CEILING for finding in report.findings)


def test_a_start_at_zero_is_among_the_reasons_for_zeros():
    def starts_at_zero(A, rank, *, W0, H0):
        return multiply(A, W0, 0 * H0, 300)

    finding = first(starts_at_zero, "mixed")
    assert finding.cause is Cause.ZEROS
    assert "it may begin at 0, and not where it is told to" in finding.sentence


def test_two_answers_to_one_question_come_before_what_is_wrong_with_them():
    left = {}

    def goes_on(A, rank, *, W0, H0):
        W, H = left.get(A.shape, (W0, H0))
        W, H = W * 1e99, np.maximum(H, 1e-3)
        left[A.shape] = W, H
        return W, H

    report = check(goes_on, families=["mixed"], trials=8, isolate=False, laws=[])
    assert "Something may be kept from one call to the next" in report.findings[0].sentence
    assert any("entries that are" in finding.sentence for finding in report.findings[1:])


def test_a_start_that_is_ignored_is_told_before_the_collapse_that_comes_of_it():
    def constant(A, rank, *, W0, H0):
        return multiply(A, np.ones_like(W0), np.ones_like(H0), 300)

    report = check(constant, families=["mixed"], trials=8, isolate=False, laws=["start-used"])
    assert report.findings[0].sentence.startswith("The law 'start-used' is broken")
    assert any(finding.cause is Cause.COLLAPSES for finding in report.findings)


@pytest.mark.parametrize(
    "sentence", ["W has shape (5,); expected (5, 1)", "csr_array: H has a negative entry, -0.1"]
)
def test_what_is_not_valid_is_no_answer_to_a_law(sentence):
    assert LawResult("sparse", Severity.MUST, State.BROKEN, sentence).unanswered


@pytest.mark.parametrize(("part", "said"), [(0.97, False), (0.5, True)])
def test_a_penalty_on_one_factor_is_no_scaling(part, said):
    """Where components do not overlap, a penalty makes each of them a little smaller."""

    def shrinks_components(A, rank, *, W0, H0):
        W, H = descend(A, W0, H0)
        return W * (1 - (1 - part) / np.arange(1, rank + 1)), H

    report = check(shrinks_components, families=["mixed"], trials=8, isolate=False, laws=[])
    assert said == any(finding.cause is Cause.RESCALED for finding in report.findings)


def test_a_factor_stays_where_the_other_is_zero():
    def loses_w(A, rank, *, W0, H0):
        return (0 * W0, H0) if W0[0, 0] < 0.5 else descend(A, W0, H0)

    report = check(loses_w, families=["optima"], trials=8, isolate=False, laws=[])
    assert not any("is never updated" in finding.sentence for finding in report.findings)


@pytest.mark.parametrize(
    ("shares", "named"),
    [([(0, 6), (60, 61)], 0), ([(0, 2), (20, 60), (500, 500)], 1), ([(3, 6), (9, 18)], None)],
)
def test_what_ended_a_run_is_named(shares, named):
    """One cell, if it says more than all of them together; not the one that is lowest."""
    names = ("6x5/k=2/dyadic", "6x8/k=3/dyadic", "12x10/k=4/dyadic")
    cells = tuple(
        CellVerdict(find("mixed").cell(name), Share(*share), 0.95)
        for name, share in zip(names[: len(shares)], shares, strict=True)
    )
    answer = QuestionVerdict("mixed", Decision.INCONCLUSIVE, "", cells, pooled(cells))
    reason = failed_early(answer, worst(cells)).reason
    if named is None:
        assert reason.startswith("Of all cells together, 12 of 24 ")
    else:
        name, (part, whole) = cells[named].cell.name, shares[named]
        assert f"Not all cells meet their bars: of {name}, {part} of {whole} " in reason


def test_blocks_that_leave_out_the_rest_update_some_of_it():
    def in_blocks_of_4(A, rank, *, W0, H0):
        whole = A.shape[1] // 4 * 4
        W, H = W0.copy(), H0.copy()
        for _ in range(100):
            W, new = hals(A, W, H, sweeps=1)
            H[:, :whole] = new[:, :whole]
        return W, H

    report = check(in_blocks_of_4, families=["bidiagonal"], trials=8, isolate=False, laws=[])
    finding = next(f for f in report.findings if f.cause is Cause.UNMOVED)
    assert finding.sentence.startswith("The last columns of H come back as they were at the start")


def test_what_is_kept_explains_a_start_that_is_not_used():
    known = {}

    def by_shape(A, rank, *, W0, H0):
        if (A.shape, rank) not in known:
            known[A.shape, rank] = descend(A, W0, H0)
        return tuple(X.copy() for X in known[A.shape, rank])

    report = check(
        by_shape, families=["mixed"], trials=8, isolate=False, laws=["start-used", "refit"]
    )
    laws = [f.sentence for f in report.findings if f.cause is Cause.LAW]
    assert laws[0].startswith("The law 'refit' is broken")


def test_what_is_certain_elsewhere_is_told_before_what_hardly_says_why():
    early = Finding(Cause.EARLY, "early", certain=False)
    unsigned = Finding(Cause.UNSIGNED, "unsigned")
    guess = Finding(Cause.UNSIGNED, "perhaps", certain=False)
    shown = [(["mixed"], early), (["bidiagonal"], unsigned)]
    assert [f for _, f in in_order(shown, ["mixed"])] == [unsigned, early]
    shown = [(["mixed"], early), (["bidiagonal"], guess)]
    assert [f for _, f in in_order(shown, ["mixed"])] == [early, guess]
    unknown = Finding(Cause.UNRELATED, "nowhere near A", certain=False)
    at_once = Finding(Cause.AT_ONCE, "at once", certain=False)
    shown = [(["mixed"], unknown), (["rays"], guess), (["rays"], at_once)]
    assert [f for _, f in in_order(shown, ["mixed"])] == [at_once, unknown, guess]


@pytest.mark.slow
def test_sizes_that_are_wrong_where_exact_factorizations_stay_are_no_scaling():
    def updates_both_from_old_values(A, rank, *, W0, H0):
        W, H = W0, H0
        for _ in range(400):
            W, H = multiplied(A, W, H), multiplied(A.T, H.T, W.T).T
        return W, H

    finding = first(updates_both_from_old_values, "mixed", "rays", trials=8)
    assert finding.cause is Cause.AT_ONCE
    assert not finding.certain


def multiplied(A, W, H):
    return W * (A @ H.T) / np.maximum(W @ (H @ H.T), 1e-300)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("added", "words"),
    [
        (lambda G, H: G + 0.05 * np.eye(len(H)), "0.05 times W and H: an L2 penalty"),
        (lambda G, H: G + 0.05 * (1 - np.eye(len(H))), "the sum of the other components"),
    ],
)
def test_a_penalty_is_named_by_the_gradient_that_it_leaves(added, words):
    def is_penalised(A, rank, *, W0, H0):
        W, H = W0.copy(), H0.copy()
        for _ in range(600):
            H = swept(added(W.T @ W, H), W.T @ A, H)
            W = swept(added(H @ H.T, W.T), H @ A.T, W.T).T
        return W, H

    finding = first(is_penalised, "mixed", "noisy", trials=8)
    assert finding.cause is Cause.BIASED
    assert words in finding.sentence


def swept(G, C, X):
    X = X.copy()
    for j in range(len(X)):
        if G[j, j] > 0:
            X[j] = np.maximum(0.0, X[j] + (C[j] - G[j] @ X) / G[j, j])
    return X


@pytest.mark.slow
def test_components_that_are_emptied_after_the_fit():
    def prunes(A, rank, *, W0, H0):
        W, H = hals(A, W0, H0, sweeps=300)
        sizes = np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1)
        dead = sizes < 0.5 * sizes.max()
        W[:, dead], H[dead] = 0.0, 0.0
        return W, H

    finding = first(prunes, "mixed", trials=12)
    assert (finding.cause, finding.certain) == (Cause.PRUNED, True)


def test_components_that_start_alike():
    def starts_alike(A, rank):
        W, H = np.ones((len(A), rank)), np.ones((rank, A.shape[1]))
        for _ in range(200):
            H = multiplied(A.T, H.T, W.T).T
            W = multiplied(A, W, H)
        return W, H

    finding = first(starts_alike, "mixed", trials=12)
    assert finding.cause is Cause.COLLAPSES
    assert "they start alike" in finding.sentence


@pytest.mark.slow
def test_some_collapses_do_not_say_that_components_start_alike():
    def leaves_an_entry_out(A, rank, *, W0, H0, seed):
        M = np.ones(A.shape)
        M.flat[seed % A.size] = 0.0
        W, H = W0.copy(), H0.copy()
        for _ in range(1000):
            H *= (W.T @ (M * A)) / (W.T @ (M * (W @ H)) + 1e-300)
            W *= ((M * A) @ H.T) / ((M * (W @ H)) @ H.T + 1e-300)
        return W, H

    chosen = {"families": "bidiagonal", "sizes": (2,), "trials": 40, "whole": True}
    report = check(leaves_an_entry_out, isolate=False, **chosen)
    assert Cause.COLLAPSES in {finding.cause for finding in report.findings}
    assert not any("start alike" in finding.sentence for finding in report.findings)


@pytest.mark.slow
def test_one_factor_of_another_loss():
    def mixes_two_losses(A, rank, *, W0, H0):
        W, H = W0, H0
        for _ in range(200):
            W = W * ((A / np.maximum(W @ H, 1e-300)) @ H.T) / H.sum(axis=1)
            H = multiplied(A.T, H.T, W.T).T
        return W, H

    finding = first(mixes_two_losses, "rank-one", trials=12)
    assert finding.cause is Cause.HALF
    assert "The update of W is that of another loss" in finding.sentence


@pytest.mark.slow
def test_one_iteration_whatever_the_option_says(monkeypatch):
    monkeypatch.setattr(campaign, "perform", partial(perform, seconds=60))

    def ends_at_once(A, rank, *, W0, H0, max_iter=500):
        W, H = W0, H0
        for _ in range(max_iter):
            H = multiplied(A.T, H.T, W.T).T
            W = multiplied(A, W, H)
            if np.isfinite(H).all():
                break
        return W, H

    finding = first(ends_at_once, "mixed", "rays", trials=8)
    assert (finding.cause, finding.certain) == (Cause.EARLY, True)
    assert "max_iter makes no difference: with max_iter=1" in finding.sentence


def test_numbers_that_are_too_large_for_a_rule_are_no_traceback():
    def grows(A, rank, *, W0, H0):
        return W0 * 1e160, H0 * 1e160

    assert check(grows, families=["mixed"], trials=6, isolate=False, laws=[]).findings


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    return W0 + calls, H0\n", "something is kept from one call to the next"),
        ("    return W0 + np.random.default_rng().random(), H0\n", "it is random"),
    ],
)
def test_two_answers_are_asked_for_in_new_processes(tmp_path, monkeypatch, body, words):
    monkeypatch.setattr(campaign, "perform", partial(perform, seconds=60))
    module = tmp_path / f"twice_{len(body)}.py"
    module.write_text(KEEPS.replace("    return W0 + calls, H0\n", body))
    findings = check(f"py:{module}:factorize", families=["mixed"], trials=6, laws=[]).findings
    (twice,) = [f for f in findings if "Asked twice" in f.sentence]
    assert words in twice.sentence


@pytest.mark.slow
def test_levels_are_no_threshold():
    def returns_8_bits(A, rank, *, W0, H0):
        return tuple(np.round(X / X.max() * 255) / 255 * X.max() for X in hals(A, W0, H0))

    finding = first(returns_8_bits, "bidiagonal", "mixed", trials=12)
    assert finding.cause is Cause.ROUNDED
    assert "256 levels" in finding.sentence


def test_columns_that_are_taken_for_empty():
    def leaves_columns_out(A, rank, *, W0, H0):
        full = A.all(axis=0)
        H = np.zeros_like(H0)
        W, H[:, full] = hals(A[:, full], W0, H0[:, full])
        return W, H

    finding = first(leaves_columns_out, "mixed", trials=12)
    assert finding.cause is Cause.MISSING
    assert "Whole columns of W·H are 0 where those of A are not" in finding.sentence


def test_one_factor_of_another_loss_without_a_start():
    def mixes_two_losses(A, rank, *, seed):
        rng = np.random.default_rng(seed)
        W, H = rng.random((len(A), rank)), rng.random((rank, A.shape[1]))
        for _ in range(60):
            W = swept(H @ H.T, H @ A.T, W.T).T
            H = H * (W.T @ (A / np.maximum(W @ H, 1e-300))) / W.sum(axis=0)[:, None]
        return W, H

    finding = first(mixes_two_losses, "rank-one", trials=12)
    assert (finding.cause, finding.certain) == (Cause.HALF, True)
    assert "The update of H is that of another loss" in finding.sentence


@pytest.mark.slow
def test_components_that_are_taken_for_dead():
    def prunes(A, rank, *, W0, H0):
        W, H = W0.copy(), H0.copy()
        for sweep in range(200):
            H = swept(W.T @ W, W.T @ A, H)
            W = swept(H @ H.T, H @ A.T, W.T).T
            if sweep % 10 == 9 and sweep < 50:
                dead = np.linalg.norm(W, axis=0) * np.linalg.norm(H, axis=1) < 1.0
                W[:, dead], H[dead] = 0.0, 0.0
        return W, H

    chosen = {"families": "bidiagonal", "sizes": (3,), "trials": 30, "whole": True}
    report = check(prunes, isolate=False, **chosen)
    (said,) = (f.sentence for f in report.findings if f.cause is Cause.COLLAPSES)
    assert "whole components are exactly 0" in said


def test_answers_beyond_all_bounds_do_not_hold_up_the_diagnosis():
    """LAPACK may go on for ever where something is infinite."""
    rng = np.random.default_rng(0)
    A, Y, X = rng.random((6, 5)), 1e134 * rng.random((6, 3)), 1e134 * rng.random((3, 5))
    assert least_squares(np.full((4, 2), np.inf), np.ones(4)) is None
    with np.errstate(all="ignore"):
        assert _part_left(TERMS["one"], A, Y, 1e100 * X) is None
        assert not _lost_signs(A, 1e200 * Y, 1e174 * X)
        for product in (inner(A, Y, 1e100 * X), _both(A, Y, 1e100 * X)):
            assert not np.isfinite(product).any()
