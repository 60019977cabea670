"""Tests of the tests: of each wrong NMF in the zoo, the right thing must be said."""

from collections import Counter
from pathlib import Path

import pytest

from nmfcheck.diagnosis.diagnosis import diagnose
from nmfcheck.diagnosis.findings import Cause
from nmfcheck.judging.outcomes import Outcome
from nmfcheck.checking.campaign import Campaign
from nmfcheck.executors.local import Limits
from nmfcheck.tools.smoke import Status, smoke
from nmfcheck.store import Store
from nmfcheck.subjects import SubjectName
from nmfcheck.trials.suites import QUICK
from nmfcheck.verdict.tally import OF_LETTER, tally
from nmfcheck.verdict.verdict import verdict_of
from zoo import ZOO

TRIALS = 30
LIMITS = Limits(timeout=1.0, memory=2 << 30)
FILE = Path(__file__).parent / "zoo.py"


@pytest.fixture(scope="module", params=ZOO)
def seen(request, tmp_path_factory):
    """Return an animal's name, its store and what it is there."""
    name = request.param
    suite = QUICK.selected(sizes=ZOO[name].sizes, trials=TRIALS)
    campaign = Campaign(suite, jobs=1, limits=LIMITS)
    path = tmp_path_factory.mktemp("zoo") / "run.sqlite"
    with (
        Store.create_or_open(path, suite) as store,
        campaign.workers(SubjectName(f"py:{FILE}:{name}")) as workers,
    ):
        yield name, store, campaign.run_isolated(workers, store, lambda _: None)


def test_what_is_said_of_it(seen):
    name, store, subject = seen
    expected = ZOO[name]
    verdict = verdict_of(store, subject)
    findings = diagnose(store, subject, verdict)
    told = f"{verdict.paper.reason}\n{findings}"
    assert verdict.decision is expected.decision, told
    assert verdict.unanswered_all == expected.unrunnable
    usual = (Cause.NORMAL, Cause.INEXACT)
    first = next((f.cause for f in findings if f.cause not in usual), None)
    assert first is expected.cause, told
    if expected.outcome is not None:
        assert _most(store, subject) is expected.outcome


def _most(store, subject):
    """Return the outcome that most failing stages of the paper's test have."""
    letters = Counter(
        letter
        for cell in tally(store, subject)
        for rung in store.suite.ladder
        if rung.question == 1
        for letter in cell.letters[rung.eps]
    )
    failing = {OF_LETTER[x]: m for x, m in letters.items() if x not in "ef.n"}
    return max(failing, key=failing.get)


def test_there_are_many():
    assert len(ZOO) >= 20
    assert {kept.outcome for kept in ZOO.values()} >= set(Outcome) - {
        Outcome.EXACT, Outcome.FIRST_ORDER, Outcome.NOT_RUN,
    }  # fmt: skip


def test_fortran_order_is_found_out_before_the_run():
    campaign = Campaign(QUICK, jobs=1)
    name = SubjectName(f"py:{FILE}:reads_fortran_order_as_the_transpose")
    with campaign.workers(name) as workers:
        checks = {check.name: check.status for check in smoke(workers)}
    assert checks["memory order"] is Status.BAD
