"""Each cheat is rejected by the families that should reject it, and no right NMF by any."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cheats import (
    CHEATS,
    RIGHT,
    alternating_nonnegative_least_squares,
    descends_in_single_precision,
)
from nmfcheck import check
from nmfcheck.diagnosis import Cause
from nmfcheck.trials.suites import QUICK
from nmfcheck.verdict.decision import Decision

TRIALS = 20
"""Enough for a wrong one to fail; a right one needs more to pass."""

CELLS = (
    "n=3/ones", "n=3/loguniform", "n=4/loguniform",
    "5x4/k=2/dyadic", "9x6/k=3/dyadic", "4x7/k=3/dyadic", "6x5/k=2/zeros",
    "6x8/k=3/dyadic", "12x10/k=4/dyadic",
    "k=3/alpha=0.25/extra=0x4/dyadic", "k=3/alpha=0.25/extra=4x0/dyadic",
    "4x3/dyadic", "4x3/one", "9x6/dyadic",
    "thomas/k=1/shuffled", "thomas/k=2/shuffled", "hexagon/k=2/shuffled",
)  # fmt: skip
"""Of the quick suite, to save time."""

SUITE = replace(
    QUICK,
    parts=tuple(
        replace(part, cells={cell: TRIALS for cell in part.cells if cell.name in CELLS})
        for part in QUICK.parts
    ),
)

CAUSES = {
    "multiplies_from_nndsvd": Cause.LOCKED,
    "kullback_leibler": Cause.OTHER_LOSS,
    "weighs_columns": Cause.WEIGHTED,
    "half_precision": Cause.CHANGED_A,
    "drops_small_entries": Cause.THRESHOLD,
    "drops_smaller_entries": Cause.THRESHOLD,
    "drops_1_percent_at_the_end": Cause.THRESHOLD,
    "constant_in_denominators": Cause.BIASED,
    "ridge": Cause.BIASED,
    "lasso": Cause.BIASED,
    "multiplies_200_times": Cause.EARLY,
    "stops_after_20_sweeps": Cause.EARLY,
    "loops_to_the_smaller_side": Cause.UNMOVED,
}
"""What one of the findings must be, where there is more to say than that it is wrong."""

FAST = (
    "first_columns_as_they_are", "successive_projection", "multiplies_from_nndsvd",
    "half_precision",
)  # fmt: skip
"""These are looked at in every run of the tests, the others where there is time."""


def looked_at(names):
    return [pytest.param(n, marks=[pytest.mark.slow] * (n not in FAST)) for n in names]


def failing(function, **more):
    """Return the families that a function fails, and what is said of it."""
    with np.errstate(all="ignore"):
        report = check(function, SUITE, isolate=False, whole=True, laws=[], **more)
    failed = {e.family for e in report.verdict.families if e.test.decision is Decision.FAIL}
    return failed, report


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", looked_at(CHEATS))
def test_a_cheat_fails_where_it_should(name):
    function, families = CHEATS[name]
    failed, report = failing(function)
    assert failed == families, str(report)
    assert report.decision is Decision.FAIL
    if name in CAUSES:
        assert CAUSES[name] in {finding.cause for finding in report.findings}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", looked_at(RIGHT))
def test_a_right_one_fails_nowhere(name):
    failed, report = failing(RIGHT[name])
    assert not failed, str(report)
    assert not report.verdict.hard


@pytest.mark.slow
def test_single_precision_is_short_of_digits_at_the_papers_tolerance():
    failed, report = failing(descends_in_single_precision, tolerance=1e-10)
    assert failed == {"bidiagonal", "inflated"}, str(report)
    assert Cause.SINGLE in {finding.cause for finding in report.findings}


@pytest.mark.slow
def test_a_right_one_that_collapses_often_passes_where_shares_are_relative():
    """With all trials of the quick suite: 20 of a cell would not show that it fails."""
    suite = QUICK.selected(families=["bidiagonal", "inflated"])
    with np.errstate(all="ignore"):
        report = check(alternating_nonnegative_least_squares, suite, isolate=False, whole=True)
    assert report.decision is Decision.PASS, str(report)


def test_the_table_in_the_docs_says_the_same():
    text = (Path(__file__).parents[1] / "docs" / "families.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", text, flags=re.MULTILINE)
    header = re.search(r"^\| what it does \|(.*)\|$", text, flags=re.MULTILINE)
    assert header is not None
    columns = [cell.strip().strip("`") for cell in header[1].split("|")]
    assert columns == [part.family for part in QUICK.parts]
    listed = {
        name: {c for c, cell in zip(columns, cells.split("|"), strict=True) if "FAIL" in cell}
        for name, cells in rows
        if name in CHEATS
    }
    assert listed == {name: set(families) for name, (_, families) in CHEATS.items()}
