"""Subjects that misbehave: each costs its own stage, and leaves nothing running."""

import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import misbehaving
from nmfcheck.errors import SubjectError
from nmfcheck.executors import local, process
from nmfcheck.executors.leftovers import MARK
from nmfcheck.executors.local import LocalExecutor, request_all
from nmfcheck.executors.protocol import Limits, Request
from nmfcheck.families.bidiagonal.family import eps_of
from nmfcheck.judging.outcomes import Flag, Outcome
from nmfcheck.subjects import Problem, SubjectName
from nmfcheck.trials import suites
from nmfcheck.trials.driver import Driver, Plan

TINY = suites.find("quick@1").selected(sizes=[2], trials=4, entries=["ones"])
ONES_2 = "bidiagonal/n=2/ones"
BAD = (1, "eps=0.25")
"""Seed and ask of the stage on which `misbehaving` misbehaves."""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a subject; returns its stages, and checks that all its processes are gone."""
    pids = tmp_path / "pids"
    monkeypatch.setenv("MISBEHAVING_PIDS", str(pids))

    def run(name, suite=TINY, jobs=2, timeout=5.0, memory=None, twice=False):
        limits = Limits(timeout, memory)
        with LocalExecutor(SubjectName(f"py:misbehaving:{name}"), jobs, limits) as workers:
            plans = [Plan(suite.cell(cell), twice=3 * twice) for cell in suite.cells]
            stages = [stage for part in Driver(workers, plans) for stage in part]
            mark, folders = workers.mark, [worker.folder for worker in workers._workers]
        noted = {int(line) for line in pids.read_text().split()} if pids.exists() else set()
        assert_gone(noted, mark)
        assert not any(folder.exists() for folder in folders)
        return stages

    return run


def assert_gone(pids, mark):
    """Assert that these processes, and those with the mark, have ended; a moment is granted."""
    until = time.monotonic() + 5
    while left := [p for p in psutil.process_iter() if p.pid in pids or marked(p, mark)]:
        assert time.monotonic() < until, f"still there: {left}"
        time.sleep(0.05)


def marked(process, mark):
    try:
        alive = process.status() != psutil.STATUS_ZOMBIE
        return alive and process.environ().get(MARK, "").startswith(mark)
    except (psutil.Error, OSError):
        return False


def is_bad(stage):
    return (stage.trial.seed, stage.ask.name) == BAD


GOOD = Outcome.EXACT
MISBEHAVING = {
    # how processes end
    "segfault": (Outcome.CRASHED, "its process was ended by SIGSEGV"),
    "abort": (Outcome.CRASHED, "its process was ended by SIGABRT"),
    "killed": (Outcome.CRASHED, "its process was ended by SIGKILL"),
    "alarm": (Outcome.CRASHED, "its process was ended by SIGALRM"),
    "out_of_cpu_time": (Outcome.CRASHED, "its process was ended by SIGXCPU"),
    "exit_3": (Outcome.CRASHED, "its process ended with exit code 3"),
    "exit_0": (Outcome.CRASHED, "its process ended with exit code 0"),
    "close_all_files": (Outcome.CRASHED, "its process ended with exit code 1"),
    "write_everywhere": (Outcome.CRASHED, "its process "),
    # what is raised
    "sys_exit": (Outcome.ERROR, "raised SystemExit: enough"),
    "value_error": (Outcome.ERROR, "raised ValueError: no luck at all"),
    "controls_the_terminal": (Outcome.ERROR, "raised ValueError: \ufffd]0;title\ufffd[bold]red"),
    "unpicklable": (Outcome.ERROR, "raised Unpicklable: cannot be sent"),
    "unspeakable": (Outcome.ERROR, "raised Unspeakable: (its message cannot be shown)"),
    "base_exception": (Outcome.ERROR, "raised BaseException: very basic"),
    "keyboard_interrupt": (Outcome.ERROR, "raised KeyboardInterrupt"),
    "interrupts_itself": (Outcome.ERROR, "raised KeyboardInterrupt"),
    "endless_recursion": (Outcome.ERROR, "raised RecursionError: maximum recursion depth"),
    "iterates_no_more": (Outcome.ERROR, "raised StopIteration"),
    "allocates_without_end": (Outcome.ERROR, "MemoryError: Unable to allocate"),
    # what takes too long
    "hangs": (Outcome.TIMEOUT, "did not answer within 2 s"),
    "hangs_with_the_lock": (Outcome.TIMEOUT, "did not answer within 2 s"),
    "ignores_signals": (Outcome.TIMEOUT, "did not answer within 2 s"),
    "hangs_with_a_child": (Outcome.TIMEOUT, "did not answer within 2 s"),
    "prints_for_ever": (Outcome.TIMEOUT, "did not answer within 2 s"),
    # what is left behind, or changed
    "leaves_a_child": (GOOD, ""),
    "leaves_a_daemon": (GOOD, ""),
    "leaves_many_children": (GOOD, ""),
    "leaves_a_thread": (GOOD, ""),
    "comes_back_twice": (GOOD, ""),
    "changes_the_folder": (GOOD, ""),
    "closes_standard_output": (GOOD, ""),
    "removes_standard_output": (GOOD, ""),
    "prints_megabytes": (GOOD, ""),
    "clears_the_environment": (GOOD, ""),
    # what is returned
    "returns_text": (Outcome.ERROR, "returned a str, not a pair (W, H)"),
    "returns_three": (Outcome.ERROR, "returned a tuple of 3, not a pair (W, H)"),
    "returns_wrong_shape": (Outcome.INVALID, "W has shape (1, 2); expected (2, 2)."),
    "returns_nan": (Outcome.INVALID, "W is nan at row 1, column 1"),
    "returns_negative": (Outcome.INVALID, "W is -1 at row 1, column 1"),
    "returns_complex": (Outcome.INVALID, "W is complex (complex128); expected real numbers."),
    "returns_stubborn": (Outcome.INVALID, "W is not a matrix (RuntimeError: no array today)."),
    "returns_murderous": (Outcome.CRASHED, "its process ended with exit code 5"),
    "changes_A": (GOOD, ""),
}


LIMITED = {"allocates_without_end": 3 << 29}
"""Bytes of memory that some get."""

SLOW = {"allocates_without_end", "out_of_cpu_time"}
"""What ends by itself, but takes a while on a busy machine."""


LONG = {
    *SLOW, "ignores_signals", "hangs_with_a_child", "prints_for_ever", "leaves_a_daemon",
    "leaves_many_children", "comes_back_twice", "prints_megabytes", "endless_recursion",
}  # fmt: skip
"""What is left to the slow tests; others of its kind are not."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in LONG else ()) for n in MISBEHAVING]
)
def test_what_misbehaves_costs_its_own_stage(run, name):
    outcome, message = MISBEHAVING[name]
    stages = run(name, timeout=60 if name in SLOW else 2.0, memory=LIMITED.get(name))
    assert len(stages) == 4 * 3
    for stage in stages:
        if is_bad(stage):
            assert (stage.outcome, stage.flags[:1] == (Flag.CHANGED_A,)) == (
                outcome,
                name == "changes_A",
            )
            assert message in stage.message
        else:
            assert stage.outcome is GOOD, stage


def test_there_are_thirty_kinds_and_none_is_forgotten():
    kinds = {name for name, thing in vars(misbehaving).items() if callable(thing)}
    helpers = {"exact", "note", "misbehaves", "Unpicklable", "Unspeakable", "Stubborn", "Murderous"}
    tested_below = {
        "ignores_its_seed", "random_without_a_seed", "hangs_always", "crashes_always",
        "crashes_on_size_2", "dies_later", "talks_and_fails", "has_a_helper", "iterates_over_a_set",
    }  # fmt: skip
    assert kinds - helpers == MISBEHAVING.keys() | tested_below
    assert len(kinds - helpers) >= 30


@pytest.mark.parametrize(
    ("name", "said"),
    [("segfault", "on thin ice"), ("segfault", "in segfault"), ("value_error", "the last line")],
)
def test_the_last_lines_of_output_are_kept_with_a_failure(run, name, said):
    (stage,) = filter(is_bad, run(name))
    assert said in stage.output
    assert len(stage.output.splitlines()) <= 10


def test_nothing_that_controls_a_terminal_is_kept(run):
    (stage,) = filter(is_bad, run("controls_the_terminal"))
    assert stage.output.endswith("[2Jgone\ufffd")
    assert "\x1b" not in stage.message + stage.output


def test_a_worker_that_dies_between_two_stages_harms_nobody_for_long(run):
    """It may be working on the next stage by then; the run goes on in any case."""
    suite = TINY.selected(trials=40)
    stages = run("dies_later", suite)
    assert {str(stage.outcome) for stage in stages} <= {"exact", "crashed"}
    assert sum(stage.outcome is not GOOD for stage in stages) <= 2


def test_output_is_that_of_the_stage_alone(run):
    """However quickly the next one begins to print."""
    one, other = (run("talks_and_fails", TINY.selected(trials=40), jobs=jobs) for jobs in (1, 2))
    assert [stage.output for stage in one] == [
        f"this is {stage.trial.seed} at {eps_of(stage.ask)}" for stage in one
    ]
    assert one == other


@pytest.mark.slow
def test_a_crash_leaves_the_helpers_of_other_workers_alone(run):
    suite = TINY.selected(trials=40)
    outcomes = [str(stage.outcome) for stage in run("has_a_helper", suite, jobs=3)]
    assert outcomes.count("crashed") == 2
    assert set(outcomes) == {"exact", "crashed"}


def test_the_order_of_sets_is_the_same_everywhere(run):
    one, other = (run("iterates_over_a_set", jobs=jobs) for jobs in (1, 3))
    assert [stage.message for stage in one] == [stage.message for stage in other]


def test_what_has_changed_during_a_run_is_noticed(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("import os\ndef nmf(A, rank): os._exit(3)\n")
    with LocalExecutor(SubjectName(f"py:{path}:nmf"), 1) as workers:
        workers.start()
        path.write_text("import os\ndef nmf(A, rank): os._exit(4)\n")
        with pytest.raises(SubjectError, match="has changed during the run"):
            list(Driver(workers, [Plan(TINY.cell(ONES_2))]))


def test_a_worker_that_does_not_read_is_stuck_not_the_run(tmp_path, monkeypatch):
    """Its main thread is back at the socket, but another one holds the interpreter's lock."""
    monkeypatch.setattr(process, "SEND_LIMIT", 1)
    path = tmp_path / "stuck.py"
    path.write_text(
        "import ctypes, threading\n"
        "def nmf(A, rank):\n"
        "    threading.Timer(0.3, ctypes.PyDLL(None).sleep, (100,)).start()\n"
        "    return A, A\n"
    )
    large = np.eye(300)
    problem = Problem(large, 300, large, large, 0)
    with LocalExecutor(SubjectName(f"py:{path}:nmf"), 1, Limits(timeout=3.0)) as workers:
        workers.start()
        request_all(workers, [Request(0, problem)])
        time.sleep(1)
        reply = request_all(workers, [Request(1, problem)])[1]
    assert reply.answer.outcome is Outcome.TIMEOUT


class TestRandomness:
    def test_who_takes_a_seed_must_use_it(self, run):
        stages = run("ignores_its_seed", twice=True)
        assert [s.trial.seed for s in stages if Flag.DIFFERS in s.flags] == [0, 1, 2]

    def test_who_takes_nothing_may_be_random(self, run):
        stages = run("random_without_a_seed", twice=True)
        assert [s.trial.seed for s in stages if Flag.VARIES in s.flags] == [0, 1, 2]
        assert not any(Flag.DIFFERS in s.flags for s in stages)

    def test_the_random_state_is_the_trials_own(self, run):
        one, other = (
            [s.digest for s in run("random_without_a_seed", jobs=jobs)] for jobs in (1, 2)
        )
        assert one == other
        assert len(set(one)) == 4  # one for each seed


class TestUnanswered:
    suite = TINY.selected(sizes=[2, 3], trials=5)

    def test_three_in_a_row_end_a_cell(self, run):
        stages = run("crashes_on_size_2", self.suite)
        told = [str(s.outcome) for s in stages if s.trial.cell.n == 2]
        assert told == ["crashed"] * 4 + ["not-run"] * 3 * 3
        assert {s.outcome for s in stages if s.trial.cell.n == 3} == {Outcome.EXACT}

    @pytest.mark.slow
    def test_the_same_for_any_number_of_workers(self, run):
        one, other = (run("crashes_on_size_2", self.suite, jobs=jobs) for jobs in (1, 3))
        assert sorted(one, key=key) == sorted(other, key=key)

    @pytest.mark.slow
    def test_a_subject_that_always_hangs_costs_little(self, run, tmp_path):
        suite = TINY.selected(sizes=[2, 3], trials=30)
        stages = run("hangs_always", suite, timeout=0.3, twice=True)
        assert {str(s.outcome) for s in stages} == {"timeout", "not-run"}
        asked = len((tmp_path / "pids").read_text().split())
        assert asked <= 2 * 10  # of 2·30·3; three in a row, one asked twice, and what was in flight


def key(stage):
    return stage.case_id, stage.trial.seed


class TestLoading:
    @pytest.fixture
    def start(self, tmp_path, monkeypatch):
        def start(code):
            (tmp_path / "odd.py").write_text(code)
            with LocalExecutor(SubjectName(f"py:{tmp_path / 'odd.py'}:nmf"), 1) as workers:
                try:
                    return workers.start()
                finally:
                    self.mark = workers.mark

        yield start
        assert_gone(set(), self.mark)

    @pytest.mark.parametrize(
        ("code", "said"),
        [
            ("import no_such_module", "raised ModuleNotFoundError: No module named"),
            ("1 / 0", "cannot be imported: raised ZeroDivisionError"),
            ("def nmf(:", "cannot be imported: raised SyntaxError"),
            ("import sys; sys.exit(3)", "cannot be imported: raised SystemExit: 3"),
            ("def nmff(A, rank): pass", "has no attribute 'nmf'; did you mean 'nmff'?"),
            ("nmf = 3", "is not a subject but of type int"),
            ("import os; print('bye'); os._exit(3)", "ended with exit code 3; it printed: bye"),
            ("import os; os.abort()", "was ended by SIGABRT"),
            ("def nmf(): return 3", "is not a subject but of type int"),
            ("def nmf(): raise OSError('no')", "made no subject: it raised OSError: no"),
        ],
    )
    def test_what_cannot_be_loaded_is_told_in_one_line(self, start, code, said):
        with pytest.raises(SubjectError) as caught:
            start(code)
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_what_takes_too_long_to_load(self, start, monkeypatch):
        for module in (local, process):  # who says it, and who measures it
            monkeypatch.setattr(module, "START_LIMIT", 1.0)
        with pytest.raises(SubjectError, match="was not ready within 1 s"):
            start("import time; time.sleep(100)")

    def test_what_it_says_of_itself(self, start):
        about = start("def nmf(A, rank, *, seed): pass")
        assert about.takes == ("seed",)
        assert set(about.identity) == {"source", "nmfcheck", "with"}


def test_one_thread_each_and_a_folder_of_its_own(tmp_path):
    (tmp_path / "looks.py").write_text(
        "import os, tempfile\n"
        "def nmf(A, rank):\n"
        "    raise RuntimeError(os.environ['OMP_NUM_THREADS'] + tempfile.gettempdir() "
        "+ ' in ' + os.getcwd())\n"
    )
    with LocalExecutor(SubjectName(f"py:{tmp_path / 'looks.py'}:nmf"), 2) as workers:
        plans = [Plan(TINY.cell(ONES_2)[:2])]
        stages = [stage for part in Driver(workers, plans) for stage in part]
    for stage in stages:
        assert stage.message.startswith("raised RuntimeError: 1/")
        assert "/nmfcheck-" in stage.message
        assert stage.message.endswith(f" in {Path.cwd()}")
