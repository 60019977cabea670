"""Runs that are interrupted, resumed and stopped: the same rows in the end."""

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

SUBJECT = """
import os, time
import numpy as np
def nmf(A, rank, *, W0, H0, seed):
    time.sleep(0.02)
    if seed == 3:
        raise ValueError("no luck with 3")
    if seed == 5 and A[0, 1] == 0.25:
        os.abort()
    W, H = W0, H0
    for _ in range(300):
        H = H * (W.T @ A) / (W.T @ W @ H)
        W = W * (A @ H.T) / (W @ (H @ H.T))
    return W, H
"""
ARGUMENTS = ["run", "py:mine:nmf", "--sizes", "2-3", "--trials", "12", "--jobs", "2"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(SUBJECT)
    return tmp_path


def start(folder, *more, store="run.sqlite"):
    return subprocess.Popen(
        [sys.executable, "-m", "nmfcheck", *ARGUMENTS, "--store", store, *more],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def finish(folder, *more, store="run.sqlite"):
    process = start(folder, *more, store=store)
    out, err = process.communicate(timeout=120)
    assert process.returncode in (0, 1, 3), err  # any verdict
    return out


def rows(folder, store="run.sqlite"):
    """Return all rows, but not how long they took."""
    connection = sqlite3.connect(f"{(folder / store).as_uri()}?mode=ro", uri=True)
    columns = [c[1] for c in connection.execute("PRAGMA table_info(stages)") if c[1] != "seconds"]
    found = connection.execute(
        f"SELECT {', '.join(columns)} FROM stages ORDER BY subject, family, cell, seed, ask"
    ).fetchall()
    connection.close()
    return found


def wait_for_rows(folder, number, process, store):
    """Wait until a run has written so many rows."""
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            if len(rows(folder, store)) >= number:
                return
        except sqlite3.Error:  # it is not there yet
            pass
        time.sleep(0.02)
    pytest.fail(f"the run did not write {number} rows: {process.communicate()}")


def worker_pids(process):
    """Return the workers of a run."""
    return [child.pid for child in psutil.Process(process.pid).children(recursive=True)]


def assert_ended(pids, seconds=5):
    until = time.monotonic() + seconds
    while alive := [pid for pid in pids if psutil.pid_exists(pid) and not zombie(pid)]:
        assert time.monotonic() < until, f"still there: {alive}"
        time.sleep(0.05)


def zombie(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return the folder, the output and the rows of a run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "mine.py").write_text(SUBJECT)
    out = finish(folder)
    return folder, out, rows(folder)


def test_a_run_of_ones_own(undisturbed):
    _, out, found = undisturbed
    assert "raised ValueError: no luck with 3" in out
    assert "SIGABRT" in out
    assert "nmfcheck replay bidiagonal/n=2/ones/seed=3 --subject py:mine:nmf" in out
    assert len({(cell, draw, ask) for _, _, cell, draw, _, ask, *_ in found}) > 10  # cases


@pytest.mark.slow
def test_killed_twice_and_resumed(undisturbed):
    folder, _, expected = undisturbed
    store = "killed.sqlite"
    for number in (15, 60):
        process = start(folder, store=store)
        wait_for_rows(folder, number, process, store)
        workers = worker_pids(process)
        process.kill()  # with SIGKILL
        process.communicate()
        assert_ended(workers)
        assert len(rows(folder, store)) < len(expected)
    finish(folder, store=store)
    assert rows(folder, store) == expected


@pytest.mark.slow
def test_any_number_of_workers(undisturbed):
    folder, _, expected = undisturbed
    finish(folder, "--jobs", "1", store="one.sqlite")
    assert rows(folder, "one.sqlite") == expected


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on(undisturbed, number, code):
    folder, printed, expected = undisturbed
    store = f"interrupted-{code}.sqlite"
    process = start(folder, store=store)
    wait_for_rows(folder, 15, process, store)
    workers = worker_pids(process)
    begin = time.monotonic()
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=20)
    assert time.monotonic() - begin < 2
    assert process.returncode == code
    assert "Traceback" not in err
    assert f"stages are in {store}; the same command goes on from there" in err
    assert_ended(workers)
    out = finish(folder, store=store)
    assert rows(folder, store) == expected
    assert out == printed.replace("run.sqlite", store)


def test_a_run_that_is_complete_is_not_run_again(undisturbed):
    folder, printed, expected = undisturbed
    connection = sqlite3.connect(folder / "run.sqlite")
    times = connection.execute("SELECT seconds FROM stages").fetchall()
    assert finish(folder) == printed
    process = start(folder)
    assert "all of it is in run.sqlite" in process.communicate(timeout=60)[1]
    assert connection.execute("SELECT seconds FROM stages").fetchall() == times
    connection.close()
    assert rows(folder) == expected


@pytest.mark.slow
def test_fresh_begins_anew(folder):
    finish(folder)
    (folder / "mine.py").write_text(SUBJECT.replace("luck with", "luck today with"))
    finish(folder, "--fresh")
    connection = sqlite3.connect(folder / "run.sqlite")
    (subjects,) = connection.execute("SELECT count(*) FROM subjects").fetchone()
    connection.close()
    assert subjects == 1


@pytest.mark.slow
def test_another_source_is_another_subject(folder, undisturbed):
    """Results of the old code are kept, but not taken for those of the new."""
    finish(folder)
    (folder / "mine.py").write_text(SUBJECT.replace("no luck with 3", "still none"))
    out = finish(folder)
    assert "still none" in out
    assert "no luck" not in out
    assert len(rows(folder)) == 2 * len(undisturbed[2])


@pytest.mark.slow
def test_fail_fast(folder):
    out = finish(folder, "--fail-fast")
    assert "nmfcheck replay" in out
    found = rows(folder)
    assert 0 < len(found) < 100
    assert finish(folder, "--fail-fast") == out
    assert rows(folder) == found


@pytest.mark.slow
def test_what_a_killed_run_has_left_is_ended_by_the_next(folder):
    """Its subject's own children, and the workers' temporary folders."""
    (folder / "mine.py").write_text(
        "import os, subprocess, time\n"
        "def nmf(A, rank):\n"
        "    pid = subprocess.Popen(['setsid', 'sleep', '100']).pid\n"
        "    open('pids', 'a').write(f'{pid}\\n')\n"
        "    time.sleep(100)\n"
    )
    process = start(folder)
    until = time.monotonic() + 60
    while not (folder / "pids").exists() and time.monotonic() < until:
        time.sleep(0.05)
    process.kill()
    process.communicate()
    left = list(Path(tempfile.gettempdir()).glob(f"nmfcheck-{process.pid}-*"))
    assert left
    (folder / "mine.py").write_text(SUBJECT)
    finish(folder, "--fresh")
    assert_ended([int(pid) for pid in (folder / "pids").read_text().split()])
    assert not any(path.exists() for path in left)


@pytest.mark.slow
def test_fresh_keeps_what_was_there_if_the_subject_does_not_load(folder):
    finish(folder)
    before = rows(folder)
    (folder / "mine.py").write_text("import nowhere")
    process = start(folder, "--fresh")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 4
    assert "cannot be imported" in err
    assert rows(folder) == before


def test_a_subject_that_does_not_load_leaves_no_store(folder):
    (folder / "mine.py").write_text("import nowhere")
    process = start(folder)
    process.communicate(timeout=60)
    assert process.returncode == 4
    assert not (folder / "run.sqlite").exists()
