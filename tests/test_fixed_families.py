"""Families with fixed requirements: ids, draws, judges and sentences, and what counts.

The mixed, noisy, rays, rank-one and optima families; the theory of each has a file of its own.
"""

import hashlib
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nmfcheck
from nmfcheck import Case, InputError, Outcome, Trial, judge, reference
from nmfcheck.families import find
from nmfcheck.families.optima.cases import Optimum
from nmfcheck.intervals import Share
from nmfcheck.judging.judgement import permutation_of
from nmfcheck.report.contents import NO_START
from nmfcheck.store import Store
from nmfcheck.trials import suites
from nmfcheck.verdict.baseline import empty, required_of, shipped
from nmfcheck.verdict.decision import Decision
from nmfcheck.verdict.of_store import verdict_of
from nmfcheck.verdict.tally import CellTally
from nmfcheck.verdict.verdict import verdict
from strategies import fixed_cases, right_factors

PASS, FAIL, INCONCLUSIVE = Decision
EXACT, SINGLE, IDENTIFIED = Outcome.EXACT, Outcome.SINGLE, Outcome.IDENTIFIED
CASES = {
    "mixed": "mixed/12x10/k=4/dyadic#7/eps=0",
    "noisy": "noisy/12x10/k=4/dyadic#7/eps=0",
    "rays": "rays/k=4/alpha=0.25/extra=0x3/dyadic#7",
    "rank-one": "rank-one/9x6/dyadic#7/beta=2",
    "optima": "optima/hexagon/k=2/shuffled#7/residual",
}
TRIALS = [
    "mixed/12x10/k=4/dyadic#7/seed=7",
    "mixed/8x6/k=3/dyadic#7/seed=7/start=warm",
    "noisy/6x5/k=2/dyadic#7/seed=7",
    "noisy/8x6/k=3/dyadic#7/seed=7/start=warm",
    "rays/k=3/alpha=0.25/extra=0x4/dyadic#7/seed=7",
    "rays/k=3/alpha=0.25/extra=0x4/dyadic#7/seed=7/start=warm",
    "rank-one/9x6/dyadic#7/seed=7",
    "rank-one/4x3/one/seed=7",
    "optima/hexagon/k=2/shuffled#7/seed=7",
]
MATCHED = ("mixed", "noisy", "rays")
"""Those in which each component is found or not."""


def changed(X, row, value):
    X = X.copy()
    X[row, 0] = value
    return X


class TestIds:
    @pytest.mark.parametrize("id", TRIALS)
    def test_trials(self, id):
        trial = Trial.from_id(id)
        assert trial.id == id
        assert trial.cell.warm == id.endswith("/start=warm")
        assert trial.seed == 7
        again = find(trial.cell.family).cell(trial.cell.name)
        assert (again, again.columns, again.suffix) == (
            trial.cell, trial.cell.columns, trial.cell.suffix,
        )  # fmt: skip
        assert len(again.columns) == len(trial.family.headings)

    @pytest.mark.parametrize("id", [*CASES.values(), "rank-one/4x3/one/beta=2"])
    def test_cases(self, id):
        case = Case.from_id(id)
        assert case.id == id
        assert (case.m, case.n) == case.A.shape
        assert not case.A.flags.writeable

    @pytest.mark.parametrize("id", [id for id in TRIALS if id.endswith("warm")])
    def test_a_start_near_the_answer_has_the_same_matrix(self, id):
        warm, cold = Trial.from_id(id), Trial.from_id(id.removesuffix("/start=warm"))
        (ask,) = warm.asks
        assert warm.case(ask) == cold.case(ask)
        assert warm.cell != cold.cell
        shapes = [X.shape for X in cold.start()]
        assert [X.shape for X in warm.start()] == shapes
        W, H = warm.family.answer(warm.case(ask))
        size = np.sqrt(W.max(axis=0) * H.max(axis=1))
        balanced = W * (size / W.max(axis=0)), H * (size / H.max(axis=1))[:, None]
        for X, right, anywhere in zip(warm.start(), balanced, cold.start(), strict=True):
            assert ((right <= X + 1e-15) & (right + 0.1 >= X)).all()
            assert X.std() > 0
            assert not np.allclose(X, anywhere, atol=0.1)

    @pytest.mark.parametrize(
        ("id", "said"),
        [
            ("mixed/12x10/k=4/dyadic/start=warm#7/seed=7", "stand behind the seed"),
            ("mixed/12x10/k=4/dyadic#7/start=warm/seed=7", "expected an id such as"),
            ("mixed/12x10/k=4/dyadic#7/seed=7/start=hot", "no cell '12x10/k=4/dyadic/start=hot'"),
            ("mixed/12x10/k=4/dyadic/seed=7", "expected a draw such as #7"),
            ("rank-one/4x3/one#7/seed=7", "expected no draw"),
            ("optima/hexagon/k=2/shuffled#7/seed=7/start=warm", "no cell 'hexagon/k=2/shuffled/st"),
            ("bidiagonal/n=3/ones/seed=7/start=warm", "no cell 'n=3/ones/start=warm'"),
        ],
    )
    def test_no_such_trial(self, id, said):
        with pytest.raises(InputError) as caught:
            Trial.from_id(id)
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("family", "name", "said"),
        [
            ("mixed", "5x6/k=6/dyadic", "no rank 6 of a 5×6 matrix; expected 1 to 5"),
            ("mixed", "5x6/k=0/dyadic", "no rank 0 of a 5×6 matrix"),
            ("mixed", "70x80/k=65/dyadic", "rank 65 is too large"),
            ("mixed", "5x6/k=2/ones", "no cell '5x6/k=2/ones' of mixed; expected one such as"),
            ("noisy", "5x6/k=5/dyadic", "no noise of rank 5 in a 5×6 matrix; expected 1 to 4"),
            ("noisy", "4x1/k=1/dyadic", "no room for noise in a 4×1 matrix; expected 2×2 or"),
            ("rays", "k=2/alpha=0.25/extra=0x3/dyadic", "no rays of rank 2; expected 3 to 64"),
            ("rays", "k=3/alpha=0x25/extra=0x3/dyadic", "no cell 'k=3/alpha=0x25/extra=0x3/dyad"),
            ("rank-one", "1x5/dyadic", "a 1×5 matrix has rank one itself"),
            ("optima", "thomas/k=4/shuffled", "no optimum is known of thomas/k=4; there are"),
            ("optima", "octagon/k=2/shuffled", "no cell 'octagon/k=2/shuffled' of optima"),
        ],
    )
    def test_no_such_cell(self, family, name, said):
        with pytest.raises(InputError) as caught:
            find(family).cell(name)
        assert str(caught.value).startswith(said)
        assert "\n" not in str(caught.value)

    def test_noise_of_too_large_a_rank(self):
        with pytest.raises(InputError, match="rank 65 is too large"):
            find("noisy").cell("70x80/k=65/dyadic")


PINNED = {
    "mixed": "7c74868a1a3da5c1",
    "noisy": "39a1b027a8f3bd3c",
    "rays": "59863934aad1fe5d",
    "rank-one": "563ac52509b295e1",
    "optima": "822c10d60515bf9c",
}


@pytest.mark.parametrize("family", PINNED)
def test_the_bytes_of_draws_and_starts_are_pinned(family):
    digest = hashlib.sha256()
    ids = [id for id in TRIALS if id.startswith(f"{family}/")]
    assert ids
    for id in ids:
        for trial in (Trial.from_id(id), Trial.from_id(id.replace("7", "0"))):
            for X in (trial.case(trial.asks[0]).A, *trial.start()):
                digest.update(np.ascontiguousarray(X, "<f8").tobytes())
    assert digest.hexdigest()[:16] == PINNED[family]


class TestJudge:
    @given(fixed_cases(), st.data())
    def test_the_answer_is_exact_in_any_order_and_scale(self, case, data):
        W, H = right_factors(case)
        order = data.draw(st.permutations(range(case.rank)))
        size = st.floats(1e-6, 1e6)
        scales = np.array(data.draw(st.lists(size, min_size=case.rank, max_size=case.rank)))
        W, H = W[:, order] * scales, H[order] / scales[:, None]
        found = judge(case, W, H)
        assert (found.outcome, found.grade) == (EXACT, "exact")
        assert found.kkt_residual < 1e-10
        nearest = find(case.family).nearest(case, W, H)
        if case.family in MATCHED:
            assert permutation_of(found.labels) == tuple(np.argsort(order))
        if case.family == "optima":
            assert nearest is None
        else:
            assert nearest.distance < 1e-12
            np.testing.assert_allclose(nearest.W, W, rtol=1e-9, atol=1e-12 * scales.max())

    @pytest.mark.parametrize("id", CASES.values())
    @pytest.mark.parametrize(("size", "outcome"), [(1e-7, SINGLE), (1e-3, IDENTIFIED)])
    def test_near_the_answer(self, id, size, outcome):
        """At rank one a thousandth is too much; a residual is off by the square of it."""
        case, rng = Case.from_id(id), np.random.default_rng(0)
        size = {"optima": math.sqrt(size) / 3, "rank-one": min(size, 3e-5)}.get(case.family, size)
        W, H = (X * (1 + size * rng.uniform(0.3, 1, X.shape)) for X in right_factors(case))
        assert judge(case, W, H).outcome is outcome
        worse = 0.03 if case.family == "rank-one" else 0.8
        W, H = (X * (1 + worse * rng.uniform(-1, 1, X.shape)) for X in right_factors(case))
        found = judge(case, W, H)
        assert found.outcome is Outcome.UNCONVERGED
        assert "KKT residual" in found.explanation

    @pytest.mark.parametrize("id", CASES.values())
    def test_what_is_no_factorization(self, id):
        case = Case.from_id(id)
        W, H = right_factors(case)
        for bad, said in (
            (W[:-1], f"W has shape {(case.m - 1, case.rank)}; expected {W.shape}"),
            (changed(W, 1, math.nan), "W is nan at row 2, column 1; expected finite numbers."),
            (changed(W, 2, math.inf), "W is inf at row 3, column 1; expected finite numbers."),
            (changed(W, 2, -0.5), "W is -0.5 at row 3, column 1; expected nonnegative numbers."),
        ):
            found = judge(case, bad, H)
            assert (found.outcome, found.grade, found.measures) == (Outcome.INVALID, None, {})
            assert found.explanation.startswith(said)
        place = int(np.argmin(W[:, 0]))
        rounded = judge(case, changed(W, place, -1e-16 if W[place, 0] == 0 else W[place, 0]), H)
        assert rounded.outcome is EXACT
        assert rounded.clipped == (W[place, 0] == 0)
        assert ("are rounding and count as 0" in rounded.explanation) == rounded.clipped

    @pytest.mark.parametrize("size", [1e200, 1e-200, 0.0])
    @pytest.mark.parametrize("id", CASES.values())
    def test_numbers_of_extreme_size(self, id, size):
        case = Case.from_id(id)
        W, H = (np.full_like(X, size) for X in right_factors(case))
        assert judge(case, W, H).outcome in (Outcome.UNCONVERGED, Outcome.COLLAPSED)

    @pytest.mark.parametrize(("size", "distance"), [(1e200, math.inf), (1e-320, 1.0)])
    def test_the_answer_beside_numbers_of_extreme_size(self, size, distance):
        case = Case.from_id(CASES["mixed"])
        W, H = (np.full_like(X, size) for X in right_factors(case))
        assert find("mixed").nearest(case, W, H).distance == pytest.approx(distance)

    @given(st.integers(0, 10**6))
    def test_noise_is_what_is_left(self, i):
        case = Case.from_id(f"noisy/7x6/k=3/dyadic#{i}/eps=0")
        W, H = right_factors(case)
        found = judge(case, W, H)
        assert found.measures["residual_over_noise"] == pytest.approx(1, abs=1e-12)
        assert "what is left of A is the noise" in found.explanation
        assert case.noise > 0
        assert judge(case, W * 1.01, H).measures["residual_over_noise"] > 1

    @given(st.integers(0, 10**6))
    def test_the_answer_for_another_loss_is_named_at_rank_one(self, i):
        case = Case.from_id(f"rank-one/9x6/dyadic#{i}/beta=2")
        rows, columns = case.A.sum(axis=1, keepdims=True), case.A.sum(axis=0, keepdims=True)
        found = judge(case, rows / rows.sum(), columns)
        assert found.outcome is Outcome.UNCONVERGED
        assert found.labels == {"best_for": "the Kullback–Leibler divergence"}
        assert found.explanation.endswith(
            "but is the best one for the Kullback–Leibler divergence."
        )
        other = judge(case, rows / rows.sum() * 1.01, columns)
        assert other.labels == {}
        assert "few, or they are biased" in other.explanation

    def test_less_than_the_least_residual_that_is_known_is_news(self):
        case = Case.from_id(CASES["optima"])
        W, H = right_factors(case)
        found = judge(case, W, H)
        assert found.measures["residual"] == pytest.approx(math.sqrt(12), abs=1e-12)
        assert found.labels == {}
        assert found.explanation.endswith("3.464101615.")
        for more, below in ((1e-9, {}), (1e-6, {"below": "below the best known"})):
            faked = replace(case, optimum=Optimum(math.sqrt(12) * (1 + more), certified=False))
            found = judge(faked, W, H)
            assert (found.outcome, found.labels) == (EXACT, below)
            assert found.measures["residual_defect"] == 0
            assert ("this is news: please report W and H" in found.explanation) == bool(below)

    @pytest.mark.parametrize(("more", "wrong"), [(1e-14, False), (1e-11, True), (1e-6, True)])
    def test_less_than_the_least_possible_is_an_error_beyond_rounding(self, more, wrong):
        case = Case.from_id(CASES["optima"])
        faked = replace(case, optimum=Optimum(math.sqrt(12) * (1 + more), certified=True))
        found = judge(faked, *right_factors(case))
        assert (found.outcome is Outcome.UNCONVERGED) == wrong
        assert found.labels == ({"below": "below the least possible"} if wrong else {})
        assert ("so this is an error in arithmetic" in found.explanation) == wrong


def asked(family, letters, suite="quick", **more):
    """Return the verdict on outcomes of a family, a text of letters for the name of each cell."""
    room = find(family)
    (ask,) = room.asks
    cells = [
        CellTally(room.cell(name), tuple(range(len(text))), {ask.name: text})
        for name, text in letters.items()
    ]
    part = suites.find(suite).part(family)
    return verdict(cells, [part], {family: empty(room)}, **more)


class TestEveryTrialHasToPass:
    def rank_one(self, first, *others):
        names = ["4x3/dyadic", "3x4/dyadic", "9x6/dyadic"]
        return asked("rank-one", dict(zip(names, [first, *others], strict=False)))

    def test_all_pass(self):
        found = self.rank_one("e" * 20 + "s" * 10 + "f" * 10, "d" * 40, "e" * 40)
        assert (found.decision, found.notes) == (PASS, ())
        expected = "120 of 120 trials found the best product (100.0 %); every trial has to pass."
        assert found.reason == expected
        test = found.of("rank-one").test
        assert {(c.margin, c.bar, c.decision) for c in (*test.cells, test.pool)} == {(0, 1, PASS)}
        assert self.rank_one("e").decision is PASS

    @pytest.mark.parametrize("letter", "ucixk")
    def test_one_that_does_not_is_enough(self, letter):
        found = self.rank_one("e" * 40, "e" * 39 + letter, "e" * 40)
        assert found.decision is FAIL
        expected = "In 3x4/dyadic, 39 of 40 trials found the best product (97.5 %); every trial has"
        assert found.reason == f"{expected} to pass."
        decisions = [each.decision for each in found.of("rank-one").test.cells]
        assert decisions == [PASS, FAIL, PASS]

    @pytest.mark.parametrize("letter", "tn")
    def test_what_is_left_unanswered_leaves_it_open(self, letter):
        found = self.rank_one("e" * 39 + letter, "e" * 40)
        assert found.decision is INCONCLUSIVE
        assert "1 trial was left unanswered, and no PASS" in found.reason
        assert self.rank_one("e" * 38 + "u" + letter).decision is FAIL

    def test_other_families_have_a_margin(self):
        found = asked("mixed", {"6x5/k=2/dyadic": "e" * 145 + "c" * 5})
        assert found.decision is PASS
        assert "the bar is 90.0 % (95.0 % minus a margin of 5 points)" in found.reason


class TestOnlyMeasured:
    """Where the optimum is not certified, nothing is required."""

    def test_such_cells_do_not_count_and_are_no_news(self):
        good = {"thomas/k=2/shuffled": "e" * 100, "hexagon/k=2/shuffled": "e" * 100}
        for letters in ("c" * 50, "e" * 50, "x" * 50):
            found = asked("optima", good | {"hexagon/k=3/shuffled": letters}, "standard")
            assert (found.decision, found.notes) == (PASS, ())
            *_, last = found.of("optima").test.cells
            assert (last.decision, last.counts) == (None, False)
            assert math.isnan(last.required)
            assert found.share == Share(200, 200)
        assert asked("optima", {"hexagon/k=3/shuffled": "c" * 50}).decision is INCONCLUSIVE

    def test_nor_does_what_they_leave_unanswered(self):
        letters = {"thomas/k=2/shuffled": "e" * 100, "hexagon/k=3/shuffled": "e" * 49 + "t"}
        assert asked("optima", letters, "standard").decision is PASS

    def test_what_is_required_of_cells(self):
        part = suites.STANDARD.part("optima")
        required = {c.name: required_of(part, c, empty(part.room)) for c in part.cells}
        unknown = {"thomas/k=3/shuffled", "hexagon/k=3/shuffled", "hexagon/k=4/shuffled"}
        assert {name for name, needed in required.items() if needed is None} == unknown
        assert {needed.share for needed in required.values() if needed} == {0.95}
        part = suites.QUICK.part("bidiagonal")
        cell, known = next(iter(part.cells)), shipped("bidiagonal")
        assert required_of(part, cell, known) == known.required(cell.name, part.test)


class TestTheLeastResidual:
    """How near runs have to come depends on the version of the suite."""

    @pytest.mark.parametrize(
        ("suite", "letter", "decision"),
        [("quick@5", "d", PASS), ("quick@6", "d", FAIL), ("quick@5", "s", PASS),
         ("quick@6", "s", PASS), ("quick@5", "u", FAIL), ("quick", "d", FAIL)],
    )  # fmt: skip
    def test_what_passes(self, suite, letter, decision):
        names = ("thomas/k=2/shuffled", "hexagon/k=2/shuffled")
        found = asked("optima", dict.fromkeys(names, letter * 150), suite)
        assert found.decision is decision
        assert "the bar is 90.0 %" in found.reason

    def test_what_is_missing_is_said(self):
        case = Case.from_id(CASES["optima"])
        W, H = right_factors(case)
        found = judge(case, W, H * 1.01)
        excess = found.measures["residual_defect"]
        assert found.outcome is Outcome.IDENTIFIED
        assert 1e-5 < excess < 1e-3
        assert found.explanation.endswith(f", and its square is {excess:.2g}·‖A‖² above.")
        assert "above" not in judge(case, W, H * 1.001).explanation


def seeded(A, rank, *, seed):
    """Return right W and H; no start is taken."""
    rng = np.random.default_rng(seed)
    m, n = A.shape
    found = reference.coordinate_descent(A, rng.random((m, rank)), rng.random((rank, n)), 1000)
    return found.W, found.H


class TestAskedOf:
    """Trials near the answer are for subjects that can be told where to start."""

    WARM = frozenset(cell.id for cell in suites.QUICK.cells if cell.warm)

    @pytest.mark.parametrize("takes", [("W0", "H0"), ("W0", "H0", "seed"), ["seed", "H0", "W0"]])
    def test_who_takes_a_start_is_asked_everything(self, takes):
        assert len(self.WARM) == 3
        assert suites.QUICK.asked_of(takes) == suites.QUICK

    @pytest.mark.parametrize("takes", [("seed",), (), ("W0",), ("H0", "seed")])
    def test_others_are_not_asked_near_the_answer(self, takes):
        asked = suites.QUICK.asked_of(takes)
        assert {cell.id for cell in suites.QUICK.cells} - {c.id for c in asked.cells} == self.WARM
        assert all(suites.QUICK.cells[cell] == trials for cell, trials in asked.cells.items())
        left_out = sum(n for cell, n in suites.QUICK.cells.items() if cell.id in self.WARM)
        assert asked.stages == suites.QUICK.stages - left_out
        assert not any(trial.cell.warm for trial in asked)
        assert suites.find("quick@2").asked_of(takes) == suites.find("quick@2")

    def test_a_subject_without_a_start_is_not_unfinished(self):
        suite = suites.QUICK.selected(families=["mixed", "rank-one"], trials=12)
        report = nmfcheck.check(seeded, suite, isolate=False)
        assert (report.decision, report.verdict.notes) == (PASS, (NO_START,))
        names = [each.cell.name for each in report.verdict.of("mixed").test.cells]
        assert names == [c.name for c in suite.part("mixed").cells if not c.warm]
        with Store.in_memory(suite) as store:  # against all of it, it is
            subject = store.subject("nobody", {"options": {}})
            found = verdict_of(store.results(subject), suite)
        assert found.notes == (f"Of {suite.trials} trials of the suite, 0 have been run.",)

    def test_a_subject_with_a_start_is_asked_there(self):
        suite = suites.QUICK.selected(families=["mixed"], trials=12)
        report = nmfcheck.check("coordinate-descent", suite, options={"iterations": 1000})
        shares = {each.cell.name: each.share for each in report.verdict.of("mixed").test.cells}
        assert shares["8x6/k=3/dyadic/start=warm"] == Share(12, 12)
        assert len(shares) == len(suite.cells)
