"""Executors: the same trials give the same stages through all of them, whatever a subject does."""

import contextlib
import fcntl
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

import misbehaving
from nmfcheck import Command, Trial
from nmfcheck.executors import process
from nmfcheck.executors.inline import InlineExecutor
from nmfcheck.executors.local import LocalExecutor, request_all
from nmfcheck.executors.protocol import Limits, Request
from nmfcheck.judging.outcomes import Flag, Outcome
from nmfcheck.store import Store
from nmfcheck.subjects import Problem, SubjectName, as_subject, reference_subject
from nmfcheck.tools.smoke import smoke
from nmfcheck.trials import suites
from nmfcheck.trials.driver import Driver, Plan
from test_isolation import LIMITED, MISBEHAVING, SLOW, TINY, assert_gone, is_bad

pytestmark = pytest.mark.skipif(not LocalExecutor.can_fork(), reason="no workers can be forked")


def keeping(trial):
    """Return a trial whose W and H are kept, whatever comes of it."""
    return replace(trial, asks=tuple(replace(ask, keeps=True) for ask in trial.asks))


TRIALS = [
    keeping(Trial.from_id(id))
    for id in (
        "bidiagonal/n=2/ones/seed=0",
        "bidiagonal/n=3/ones/seed=1",
        "bidiagonal/n=3/loguniform#2/seed=2",
        "bidiagonal/n=4/loguniform#3/seed=3",
        "inflated/9x6/k=3/dyadic#0/seed=0",
        "inflated/4x7/k=3/dyadic#1/seed=1",
        "inflated/6x5/k=2/zeros#2/seed=2",
        "inflated/6x4/k=1/dyadic#3/seed=3",
    )
]


# Subjects, which workers find here by their names.


def hals(A, rank, *, W0, H0):
    W, H = W0, H0
    for _ in range(100):
        for X, Y, B in ((W, H, A), (H.T, W.T, A.T)):
            for k in range(rank):
                size = X[:, k] @ X[:, k] or 1.0
                Y[k] = np.maximum(Y[k] + X[:, k] @ (B - X @ Y) / size, 0)
    return W, H


def careless(A, rank):
    """Draw a start from the random state, which nobody seeded."""
    m, n = A.shape
    start = {"W0": np.random.rand(m, rank), "H0": np.random.rand(rank, n)}  # noqa: NPY002
    return hals(A, rank, **start)


def many_sided(A, rank, *, W0, H0, seed):
    """Answer in another way for each seed."""
    if seed == 0:
        raise ValueError("no\nluck")
    if seed == 1:
        return W0[:1], H0
    if seed == 2:
        W, H = W0.copy(), H0.copy()
        A[:], W0[:], H0[:] = 7, 7, 7
        return W * np.nan, H
    return W0.astype(np.float32).tolist(), np.asfortranarray(H0)


def looks_at_order(A, rank, *, W0, H0):
    raise ValueError(f"C: {A.flags.c_contiguous}, F: {A.flags.f_contiguous}, shape: {A.shape}")


def ends_on_a_negative(A, rank, *, W0, H0):
    if A[0, 0] < 0:
        os._exit(3)
    return W0, H0


class Estimator:
    def __init__(self, n_components, random_state=None):
        self.n_components, self.random_state = n_components, random_state

    def fit_transform(self, A):
        rng = np.random.default_rng(self.random_state)
        m, n = A.shape
        W0, H0 = rng.random((m, self.n_components)), rng.random((self.n_components, n))
        W, self.components_ = hals(A, self.n_components, W0=W0, H0=H0)
        return W


SUBJECTS = [hals, careless, many_sided, Estimator]


def closed_over(thing):
    """Return a subject that has no name to import it by, and takes what the other one takes."""
    if thing is careless:
        return as_subject(lambda A, rank: careless(A, rank=rank))
    if thing is many_sided:
        return as_subject(lambda A, rank, *, W0, H0, seed: thing(A, rank, W0=W0, H0=H0, seed=seed))
    if thing is hals:
        return as_subject(lambda A, rank, *, W0, H0: thing(A, rank, W0=W0, H0=H0))

    class Local(thing):
        pass

    return as_subject(Local)


def named(function, options=None):
    return SubjectName(f"py:test_executors:{function.__name__}", options or {})


def run(executor, trials=TRIALS, twice=0):
    """Return the stages of some trials, trial by trial, and close the executor."""
    plans = [Plan([trial], patience=99, twice=twice) for trial in trials]
    with executor:
        stages = [stage for some in Driver(executor, plans) for stage in some]
    order = [trial.id for trial in trials]
    return sorted(stages, key=lambda stage: order.index(stage.trial.id))


def assert_same(stages, expected):
    """Assert that stages are equal, and their matrices bit by bit."""
    assert stages == expected
    for stage, other in zip(stages, expected, strict=True):
        for X, Y in ((stage.W, other.W), (stage.H, other.H)):
            assert (X is None) == (Y is None) == (stage.digest == "")
            if X is not None:
                assert (X.dtype, X.shape, X.tobytes()) == (Y.dtype, Y.shape, Y.tobytes())


class TestSameStages:
    """Whichever executor the trials go through."""

    @pytest.mark.parametrize("thing", SUBJECTS)
    def test_of_a_function_or_an_estimator(self, thing):
        expected = run(InlineExecutor(as_subject(thing)))
        assert {stage.trial.id for stage in expected} == {trial.id for trial in TRIALS}
        assert_same(run(LocalExecutor(named(thing), 2)), expected)
        for jobs in (1, 2):
            assert_same(run(LocalExecutor(as_subject(thing), jobs)), expected)
            assert_same(run(LocalExecutor(closed_over(thing), jobs)), expected)

    def test_there_is_something_to_compare(self):
        """Stages that pass and that do not, with matrices and without."""
        stages = [s for thing in SUBJECTS for s in run(InlineExecutor(as_subject(thing)))]
        outcomes = {str(stage.outcome) for stage in stages}
        assert outcomes >= {"exact", "unconverged", "invalid", "error"}
        for family in ("bidiagonal", "inflated"):
            own = [stage for stage in stages if stage.trial.cell.family == family]
            assert {stage.passed for stage in own} == {True, False}
            assert {stage.W is None for stage in own} == {True, False}
        assert any(stage.flags == (Flag.CHANGED_A,) for stage in stages)
        shapes = {stage.W.shape + stage.H.shape for stage in stages if stage.W is not None}
        assert shapes >= {(9, 3, 3, 6), (4, 3, 3, 7), (6, 2, 2, 5), (6, 1, 1, 4), (2, 2, 2, 2)}

    @pytest.mark.slow
    def test_asked_twice(self):
        """Of each shape: one takes nothing and varies, the other gives the same again."""
        for thing, flag in ((careless, Flag.VARIES), (Estimator, None)):
            expected = run(InlineExecutor(as_subject(thing)), twice=99)
            flagged = {stage.trial.id for stage in expected if flag in stage.flags}
            assert bool(flagged) == (flag is not None)  # some matrices have one answer alone
            assert_same(run(LocalExecutor(named(thing), 2), twice=99), expected)
            assert_same(run(LocalExecutor(closed_over(thing), 2), twice=99), expected)

    @pytest.mark.parametrize("name", ["multiplicative-update", "als", "coordinate-descent"])
    def test_of_a_reference(self, name):
        subject = reference_subject(name, at_most=100, engine="numpy")
        expected = run(InlineExecutor(subject))
        assert {stage.passed for stage in expected} == {True, False}
        for together in (1, 3):  # problems in a batch
            assert_same(run(InlineExecutor(replace(subject, together=together))), expected)
        assert_same(run(InlineExecutor(subject, processes=2)), expected)
        assert_same(run(LocalExecutor(subject, 2)), expected)

    def test_of_a_reference_by_name(self):
        options = {"iterations": 100}
        expected = run(InlineExecutor(reference_subject("als", options)))
        assert_same(run(LocalExecutor(SubjectName("als", options), 2)), expected)

    def test_progress_of_several_processes(self):
        reported = []
        subject = reference_subject("als", at_most=100, engine="numpy")
        plans = [Plan([trial]) for trial in TRIALS]
        with InlineExecutor(subject, reported.append, processes=2) as executor:
            for _ in Driver(executor, plans, reported.append, counts=False):
                pass
        assert sum(reported) == pytest.approx(3 * len(TRIALS))

    def test_of_a_program(self, tmp_path):
        path = tmp_path / "program.py"
        path.write_text(
            "import json, sys\n"
            "for line in sys.stdin:\n"
            "    asked = json.loads(line)\n"
            "    answer = {'id': asked['id'], 'W': asked['W0'], 'H': asked['H0']}\n"
            "    if asked['seed'] == 3: answer = {'id': asked['id'], 'error': 'no 3'}\n"
            "    print(json.dumps(answer), flush=True)\n"
        )
        command = Command([sys.executable, str(path)])
        expected = run(InlineExecutor(command))
        command.close()
        assert {str(stage.outcome) for stage in expected} == {"unconverged", "error"}
        assert_same(run(LocalExecutor(SubjectName(command.name), 1)), expected)
        assert_same(run(LocalExecutor(Command(command.arguments), 2)), expected)
        assert not command.is_running


EXECUTORS = {
    "inline": lambda function, count=1: InlineExecutor(as_subject(function)),
    "by name": lambda function, count=1: LocalExecutor(named(function), count),
    "forked": lambda function, count=1: LocalExecutor(as_subject(function), count),
}


def problem(m=3, n=2, k=2, sign=1.0):
    rng = np.random.default_rng([m, n, k])
    return Problem(sign * rng.random((m, n)), k, rng.random((m, k)), rng.random((k, n)), 0)


def collected(executor, number, seconds=60):
    """Return so many replies by their numbers."""
    replies, until = [], time.monotonic() + seconds
    while len(replies) < number and time.monotonic() < until:
        replies += executor.replies(0.1)
    return {reply.number: reply for reply in replies}


@pytest.fixture(params=EXECUTORS)
def execute(request):
    """Return a function that makes an executor of one kind, which is closed in the end."""
    with contextlib.ExitStack() as stack:
        yield lambda *given: stack.enter_context(EXECUTORS[request.param](*given))


class TestWhatAnExecutorDoes:
    def test_it_says_what_the_subject_takes(self, execute):
        assert execute(hals).start().takes == ("W0", "H0")
        assert execute(careless).start().takes == ()
        assert execute(many_sided).start().takes == ("W0", "H0", "seed")

    def test_it_starts_once(self, execute):
        executor = execute(hals)
        assert executor.start() == executor.start()

    def test_it_answers_everything_once(self, execute):
        executor = execute(hals, 2)
        executor.start()
        due = [Request(i, problem(2 + i % 3, 3, 2)) for i in range(7, 40)]
        replies = []
        while len(replies) < 33:
            while due and executor.submit(due[0]):
                due.pop(0)
            replies += executor.replies(1.0)
        assert sorted(reply.number for reply in replies) == list(range(7, 40))
        for reply in replies:
            asked = problem(2 + reply.number % 3, 3, 2)
            W, H = hals(asked.A, 2, W0=asked.W0, H0=asked.H0)
            assert np.array_equal(reply.answer.W, W)
            assert np.array_equal(reply.answer.H, H)
        assert executor.replies(0.0) == []

    def test_it_is_full_at_some_time(self, execute):
        executor = execute(hals)
        executor.start()
        number = 0
        while executor.submit(Request(number, problem())):
            number += 1
            assert number < 1000
        assert number >= 1
        assert not executor.submit(Request(number, problem()))  # and stays so
        assert sorted(collected(executor, number)) == list(range(number))
        assert executor.submit(Request(number, problem()))  # until there is room again
        assert list(collected(executor, 1)) == [number]

    def test_the_memory_order_is_as_asked_for(self, execute):
        executor = execute(looks_at_order)
        executor.start()
        for number, order in enumerate("CF"):
            assert executor.submit(Request(number, problem(), order=order))
            error = collected(executor, 1)[number].answer.error
            assert error == (
                f"raised ValueError: C: {order == 'C'}, F: {order == 'F'}, shape: (3, 2)"
            )


def test_inline_what_is_forgotten_is_not_solved():
    subject = replace(reference_subject("als", at_most=5, engine="numpy"), together=4)
    with InlineExecutor(subject) as executor:
        for number in range(4):
            assert executor.submit(Request(number, problem(3 + number % 2)))
        assert not executor.submit(Request(4, problem()))
        executor.forget({0, 1})
        assert executor.submit(Request(5, problem()))
        assert [reply.number for reply in executor.replies(0.0)] == [2, 5]  # of one shape
        assert [reply.number for reply in executor.replies(0.0)] == [3]
        assert executor.replies(0.0) == []


def test_inline_the_random_state_is_put_back():
    """Between problems it is the caller's."""
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.rand(3)  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    run(InlineExecutor(as_subject(careless)), TRIALS[:2])
    assert np.array_equal(np.random.rand(3), expected)  # noqa: NPY002


@pytest.mark.parametrize("kind", ["by name", "forked"])
@pytest.mark.parametrize("forgotten", [False, True])
def test_local_what_waits_for_another_worker_can_be_forgotten(kind, forgotten):
    with EXECUTORS[kind](ends_on_a_negative) as executor:
        executor.start()
        assert executor.submit(Request(0, problem(sign=-1.0)))
        assert executor.submit(Request(1, problem()))  # waits at the same worker
        reply = collected(executor, 1)[0]
        assert (reply.answer.outcome, reply.answer.error) == (
            Outcome.CRASHED,
            "its process ended with exit code 3",
        )
        assert executor.busy
        if forgotten:
            executor.forget({0, 1, 2})
            assert not executor.busy
            assert executor.replies(0.2) == []
        else:
            assert collected(executor, 1)[1].answer.error is None
        assert not executor.busy


@pytest.mark.parametrize("kind", ["by name", "forked"])
def test_local_nothing_of_the_problem_is_changed_here(kind):
    with EXECUTORS[kind](many_sided) as executor:
        executor.start()
        asked = replace(problem(), seed=2)
        executor.submit(Request(0, asked))
        assert collected(executor, 1)[0].answer.flags == (Flag.CHANGED_A,)
    for name in ("A", "W0", "H0"):
        assert np.array_equal(getattr(asked, name), getattr(problem(), name))


@pytest.mark.parametrize("kind", ["by name", "forked"])
def test_local_large_problems_do_not_wait_at_a_worker(kind):
    with EXECUTORS[kind](hals) as executor:
        executor.start()
        large = [Request(i, problem(100, 50, 1)) for i in range(2)]
        assert executor.submit(large[0])
        assert not executor.submit(large[1])
        assert list(collected(executor, 1)) == [0]
        assert executor.submit(large[1])
        assert list(collected(executor, 1)) == [1]


@pytest.mark.parametrize("kind", ["by name", "forked"])
def test_local_all_workers_can_be_started_ahead(kind):
    with EXECUTORS[kind](hals, 3) as executor:
        executor.start_all()
        pids = {worker.process.pid for worker in executor._workers}
        assert len(pids) == 3
        assert len(request_all(executor, [Request(i, problem()) for i in range(9)])) == 9
    assert_gone(pids, executor.mark)


class TestForked:
    """Workers that are forked from this process contain what happens in them, as others do."""

    @pytest.fixture
    def run(self, tmp_path, monkeypatch):
        """Run a subject in forked workers; returns its stages, and checks that all are gone."""
        noted = tmp_path / "pids"
        monkeypatch.setenv("MISBEHAVING_PIDS", str(noted))
        monkeypatch.setattr(process, "Forked", kept := KeptForked)
        kept.pids.clear()

        def run(subject, suite=TINY, jobs=2, timeout=2.0, memory=None):
            with LocalExecutor(as_subject(subject), jobs, Limits(timeout, memory)) as workers:
                plans = [Plan(suite.cell(cell)) for cell in suite.cells]
                stages = [stage for part in Driver(workers, plans) for stage in part]
                folders = [worker.folder for worker in workers._workers]
            pids = {int(line) for line in noted.read_text().split()} if noted.exists() else set()
            assert os.getpid() not in pids  # it ran elsewhere
            assert kept.pids
            assert_gone(pids | kept.pids, workers.mark)
            assert not any(folder.exists() for folder in folders)
            return stages

        return run

    @pytest.mark.slow
    @pytest.mark.parametrize("name", MISBEHAVING)
    def test_what_misbehaves_costs_its_own_stage(self, run, name, capfd):
        outcome, message = MISBEHAVING[name]
        function = getattr(misbehaving, name)
        stages = run(function, timeout=60 if name in SLOW else 2.0, memory=LIMITED.get(name))
        assert len(stages) == 4 * 3
        for stage in stages:
            if is_bad(stage):
                changed = stage.flags[:1] == (Flag.CHANGED_A,)
                assert (stage.outcome, changed) == (outcome, name == "changes_A")
                assert message in stage.message
            else:
                assert stage.outcome is Outcome.EXACT, stage
        assert capfd.readouterr() == ("", "")

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["dies_later", "has_a_helper"])
    def test_what_dies_now_and_then(self, run, name):
        """A crash leaves the helpers of other workers alone."""
        suite = TINY.selected(trials=40)
        # Time enough: starting a helper may take seconds on a busy machine, and is not a hang.
        stages = run(getattr(misbehaving, name), suite, jobs=3, timeout=60.0)
        outcomes = [str(stage.outcome) for stage in stages]
        assert set(outcomes) <= {"exact", "crashed"}
        crashed = outcomes.count("crashed")
        assert crashed == 2 or (crashed < 2 and name == "dies_later")

    def test_three_without_an_answer_end_a_cell(self, run):
        suite = TINY.selected(sizes=[2, 3], trials=5)
        stages = run(misbehaving.crashes_on_size_2, suite)
        outcomes = [str(s.outcome) for s in stages if s.trial.cell.n == 2]
        assert outcomes == ["crashed"] * 4 + ["not-run"] * 3 * 3
        assert {s.outcome for s in stages if s.trial.cell.n == 3} == {Outcome.EXACT}

    @pytest.mark.parametrize("cell", ["bidiagonal/n=3/loguniform", "inflated/9x6/k=3/dyadic"])
    def test_a_crash_costs_one_stage_of_any_shape(self, run, cell):
        family, _, name = cell.partition("/")
        chosen = {"shapes": name} if family == "inflated" else {"sizes": [3]}
        suite = suites.QUICK.selected(trials=4, **chosen)
        bad = suite.cell(cell)[2].case("eps=0.25").A

        def subject(A, rank, *, W0, H0):
            if np.array_equal(A, bad):
                os._exit(7)
            return W0, H0

        stages = run(subject, suite)
        assert len(stages) == 2 * sum(suite.cells.values())
        crashed = [stage for stage in stages if stage.outcome is Outcome.CRASHED]
        assert [stage.case_id for stage in crashed] == [f"{cell}#2/eps=0.25"]
        assert {str(stage.outcome) for stage in stages} == {"unconverged", "crashed"}

    @pytest.mark.parametrize("how", ["raises", "ends", "crashes"])
    def test_the_last_lines_of_output_are_kept_and_go_nowhere_else(self, run, how, capfd):
        def subject(A, rank, *, seed):
            print(f"seed {seed}", end="")  # waits in no buffer
            print(" told twice", file=sys.stderr)
            os.write(1, b"and once more\n")
            if how == "raises":
                raise ValueError
            os._exit(3) if how == "ends" else os.abort()

        stages = run(subject, TINY.selected(trials=2), jobs=1)
        outcome = Outcome.ERROR if how == "raises" else Outcome.CRASHED
        assert {stage.outcome for stage in stages} == {outcome}
        for stage in stages:
            lines = stage.output.splitlines()
            assert lines[:2] == [f"seed {stage.trial.seed} told twice", "and once more"]
            assert (len(lines) > 2) == (how == "crashes")  # where it was
            assert len(lines) <= 10
        assert capfd.readouterr() == ("", "")

    def test_where_it_crashed(self, run):
        """Not in this program, nor in the one that it was forked from."""
        (stage,) = filter(is_bad, run(misbehaving.segfault))
        assert "on thin ice" in stage.output
        assert "in segfault" in stage.output
        for others in ("pytest", "executors", "test_executors"):
            assert others not in stage.output

    def test_output_is_that_of_the_stage_alone(self, run):
        suite = TINY.selected(trials=40)
        one, other = (run(misbehaving.talks_and_fails, suite, jobs=jobs) for jobs in (1, 2))
        assert {len(stage.output.splitlines()) for stage in one} == {1}
        assert {stage.output.split()[2] for stage in one} == {str(i) for i in range(40)}
        assert one == other

    def test_nothing_comes_in(self, run):
        def subject(A, rank):
            return sys.stdin.read(), input()

        (message,) = {stage.message for stage in run(subject, jobs=1) if stage.outcome == "error"}
        assert message == "raised EOFError: EOF when reading a line"

    def test_the_surroundings_are_those_of_other_workers(self, run):
        def subject(A, rank):
            threads = os.environ["OMP_NUM_THREADS"]
            folder = tempfile.gettempdir()
            raise RuntimeError(f"{threads} {folder} in {Path.cwd()}, {os.getpgrp() == os.getpid()}")

        before = dict(os.environ), tempfile.gettempdir(), sys.stdout
        stages = run(subject)
        for stage in stages:
            if stage.outcome is Outcome.ERROR:
                assert stage.message.startswith("raised RuntimeError: 1 /")
                assert f"/nmfcheck-{os.getpid()}-" in stage.message
                assert stage.message.endswith(f" in {Path.cwd()}, True")
        assert stages[0].outcome is Outcome.ERROR
        assert (dict(os.environ), tempfile.gettempdir(), sys.stdout) == before

    def test_it_has_what_was_captured_at_the_fork(self, run):
        """And what it does to it stays there."""
        seen, matrices = [], {2: np.eye(2)}

        def subject(A, rank):
            seen.append(1)
            matrices[2] *= 1.0
            return A, matrices[rank]

        assert {stage.outcome for stage in run(subject)} == {Outcome.EXACT}
        assert seen == []

    def test_signals_are_not_handled_as_in_this_process(self, run, tmp_path):
        handled = tmp_path / "handled"
        numbers = (signal.SIGUSR1, signal.SIGALRM, signal.SIGTERM)
        before = {n: signal.signal(n, lambda *_: handled.touch()) for n in numbers}
        try:
            for number in numbers:

                def subject(A, rank, number=number):
                    os.kill(os.getpid(), number)
                    time.sleep(10)

                (stage, *_) = run(subject, TINY.selected(trials=1), jobs=1)
                assert stage.message == f"its process was ended by {number.name}"
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        assert not handled.exists()

    def test_files_that_are_open_here_are_out_of_reach(self, run, tmp_path):
        """Those of a store, too; whatever is written to their numbers, or done to them."""
        path, other = tmp_path / "one.sqlite", tmp_path / "other"
        other.write_bytes(b"years of work\n" * 100)

        def subject(A, rank):
            sockets = 0
            for number in range(3, 256):
                with contextlib.suppress(OSError):
                    if str(Path(f"/proc/self/fd/{number}").readlink()).startswith("socket"):
                        sockets += 1
                    else:
                        os.write(number, b"x" * 4000)
            assert sockets == 1  # its own
            opened.write("and more")
            opened.flush()
            return A, np.eye(rank)

        with Store.create_or_open(path, TINY) as store, other.open("r+") as opened:
            stored = store.subject("mine", {"options": {}})
            stages = run(subject)
            store.write(stored, stages)
            assert opened.tell() == 0
        assert {stage.outcome for stage in stages} == {Outcome.EXACT}
        assert other.read_bytes() == b"years of work\n" * 100
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM stages").fetchall() == [(12,)]
        connection.close()

    def test_it_does_not_hold_a_lock_of_this_process(self, tmp_path):
        path = tmp_path / "one.sqlite"
        with Store.create_or_open(path, TINY):
            executor = LocalExecutor(closed_over(hals), 1)
            executor.start()
        with executor, path.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            assert request_all(executor, [Request(0, problem())])[0].answer.error is None

    def test_workers_do_not_hold_each_others_connections(self):
        """A worker whose connection is closed ends, whoever else is there."""
        with LocalExecutor(closed_over(hals), 3) as executor:
            executor.start_all()
            first = executor._workers[0]
            executor._selector.unregister(first.channel.fileno())
            first.channel.close()
            assert first.process.wait(20) == 0
            executor._workers.remove(first)
            first.tidy()

    def test_it_can_be_ended_right_after_the_fork(self, monkeypatch):
        """Before it has a process group of its own."""
        monkeypatch.setattr(process, "_serve", lambda *_: time.sleep(100))
        begin = time.monotonic()
        with LocalExecutor(closed_over(hals), 2) as executor:
            for _ in range(2):
                executor._start_one()
            pids = {worker.process.pid for worker in executor._workers}
            assert len(pids) == 2
        assert time.monotonic() - begin < 20
        assert_gone(pids, executor.mark)

    def test_somebody_else_may_be_told_of_its_end(self):
        """As where the ends of all children are waited for."""
        with LocalExecutor(closed_over(hals), 1) as executor:
            executor.start()
            (worker,) = executor._workers
            os.kill(worker.process.pid, signal.SIGKILL)
            os.waitpid(worker.process.pid, 0)
            replies = request_all(executor, [Request(i, problem()) for i in range(3)])
        assert replies[2].answer.error is None

    def test_threads_of_this_process_do_no_harm(self):
        """What they hold at the fork is nobody's afterwards."""
        ended, stream = threading.Event(), io.StringIO()

        def talk():
            while not ended.is_set():
                print("talking", file=stream)
                np.ones((50, 50)) @ np.ones((50, 50))
                stream.seek(0)

        threads = [threading.Thread(target=talk) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(5):
                with LocalExecutor(closed_over(hals), 2, Limits(timeout=20)) as executor:
                    requests = [Request(i, problem(60, 60, 2)) for i in range(4)]
                    executor.start()
                    replies = request_all(executor, requests)
                assert [replies[i].answer.error for i in range(4)] == [None] * 4
        finally:
            ended.set()
            for thread in threads:
                thread.join()

    def test_a_first_look(self):
        with LocalExecutor(closed_over(hals), 1) as executor:
            look = smoke(executor)
        assert look.answered
        assert look.bad == []

    def test_in_a_thread(self):
        """As in a notebook's server."""
        found = []
        thread = threading.Thread(
            target=lambda: found.extend(run(LocalExecutor(closed_over(hals), 2), TRIALS[:2]))
        )
        thread.start()
        thread.join(60)
        assert_same(found, run(InlineExecutor(as_subject(hals)), TRIALS[:2]))


class KeptForked(process.Forked):
    """A forked process whose id is remembered."""

    pids = set()  # noqa: RUF012

    def __init__(self, work):
        super().__init__(work)
        self.pids.add(self.pid)


HEAD = """
import atexit, os, sys, threading, time
import numpy as np
from nmfcheck.executors.local import LocalExecutor
from nmfcheck.executors.protocol import Limits
from nmfcheck.subjects import as_subject
from nmfcheck.trials import suites
from nmfcheck.trials.driver import Driver, Plan

SUITE = suites.find("quick@1").selected(sizes=[2], trials=6, entries="ones")

def carry(subject, jobs=2, timeout=2.0):
    with LocalExecutor(as_subject(subject), jobs, Limits(timeout)) as executor:
        plans = [Plan(SUITE.cell(cell), patience=99) for cell in SUITE.cells]
        return [stage for some in Driver(executor, plans) for stage in some]
"""


class TestThisProcess:
    """What there is of the forking process, in one of its own."""

    @pytest.fixture
    def script(self, tmp_path):
        def script(code):
            path = tmp_path / "script.py"
            path.write_text(HEAD + textwrap.dedent(code))
            return subprocess.Popen(
                [sys.executable, str(path)], cwd=tmp_path, text=True, start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip

        return script

    @pytest.mark.slow
    def test_exit_handlers_run_once_and_buffers_are_written_once(self, script, tmp_path):
        process = script(
            """
            atexit.register(lambda: open("exits", "a").write(f"{os.getpid()}\\n"))
            threading._register_atexit(lambda: open("exits", "a").write("threads\\n"))

            class Loud:
                def __del__(self):
                    with open("deleted", "a") as file:
                        file.write(f"{os.getpid()}\\n")

            loud = Loud()
            waiting = open("waiting", "w")
            waiting.write("once, ")
            print("printed, ", end="")       # both wait in buffers
            sys.__stdout__.write("written, ")
            instead, sys.stdout = sys.stdout, open("instead", "w")
            print("elsewhere, ", end="")

            def subject(A, rank, *, seed):
                print("in a worker")
                sys.__stdout__.write("in a worker as well")
                sys.__stdout__.flush()
                if seed == 1:
                    os._exit(3)
                if seed == 2:
                    sys.exit(4)
                if seed == 3:
                    raise KeyboardInterrupt
                if seed == 4:
                    os.abort()
                if seed == 5:
                    time.sleep(60)
                return A, np.eye(rank)

            outcomes = sorted({str(stage.outcome) for stage in carry(subject)})
            sys.stdout = instead
            del loud
            print(*outcomes)
            print(os.getpid())
            """
        )
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
        first, own = out.splitlines()
        assert first == "printed, written, crashed error exact timeout"
        assert (tmp_path / "waiting").read_text() == "once, "
        assert (tmp_path / "instead").read_text() == "elsewhere, "
        assert (tmp_path / "exits").read_text().splitlines() == ["threads", own]
        assert (tmp_path / "deleted").read_text().splitlines() == [own]

    HANGS = """
        def subject(A, rank):
            with open("pids", "a") as file:
                file.write(f"{os.getpid()}\\n")
            time.sleep(100)

        try:
            carry(subject, timeout=100.0)
        except KeyboardInterrupt:
            sys.exit(130)
        """

    @pytest.mark.parametrize(
        ("number", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, -15), (signal.SIGINT, 130)]
    )
    def test_they_end_with_it(self, script, tmp_path, number, code):
        process, pids = script(self.HANGS), tmp_path / "pids"
        until = time.monotonic() + 60
        while len(pids.read_text().split() if pids.exists() else ()) < 2:
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        children = {child.pid for child in psutil.Process(process.pid).children(recursive=True)}
        assert children == {int(pid) for pid in pids.read_text().split()}
        os.killpg(process.pid, number)
        _, err = process.communicate(timeout=20)
        assert (process.returncode, err) == (code, "")
        assert_gone(children, "no mark")

    def test_nothing_of_it_is_needed_by_name(self, script):
        """Neither of a script nor of a class that was made in one."""
        process = script(
            """
            import json
            made = {}
            exec("class Made:\\n"
                 "    def __init__(self, n_components): self.k = n_components\\n"
                 "    def fit_transform(self, A):\\n"
                 "        self.components_ = eye(self.k)\\n"
                 "        return A\\n", {"eye": np.eye, "__name__": "nowhere"}, made)
            found = [carry(made["Made"]), carry(lambda A, rank: (A, np.eye(rank)))]
            print(json.dumps([sorted({str(stage.outcome) for stage in one}) for one in found]))
            """
        )
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
        assert json.loads(out) == [["exact"], ["exact"]]
