"""Following a subject line by line: which line is named, and that right ones are left alone."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import followed
import zoo
from nmfcheck import Trial, check
from nmfcheck.diagnosis import Cause
from nmfcheck.executors.inline import InlineExecutor
from nmfcheck.executors.local import LocalExecutor, request_all
from nmfcheck.executors.protocol import Request
from nmfcheck.subjects import Problem, SubjectName, load
from nmfcheck.subjects.function import FunctionSubject
from nmfcheck.subjects.watching import Watched, tracer, watch
from nmfcheck.subjects.watching.seen import Course
from nmfcheck.subjects.watching.source import statements, unread

FILE = Path(followed.__file__)
TRIALS = ("mixed/12x10/k=4/dyadic#7/seed=7", "bidiagonal/n=4/loguniform#3/seed=3")


def problem(id=TRIALS[0]):
    trial = Trial.from_id(id)
    case = trial.case(trial.family.asks[0])
    W0, H0 = trial.start()
    return Problem(case.A.copy(), case.rank, W0.copy(), H0.copy(), trial.seed)


def at_answer():
    """Return a problem that starts at an exact factorization."""
    trial = Trial.from_id(TRIALS[0])
    case = trial.case(trial.family.asks[0])
    answer = trial.family.exact_answer(case)
    assert answer is not None
    return Problem(case.A, case.rank, *answer, 7)


def subject(name):
    return load(SubjectName(f"py:{FILE}:{name}", {}))


def seen(name, id=TRIALS[0]):
    result = watch(subject(name), problem(id), 7)
    assert result is not None
    assert result.file == FILE.name
    return result


def marked(name):
    """Return the number of the line of a subject that is marked."""
    lines = FILE.read_text().splitlines()
    begin = next(
        i for i, line in enumerate(lines) if line.startswith((f"def {name}(", f"class {name}"))
    )
    return next(i for i in range(begin, len(lines)) if "# HERE" in lines[i]) + 1


class TestFacts:
    @pytest.mark.parametrize("id", TRIALS)
    @pytest.mark.parametrize(
        "name", ["normalised_at_the_end", "normalised_as_it_returns", "built_anew"]
    )
    def test_the_line_that_spoils_a_factorization(self, name, id):
        spoiled = seen(name, id).spoiled
        assert spoiled is not None
        assert spoiled.line.number == marked(name)
        assert spoiled.before < 1e-8
        assert spoiled.after > 1e-2

    def test_variables_that_are_better_than_what_comes_back(self):
        better = seen("returns_an_old_h").better
        assert better is not None
        assert better.names == ("W", "H")
        assert better.error < 1e-9 < better.returned
        assert seen("right").better is None

    def test_attributes_of_an_estimator_are_followed(self):
        spoiled = seen("Estimator").spoiled
        assert spoiled is not None
        assert spoiled.line.number == marked("Estimator")

    @pytest.mark.parametrize("name", ["wrong_update", "wrong_update_in_place"])
    def test_the_line_that_makes_it_worse(self, name):
        rise = seen(name).rise
        assert rise is not None
        assert rise.line.number == marked(name)
        assert rise.rose > 0.5 * rise.of

    def test_the_line_at_which_a_loop_is_left_and_why(self):
        loop = seen("leaves_its_loop").loop
        assert loop is not None
        assert loop.left.number == marked("leaves_its_loop")
        assert loop.left.text == "if abs(before - error) < 1e-1: break # HERE"
        assert 1 <= loop.passes < 100
        errors = [multiplicative_update(n) for n in (loop.passes - 2, loop.passes - 1, loop.passes)]
        assert errors[1] - errors[2] < 0.1 <= errors[0] - errors[1]

    def test_a_loop_that_goes_round_to_its_end_and_a_parameter_that_nothing_reads(self):
        watched = seen("reads_no_limit")
        assert watched.loop is not None
        assert watched.loop.head == watched.loop.left
        assert watched.loop.head.number == marked("reads_no_limit")
        assert watched.loop.passes == 5
        assert watched.unread == ("max_iter",)

    def test_the_first_entry_that_is_not_finite(self):
        nan = seen("divides_by_nothing").first_nan
        assert nan is not None
        assert (nan[0].number, nan[1]) == (marked("divides_by_nothing"), "W")

    def test_the_line_that_makes_a_factor_negative(self):
        negative = seen("fitted_again").negative
        assert negative is not None
        assert negative.number == marked("fitted_again")

    def test_the_exception_that_ends_it_and_not_one_that_was_caught(self):
        (raised,) = seen("raises").raised
        assert raised.number == marked("raises")

    def test_the_exception_and_the_line_that_called_what_raises_it(self):
        raised, called = seen("calls_what_raises").raised
        assert raised.text == "raise ValueError(X.shape)"
        assert called.number == marked("calls_what_raises")

    def test_components_that_never_change(self):
        frozen = seen("leaves_out_a_component").frozen
        assert frozen is not None
        assert (frozen.number, frozen.of) == (1, 4)

    def test_a_factor_that_hardly_ever_changes(self):
        seldom = seen("holds_h_from_the_fifth_pass_on").seldom
        assert seldom is not None
        assert seldom.line.number == marked("holds_h_from_the_fifth_pass_on")
        assert (seldom.name, seldom.runs, seldom.passes) == ("H", 5, 100)

    def test_rows_of_a_factor_that_no_longer_change(self):
        held = seen("leaves_out_rows_of_w_after_a_while").held
        assert held is not None
        assert (held.name, held.kind, held.number, held.of) == ("W", "rows", 7, 12)

    def test_negative_entries_that_are_cut_off_at_the_end(self):
        spoiled = seen("bounded_at_the_end_only").spoiled
        assert spoiled is not None
        assert spoiled.line.number == marked("bounded_at_the_end_only")
        assert spoiled.bounds
        spoiled = seen("normalised_at_the_end").spoiled
        assert spoiled is not None
        assert not spoiled.bounds

    def test_the_line_from_which_on_a_factor_is_zero(self):
        zeros = seen("starts_at_zero").zeros
        assert zeros is not None
        assert (zeros[0].number, zeros[1]) == (marked("starts_at_zero"), "H")

    @pytest.mark.parametrize(
        "name", ["forgets_its_own_component", "scales_before_and_forgets_its_own_component"]
    )
    def test_the_line_that_leaves_an_exact_factorization(self, name):
        for right in (
            "right",
            "right_and_scaled_to_and_fro",
            "right_and_bounded_afterwards",
            "right_with_work_arrays",
        ):
            watched = watch(subject(right), at_answer(), 7)
            assert watched is not None
            assert watched.leaves is None
        watched = watch(subject(name), at_answer(), 7)
        assert watched is not None
        assert watched.leaves is not None
        assert watched.leaves.line.number == marked(name)
        assert watched.leaves.error > 1e-2

    def test_the_line_that_empties_a_component(self):
        emptied = seen("empties").emptied
        assert emptied is not None
        assert (emptied.line.number, emptied.runs) == (marked("empties"), 1)

    def test_of_two_lines_the_one_that_empties_it_first(self):
        emptied = seen("empties_h_and_then_w").emptied
        assert emptied is not None
        assert emptied.line.number == marked("empties_h_and_then_w")

    @pytest.mark.parametrize(
        ("name", "variable", "form", "since"),
        [
            ("uses_an_old_gram_matrix", "G", "Wᵀ·W", "W"),
            ("uses_an_old_residual", "R", "A − W·H", "W and H"),
        ],
    )
    def test_the_line_that_reads_what_is_out_of_date(self, name, variable, form, since):
        stale = seen(name).stale
        assert stale is not None
        assert stale.line.number == marked(name)
        assert (stale.name, stale.form, stale.since) == (variable, form, since)
        assert 3 <= stale.times <= stale.of

    def test_the_line_that_reads_what_is_bounded(self):
        bound = seen("bounds_its_denominators").bound
        assert bound is not None
        assert bound.line.number == marked("bounds_its_denominators")
        assert (bound.name, bound.value) == ("below", 1.0)

    def test_factors_in_one_array(self):
        assert seen("keeps_w_and_h_in_one_array").shared == ("W", "H")

    @pytest.mark.parametrize(
        ("name", "variable", "other"),
        [
            ("adds_to_what_it_keeps", "kept", "G"),
            ("writes_into_its_own_numerator", "B", "below"),
        ],
    )
    def test_what_changes_under_another_name(self, name, variable, other):
        overwritten = seen(name).overwritten
        assert overwritten is not None
        assert overwritten.line.number == marked(name)
        assert (overwritten.name, overwritten.other) == (variable, other)
        assert variable in overwritten.read.text

    def test_who_hands_on_what_it_overwrote_does_no_harm(self):
        assert seen("hands_on_what_it_overwrote").overwritten is None

    def test_a_start_that_is_read_again_and_again(self):
        old_start = seen("reads_its_start_again").old_start
        assert old_start is not None
        assert (old_start[0].number, old_start[1]) == (marked("reads_its_start_again"), "H0")

    def test_what_is_older_than_the_factor_that_it_was_made_of(self):
        outdated = seen("changes_both_at_once").outdated
        assert outdated is not None
        assert outdated.line.number == marked("changes_both_at_once")
        assert (outdated.name, outdated.other) == ("by_w", "H")

    def test_the_line_that_makes_it_worse_by_most(self):
        leap = seen("steps_too_far_at_first").leap
        assert leap is not None
        assert leap.line.number == marked("steps_too_far_at_first")
        assert leap.after > 5 * leap.before

    def test_an_exact_factorization_that_is_left_for_a_while(self):
        watched = watch(subject("leaves_an_answer_and_comes_back"), at_answer(), 7)
        assert watched is not None
        assert watched.leaves is not None
        assert watched.leaves.line.number == marked("leaves_an_answer_and_comes_back")
        assert watched.leaves.returns

    def test_a_loop_that_is_left_in_its_first_pass_goes_before_the_one_inside(self):
        loop = seen("leaves_at_once").loop
        assert loop is not None
        assert (loop.left.number, loop.passes) == (marked("leaves_at_once"), 1)

    def test_how_far_off_it_starts(self):
        assert seen("starts_far_too_large").begun > 1000
        assert seen("right").begun < 5

    @pytest.mark.parametrize(
        "name",
        [
            "right",
            "right_and_scaled_to_and_fro",
            "right_with_a_residual_that_is_kept",
            "right_with_two_gradients_at_once",
            "right_with_work_arrays",
            "right_from_an_svd",
            "right_with_a_residual_set_anew",
            "right_with_inner_steps",
            "right_of_six_starts",
            "right_and_bounded_afterwards",
        ],
    )
    @pytest.mark.parametrize("id", TRIALS)
    def test_of_right_ones_nothing_is_said(self, name, id):
        watched = seen(name, id)
        facts = (watched.spoiled, watched.rise, watched.first_nan, watched.negative, watched.zeros)
        assert facts == (None,) * 5
        assert watched.raised == ()
        assert (watched.frozen, watched.seldom, watched.held) == (None, None, None)
        assert (watched.stale, watched.bound) == (None, None)
        assert (watched.shared, watched.overwritten, watched.old_start) == (None, None, None)
        assert watched.leap is None
        telling = id == TRIALS[0]  # of a square A its residual may be a factor as well
        at_once = name == "right_with_two_gradients_at_once" and telling  # which small steps bear
        assert (watched.outdated is not None) == at_once

    def test_what_is_made_good_for_is_not_called_worse(self, monkeypatch):
        assert seen("right_with_a_momentum").rise is None
        monkeypatch.setattr(Course, "_near", lambda _: set())
        assert seen("right_with_a_momentum").rise is not None

    def test_a_class_that_hides_its_attributes_is_followed(self):
        spoiled = seen("WithSlots").spoiled
        assert spoiled is not None
        assert spoiled.line.text == "return W / W.sum(axis=0)"

    def test_who_takes_another_way_each_time_is_followed(self):
        assert seen("takes_another_way_each_time").lines

    def test_a_log_is_no_factor(self):
        nan = seen("keeps_a_log_of_nan").first_nan
        assert nan is not None
        assert nan[1] == "W"

    def test_factors_that_are_equal_share_nothing(self):
        assert seen("returns_under_a_condition_and_shares", TRIALS[1]).shared is None

    def test_an_exception_that_was_caught_did_not_end_it(self):
        assert seen("catches_what_it_raises").raised == ()

    def test_a_statement_over_several_lines_runs_once(self):
        loop = seen("has_a_loop_over_several_lines").loop
        assert loop is not None
        assert loop.passes == 30

    def test_what_goes_wrong_while_it_looks_does_not_show(self, monkeypatch):
        def fails(*_):
            raise ValueError("no look at this")

        monkeypatch.setattr(tracer, "state_of", fails)
        assert seen("right") == Watched(FILE.name, unread=seen("right").unread)

    def test_who_takes_too_long_is_left_alone(self, monkeypatch):
        monkeypatch.setattr(tracer, "ENOUGH", 0.05)
        assert seen("never_ends_in_time") == Watched(FILE.name)

    def test_it_is_written_down_and_read_again(self):
        for name in (
            "leaves_its_loop",
            "wrong_update",
            "divides_by_nothing",
            "raises",
            "built_anew",
            "uses_an_old_residual",
            "bounds_its_denominators",
            "leaves_out_rows_of_w_after_a_while",
            "keeps_w_and_h_in_one_array",
            "adds_to_what_it_keeps",
            "reads_its_start_again",
            "changes_both_at_once",
            "steps_too_far_at_first",
        ):
            watched = seen(name)
            data = json.loads(json.dumps(watched.as_data()))
            assert Watched.from_data(data).as_data() == watched.as_data()

    def test_the_trace_of_others_comes_back(self):
        def mine(*_):
            return None

        before = sys.gettrace()
        sys.settrace(mine)
        try:
            seen("right")
            assert sys.gettrace() is mine
        finally:
            sys.settrace(before)

    def test_what_has_no_source_is_not_followed(self):
        assert watch(load(SubjectName("als", {})), problem(), 0) is None
        made: dict = {}
        exec("def f(A, rank):\n    return A[:, :rank], A[:rank]", made)
        assert watch(FunctionSubject(made["f"]), problem(), 0) is None


def multiplicative_update(passes):
    """Return the error after so many passes."""
    p = problem()
    W, H = p.W0.copy(), p.H0.copy()
    for _ in range(passes):
        H = H * (W.T @ p.A) / (W.T @ W @ H + 1e-300)
        W = W * (p.A @ H.T) / (W @ (H @ H.T) + 1e-300)
    return np.linalg.norm(p.A - W @ H)


class TestSource:
    def test_each_line_belongs_to_the_innermost_statement(self, tmp_path):
        file = tmp_path / "some.py"
        file.write_text(
            "def f(x):\n    if (x\n        > 1):\n        y = [x,\n             x]\n    return x\n"
        )
        texts = {number: line.text for number, line in statements(str(file)).items()}
        assert texts == {
            1: "def f(x):", 2: "if (x > 1):", 3: "if (x > 1):", 4: "y = [x, x]", 5: "y = [x, x]",
            6: "return x",
        }  # fmt: skip

    def test_what_only_an_inner_function_reads_is_read(self):
        def f(a, b, *, c, d):
            b = 1  # noqa: F841

            def g():
                return c

            return [a for _ in range(3)], g

        assert unread(f.__code__) == ("b", "d")


class TestThroughExecutors:
    def test_workers_and_this_process_say_the_same(self):
        request = Request(0, problem(), random=7, watched=True)
        name = SubjectName(f"py:{FILE}:normalised_at_the_end", {})
        with LocalExecutor(name, 1) as executor:
            there = request_all(executor, [request])[0].watched
        with InlineExecutor(load(name)) as executor:
            executor.submit(request)
            (reply,) = executor.replies(0)
        assert there is not None
        assert reply.watched is not None
        assert there.as_data() == reply.watched.as_data()


class TestFindings:
    @pytest.mark.parametrize("isolate", [True, False])
    def test_the_first_finding_names_the_line(self, isolate, patient):
        report = check(f"py:{FILE}:normalised_at_the_end", trials=6, laws=[], isolate=isolate)
        first = report.findings[0]
        assert first.cause is Cause.RESCALED
        assert ("come out right" in first.sentence) == isolate
        assert (
            f"line {marked('normalised_at_the_end')} of followed.py: `W = W / s # HERE`"
            in first.sentence
        )

    def test_what_no_other_rule_knows_is_called_spoiled(self):
        report = check(f"py:{FILE}:shuffles_behind_its_loop", families=["mixed"], trials=6, laws=[])
        first = report.findings[0]
        assert first.cause is Cause.SPOILED
        assert f"line {marked('shuffles_behind_its_loop')} of" in first.sentence

    def test_of_right_ones_that_fail_for_another_reason_no_line_is_blamed(self):
        report = check(
            zoo.stops_at_a_relative_change_of_1e_4, families=["mixed"], trials=6, laws=[]
        )
        assert "spoil" not in report.findings[0].sentence

    @pytest.mark.slow
    def test_a_real_library_that_stops_early_is_told_that(self):
        pytest.importorskip("sklearn")
        options = {"solver": "mu"}
        report = check("py:sklearn.decomposition:NMF", trials=30, laws=[], options=options)
        assert report.findings[0].cause is Cause.EARLY
        assert "numerator" not in report.findings[0].sentence
