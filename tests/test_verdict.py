"""Verdicts: the three-way logic, what counts, how families combine, and how often it errs."""

import math
from collections import Counter
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from nmfcheck.families import find
from nmfcheck.families.bidiagonal.family import LADDER, ask_of, cell_of
from nmfcheck.families.inflated.family import Inflated
from nmfcheck.intervals import Share
from nmfcheck.judging.objectives import FROBENIUS
from nmfcheck.trials import suites
from nmfcheck.trials.suites import Part
from nmfcheck.verdict.baseline import (
    ACCEPTED,
    AlgorithmBaseline,
    Baseline,
    BaselineCell,
    required_of,
    shipped_for,
)
from nmfcheck.verdict.decision import (
    MARGIN,
    CellVerdict,
    Decision,
    Question,
    bar_in_words,
    decide,
    pooled,
)
from nmfcheck.verdict.hard import HardFailure
from nmfcheck.verdict.levels import FAIL_LEVEL, WHOLE, levels
from nmfcheck.verdict.sequential import e_value
from nmfcheck.verdict.tally import CellTally
from nmfcheck.verdict.verdict import verdict

PASS, FAIL, INCONCLUSIVE = Decision
TWO = suites.find("quick@2")
"""The bidiagonal and the inflated family."""
SIZES = (2, 3, 4)
CELLS = [cell_of(n, kind) for n in SIZES for kind in ("ones", "loguniform")]
BIDIAGONAL = list(find("bidiagonal").cells("quick"))
INFLATED = [
    find("inflated").cell(name)
    for name in ("5x4/k=2/dyadic", "9x6/k=3/dyadic", "4x7/k=3/dyadic", "6x5/k=2/zeros")
]
TEST = LADDER[:2]
LEFT = {"bidiagonal": 3}
"""Trials that were not run."""


def tallied(of, *, zero, small=None, large=None, **more):
    """Return a cell from letters: those of ε = 1e-3 follow from those of ε = 0 if not given."""
    small = small or "".join("f" if letter == "e" else "." for letter in zero)
    letters = {"eps=0": zero, "eps=1e-3": small, "eps=0.25": large or "e" * len(zero)}
    return CellTally(of, tuple(range(len(zero))), letters, **more)


def passed(of, part, whole, **more):
    return tallied(of, zero="e" * part + "c" * (whole - part), **more)


def cell(n=3, entries="loguniform", **letters):
    return tallied(cell_of(n, entries), **letters)


def passing(part, whole, n=3, entries="loguniform", **more):
    return passed(cell_of(n, entries), part, whole, **more)


def baseline(share, trials=1000, cells=CELLS):
    """Return a baseline in which all algorithms pass this share in every cell."""
    tallies = {
        each.name: BaselineCell(passed(each, round(share * trials), trials), {}, {})
        for each in cells
    }
    algorithms = {name: AlgorithmBaseline({}, tallies) for name in ACCEPTED}
    asks = tuple(ask.name for ask in LADDER)
    return Baseline(cells[0].family, 1, FROBENIUS.name, asks, algorithms)


def on(*cells, share=0.9, asks=LADDER, **more):
    part = Part("bidiagonal", 1, {}, asks)
    return verdict(cells, [part], {"bidiagonal": baseline(share)}, **more)


def first_question(*cells, **more):
    return on(*cells, **more).of("bidiagonal").test


def second_question(*cells, **more):
    return on(*cells, **more).of("bidiagonal").exactness


class TestQuestionOne:
    def test_pass(self):
        found = first_question(passing(95, 100, 2), passing(94, 100, 3))
        assert found.decision is PASS
        assert "189 of 200 trials passed (94.5 %)" in found.reason
        assert "the bar is 85.0 % (90.0 % minus a margin of 5 points)" in found.reason

    def test_one_bad_cell_fails(self):
        found = first_question(passing(100, 100, 2), passing(60, 100, 3), passing(100, 100, 4))
        assert found.decision is FAIL
        assert found.reason.startswith("In n=3/loguniform, 60 of 100")
        assert "If it met the bar, a result this bad would have probability" in found.reason
        assert [cell.decision for cell in found.cells] == [PASS, FAIL, PASS]

    def test_the_pool_fails_where_no_cell_does(self):
        cells = [passing(38, 50, n, kind) for n in SIZES for kind in ("ones", "loguniform")]
        found = first_question(*cells)
        assert found.decision is FAIL
        assert all(cell.decision is not FAIL for cell in found.cells)
        assert found.reason.startswith("Of all cells together, 228 of 300")

    def test_too_few_trials_are_inconclusive_and_it_says_how_many_more(self):
        found = first_question(passing(18, 20))
        assert found.decision is INCONCLUSIVE
        share = Share(round(0.9 * (20 + found.further)), 20 + found.further)
        assert share.lower >= 0.85 - 1e-3
        assert f"about {found.further} more trials" in found.reason
        assert "a PASS" in found.reason

    def test_a_share_below_the_bar_needs_more_trials_to_fail(self):
        found = first_question(passing(16, 20))
        assert found.decision is INCONCLUSIVE
        assert "a FAIL" in found.reason
        assert (
            Share(math.floor(0.8 * (20 + found.further)), 20 + found.further).p_value(0.85)
            <= FAIL_LEVEL / 2
        )

    def test_a_stage_that_is_not_exact_at_0_fails(self):
        assert first_question(cell(zero="f" * 100)).pool.share == Share(0, 100)

    def test_first_order_is_enough_at_1e_3(self):
        assert first_question(cell(zero="e" * 100, small="f" * 100)).decision is PASS
        assert first_question(cell(zero="e" * 100, small="u" * 100)).decision is FAIL

    @pytest.mark.parametrize("letter", "xkcui")
    def test_errors_and_crashes_fail_their_trial(self, letter):
        found = first_question(cell(zero=letter * 40 + "e" * 60))
        assert found.pool.share == Share(60, 100)

    @pytest.mark.parametrize("letter", "tn")
    def test_unanswered_trials_leave_it_open(self, letter):
        found = first_question(cell(zero="e" * 99 + letter))
        assert found.decision is INCONCLUSIVE
        assert found.pool.share == Share(99, 99)
        assert "1 trial was left unanswered" in found.reason

    def test_unanswered_trials_do_not_save_from_a_fail(self):
        assert first_question(cell(zero="u" * 50 + "t" * 50)).decision is FAIL

    def test_a_hard_failure_is_enough(self):
        hard = [HardFailure("changed-A", "It wrote into the A that it was given.", 1, "id")]
        found = on(passing(100, 100), hard=hard)
        assert found.decision is FAIL
        expected = "Hard failure: It wrote into the A that it was given (once)."
        assert found.reason == expected

    def test_a_size_without_baseline_does_not_count(self):
        found = first_question(passing(100, 100, 3), passing(0, 100, 9))
        assert found.decision is PASS
        assert found.cells[1].decision is None
        alone = first_question(passing(0, 100, 9))
        assert alone.decision is INCONCLUSIVE
        assert alone.reason == "No cell that was run is in the baseline."

    def test_another_ladder_is_not_compared(self):
        found = first_question(passing(100, 100), asks=(ask_of(0.0), ask_of(1e-4)))
        assert found.decision is INCONCLUSIVE
        assert found.reason == "The test was not run: it is ε = 0, then ε = 1e-3."

    def test_another_version_of_the_family_is_not_compared(self):
        part = Part("bidiagonal", 2, {}, LADDER)
        found = verdict([passing(100, 100)], [part], {"bidiagonal": baseline(0.9)})
        assert found.decision is INCONCLUSIVE
        assert found.reason == "There is no baseline of version 2 of bidiagonal."

    def test_a_small_baseline_stands_with_its_lower_bound(self):
        small = baseline(0.9, trials=200)
        required = small.required("n=3/ones", TEST)
        assert required.share == pytest.approx(Share(180, 200).lower)
        assert baseline(0.9).required("n=3/ones", TEST).share == 0.9

    def test_the_lowest_of_them_is_required(self):
        known = baseline(0.9)
        cells = dict(known.algorithms["als"].cells)
        cells["n=3/ones"] = BaselineCell(passing(700, 1000, 3, "ones"), {}, {})
        known.algorithms["als"] = AlgorithmBaseline({}, cells)
        required = known.required("n=3/ones", TEST)
        assert (required.share, required.of) == (0.7, "als")


class TestQuestionTwo:
    def test_collapsed_runs_do_not_count(self):
        found = second_question(cell(zero="e" * 100, large="e" * 60 + "c" * 40))
        assert found.pool.share == Share(60, 60)

    def test_what_is_not_exact_fails(self):
        found = second_question(cell(zero="e" * 100, large="u" * 100))
        assert found.decision is FAIL
        assert "0 of 100 runs that did not collapse are exact" in found.reason

    def test_it_does_not_decide(self):
        found = on(cell(zero="e" * 100, large="u" * 100))
        assert (found.decision, found.exact) == (PASS, FAIL)

    def test_the_margin_is_the_same(self):
        found = second_question(cell(zero="e" * 1000, large="e" * 925 + "u" * 75))
        assert found.pool.bar == pytest.approx(0.9)
        assert found.decision is PASS

    def test_all_collapsed_is_open(self):
        assert second_question(cell(zero="c" * 9, large="c" * 9)).decision is INCONCLUSIVE

    def test_not_asked(self):
        found = second_question(passing(100, 100), asks=TEST)
        assert (found.decision, found.reason) == (INCONCLUSIVE, "Nothing was run at ε = 0.25.")


class TestOneAnswerForAllSeeds:
    def test_a_cell_of_one_case_is_one_trial(self):
        ones = passing(0, 100, 3, "ones", one_answer=True)
        found = on(ones, passing(100, 100))
        assert found.decision is PASS
        shares = [c.share for c in found.of("bidiagonal").test.cells]
        assert shares == [Share(0, 1), Share(100, 100)]
        assert "do not depend on the start or the seed" in found.notes[0]

    def test_where_there_are_exceptions_all_trials_count(self):
        """Otherwise a few that come by chance would weigh as much as all answers together."""
        ones = cell(3, "ones", zero="x" * 5 + "e" * 95, one_answer=True)
        assert first_question(ones).pool.share == Share(95, 100)

    def test_exceptions_are_not_hidden_by_one_right_answer(self):
        ones = cell(3, "ones", zero="e" + "x" * 99, one_answer=True)
        assert first_question(ones).pool.share == Share(1, 100)
        silent = cell(3, "ones", zero="t" + "e" * 99, large="t" + "e" * 99, one_answer=True)
        assert first_question(silent).pool.share == Share(1, 1)

    def test_with_nothing_else_it_is_open(self):
        ones = passing(100, 100, 3, "ones", one_answer=True)
        assert on(ones).decision is INCONCLUSIVE

    def test_a_single_trial_shows_nothing(self):
        assert not on(passing(1, 1, 3, "ones")).notes


class TestWhatIsMissing:
    def test_the_exact_test_is_for_the_end(self):
        """Before it, only what may be looked at at any time makes a FAIL."""
        few, none = passing(72, 100), passing(0, 100)
        assert first_question(few, levels=levels()).decision is FAIL
        assert first_question(few, levels=levels(), left=LEFT).decision is INCONCLUSIVE
        assert first_question(none, levels=levels(), left=LEFT).decision is FAIL

    def test_a_suite_that_was_not_run_to_its_end_does_not_pass(self):
        found = on(passing(100, 100), left=LEFT)
        assert (found.decision, found.exact) == (INCONCLUSIVE, INCONCLUSIVE)
        assert found.reason == "3 of its trials were not run, and no PASS is given without them."
        assert found.of("bidiagonal").test.further == 3
        assert on(passing(0, 100), left=LEFT).decision is FAIL

    def test_a_size_that_is_not_in_the_baseline_is_named(self):
        notes = on(passing(100, 100, 3), passing(0, 100, 9)).notes
        expected = "The baseline does not have n=9/loguniform, which does not count for the verdict"
        assert notes == (f"{expected}.",)

    def test_where_nothing_is_required_nothing_is_passed(self):
        little = CellVerdict(cell_of(20, "ones"), Share(0, 100), 0.04)
        (found,) = decide([Question("bidiagonal", [little])])
        assert found.decision is INCONCLUSIVE

    def test_all_unanswered_says_so(self):
        silent = cell(zero="t" * 9, large="t" * 9)
        assert "9 trials were left unanswered" in first_question(silent).reason
        assert "9 trials were left unanswered" in second_question(silent).reason

    def test_several_eps_are_not_pooled(self):
        asks = (*TEST, ask_of(0.1), LADDER[2])
        more = cell(zero="e" * 50, large="u" * 50)
        more.letters["eps=0.1"] = "e" * 50
        assert second_question(more, asks=asks).pool.share == Share(0, 50)


def test_no_answer_at_all():
    assert not on().unanswered_all
    assert on(cell(zero="tttnn", large="tttnn")).unanswered_all
    assert not on(cell(zero="tttne", large="tttnn")).unanswered_all


def both(bidiagonal, inflated, known=None, **more):
    """Return the verdict on passes in eight cells of 100 trials and in four of 300.

    Parameters
    ----------
    known : the baselines, if not those in which all pass 90 % and 80 %.
    """
    cells = [passed(of, part, 100) for of, part in zip(BIDIAGONAL, bidiagonal, strict=True)]
    cells += [passed(of, part, 300) for of, part in zip(INFLATED, inflated, strict=True)]
    if known is None:
        known = {
            "bidiagonal": baseline(0.9, cells=BIDIAGONAL),
            "inflated": baseline(0.8, cells=INFLATED),
        }
    return verdict(cells, TWO.parts, known, **more)


class TestSeveralFamilies:
    def test_all_pass(self):
        found = both([95] * 8, [260] * 4)
        assert found.decision is PASS
        assert found.reason == "All families pass: bidiagonal and inflated."
        assert found.share == Share(8 * 95 + 4 * 260, 8 * 100 + 4 * 300)
        assert found.exact is PASS

    def test_each_is_held_against_its_own_bar(self):
        """What is enough in one family is not in the other."""
        assert both([95] * 8, [255] * 4).decision is PASS
        swapped = both([85] * 8, [285] * 4)
        assert swapped.of("inflated").test.decision is PASS
        assert swapped.of("bidiagonal").test.decision is INCONCLUSIVE
        assert swapped.decision is INCONCLUSIVE

    def test_one_cell_fails_the_whole_though_800_trials_of_the_other_family_pass(self):
        found = both([100] * 8, [300, 300, 150, 300])
        assert found.of("bidiagonal").test.decision is PASS
        assert found.of("bidiagonal").test.pool.share == Share(800, 800)
        assert found.of("inflated").test.decision is FAIL
        assert found.of("inflated").test.pool.decision is not FAIL
        assert found.decision is FAIL
        assert found.reason.startswith("inflated: In 4x7/k=3/dyadic, 150 of 300 trials passed")
        assert "bidiagonal" not in found.reason

    def test_both_fail_and_both_are_named(self):
        found = both([10] * 8, [30] * 4)
        assert found.decision is FAIL
        assert found.reason.startswith("bidiagonal: ")
        assert " inflated: " in found.reason

    def test_a_pass_needs_the_pool_of_every_family(self):
        """All trials together would do: 2000 of which 90 % pass, and 83 % are required."""
        found = both([100] * 8, [230] * 4)
        assert found.of("inflated").test.decision is INCONCLUSIVE
        assert found.decision is INCONCLUSIVE
        assert found.reason.startswith("inflated: 920 of 1200 trials passed")
        assert found.share.lower > 0.8
        assert all(each.test.decision is not FAIL for each in found.families)

    def test_a_family_without_a_baseline_leaves_it_open(self):
        known = {"bidiagonal": baseline(0.9, cells=BIDIAGONAL)}
        found = both([100] * 8, [300] * 4, known)
        assert found.decision is INCONCLUSIVE
        assert found.reason == "inflated: There is no baseline of version 1 of inflated."
        assert both([100] * 7 + [0], [300] * 4, known).decision is FAIL

    def test_where_a_run_ended_early_it_names_the_trials_that_are_left(self):
        cell = CellVerdict(BIDIAGONAL[0], Share(5, 25), required=0.75, of="als")
        early = replace(levels(), fail=0.0)
        (answer,) = decide([Question("bidiagonal", [cell], left=75)], early)
        assert (answer.decision, answer.further) == (INCONCLUSIVE, 75)
        assert answer.reason.endswith("Not certain yet: 75 of its trials have not been run.")
        (answer,) = decide([Question("bidiagonal", [cell])], early)
        assert (answer.decision, answer.further) == (INCONCLUSIVE, None)
        assert answer.reason.endswith("trials of other families have not been run.")

    @pytest.mark.parametrize("added", [0, 1, 2])
    @pytest.mark.parametrize(("part", "towards"), [(0.8, FAIL), (0.9, PASS)])
    def test_adding_as_many_trials_as_it_names_settles_it(self, part, towards, added):
        """They are tested at the level of trials that are added once more, which is smaller."""

        def answer(trials, levels):
            share = Share(round(part * trials), trials)
            cells = [
                CellVerdict(of, share, required=0.9, of="als", margin=0.05) for of in BIDIAGONAL[:3]
            ]
            return decide([Question("bidiagonal", cells)], levels)[0]

        open_ = answer(30, levels(added))
        assert open_.decision is INCONCLUSIVE
        tens = open_.further / 30  # of each cell, in which 8 or 9 pass
        assert open_.further % 3 == 0
        assert answer(30 + 10 * math.ceil(1.05 * tens), levels(added + 1)).decision is towards
        assert answer(30 + 10 * math.floor(0.9 * tens), levels(added + 1)).decision is INCONCLUSIVE

    def test_what_is_said_of_the_bar_adds_up(self):
        cell = CellVerdict(BIDIAGONAL[0], Share(1, 2), required=0.77255, of="als", margin=0.05)
        assert bar_in_words(cell) == "the bar is 72.3 % (77.3 % minus a margin of 5 points)"

    def test_a_fixed_requirement_needs_no_baseline(self, monkeypatch):
        monkeypatch.setattr(Inflated, "required", 0.8)
        known = {"bidiagonal": baseline(0.9, cells=BIDIAGONAL)}
        found = both([95] * 8, [260] * 4, known)
        assert found.decision is PASS
        test = found.of("inflated").test
        assert {(each.required, each.of) for each in test.cells} == {(0.8, "")}
        assert "the bar is 75.0 % (80.0 % minus a margin of 5 points)" in test.reason
        assert both([95] * 8, [180] * 4, known).decision is FAIL

    def test_a_fixed_requirement_stands_before_a_baseline(self, monkeypatch):
        monkeypatch.setattr(Inflated, "required", 0.5)
        assert both([95] * 8, [180] * 4).decision is PASS

    def test_a_hard_failure_is_enough(self):
        hard = [HardFailure("changed-A", "It wrote into the A that it was given.", 2, "id")]
        found = both([100] * 8, [300] * 4, hard=hard)
        assert found.decision is FAIL
        assert found.reason == "Hard failure: It wrote into the A that it was given (2 times)."

    def test_what_was_not_run_of_one_takes_back_its_pass(self):
        found = both([100] * 8, [300] * 4, left={"inflated": 1})
        assert found.of("inflated").test.decision is INCONCLUSIVE
        assert found.of("inflated").test.reason.startswith("1 of its trials was not run")
        assert found.of("bidiagonal").test.decision is PASS
        assert found.decision is INCONCLUSIVE

    def test_exactness_fails_where_one_family_does(self):
        known = {
            "bidiagonal": baseline(0.9, cells=BIDIAGONAL),
            "inflated": baseline(0.8, cells=INFLATED),
        }
        cells = [passed(of, 100, 100) for of in BIDIAGONAL]
        cells += [tallied(of, zero="e" * 300, large="u" * 300) for of in INFLATED]
        found = verdict(cells, TWO.parts, known)
        assert (found.decision, found.exact) == (PASS, FAIL)
        assert found.of("bidiagonal").exactness.decision is PASS


class TestHolmOverAllFamilies:
    """The level is shared by all cells and the pool of each family."""

    REQUIRED = 0.8
    BAR = REQUIRED - MARGIN

    def questions(self, parts):
        """Return the questions for numbers of passes of 100, in lists, one for each family."""
        return [
            Question(
                f"family {i}",
                [
                    CellVerdict(cell_of(n + 1, "ones"), Share(int(k), 100), self.REQUIRED)
                    for n, k in enumerate(listed)
                ],
            )
            for i, listed in enumerate(parts)
        ]

    def worst_not_rejected(self, tests):
        """Return the least number of passes that the first step does not reject."""
        p_values = stats.binom.cdf(range(101), 100, self.BAR)
        return int((p_values <= FAIL_LEVEL / tests).sum())

    def test_another_family_makes_a_cell_harder_to_reject(self):
        alone, together = self.worst_not_rejected(4 + 1), self.worst_not_rejected(4 + 1 + 60 + 1)
        assert together < alone
        cells = [alone - 1, 90, 90, 90]
        (found,) = decide(self.questions([cells]))
        assert found.decision is FAIL
        found, other = decide(self.questions([cells, [90] * 60]))
        assert (found.decision, other.decision) == (PASS, PASS)

    def test_the_edge(self):
        """Just rejected and just not, of 8 cells and 4 and two pools."""
        edge = self.worst_not_rejected(8 + 4 + 2)
        for worst, expected in ((edge - 1, FAIL), (edge, PASS)):
            one, other = decide(self.questions([[90] * 8, [worst, 95, 95, 95]]))
            assert (one.decision, other.decision) == (PASS, expected)

    def test_a_rejection_in_one_family_makes_the_next_easier_in_another(self):
        """Holm's second step: the level is shared by one test less."""
        steps = [self.worst_not_rejected(tests) for tests in range(14, 1, -1)]
        done = next(i for i in range(1, 12) if steps[i] > steps[0])
        edge = steps[done] - 1
        (_, other) = decide(self.questions([[90] * 8, [edge, 95, 95, 95]]))
        assert other.decision is PASS
        rejected = [20] * done + [100] * (8 - done)
        _, other = decide(self.questions([rejected, [edge, 95, 95, 95]]))
        assert other.decision is FAIL

    def test_as_by_adjusted_p_values(self):
        """Another way to the same: p-values adjusted upwards, compared with the level itself."""
        rng = np.random.default_rng(5)
        seen = Counter()
        for _ in range(200):
            shares = rng.choice([0.5, 0.62, 0.66, 0.75, 0.85], size=3)
            parts = [
                rng.binomial(100, share, size)
                for share, size in zip(shares, (5, 3, 1), strict=True)
            ]
            found = decide(self.questions(parts))
            listed = [each for q in found for each in (*q.cells, q.pool)]
            p = np.array([stats.binom.cdf(c.share.part, c.share.whole, self.BAR) for c in listed])
            order = np.argsort(p, kind="stable")
            adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
            expected = np.zeros(len(p), bool)
            expected[order] = adjusted <= FAIL_LEVEL
            assert [each.decision is FAIL for each in listed] == expected.tolist()
            for question in found:
                failing = any(c.decision is FAIL for c in (*question.cells, question.pool))
                assert (question.decision is FAIL) == failing
                seen[question.decision] += 1
        assert min(seen[each] for each in Decision) > 20


def decided(parts, required, trials):
    cells = [
        CellVerdict(cell_of(n + 1, "ones"), Share(int(k), trials), required)
        for n, k in enumerate(parts)
    ]
    (found,) = decide([Question("bidiagonal", cells)])
    return found.decision


class TestLowerBars:
    """Where less is required, nobody who passed does worse: not at the end, not on the way.

    So what was measured of an algorithm's false alarms with higher bars bounds those with lower.
    """

    @settings(max_examples=200)
    @given(st.data())
    def test_no_verdict_gets_worse(self, data):
        number, trials = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 150))
        before, after = [], []
        for n in range(number):
            share = Share(data.draw(st.integers(0, trials)), trials)
            high = data.draw(st.floats(0.1, 1.0))
            low = data.draw(st.floats(0.06, high))
            before.append(CellVerdict(cell_of(n + 1, "ones"), share, high))
            after.append(CellVerdict(cell_of(n + 1, "ones"), share, low))
        order = [Decision.FAIL, Decision.INCONCLUSIVE, Decision.PASS]
        for spent in (levels(), WHOLE):
            ends = (decide([Question("bidiagonal", cells)], spent)[0] for cells in (before, after))
            high, low = (order.index(end.decision) for end in ends)
            assert low >= high
        assert e_value(after) <= e_value(before) + 1e-9


@pytest.mark.parametrize(
    ("cells", "trials", "one_cell"), [(8, 100, 0.999), (14, 100, 0.999), (22, 60, 0.95)]
)
class TestPower:
    """What the bidiagonal part of quick, standard and full can tell, for a required 85 %."""

    REQUIRED, BOUND = 0.85, 0.85 - MARGIN

    def rejected(self, cells, trials):
        """Return up to how many passes are rejected at the first step of Holm's method."""
        level = FAIL_LEVEL / (cells + 1)
        return max(k for k in range(trials + 1) if stats.binom.cdf(k, trials, self.BOUND) <= level)

    def fails(self, share, cells, trials):
        """Return bounds of the probability that a subject with this share everywhere FAILs."""
        pool = stats.binom.cdf(self.rejected_pool(cells, trials), cells * trials, share)
        cell = stats.binom.cdf(self.rejected(cells, trials), trials, share)
        return pool, pool + cells * cell

    def rejected_pool(self, cells, trials):
        level, whole = FAIL_LEVEL / (cells + 1), cells * trials
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


ABOUT = {
    "6x4/k=1/dyadic": 1.00,
    "5x4/k=2/dyadic": 0.78,
    "9x6/k=3/dyadic": 0.50,
    "4x7/k=3/dyadic": 0.60,
    "6x5/k=2/zeros": 0.83,
}
"""About what the lowest of the five references reaches in the inflated cells."""


@pytest.fixture(scope="module", params=["by hand", "quick@2", "quick@3"])
def required(request):
    """Return each family's cells and what is required: round numbers, or what is shipped."""
    suite = TWO if request.param == "by hand" else suites.find(request.param)
    known = shipped_for(suite)

    def share(part, of):
        if request.param == "by hand":
            return ABOUT[of.name] if part.family == "inflated" else 0.85
        return required_of(part, of, known[part.family]).share

    return {
        part.family: [
            CellVerdict(of, Share(0, trials), share(part, of), margin=part.room.margin)
            for of, trials in part.cells.items()
        ]
        for part in suite.parts
    }


def trials_of(cells):
    return [each.share.whole for each in cells]


class TestPowerOfTheQuickSuite:
    """What all families of the quick suite together can tell, summed over binomials.

    A family passes if its pool does and no cell is rejected; no cell is, and no pool, if none is at
    Holm's first step. Passes of cells are independent, and so are families.
    """

    @staticmethod
    def level(required):
        return FAIL_LEVEL / sum(len(cells) + 1 for cells in required.values())

    def rejected(self, of, level):
        """Return up to how many passes are rejected at the first step, −1 for none."""
        trials = of.share.whole
        return int((stats.binom.cdf(range(trials + 1), trials, of.bar) <= level).sum()) - 1

    def least(self, cells):
        """Return how many passes of all trials of a family are enough."""
        whole, bar = sum(trials_of(cells)), pooled(cells).bar
        if bar == 1:
            return whole
        return min(k for k in range(whole + 1) if Share(k, whole).lower >= bar)

    def passes(self, family, required, actual):
        """Return the probability that a subject with these shares passes a family."""
        weights = []
        for of, share in zip(required[family], actual[family], strict=True):
            weight = stats.binom.pmf(range(of.share.whole + 1), of.share.whole, share)
            weight[: self.rejected(of, self.level(required)) + 1] = 0
            weights.append(weight)
        return reduce(np.convolve, weights)[self.least(required[family]) :].sum()

    def passes_overall(self, required, actual):
        return math.prod(self.passes(family, required, actual) for family in required)

    def fails_at_most(self, required, actual):
        """Return a bound of the probability of a FAIL: a rejection of any cell or pool."""
        level, bound = self.level(required), 0.0
        for family, cells in required.items():
            for of, share in zip(cells, actual[family], strict=True):
                bound += stats.binom.cdf(self.rejected(of, level), of.share.whole, share)
            bound += self.pool_fails(family, required, actual)
        return bound

    def pool_fails(self, family, required, actual):
        """Return the probability that the pool of a family is rejected."""
        worst = self.rejected(pooled(required[family]), self.level(required))
        counts = (
            stats.binom.pmf(range(trials + 1), trials, share)
            for trials, share in zip(trials_of(required[family]), actual[family], strict=True)
        )
        return reduce(np.convolve, counts)[: worst + 1].sum()

    def less(self, required, points, families=None):
        """Return shares that are less than required, in all families or in some."""
        return {
            family: [
                max(of.required - points * (families is None or family in families), 0.0)
                for of in cells
            ]
            for family, cells in required.items()
        }

    def at_the_bar(self, required):
        return {family: [of.bar for of in cells] for family, cells in required.items()}

    def test_it_is_the_quick_suite(self):
        assert suites.find("quick@6") == suites.QUICK
        for title, parts in (("quick@2", 2), ("quick@3", 7)):
            cells = {part.family: list(part.cells) for part in suites.find(title).parts}
            assert len(cells) == parts
            assert cells["bidiagonal"] == BIDIAGONAL
            assert [of.name for of in cells["inflated"]] == list(ABOUT)

    def test_who_does_what_is_required_everywhere_passes(self, required):
        expected = 0.95 if len(required) == 2 else 0.94
        assert self.passes_overall(required, self.less(required, 0)) >= expected

    def test_who_does_what_is_required_does_not_fail(self, required):
        assert self.fails_at_most(required, self.less(required, 0)) < 1e-4

    def test_who_is_at_the_bar_everywhere_hardly_fails(self, required):
        assert self.fails_at_most(required, self.at_the_bar(required)) <= FAIL_LEVEL

    def test_who_is_at_the_bar_everywhere_hardly_passes(self, required):
        """Where every trial has to pass, the bar is a share of 1, and who is there passes."""
        with_margin = [cells for cells in required.values() if cells[0].margin > 0]
        assert len(with_margin) in (2, 6)
        passing = self.passes_overall(required, self.at_the_bar(required))
        assert passing <= 0.05 ** len(with_margin)

    def test_who_is_bad_at_one_family_only_fails(self, required):
        for family in required:
            actual = self.less(required, 0.15, [family])
            assert self.pool_fails(family, required, actual) > 0.99, family

    @pytest.mark.parametrize("place", range(len(ABOUT)))
    def test_who_is_bad_at_one_inflated_cell_only_fails(self, required, place):
        of = required["inflated"][place]
        worst = self.rejected(of, self.level(required))
        expected = 0.999 if len(required) == 2 else 0.995  # the level is shared by more cells
        assert stats.binom.cdf(worst, of.share.whole, of.required - 0.25) > expected

    def test_who_is_very_bad_at_one_cell_only_fails(self, required):
        for of in (of for cells in required.values() for of in cells):
            worst = self.rejected(of, self.level(required))
            actual = max(of.required - 0.45, 0.0)
            assert stats.binom.cdf(worst, of.share.whole, actual) > 0.998, of.cell.id

    def questions(self, required, parts):
        return [
            Question(
                family,
                [
                    replace(of, share=Share(int(part), of.share.whole))
                    for of, part in zip(cells, parts[family], strict=True)
                ],
            )
            for family, cells in required.items()
        ]

    def test_the_verdict_is_as_the_sums_say(self, required):
        """At the edges: of each cell, and of the pool."""
        level = self.level(required)
        good = {name: trials_of(cells) for name, cells in required.items()}

        def decision(family, parts):
            found = decide(self.questions(required, good | {family: parts}))
            return next(each.decision for each in found if each.family == family)

        for family, cells in required.items():
            for place, of in enumerate(cells):
                worst = self.rejected(of, level)
                for part, fails in ((worst, True), (worst + 1, False)):
                    parts = list(good[family])
                    parts[place] = part
                    assert (decision(family, parts) is FAIL) == fails, of.cell.id
            least = self.least(cells)
            parts = np.floor([of.share.whole * of.required for of in cells]).astype(int)
            while parts.sum() != least:
                parts[parts.sum() % len(parts)] += 1 if parts.sum() < least else -1
            assert decision(family, parts) is PASS, family
            parts[0] -= 1
            less = FAIL if family == "rank-one" else INCONCLUSIVE
            assert decision(family, parts) is less, family

    def test_simulated(self, required):
        """Another way to the same: blocks drawn at what is required, and at the bar."""
        rng = np.random.default_rng(3)

        def blocks(actual, number):
            seen = Counter()
            for _ in range(number):
                parts = {
                    name: rng.binomial(trials_of(cells), actual[name])
                    for name, cells in required.items()
                }
                decisions = {each.decision for each in decide(self.questions(required, parts))}
                seen[FAIL if FAIL in decisions else PASS if decisions == {PASS} else None] += 1
            return seen

        at_required = self.less(required, 0)
        expected = self.passes_overall(required, at_required)
        found = blocks(at_required, 200)
        assert stats.binom.cdf(found[PASS], 200, expected) > 1e-4
        assert found[FAIL] == 0
        # 9: one in 10,000 at 1 %
        assert blocks(self.at_the_bar(required), 200)[FAIL] <= 8
