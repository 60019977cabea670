"""Tests of the tests: each animal breaks its law, and the verdict says so."""

from functools import partial

import pytest

from lawful import Lawful
from laws_zoo import (
    ZOO,
    loses_a_component_of_wide_ones,
    starts_on_both_sides_of_zero,
    takes_no_step_below_1e_7,
    takes_the_first_row_for_symmetry,
)
from nmfcheck import check
from nmfcheck.diagnosis import Cause
from nmfcheck.laws import LAWS, State, find, try_law
from nmfcheck.subjects import as_subject
from nmfcheck.subjects.handles import handle_of
from nmfcheck.verdict.decision import Decision

pytestmark = pytest.mark.filterwarnings("ignore:stopped at max_iter")  # in this process

MUST = [name for name in LAWS if LAWS[name].severity == "must"]


def tried(animal, names=LAWS):
    """Return what came of laws, by name."""
    handle = handle_of(as_subject(animal), "frobenius")
    return {name: try_law(find(name), handle) for name in names}


def test_every_law_has_an_animal():
    assert list(ZOO) == list(LAWS)


@pytest.mark.parametrize("law", ZOO)
def test_its_own_law_decides_as_it_should(law):
    report = check(ZOO[law], families="rank-one", trials=1, laws=[law], isolate=False, whole=True)
    (found,) = report.laws
    assert found.state is State.BROKEN, found
    assert found.sentence and found.example
    if law in MUST:
        assert report.decision is Decision.FAIL
        assert law in report.verdict.reason
        assert any(f.cause is Cause.LAW and f"'{law}'" in f.sentence for f in report.findings)
    else:
        assert not report.verdict.broken
        assert report.findings[-1].cause is Cause.LAW_ASIDE
        assert f"'{law}'" in report.findings[-1].sentence


def test_the_right_one_breaks_none():
    found = tried(Lawful)
    assert [each for each in found.values() if each.broken] == []
    held = {name for name, each in found.items() if each.state is State.HELD}
    assert set(LAWS) - held == {"inits-good", "fixed-factor"}


def test_symmetry_is_not_seen_in_the_first_row():
    found = tried(takes_the_first_row_for_symmetry)
    assert [each.law for each in found.values() if each.decides] == ["permutation"]
    assert found["permutation"].example == "7x7/k=3#0/first-row-as-column"


def test_quality_that_is_random_breaks_no_symmetry():
    """One of 120 tries does with probability 1/512 at most, so that three do with 0.2 %."""
    broken = []
    for first in range(0, 4000, 100):

        def animal(A, rank, *, seed, first=first):
            return starts_on_both_sides_of_zero(A, rank, seed=first + seed)

        outcome = tried(animal, ("permutation", "transposition")).values()
        broken += [each for each in outcome if each.broken]
    assert len(broken) <= 2, broken


def test_who_is_worse_on_wide_ones_is_seen_without_a_start():
    outcome = tried(loses_a_component_of_wide_ones, ("permutation", "transposition"))
    assert outcome["transposition"].broken and not outcome["permutation"].broken
    sentence = outcome["transposition"].sentence
    assert sentence.startswith("where it is transposed, the same A ends worse in 10 of 10 draws")


def test_no_answer_in_other_units_is_seen_without_a_start():
    (outcome,) = tried(takes_no_step_below_1e_7, ("units",)).values()
    assert outcome.broken and outcome.example == "8x6/k=3#0/stop-20"
    assert "ends well in no draw, and worse in 7, by at least 1 of" in outcome.sentence
    only = find("units"), handle_of(as_subject(takes_no_step_below_1e_7), "frobenius")
    assert try_law(*only, only="8x6/k=3#0/stop+20").broken


def test_nor_is_it_hidden_by_components_that_die():
    """As Spark's do, in some draws for A itself; with none of them it says nothing."""

    def animal(A, rank, *, seed, dead=5):
        huge = A.max() > 1e4
        W, H = starts_on_both_sides_of_zero(A, rank, seed=seed)
        return (0 * W, 0 * H) if huge or seed % 5 < dead else (W, H)

    (outcome,) = tried(partial(animal, dead=1), ("units",)).values()
    assert outcome.broken and outcome.example == "8x6/k=3#0/stop+20"
    (outcome,) = tried(animal, ("units",)).values()
    assert outcome.state is State.DOES_NOT_APPLY


@pytest.mark.slow
@pytest.mark.parametrize("law", ZOO)
def test_at_most_one_other_law_is_broken(law):
    broken = [name for name, each in tried(ZOO[law]).items() if each.broken]
    assert law in broken
    assert len(broken) <= 2, broken
