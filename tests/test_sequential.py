"""Verdicts that may be looked at while a run goes on: error rates hold, and wrong ones end soon."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nmfcheck.families import find
from nmfcheck.intervals import Share
from nmfcheck.trials import suites
from nmfcheck.trials.driver import FEWEST, ROUNDS, Plan, in_rounds
from nmfcheck.verdict.decision import CellVerdict
from nmfcheck.verdict.levels import FAIL_LEVEL, PASS_LEVEL, WHOLE, levels
from nmfcheck.verdict.sequential import e_value, rejects
from power import cells_of, pass_probability

CELLS = list(find("bidiagonal").cells("quick"))


def cell(passed, whole, bar, place=0):
    return CellVerdict(CELLS[place], Share(passed, whole), bar + 0.05, margin=0.05)


class TestEValues:
    @given(st.integers(1, 25), st.floats(0.05, 0.98), st.floats(0, 1))
    def test_expected_value_at_most_one_at_the_bar_and_above(self, whole, bar, above):
        """Summed exactly over the binomial distribution."""
        share = bar + above * (1 - bar)
        chances = stats.binom.pmf(np.arange(whole + 1), whole, share)
        values = [math.exp(e_value([cell(k, whole, bar)])) for k in range(whole + 1)]
        assert chances @ values <= 1 + 1e-9

    def test_expected_value_of_several_cells_together(self):
        sizes, bars = (4, 3, 2), (0.5, 0.8, 0.9)
        expected = 0.0
        for passes in itertools.product(*(range(n + 1) for n in sizes)):
            cells = [
                cell(k, n, b, i)
                for i, (k, n, b) in enumerate(zip(passes, sizes, bars, strict=True))
            ]
            chance = math.prod(
                stats.binom.pmf(k, n, b) for k, n, b in zip(passes, sizes, bars, strict=True)
            )
            expected += chance * math.exp(e_value(cells))
        assert expected == pytest.approx(1, abs=1e-12)  # all at the bar: a martingale

    def test_looked_at_after_every_trial(self):
        """A run at the bar is ever rejected with at most the level, here 5 %."""
        rng = np.random.default_rng(1)
        level, runs, rejected = 0.05, 400, 0
        bars = (0.5, 0.7, 0.9)
        for _ in range(runs):
            passes = [rng.random(80) < bar for bar in bars]
            for n in range(1, 81):
                cells = [cell(int(p[:n].sum()), n, b, i)
                         for i, (p, b) in enumerate(zip(passes, bars, strict=True))]  # fmt: skip
                if rejects(e_value(cells), level, 1):
                    rejected += 1
                    break
        # So many or more would have a probability below 1e-3 if the level did not hold.
        assert stats.binom.sf(rejected - 1, runs, level) > 1e-3

    @pytest.mark.parametrize(("bar", "trials"), [(0.3, 45), (0.7, 14), (0.9, 8)])
    def test_what_never_passes_is_found_out_soon(self, bar, trials):
        level = levels().fail_early
        assert rejects(e_value([cell(0, trials, bar)]), level, families=7)
        assert not rejects(e_value([cell(0, 2, bar)]), level, families=7)

    def test_one_failure_is_enough_where_every_trial_has_to_pass(self):
        every = CellVerdict(CELLS[0], Share(9, 10), 1.0, margin=0.0)
        assert e_value([every]) == math.inf
        assert e_value([CellVerdict(CELLS[0], Share(10, 10), 1.0, margin=0.0)]) <= 0

    def test_what_requires_nothing_says_nothing(self):
        assert e_value([CellVerdict(CELLS[0], Share(0, 50))]) == 0
        assert e_value([cell(0, 50, 0.0)]) == 0
        assert e_value([]) == 0

    def test_one_cell_among_good_ones(self):
        cells = [cell(100, 100, 0.7, i) for i in range(7)]
        assert rejects(e_value([*cells, cell(5, 100, 0.7, 7)]), 0.001, families=7)
        assert not rejects(e_value([*cells, cell(70, 100, 0.7, 7)]), 0.001, families=7)


class TestLevels:
    def test_all_looks_together_spend_no_more_than_the_level(self):
        spent = levels()
        later = [levels(extensions) for extensions in range(1, 60)]
        rounding = 1 + 1e-12
        fails = spent.fail + spent.fail_early + sum(e.fail for e in later)
        passes = spent.passing + spent.pass_early + sum(e.passing for e in later)
        assert FAIL_LEVEL / rounding <= fails <= FAIL_LEVEL * rounding
        assert PASS_LEVEL / rounding <= passes <= PASS_LEVEL * rounding

    def test_earlier_suites_spend_it_all_at_their_end(self):
        assert (WHOLE.fail, WHOLE.passing) == (FAIL_LEVEL, PASS_LEVEL)
        assert WHOLE.fail_early == WHOLE.pass_early == 0

    @pytest.mark.parametrize("suite", suites.SUITES)
    def test_power_lost_at_the_end_is_below_two_points(self, suite):
        """How often a subject at what is required everywhere passes, summed exactly."""
        families = cells_of(suites.find(suite))
        (before, _), (now, _) = (pass_probability(families, each) for each in (WHOLE, levels()))
        assert 0 < before - now < 0.02


class TestRounds:
    def plans(self):
        room = find("bidiagonal")
        return [
            Plan([room.trial(c, i) for i in range(n)])
            for c, n in zip(CELLS, (100, 40, 20), strict=False)
        ]

    def test_every_round_is_a_fair_sample(self):
        plans = self.plans()
        order = list(in_rounds(plans))
        assert len(order) == 160
        for end in ROUNDS:
            number = sum(max(FEWEST, math.ceil(end * len(plan.trials))) for plan in plans)
            part = order[:number]
            for plan in plans:
                mine = [trial.seed for of, trial in part if of is plan]
                assert mine == list(range(max(FEWEST, math.ceil(end * len(plan.trials)))))

    def test_cells_none_of_whose_trials_can_be_spared_come_soon(self):
        plans = self.plans()
        plans[1].soon = True
        order = list(in_rounds(plans))
        first = sum(max(FEWEST, math.ceil(ROUNDS[0] * len(plan.trials))) for plan in plans)
        assert sum(of is plans[1] for of, _ in order[:first]) == FEWEST
        second = first + 3 + 38  # the others have 5 and 2 by then
        assert sum(of is plans[1] for of, _ in order[:second]) == 40
        assert len(order) == 160

    def test_what_was_run_before_counts(self):
        whole = self.plans()
        left = [Plan(plan.trials[7:], whole=len(plan.trials)) for plan in whole]
        expected = [(t.cell, t.seed) for _, t in in_rounds(whole) if t.seed >= 7]
        assert [(t.cell, t.seed) for _, t in in_rounds(left)] == expected
