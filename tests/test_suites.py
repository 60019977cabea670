"""Suites: the numbers, and what they promise."""

import numpy as np
import pytest

from nmfcheck import InputError
from nmfcheck.trials import suites
from nmfcheck.trials.records import records_of
from nmfcheck.executors.inline import run_batches
from nmfcheck.subjects import REFERENCES, reference_subject
from nmfcheck.trials.suites import Suite
from nmfcheck.verdict.counts import count
from nmfcheck.trials.trial import Rung


@pytest.mark.parametrize(
    ("suite", "sizes", "trials", "iterations"),
    [
        (suites.QUICK, (2, 3, 4, 5), 100, 10**4),
        (suites.STANDARD, (2, 3, 4, 5, 6, 7, 8), 100, None),
        (suites.FULL, (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20), 60, None),
    ],
)
def test_the_numbers(suite, sizes, trials, iterations):
    assert (suite.sizes, suite.trials, suite.reference_iterations) == (sizes, trials, iterations)
    assert suite.kinds == ("ones", "loguniform")
    assert [rung.eps for rung in suite.ladder] == [0.0, 1e-3, 0.25]
    assert len(list(suite)) == len(sizes) * 2 * trials


def test_trial_i_uses_draw_i_and_seed_i():
    for trial in suites.QUICK.cell(3, "loguniform"):
        assert trial.entries == f"loguniform#{trial.seed}"


def test_trial_i_of_a_cell_is_the_same_in_every_suite():
    for n, kind in suites.QUICK.cells():
        assert suites.QUICK.cell(n, kind) == suites.STANDARD.cell(n, kind)
        assert suites.FULL.cell(n, kind) == suites.STANDARD.cell(n, kind)[:60]


def test_ids_are_unique():
    for suite in suites.SUITES.values():
        assert len({trial.id for trial in suite}) == len(list(suite))


def test_the_quick_suite_limits_every_reference():
    """To 10⁴ iterations; NeNMF keeps its 10³, each of which has up to 2000 steps inside."""
    for name, (_, papers, _) in REFERENCES.items():
        limit = suites.QUICK.reference_iterations
        assert reference_subject(name, at_most=limit).iterations == min(papers, 10**4)
        assert reference_subject(name).iterations == papers


def test_a_suite_hands_its_ladder_to_its_trials():
    short = Suite("short", (2,), 1, None, "for tests", ladder=(Rung(0.0, 1),))
    assert [trial.ladder for trial in short] == [(Rung(0.0, 1),)] * 2


def test_an_unknown_suite():
    with pytest.raises(InputError, match="no suite 'fast'; there are quick, standard, full"):
        suites.find("fast")


TINY = Suite("tiny", sizes=(2, 4), trials=6, reference_iterations=200, summary="for tests")


def in_batches(jobs, progress=None):
    """Run TINY on two subjects; return the results of each by name, in the suite's order."""
    batches = [[trial for trial in TINY if trial.n == n] for n in TINY.sizes]
    results = {}
    for name in ("multiplicative-update", "als"):
        subject = reference_subject(name, at_most=200)
        parts = run_batches(subject, batches, jobs=jobs, progress=progress)
        found = {result.trial: result for part in parts for result in part}
        results[name] = [found[trial] for trial in TINY]
    return results


@pytest.fixture(scope="module")
def tiny_results():
    return in_batches(jobs=1)


def test_results_do_not_depend_on_the_number_of_processes(tiny_results):
    told = []
    assert in_batches(jobs=2, progress=told.append) == tiny_results
    assert sum(told) == pytest.approx(2 * 4 * 6 * 3)


def test_some_permutations_change(tiny_results):
    """So that the counts below count something."""
    stages = [s for results in tiny_results.values() for r in results for s in r.stages]
    assert any(stage.permutation_changed for stage in stages)


def test_counts(tiny_results):
    for results in tiny_results.values():
        cells = count((r for result in results for r in records_of(result)), TINY.ladder)
        assert [(cell.n, cell.entries) for cell in cells] == TINY.cells()
        for cell in cells:
            members = [r for r in results if (r.trial.n, r.trial.kind) == (cell.n, cell.entries)]
            assert cell.trials == len(members) == 6
            assert cell.passed == sum(r.passed for r in members)
            for stage in cell.stages:
                run = [s for r in members for s in r.stages if s.rung == stage.rung]
                assert stage.ran == len(run) == sum(stage.outcomes.values())
                assert stage.exact == sum(s.outcome == "exact" for s in run)
                assert stage.first_order >= stage.exact
                assert stage.passed == sum(s.passed for s in run)
                changed = sum(s.permutation_changed is True for s in run)
                assert stage.permutation_changed == changed
                defects = [s.judgement.product_defect for s in run]
                assert stage.median_defect == np.median(defects)
                for name, number in stage.outcomes.items():
                    assert number == sum(s.outcome == name for s in run)
