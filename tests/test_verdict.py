"""Verdicts: the three-way logic, what counts, and how often it errs."""

import math

import numpy as np
import pytest
from scipy import stats

from nmfcheck.verdict.baseline import ACCEPTED, AlgorithmBaseline, Baseline, BaselineCell
from nmfcheck.verdict.decision import FAMILY, MARGIN, CellVerdict, Decision, decide
from nmfcheck.verdict.intervals import Share
from nmfcheck.verdict.tally import CellTally
from nmfcheck.trials.trial import LADDER, Rung
from nmfcheck.verdict.verdict import HardFailure, verdict

PASS, FAIL, INCONCLUSIVE = Decision
SIZES = (2, 3, 4)


def cell(n=3, entries="loguniform", *, zero, small=None, large=None, **more):
    """Return a cell from letters: those of ε = 1e-3 follow from those of ε = 0 if not given."""
    small = small or "".join("f" if letter == "e" else "." for letter in zero)
    letters = {0.0: zero, 1e-3: small, 0.25: large or "e" * len(zero)}
    return CellTally(n, entries, tuple(range(len(zero))), letters, **more)


def passing(part, whole, n=3, entries="loguniform", **more):
    return cell(n, entries, zero="e" * part + "c" * (whole - part), **more)


def baseline(share, trials=1000):
    """Return a baseline in which all five algorithms pass this share in every cell."""
    cells = {
        (n, kind): BaselineCell(passing(round(share * trials), trials, n, kind), {})
        for n in SIZES
        for kind in ("ones", "loguniform")
    }
    algorithms = {name: AlgorithmBaseline({}, cells) for name in ACCEPTED}
    return Baseline(1, tuple(rung.eps for rung in LADDER), algorithms)


def on(*cells, share=0.9, ladder=LADDER, **more):
    return verdict(cells, ladder, baseline(share), **more)


class TestQuestionOne:
    def test_pass(self):
        found = on(passing(95, 100, 2), passing(94, 100, 3)).paper
        assert found.decision is PASS
        assert "189 of 200 trials passed (94.5 %)" in found.reason
        assert "90.0 % less 5 points are required" in found.reason

    def test_one_bad_cell_fails(self):
        found = on(passing(100, 100, 2), passing(60, 100, 3), passing(100, 100, 4)).paper
        assert found.decision is FAIL
        assert found.reason.startswith("At n = 3, entries loguniform, 60 of 100")
        assert [cell.decision for cell in found.cells] == [PASS, FAIL, PASS]

    def test_the_pool_fails_where_no_cell_does(self):
        cells = [passing(38, 50, n, kind) for n in SIZES for kind in ("ones", "loguniform")]
        found = on(*cells).paper
        assert found.decision is FAIL
        assert all(cell.decision is not FAIL for cell in found.cells)
        assert found.reason.startswith("Of all sizes together, 228 of 300")

    def test_too_few_trials_are_inconclusive_and_it_says_how_many_more(self):
        found = on(passing(18, 20)).paper
        assert found.decision is INCONCLUSIVE
        share = Share(round(0.9 * (20 + found.further)), 20 + found.further)
        assert share.lower >= 0.85 - 1e-3
        assert f"about {found.further} more trials" in found.reason
        assert "a PASS" in found.reason

    def test_a_share_below_the_bound_needs_more_trials_to_fail(self):
        found = on(passing(16, 20)).paper
        assert found.decision is INCONCLUSIVE
        assert "a FAIL" in found.reason
        assert (
            Share(math.floor(0.8 * (20 + found.further)), 20 + found.further).p_value(0.85)
            <= FAMILY / 2
        )

    def test_a_stage_that_is_not_exact_at_0_fails(self):
        assert on(cell(zero="f" * 100)).paper.pool.share == Share(0, 100)

    def test_first_order_is_enough_at_1e_3(self):
        assert on(cell(zero="e" * 100, small="f" * 100)).paper.decision is PASS
        assert on(cell(zero="e" * 100, small="u" * 100)).paper.decision is FAIL

    @pytest.mark.parametrize("letter", "xkcui")
    def test_errors_and_crashes_fail_their_trial(self, letter):
        assert on(cell(zero=letter * 40 + "e" * 60)).paper.pool.share == Share(60, 100)

    @pytest.mark.parametrize("letter", "tn")
    def test_unanswered_trials_leave_it_open(self, letter):
        found = on(cell(zero="e" * 99 + letter)).paper
        assert found.decision is INCONCLUSIVE
        assert found.pool.share == Share(99, 99)
        assert "1 trial was left unanswered" in found.reason

    def test_unanswered_trials_do_not_save_from_a_fail(self):
        assert on(cell(zero="u" * 50 + "t" * 50)).paper.decision is FAIL

    def test_a_hard_failure_is_enough(self):
        hard = [HardFailure("changed-A", "It wrote into the A that it was given.", 1, "id")]
        found = on(passing(100, 100), hard=hard)
        assert found.decision is FAIL
        expected = "Hard failure: It wrote into the A that it was given (once)."
        assert found.paper.reason == expected

    def test_a_size_without_baseline_does_not_count(self):
        found = on(passing(100, 100, 3), passing(0, 100, 9)).paper
        assert found.decision is PASS
        assert found.cells[1].decision is None
        assert on(passing(0, 100, 9)).paper.decision is INCONCLUSIVE

    def test_another_ladder_is_not_compared(self):
        found = on(passing(100, 100), ladder=(Rung(0.0, 1), Rung(1e-4, 1))).paper
        assert found.decision is INCONCLUSIVE
        assert "The paper's test was not run" in found.reason

    def test_a_small_baseline_stands_with_its_lower_bound(self):
        small = baseline(0.9, trials=200)
        required = small.required(3, "ones", LADDER[:2])
        assert required.share == pytest.approx(Share(180, 200).lower)
        assert baseline(0.9).required(3, "ones", LADDER[:2]).share == 0.9

    def test_the_lowest_of_the_five_is_required(self):
        known = baseline(0.9)
        cells = dict(known.algorithms["als"].cells)
        cells[3, "ones"] = BaselineCell(passing(700, 1000, 3, "ones"), {})
        known.algorithms["als"] = AlgorithmBaseline({}, cells)
        required = known.required(3, "ones", LADDER[:2])
        assert (required.share, required.of) == (0.7, "als")


class TestQuestionTwo:
    def test_collapsed_runs_do_not_count(self):
        found = on(cell(zero="e" * 100, large="e" * 60 + "c" * 40)).exactness
        assert found.pool.share == Share(60, 60)

    def test_what_is_not_exact_fails(self):
        found = on(cell(zero="e" * 100, large="u" * 100)).exactness
        assert found.decision is FAIL
        assert "0 of 100 runs that did not collapse are exact" in found.reason

    def test_it_does_not_decide(self):
        found = on(cell(zero="e" * 100, large="u" * 100))
        assert (found.decision, found.exactness.decision) == (PASS, FAIL)

    def test_the_margin_is_the_same(self):
        found = on(cell(zero="e" * 1000, large="e" * 925 + "u" * 75)).exactness
        assert found.pool.bound == pytest.approx(0.9)
        assert found.decision is PASS

    def test_all_collapsed_is_open(self):
        assert on(cell(zero="c" * 9, large="c" * 9)).exactness.decision is INCONCLUSIVE

    def test_not_asked(self):
        found = on(passing(100, 100), ladder=LADDER[:2]).exactness
        assert (found.decision, found.reason) == (INCONCLUSIVE, "Nothing was run at ε = 0.25.")


class TestOneAnswerForAllSeeds:
    def test_a_cell_of_one_case_is_one_trial(self):
        ones = passing(0, 100, 3, "ones", one_answer=True)
        found = on(ones, passing(100, 100))
        assert found.decision is PASS
        assert [c.share for c in found.paper.cells] == [Share(0, 1), Share(100, 100)]
        assert "do not depend on the start or the seed" in found.notes[0]

    def test_an_exception_at_some_seed_does_not_make_it_many(self):
        ones = cell(3, "ones", zero="x" + "u" * 99, one_answer=True)
        assert on(ones).paper.pool.share == Share(0, 1)
        silent = cell(3, "ones", zero="t" + "e" * 99, large="t" + "e" * 99, one_answer=True)
        assert on(silent).paper.pool.share == Share(1, 1)

    def test_with_nothing_else_it_is_open(self):
        ones = passing(100, 100, 3, "ones", one_answer=True)
        assert on(ones).decision is INCONCLUSIVE

    def test_a_single_trial_shows_nothing(self):
        assert not on(passing(1, 1, 3, "ones")).notes


class TestWhatIsMissing:
    def test_a_suite_that_was_not_run_to_its_end_does_not_pass(self):
        found = on(passing(100, 100), left=3)
        assert (found.decision, found.exactness.decision) == (INCONCLUSIVE, INCONCLUSIVE)
        assert found.paper.reason.startswith("3 trials of the suite were not run")
        assert on(passing(0, 100), left=3).decision is FAIL

    def test_a_size_that_is_not_in_the_baseline_is_named(self):
        notes = on(passing(100, 100, 3), passing(0, 100, 9)).notes
        assert notes == ("The baseline does not have n = 9, which does not count for the verdict.",)

    def test_where_nothing_is_required_nothing_is_passed(self):
        assert decide([CellVerdict(20, "ones", Share(0, 100), 0.04)]).decision is INCONCLUSIVE

    def test_all_unanswered_says_so(self):
        found = on(cell(zero="t" * 9, large="t" * 9))
        assert "9 trials were left unanswered" in found.paper.reason
        assert "9 trials were left unanswered" in found.exactness.reason

    def test_several_eps_are_not_pooled(self):
        rungs = (*LADDER[:2], Rung(0.1, 2), LADDER[2])
        more = cell(zero="e" * 50, large="u" * 50)
        more.letters[0.1] = "e" * 50
        assert on(more, ladder=rungs).exactness.pool.share == Share(0, 50)


def test_no_answer_at_all():
    assert not on().unanswered_all
    assert on(cell(zero="tttnn", large="tttnn")).unanswered_all
    assert not on(cell(zero="tttne", large="tttnn")).unanswered_all


def decided(parts, required, trials):
    return decide(
        [CellVerdict(n, "ones", Share(int(k), trials), required) for n, k in enumerate(parts)]
    ).decision


@pytest.mark.parametrize(
    ("cells", "trials", "one_cell"), [(8, 100, 0.999), (14, 100, 0.999), (22, 60, 0.95)]
)
class TestPower:
    """What quick, standard and full can tell, for a required share of 85 %: docs/verdict.md."""

    REQUIRED, BOUND = 0.85, 0.85 - MARGIN

    def rejected(self, cells, trials):
        """Return up to how many passes are rejected at the first step of Holm's method."""
        level = FAMILY / (cells + 1)
        return max(k for k in range(trials + 1) if stats.binom.cdf(k, trials, self.BOUND) <= level)

    def fails(self, share, cells, trials):
        """Return bounds of the probability that a subject with this share everywhere FAILs."""
        pool = stats.binom.cdf(self.rejected_pool(cells, trials), cells * trials, share)
        cell = stats.binom.cdf(self.rejected(cells, trials), trials, share)
        return pool, pool + cells * cell

    def rejected_pool(self, cells, trials):
        level, whole = FAMILY / (cells + 1), cells * trials
        return max(k for k in range(whole) if stats.binom.cdf(k, whole, self.BOUND) <= level)

    def test_how_probable_a_fail_is(self, cells, trials, one_cell):
        assert self.fails(self.REQUIRED, cells, trials)[1] < 1e-4
        assert self.fails(self.BOUND, cells, trials)[1] < 0.01
        assert self.fails(self.REQUIRED - 0.15, cells, trials)[0] > 0.999
        k = self.rejected(cells, trials)
        assert stats.binom.cdf(k, trials, self.REQUIRED - 0.35) > one_cell

    def test_how_probable_a_pass_is(self, cells, trials, one_cell):
        whole = cells * trials
        least = min(k for k in range(whole) if Share(k, whole).lower >= self.BOUND)
        assert stats.binom.sf(least - 1, whole, self.REQUIRED) > 0.98
        assert stats.binom.sf(least - 1, whole, self.BOUND) <= 0.05

    def test_the_verdict_is_as_the_tests_say(self, cells, trials, one_cell):
        """Just rejected, and just not: in one cell, and in the pool."""
        k, good = self.rejected(cells, trials), trials
        assert decided([k] + [good] * (cells - 1), self.REQUIRED, trials) is FAIL
        assert decided([k + 1] + [good] * (cells - 1), self.REQUIRED, trials) is not FAIL
        whole = self.rejected_pool(cells, trials)
        spread = [whole // cells + (i < whole % cells) for i in range(cells)]
        assert decided(spread, self.REQUIRED, trials) is FAIL
        assert decided([spread[0] + 1, *spread[1:]], self.REQUIRED, trials) is not FAIL


def test_simulated():
    """Another way to the same: of 300 standard suites at the margin, 1 % or fewer FAIL."""
    rng = np.random.default_rng(2)
    found = [decided(rng.binomial(100, 0.8, 14), 0.85, 100) for _ in range(300)]
    assert found.count(FAIL) <= 10  # 11 of 300 would be one in 10,000 at 1 %
    assert found.count(PASS) <= 30
