"""Findings beyond the zoo's: in which order they are told, and what other families show."""

import numpy as np
import pytest

from nmfcheck import check
from nmfcheck.diagnosis import Cause, Finding
from nmfcheck.diagnosis.order import in_order, with_laws
from zoo import hals
from zoo_more import divides_both_by_the_norms_of_w, undoes_a_scaling_twice

LAW, DESCENT = Finding(Cause.LAW, "another law"), Finding(Cause.LAW, "descent")


def found(cause, *families, certain=True):
    return [*families], Finding(cause, str(cause), certain)


def test_what_explains_a_failure_comes_first_then_what_is_specific_then_what_is_certain():
    told = [
        found(Cause.NORMAL, "bidiagonal"),
        found(Cause.THRESHOLD, "bidiagonal"),
        found(Cause.COLLAPSES, "mixed"),
        found(Cause.UNSTABLE, "noisy", certain=False),
        found(Cause.LEAVES, "mixed"),
        found(Cause.HALF, "mixed"),
        found(Cause.CEILING, "rays", "mixed", certain=False),
        found(Cause.LOCKED, "mixed"),
    ]
    ordered = [finding.cause for _, finding in in_order(told, ["mixed", "noisy"])]
    assert ordered == [
        Cause.LOCKED, Cause.THRESHOLD, Cause.CEILING, Cause.HALF, Cause.LEAVES, Cause.UNSTABLE,
        Cause.COLLAPSES, Cause.NORMAL,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "behind"),
    [([], [Cause.LEAVES, Cause.COLLAPSES]), ([Cause.LOCKED], [Cause.COLLAPSES]), ([], [])],
)
def test_that_it_ends_above_its_start_says_more_than_that_it_collapses(before, behind):
    shown = [Finding(cause, "") for cause in (*before, *behind, Cause.NORMAL)]
    told = with_laws(shown, [LAW], [DESCENT], alone=False)
    first, last = len(before), len(before) + len(behind)
    assert told == [*shown[:first], DESCENT, *shown[first:last], LAW, *shown[last:]]


def test_laws_come_first_where_no_family_fails():
    shown = [Finding(Cause.EARLY, "", certain=False), Finding(Cause.NORMAL, "")]
    assert with_laws(shown, [LAW], [DESCENT], alone=True) == [DESCENT, LAW, *shown]


def test_updates_are_not_blamed_for_what_is_done_to_their_answer():
    families = ["bidiagonal", "inflated"]
    report = check(divides_both_by_the_norms_of_w, families=families, trials=20, isolate=False)
    causes = {finding.cause for finding in report.findings}
    assert Cause.RESCALED in causes
    assert not causes & {Cause.UNSTABLE, Cause.LEAVES, Cause.FIXED_POINT}


def test_a_factor_that_a_has_is_named():
    report = check(undoes_a_scaling_twice, families=["bidiagonal"], trials=20, isolate=False)
    assert "a factor, which is A's largest entry in each run" in report.findings[0].sentence


def on_rank_one(function):
    """Return the first finding on matrices that no product of rank one fits."""
    return check(function, families=["rank-one"], trials=10, isolate=False, laws=[]).findings[0]


def test_weights_of_rows_are_found_where_nothing_fits_exactly():
    def normalises_rows_and_scales_back(A, rank, *, W0, H0):
        size = np.linalg.norm(A, axis=1, keepdims=True)
        W, H = hals(A / size, W0, H0)
        return W * size, H

    finding = on_rank_one(normalises_rows_and_scales_back)
    assert (finding.cause, finding.certain) == (Cause.WEIGHTED, True)
    assert "the rows of A are divided by their norms" in finding.sentence


@pytest.mark.parametrize("wrong", "HW")
def test_the_factor_whose_update_is_wrong_is_named(wrong):
    def weighs_by_place(A, rank, *, W0, H0):
        by_place = np.arange(1.0, len(A) + 1)[:, None]
        W, H = hals(by_place * A, by_place * W0, H0)
        return W / by_place, H

    def the_other_way_round(A, rank, *, W0, H0):
        H, W = weighs_by_place(A.T, rank, W0=H0.T, H0=W0.T)
        return W.T, H.T

    finding = on_rank_one(weighs_by_place if wrong == "H" else the_other_way_round)
    assert (finding.cause, finding.certain) == (Cause.HALF, True)
    assert finding.sentence.startswith(f"The trouble is in {wrong}: ")
