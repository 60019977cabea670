"""Tests of the tests: each animal breaks its law, and the verdict says so."""

import pytest

from lawful import Lawful
from laws_zoo import ZOO, takes_the_first_row_for_symmetry
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


@pytest.mark.slow
@pytest.mark.parametrize("law", ZOO)
def test_at_most_one_other_law_is_broken(law):
    broken = [name for name, each in tried(ZOO[law]).items() if each.broken]
    assert law in broken
    assert len(broken) <= 2, broken
