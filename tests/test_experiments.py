"""Experiments: a subject that fails is asked a few things more, once, within its time."""

import json
import sqlite3
import time
from functools import partial

import numpy as np
import pytest

from cheats import multiply
from nmfcheck import check
from nmfcheck.checking import campaign
from nmfcheck.diagnosis import Cause
from nmfcheck.diagnosis.experiments import SECONDS, Begin, Experiment, Run, Tried
from nmfcheck.diagnosis.experiments.more_work import more
from nmfcheck.families import find
from nmfcheck.judging.outcomes import Outcome
from nmfcheck.report.contents import contents
from nmfcheck.store import Store
from nmfcheck.verdict.decision import Decision
from zoo import descend, hals

SELECTED = {"families": ["bidiagonal"], "sizes": [2, 3], "trials": 20}
NAMES = ["line by line", "start at the answer", "continue", "more work"]


def checked(function, **more):
    return check(function, isolate=False, **(SELECTED | more))


def experiments(report):
    return {each.name: each for each in report._subject.experiments}


def short(A, rank, *, W0, H0, sweeps=4):
    W, H = W0.copy(), H0.copy()
    for _ in range(sweeps):
        H *= (W.T @ A) / (W.T @ W @ H)
        W *= (A @ H.T) / (W @ H @ H.T)
    return W, H


@pytest.fixture
def time_enough(monkeypatch):
    """Let experiments take longer: the machine may be busy."""
    monkeypatch.setattr(campaign, "perform", partial(campaign.perform, seconds=100.0))


def test_a_subject_that_fails_is_asked_more_and_a_right_one_is_not():
    made = experiments(checked(short))
    assert list(made) == NAMES
    assert all(each.runs for each in made.values())
    assert not experiments(checked(lambda A, rank, *, W0, H0: descend(A, W0, H0)))
    assert not experiments(check("coordinate-descent", **SELECTED))


@pytest.mark.parametrize("options", [{}, {"sweeps": 60}])
def test_what_falls_short_of_its_grade_is_looked_at_as_what_is_unconverged(options, time_enough):
    """Runs of optima that end at 1e-4 are *identified*, and fail: they stop early."""

    def open_(A, rank, *, W0, H0, sweeps=60):
        return multiply(A, W0, H0, sweeps)

    def hidden(A, rank, *, W0, H0):
        return multiply(A, W0, H0, 60)

    cells = {"families": ["optima"], "sizes": None, "trials": 10}
    report = checked(open_ if options else hidden, options=options, laws=[], **cells)
    assert report.decision is Decision.FAIL
    assert {each.stage.outcome for each in report.failures} == {Outcome.IDENTIFIED}
    made = experiments(report)
    assert made["continue"].runs
    finding = report.findings[0]
    assert (finding.cause, finding.certain) == (Cause.EARLY, bool(options))
    expected = "It stops early: with sweeps=600 the" if options else "It probably stops early, or"
    assert finding.sentence.startswith(expected)
    earlier = checked(hidden, suite="quick@5", laws=[], **cells)
    assert earlier.decision is not Decision.FAIL


def test_a_constant_of_1e_9_is_named_and_stopping_early_too():
    def constant(A, rank, *, W0, H0):
        return hals(A, W0, H0, ridge=1e-9)

    finding = checked(constant).findings[0]
    assert (finding.cause, finding.certain) == (Cause.BIASED, True)
    assert "a constant of 1e-09 in a denominator" in finding.sentence
    finding = checked(short).findings[0]
    assert (finding.cause, finding.certain) == (Cause.EARLY, True)
    assert finding.sentence.startswith("It stops early: with sweeps=40 the median error falls from")
    assert finding.evidence.startswith("more work: ")


@pytest.mark.slow
def test_what_was_recorded_is_not_run_again_and_needs_no_subject(tmp_path, time_enough):
    calls = tmp_path / "calls"
    source = tmp_path / "counted.py"
    source.write_text(
        "import numpy as np\nfrom pathlib import Path\n"
        "def nmf(A, rank, *, W0, H0):\n"
        f"    with Path({str(calls)!r}).open('a') as file:\n        file.write('x')\n"
        "    W, H = W0.copy(), H0.copy()\n"
        "    for _ in range(5):\n"
        "        H *= (W.T @ A) / (W.T @ W @ H)\n"
        "        W *= (A @ H.T) / (W @ H @ H.T)\n"
        "    return W, H\n"
    )
    path = tmp_path / "store.sqlite"
    first = check(f"py:{source}:nmf", store=path, jobs=1, **SELECTED)
    made = len(calls.read_text())
    again = check(f"py:{source}:nmf", store=path, jobs=1, **SELECTED)
    assert len(calls.read_text()) - made <= 20  # a first look, and what ran when the run ended
    source.unlink()
    with Store.read(path) as store:
        read = contents([store]).subjects[0]
    assert [*first.findings] == [*again.findings] == [*read.findings]
    assert [each.name for each in read.experiments] == [*NAMES[:3], "alone", "mending"]
    _, exact, own, alone, mending = (each.replay for each in read.experiments)
    assert not mending  # it writes a file, and is left as it is
    assert alone.startswith("nmfcheck replay") and "--from" not in alone
    assert exact.endswith(" --from exact")
    assert own.endswith(" --from own")


def test_stores_made_before_there_were_experiments_are_read_and_written(tmp_path):
    path = tmp_path / "store.sqlite"
    checked(short, store=path)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE experiments")
    connection.close()
    with Store.read(path) as store:
        subject = contents([store]).subjects[0]
        assert subject.experiments == ()
        assert subject.findings[0].certain is False
        suite = store.suite
    with Store.create_or_open(path, suite) as store:
        stored = store.subjects()[0]
        store.write_experiment(stored, "continue", Experiment("continue", (), "").as_data())
        assert Tried.of(store.results(stored)).runs("continue") == ()


@pytest.mark.slow
def test_time_is_limited_and_what_was_not_done_is_said():
    def slow(A, rank, *, W0, H0):
        time.sleep(0.4)
        return W0 * 0.9, H0

    report = checked(slow, trials=5, sizes=[2], eps=[0, 1e-3])
    assert report.decision is Decision.FAIL
    made = experiments(report)
    assert "the time was up" in made["start at the answer"].left_out
    assert 0 < sum(each.runs for each in made.values()) <= SECONDS / 0.4


def test_who_does_not_use_its_start_is_found_out():
    def stubborn(A, rank, *, W0, H0):
        rng = np.random.default_rng(0)
        return short(A, rank, W0=rng.random(W0.shape), H0=rng.random(H0.shape))

    report = checked(stubborn)
    made = experiments(report)
    assert made["start at the answer"].sentence.startswith("It does not use its start")
    assert report.findings[0].cause in (Cause.EARLY, Cause.UNKNOWN, Cause.UNRELATED)
    assert not report.findings[0].certain


def test_an_experiment_can_be_written_down_and_read():
    room = find("bidiagonal")
    trial = room.trial(room.cell("n=3/loguniform"), 0)
    run = Run(trial, room.ask("eps=0"), Begin.EXACT, *room.exact_answer(trial.case("eps=0")), 1)
    data = json.loads(json.dumps(Experiment("continue", [run], "x").as_data()))
    (read,) = Experiment.from_data("continue", data).runs
    assert read.trial == trial
    assert np.array_equal(read.W0 @ read.H0, run.W0 @ run.H0)
    assert read.W is None


@pytest.mark.parametrize(
    ("parameters", "changed"),
    [
        ({"max_iter": 0, "tol": 0.0}, {"max_iter": 1000}),
        ({"max_iter": 200, "tol": 1e-4}, {"max_iter": 2000, "tol": 1e-10}),
        ({"n_iter": 5.0, "alpha": 0.1}, {"n_iter": 50}),
        ({"eps": 1e-9, "verbose": True}, {}),
    ],
)
def test_which_options_are_more_work(parameters, changed):
    assert more(parameters) == pytest.approx(changed)


@pytest.mark.parametrize(("family", "cell"), [("bidiagonal", "n=4/loguniform"),
                                              ("mixed", "6x8/k=3/dyadic")])  # fmt: skip
def test_exact_answers_are_exact(family, cell):
    room = find(family)
    trial = room.trial(room.cell(cell), 2)
    for ask in trial.asks:
        W, H = room.exact_answer(trial.case(ask))
        assert abs(W @ H - trial.case(ask).A).max() <= 1e-15 * trial.case(ask).A.max() * len(W)
        assert min(W.min(), H.min()) >= 0


def test_replay_starts_where_an_experiment_did(nmfcheck):
    options = ("--subject", "coordinate-descent", "--option", "iterations=1", "--eps", "0")
    said = {}
    for begin in Begin:
        code, out, _ = nmfcheck("replay", "bidiagonal/n=3/loguniform#0/seed=0", *options,
                                "--from", begin)  # fmt: skip
        assert code == 0
        said[begin] = out
    assert "outcome         exact" in said[Begin.EXACT]
    assert len(set(said.values())) == 3


CACHED = """
import numpy as np
FIRST = {}
def nmf(A, rank, *, W0, H0):
    A = FIRST.setdefault(A.shape, A.copy())
    W, H = W0.copy(), H0.copy()
    for _ in range(200):
        for k in range(rank):
            W[:, k] = np.maximum(W[:, k] + ((A - W @ H) @ H[k]) / (H[k] @ H[k] + 1e-300), 0)
        for k in range(rank):
            H[k] = np.maximum(H[k] + (W[:, k] @ (A - W @ H)) / (W[:, k] @ W[:, k] + 1e-300), 0)
    return W, H
"""


@pytest.mark.slow
def test_what_is_kept_from_one_call_to_the_next_shows_in_a_new_process(tmp_path, time_enough):
    source = tmp_path / "cached.py"
    source.write_text(CACHED)
    report = check(f"py:{source}:nmf", families=["mixed", "rays"], trials=12)
    assert experiments(report)["alone"].runs == 4
    finding = report.findings[0]
    assert (finding.cause, finding.certain) == (Cause.REMEMBERS, True)
    assert "depend on what it was asked before" in finding.sentence
    assert finding.evidence.startswith("alone: so in all 4 runs, and in each process alike")


@pytest.mark.slow
def test_who_is_random_does_not_remember(tmp_path, time_enough):
    """Alone it is right in some processes, but not in all of them alike."""
    source = tmp_path / "chance.py"
    unlucky = "    if np.random.default_rng().random() < 0.9:\n        return W0, H0\n    W, H ="
    right = CACHED.replace("A = FIRST.setdefault(A.shape, A.copy())\n    W, H =", "\n" + unlucky)
    source.write_text(right.replace("\n    \n", "\n"))
    report = check(f"py:{source}:nmf", families=["mixed", "rays"], trials=12)
    assert Cause.REMEMBERS not in [finding.cause for finding in report.findings]
