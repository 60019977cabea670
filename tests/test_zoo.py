"""Tests of the tests: of each wrong NMF in the zoo, the right thing must be said."""

from collections import Counter
from pathlib import Path

import pytest

from nmfcheck.checking import campaign as module
from nmfcheck.checking.campaign import Campaign
from nmfcheck.checking.runnable import Runnable, runnable
from nmfcheck.diagnosis import Cause, diagnose
from nmfcheck.diagnosis.experiments import Experiment, mending
from nmfcheck.errors import SubjectError
from nmfcheck.executors.local import LocalExecutor
from nmfcheck.executors.protocol import Limits
from nmfcheck.families import Question
from nmfcheck.judging.outcomes import Outcome
from nmfcheck.store import Store
from nmfcheck.subjects import SubjectName
from nmfcheck.tools.smoke import Look, Status, smoke
from nmfcheck.trials.suites import QUICK
from nmfcheck.verdict.baseline import (
    ACCEPTED,
    AlgorithmBaseline,
    Baseline,
    BaselineCell,
    shipped,
    shipped_for,
)
from nmfcheck.verdict.decision import Decision
from nmfcheck.verdict.of_store import verdict_of
from nmfcheck.verdict.stopping import STOPPED, Stopped
from nmfcheck.verdict.tally import OF_LETTER, CellTally, tally
from zoo import ZOO
from zoo_more import MORE

TRIALS = 30
LIMITS = Limits(timeout=1.0, memory=2 << 30)
HERE = Path(__file__).parent
USUAL = (Cause.NORMAL, Cause.INEXACT)


def said(store, stored, baselines):
    """Return the verdict and the findings."""
    suite, results = store.suite, store.results(stored)
    cells = tally(results, suite)
    noted = store.noted(stored, STOPPED)
    stopped = None if noted is None else Stopped.from_text(noted)
    verdict = verdict_of(results, suite, baselines, cells, stopped=stopped)
    return verdict, diagnose(results, suite, verdict, baselines, cells)


def named(name):
    """Return an animal's name, as the command line takes it."""
    file = "zoo_more.py" if name in MORE else "zoo.py"
    return SubjectName(f"py:{HERE / file}:{name}")


def first_cause(findings):
    """Return what comes first, without what is usual."""
    return next((f.cause for f in findings if f.cause not in USUAL), None)


SLOW = ("hangs", "hangs_on_n_3", "segfaults_at_times", "exits_the_process")


@pytest.fixture(
    scope="module",
    params=[pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW)) for n in ZOO],
)
def seen(request):
    """Return an animal's name, its store and what it is there."""
    name = request.param
    suite = QUICK.selected(sizes=ZOO[name].sizes, trials=ZOO[name].trials)
    inside = name in MORE  # nothing of what these do needs a process of its own
    campaign = Campaign(suite, jobs=1, limits=LIMITS, isolate=not inside)
    subject = runnable(ZOO[name].function) if inside else Runnable(named(name))
    with Store.in_memory(suite) as store:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "smoke", lambda *_: Look([], answered=True))  # no first look
            # What answers show is asked here; what changes do, in test_mending.py.
            left_out = Experiment(mending.NAME, (), "left out")
            patch.setattr(mending.Mending, "experiment", lambda *_: left_out)
            stored = campaign.run(subject, store, lambda _: None)
        yield name, store, stored


def test_what_is_said_of_it(seen):
    name, store, subject = seen
    expected = ZOO[name]
    verdict, findings = said(store, subject, shipped_for(store.suite))
    told = f"{verdict.reason}\n{findings}"
    assert [each.family for each in verdict.families] == ["bidiagonal"]
    assert verdict.decision is expected.decision, told
    assert verdict.unanswered_all == expected.unrunnable
    assert first_cause(findings) is expected.cause, told
    if expected.outcome is not None:
        assert _most(store, subject) is expected.outcome


def _most(store, subject):
    """Return the outcome that most failing stages of the paper's test have."""
    letters = Counter(
        letter
        for cell in tally(store.results(subject), store.suite)
        for ask in store.suite.part("bidiagonal").asks
        if ask.question is Question.TEST
        for letter in cell.letters[ask.name]
    )
    failing = {OF_LETTER[x]: m for x, m in letters.items() if x not in "ef.n"}
    return max(failing, key=failing.get)


def test_there_are_many():
    assert len(ZOO) > 60
    failures = {outcome for outcome in Outcome if outcome.grade is None}
    assert {kept.outcome for kept in ZOO.values()} >= failures - {Outcome.NOT_RUN}


@pytest.mark.parametrize("name", [name for name, kept in ZOO.items() if kept.unrunnable])
def test_who_gives_no_answer_at_all_is_not_run(name):
    suite = QUICK.selected(sizes=[2], trials=TRIALS)
    campaign = Campaign(suite, jobs=1, limits=LIMITS)
    subject = Runnable(named(name))
    with Store.in_memory(suite) as store:
        with pytest.raises(SubjectError, match=f"{name} could not be run"):
            campaign.run(subject, store, lambda _: None)
        assert store.subjects() == []


def test_fortran_order_is_found_out_before_the_run():
    with LocalExecutor(named("reads_fortran_order_as_the_transpose"), 1) as executor:
        checks = {check.name: check.status for check in smoke(executor).checks}
    assert checks["memory order"] is Status.BAD


def by_hand(cells, share=0.7, trials=1000):
    """Return a baseline in which all five pass a share of the trials, and the others collapse."""
    passed = round(share * trials)
    letters = {
        "eps=0": "e" * passed + "c" * (trials - passed),
        "eps=1e-3": "f" * passed + "." * (trials - passed),
        "eps=0.25": "e" * trials,
    }
    tallies = {
        cell.name: BaselineCell(CellTally(cell, tuple(range(trials)), letters), {}, {})
        for cell in cells
    }
    algorithms = {name: AlgorithmBaseline({}, tallies) for name in ACCEPTED}
    return Baseline("inflated", 1, "frobenius", tuple(letters), algorithms)


class TestBothFamilies:
    """Where matrices of low rank are asked for as well, which are not square."""

    SUITE = QUICK.selected(
        families=["bidiagonal", "inflated"],
        sizes=(2, 3),
        shapes=("5x4/k=2", "6x5/k=2/zeros"),
        trials=TRIALS,
    )

    @pytest.fixture(params=[name for name, kept in ZOO.items() if kept.both])
    def told(self, request):
        """Return what was expected, the verdict and the findings."""
        kept = ZOO[request.param]
        baselines = {
            "bidiagonal": shipped("bidiagonal"),
            "inflated": by_hand(self.SUITE.part("inflated").cells),
        }
        with Store.in_memory(self.SUITE) as store:
            campaign = Campaign(self.SUITE, isolate=False, whole=True)
            stored = campaign.run(runnable(kept.function), store, lambda _: None)
            return kept, *said(store, stored, baselines)

    def test_what_is_said(self, told):
        kept, verdict, findings = told
        decision, cause = kept.both
        assert verdict.decision is decision, findings
        assert first_cause(findings) is cause, findings
        of = {each.family: each.test.decision for each in verdict.families}
        if kept.decision is Decision.PASS:
            assert of == {"bidiagonal": Decision.PASS, "inflated": decision}
        if decision is Decision.FAIL and not verdict.hard:
            failing = [name for name, each in of.items() if each is Decision.FAIL]
            assert verdict.reason.startswith(f"{failing[0]}: ")
        for finding in findings:
            names = ("bidiagonal: ", "inflated: ")
            assert finding.sentence.startswith(names) == (finding.cause is not Cause.HARD)
        if cause is kept.cause and cause in (Cause.ZEROS, Cause.SCALED, Cause.UNMOVED):
            assert findings[0].sentence.startswith("bidiagonal: ")
            assert findings[0].sentence.endswith(" The same shows in inflated.")
        causes = [f.cause for f in findings if f.cause not in (*USUAL, Cause.SOME_CELLS)]
        assert len(causes) == len(set(causes))  # one fault is told once


def test_some_are_wrong_only_where_a_is_not_square():
    assert sum(k.decision is Decision.PASS and k.both[0] is Decision.FAIL
               for k in ZOO.values() if k.both) >= 3  # fmt: skip
