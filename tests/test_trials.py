"""The paper's protocol, section IV."""

import hashlib
import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmfcheck import InputError, Outcome, Trial, exact_factorization, reference, run_trial
from nmfcheck.families.bidiagonal.family import (
    FAMILY,
    LADDER,
    ask_of,
    cell_of,
    eps_of,
    starting_point,
    trial_of,
)
from nmfcheck.subjects import reference_subject
from nmfcheck.trials.driver import run_trials


def of_cell(n, kind, i):
    """Return trial i of a cell."""
    return FAMILY.trial(cell_of(n, kind), i)


class Recorder:
    """A subject that answers by a rule, and remembers what it was asked."""

    def __init__(self, trial, answer):
        self.cases = {trial.case(ask).A.tobytes(): trial.case(ask) for ask in LADDER}
        self.answer = answer
        self.asked = []

    def __call__(self, A, rank, *, W0, H0, seed):
        case = self.cases[A.tobytes()]
        self.asked.append((case.eps, W0.copy(), H0.copy(), seed))
        return self.answer(case)


def run_with(answer):
    trial = trial_of(3, "ones", 5)
    subject = Recorder(trial, answer)
    return run_trial(subject, trial), subject.asked


def test_an_exact_subject_climbs_the_whole_ladder():
    result, asked = run_with(exact_factorization)
    assert [eps_of(stage.ask) for stage in result.stages] == [0.0, 1e-3, 0.25]
    assert {stage.outcome for stage in result.stages} == {Outcome.EXACT}
    assert result.passed
    assert result.exact
    assert len(asked) == 3


def test_every_stage_starts_from_the_same_point_with_the_same_seed():
    _, asked = run_with(exact_factorization)
    W0, H0 = starting_point(3, 5)
    for _, start_W, start_H, seed in asked:
        np.testing.assert_array_equal(start_W, W0)
        np.testing.assert_array_equal(start_H, H0)
        assert seed == 5


def test_a_failure_at_eps_0_spares_1e_3_but_not_exactness():
    def answer(case):
        W, H = exact_factorization(case)
        return (W, 2 * H) if case.eps == 0 else (W, H)

    result, asked = run_with(answer)
    assert sorted(eps for eps, *_ in asked) == [0.0, 0.25]
    assert [stage.passed for stage in result.stages] == [False, True]
    assert not result.passed
    assert result.exact
    assert result.stage("eps=1e-3") is None


def test_first_order_is_enough_at_1e_3_and_nowhere_else():
    def answer(case):
        W, H = exact_factorization(case)
        return W, H * (1 + 1e-7)

    result, _ = run_with(lambda case: exact_factorization(case) if case.eps == 0 else answer(case))
    assert result.stage("eps=1e-3").outcome is Outcome.FIRST_ORDER
    assert result.stage("eps=1e-3").passed
    assert result.passed
    assert not result.stage("eps=0.25").passed
    assert not result.exact
    result, _ = run_with(answer)
    assert not result.stage("eps=0").passed


def test_what_each_ask_needs():
    assert [ask.needs for ask in LADDER] == ["exact", "first-order", "exact"]


def test_the_permutation_is_carried_and_its_change_recorded():
    def answer(case):
        order = [0, 1, 2] if case.eps < 0.1 else [2, 0, 1]
        return exact_factorization(case, permutation=order)

    result, _ = run_with(answer)
    changed = [stage.measures.get("permutation_changed") for stage in result.stages]
    assert changed == [None, 0.0, 1.0]  # at ε = 0 there is nothing to compare with
    assert result.stages[2].passed  # a changed permutation is no failure


def test_where_there_is_no_permutation_there_is_no_change():
    result, _ = run_with(
        lambda case: (np.zeros((3, 3)), np.zeros((3, 3))) if case.eps else exact_factorization(case)
    )
    assert not any("permutation_changed" in stage.measures for stage in result.stages)
    assert len(result.stages) == 3


class TestSubjects:
    trial = trial_of(2, "ones", 0)

    @pytest.mark.parametrize(
        "subject",
        [
            lambda A, rank: (A, np.eye(2)),
            lambda A, rank, seed: (A, np.eye(2)),
            lambda A, rank, *, H0, W0: (A, np.eye(2)),
            lambda A, rank, **keywords: (A, np.eye(2) if len(keywords) == 3 else None),
            lambda A, *, rank, seed: (A, np.eye(rank)),
            lambda A, rank, W0=None, other=3: (A, np.eye(2) if W0 is not None else None),
        ],
    )
    def test_any_of_the_keywords_will_do(self, subject):
        assert run_trial(subject, self.trial).passed

    def test_an_exception_fails_its_stage(self):
        def subject(A, rank):
            raise ZeroDivisionError("no luck\nat all")

        result = run_trial(subject, self.trial)
        assert not result.passed
        assert result.stages[0].outcome is Outcome.ERROR
        assert result.stages[0].message == "raised ZeroDivisionError: no luck at all"
        stage = result.stages[0]
        assert (stage.measures, stage.labels, stage.digest) == ({}, {}, "")
        assert stage.W is None
        assert stage.H is None

    def test_something_else_than_a_pair_fails_its_stage(self):
        for returned, said in (
            (1.5, "a float"),
            ({"W": 1, "H": 2}, "a dict"),
            ((1, 2, 3), "a tuple of 3"),
        ):
            result = run_trial(lambda A, rank, it=returned: it, self.trial)
            assert result.stages[0].outcome is Outcome.ERROR
            assert result.stages[0].message == f"returned {said}, not a pair (W, H)"

    def test_a_wrong_shape_is_invalid(self):
        result = run_trial(lambda A, rank: (A[:1], A), self.trial)
        assert result.stages[0].outcome is Outcome.INVALID

    def test_a_subject_may_use_its_arrays_again(self):
        W, H = np.empty((2, 2)), np.empty((2, 2))

        def subject(A, rank):
            W[:], H[:] = A, np.eye(2)
            return W, H

        assert {stage.outcome for stage in run_trial(subject, self.trial).stages} == {"exact"}

    def test_tensors_that_must_be_detached(self):
        """As PyTorch's parameters must, before they show their numbers."""

        class Tensor:
            def __init__(self, X, detached=False):
                self.X, self.detached = X, detached

            def detach(self):
                return Tensor(self.X, detached=True)

            def cpu(self):
                return self

            def __array__(self, dtype=None, copy=None):
                if not self.detached:
                    raise RuntimeError("requires grad")
                return self.X

        assert run_trial(lambda A, rank: (Tensor(A), Tensor(np.eye(2))), self.trial).passed

    def test_leaving_the_program_fails_its_stage(self):
        result = run_trial(lambda A, rank: sys.exit("enough"), self.trial)
        assert result.stages[0].message == "raised SystemExit: enough"

    def test_a_subject_that_scribbles_on_its_input_harms_nobody(self):
        def subject(A, rank, W0, H0):
            answer = A.copy(), np.eye(2)
            A[:], W0[:], H0[:] = 7, 7, 7
            return answer

        assert run_trial(subject, self.trial).passed
        assert run_trial(subject, self.trial).passed

    def test_no_trial(self):
        with pytest.raises(InputError, match="expected a Trial"):
            run_trial(lambda A, rank: (A, A), "bidiagonal/n=3/ones/seed=0")

    def test_no_subject(self):
        with pytest.raises(InputError, match="is not a subject but of type float"):
            run_trial(1.5, self.trial)

    @pytest.mark.parametrize("name", ["als", "multiplicative-update"])
    def test_references_by_name_are_the_functions(self, name):
        subject = reference_subject(name, at_most=50)
        function = getattr(reference, name.replace("-", "_"))

        def plain(A, rank, W0, H0):
            return function(A, W0, H0, 50)[:2]

        for trial in (trial_of(3, "ones", 0), trial_of(3, "loguniform#4", 4)):
            one, other = run_trial(subject, trial), run_trial(plain, trial)
            assert one.stages == other.stages

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("multiplicative_update", "did you mean 'multiplicative-update'?"),
            ("xyz", "'nmfcheck list' names them all"),
        ],
    )
    def test_unknown_names_get_a_hint(self, name, said):
        with pytest.raises(InputError) as caught:
            run_trial(name, self.trial)
        assert said in str(caught.value)


def test_a_batch_gives_what_each_trial_gives_alone():
    subject = reference_subject("gradient-descent", at_most=300)
    trials = [of_cell(4, kind, i) for kind in ("ones", "loguniform") for i in range(8)]
    together = run_trials(subject, trials)
    assert together == [run_trial(subject, trial) for trial in trials]
    assert [result.trial for result in together] == trials


def test_the_same_trial_twice_has_two_results():
    """With other asks, too, in which trials do not differ."""
    trial, short = of_cell(3, "ones", 1), replace(of_cell(3, "ones", 1), asks=LADDER[:1])
    assert trial == short
    results = run_trials(lambda A, rank: (A, np.eye(rank)), [trial, trial, short])
    assert [len(result.stages) for result in results] == [3, 3, 1]
    assert results[0] == results[1] == run_trial(lambda A, rank: (A, np.eye(rank)), trial)


def test_progress_counts_every_stage():
    told = []
    trials = [of_cell(5, "loguniform", i) for i in range(20)]
    results = run_trials(
        reference_subject("multiplicative-update", at_most=300), trials, told.append
    )
    assert sum(told) == pytest.approx(60)
    assert any(len(result.stages) < 3 for result in results)  # spared stages were counted, too


@given(st.integers(1, 20), st.integers(0, 10**6), st.sampled_from(["ones", "loguniform"]))
def test_ids_round_trip(n, i, kind):
    trial = of_cell(n, kind, i)
    assert Trial.from_id(trial.id) == trial


def test_a_digest_is_that_of_the_entries_row_by_row_however_they_lie_in_memory():
    def by_rows(A, rank, *, W0, H0):
        return W0, H0

    def by_columns(A, rank, *, W0, H0):
        return np.asfortranarray(W0), np.asfortranarray(H0)

    trial = of_cell(3, "loguniform", 7)
    W, H = trial.start()
    expected = hashlib.blake2b(W.tobytes() + H.tobytes(), digest_size=8).hexdigest()
    for subject in (by_rows, by_columns):
        stages = run_trial(subject, trial).stages
        assert {stage.digest for stage in stages} == {expected}
    assert run_trial(by_rows, trial) == run_trial(by_columns, trial)


def test_ids_are_stable():
    assert of_cell(3, "loguniform", 7).id == "bidiagonal/n=3/loguniform#7/seed=7"
    assert of_cell(3, "ones", 7).id == "bidiagonal/n=3/ones/seed=7"
    assert (
        trial_of(3, "loguniform#2", 9).case("eps=1e-3").id == "bidiagonal/n=3/loguniform#2/eps=1e-3"
    )


@pytest.mark.parametrize(
    "id", ["", 5, "bidiagonal/n=3/ones", "bidiagonal/n=0/ones/seed=1", "x/y/z"]
)
def test_bad_ids_get_one_clear_line(id):
    with pytest.raises(InputError):
        Trial.from_id(id)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0, "ones", 1), "n must be a whole number of at least 1, not 0"),
        ((3, "ones", -1), "seed must be a whole number of at least 0, not -1"),
        ((3, "twos", 1), "no entries 'twos'"),
        ((3, 5, 1), "no entries 5"),
        ((3, "loguniform", 1), "no entries 'loguniform'"),
        ((3, "loguniform#007", 1), "no entries 'loguniform#007'"),
        ((3, "ones#5", 1), "no entries 'ones#5'"),
        ((3, "ones", 1, ()), "a trial has one Ask or more"),
        ((3, "ones", 1, (0.0, 1e-3)), "a trial has one Ask or more"),
    ],
)
def test_bad_trials_get_one_clear_line(arguments, said):
    with pytest.raises(InputError, match=said):
        trial_of(*arguments)


def test_starting_points_never_change():
    """The same for every ε, every subject and every machine: their bytes are pinned."""
    W0, H0 = starting_point(3, 7)
    rng = np.random.default_rng([3, 7])
    np.testing.assert_array_equal(W0, rng.uniform(0, 1, (3, 3)))
    np.testing.assert_array_equal(H0, rng.uniform(0, 1, (3, 3)))
    everything = b"".join(
        X.tobytes() for n in (1, 2, 3, 8, 20) for seed in range(20) for X in starting_point(n, seed)
    )
    digest = hashlib.sha256(everything).hexdigest()
    assert digest == "327fc939d9ea9782537a2991e8543ef39e23c831688f1624e88d08077e53c7cd"


def test_results_survive_pickling():
    result = run_trial(reference_subject("als", at_most=20), trial_of(3, "loguniform#1", 1))
    assert pickle.loads(pickle.dumps(result)) == result


def test_a_ladder_of_ones_own():
    ladder = (ask_of(0.0), ask_of(1e-2), ask_of(1e-3))
    trial = trial_of(2, "ones", 0, ladder)
    result = run_trial(lambda A, rank: (A, np.eye(2)), trial)
    assert [stage.ask for stage in result.stages] == list(ladder)
    assert result.passed
    assert not result.exact  # which was not asked
