"""Faults that cost nothing: a cluster of real processes, and what may happen to each of them.

After each, no stage is lost or there twice, the store is whole, and the report is that of a run
that nobody disturbed.
"""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time

import psutil
import pytest

from clusters import Cluster, Proxy, certificates
from stores import dump

pytestmark = pytest.mark.slow

SUBJECT = """
import time
def nmf(A, rank, *, W0, H0, seed):
    time.sleep(0.02)
    if seed == 3:
        raise ValueError("no luck with 3")
    W, H = W0, H0
    for _ in range(300):
        H = H * (W.T @ A) / (W.T @ W @ H)
        W = W * (A @ H.T) / (W @ (H @ H.T))
    return W, H
"""
HANGING = """
import os, subprocess, sys, time
def nmf(A, rank, *, W0, H0, seed):
    if seed == 3:
        for _ in range(2):
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
                                     start_new_session=True)
            with open(os.environ["PIDS"], "a") as file:
                print(child.pid, os.getpid(), file=file)
        time.sleep(600)
    return W0, H0
"""
STORE = "run.sqlite"
ARGUMENTS = ["run", "py:mine:nmf", "--sizes", "2-3", "--trials", "25", "--all", "--store", STORE]


def start(folder, *more, program=("-m", "nmfcheck"), **settings):
    return subprocess.Popen(
        [sys.executable, *program, *ARGUMENTS, *more],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, **settings,
    )  # fmt: skip


def ended(process, codes=(0, 1, 3)):
    out, err = process.communicate(timeout=240)
    assert process.returncode in codes, (process.returncode, err)
    return out, err


def finish(folder, *more):
    return ended(start(folder, *more))[0]


def count(folder):
    try:
        connection = sqlite3.connect(f"{(folder / STORE).as_uri()}?mode=ro", uri=True)
        (number,) = connection.execute("SELECT count(*) FROM stages").fetchone()
        connection.close()
        return number
    except sqlite3.Error:
        return 0


def wait_for(folder, number, process):
    until = time.monotonic() + 120
    while count(folder) < number:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def rows(folder):
    return dump(folder / STORE)


def report(folder):
    return subprocess.run(
        [sys.executable, "-m", "nmfcheck", "report", STORE], cwd=folder, capture_output=True,
        text=True, check=False,
    ).stdout  # fmt: skip


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "mine.py").write_text(SUBJECT)
    finish(folder)
    return rows(folder), report(folder)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(SUBJECT)
    return tmp_path


@pytest.fixture
def cluster(folder):
    with Cluster(folder) as cluster:
        cluster.one, cluster.two = cluster.worker("one"), cluster.worker("two")
        yield cluster


def same(folder, undisturbed):
    expected, printed = undisturbed
    assert rows(folder) == expected
    assert report(folder) == printed


def test_no_fault(folder, cluster, undisturbed):
    finish(folder, "--cluster", cluster.address)
    same(folder, undisturbed)


def test_a_worker_is_killed(folder, cluster, undisturbed):
    run = start(folder, "--cluster", cluster.address)
    wait_for(folder, 60, run)
    cluster.one.kill()
    ended(run)
    same(folder, undisturbed)


def test_a_worker_stops_for_a_while(folder, cluster, undisturbed):
    run = start(folder, "--cluster", cluster.address)
    wait_for(folder, 60, run)
    os.kill(cluster.one.pid, signal.SIGSTOP)
    time.sleep(20)
    os.kill(cluster.one.pid, signal.SIGCONT)
    ended(run)
    same(folder, undisturbed)


def test_a_worker_loses_its_connection(folder, undisturbed):
    with Cluster(folder) as cluster:
        proxy = Proxy(cluster.port)
        cluster.worker("far", address=f"tcp://127.0.0.1:{proxy.port}")
        cluster.worker("near")
        run = start(folder, "--cluster", cluster.address)
        wait_for(folder, 60, run)
        proxy.cut()
        ended(run)
    same(folder, undisturbed)


def test_all_workers_are_killed_and_others_come(folder, cluster, undisturbed):
    run = start(folder, "--cluster", cluster.address)
    wait_for(folder, 60, run)
    cluster.one.kill()
    cluster.two.kill()
    cluster.worker("three")
    ended(run)
    same(folder, undisturbed)


IMPATIENT = """
from nmfcheck.cli import main
from nmfcheck.executors.cluster import members
members.PATIENCE = 6.0
main()
"""


def test_all_workers_are_killed_and_no_others_come(folder, cluster, undisturbed):
    run = start(folder, "--cluster", cluster.address, program=["-c", IMPATIENT])
    wait_for(folder, 60, run)
    cluster.one.kill()
    cluster.two.kill()
    _, err = ended(run, codes=(4,))
    assert err.count("the cluster has no workers now; waiting for 6 s at most") == 1
    assert "the cluster has had no workers for 6 s; the same command goes on" in err
    assert "Traceback" not in err
    assert set(rows(folder)) <= set(undisturbed[0])
    cluster.worker("three")
    finish(folder, "--cluster", cluster.address)
    same(folder, undisturbed)


def test_the_scheduler_is_killed(folder, cluster, undisturbed):
    run = start(folder, "--cluster", cluster.address)
    wait_for(folder, 60, run)
    cluster.scheduler.kill()
    _, err = ended(run, codes=(4,))
    *_, line = [line for line in err.splitlines() if line.startswith("nmfcheck:")]
    assert f"the scheduler at {cluster.address} is gone" in line
    assert "Traceback" not in err
    assert set(rows(folder)) <= set(undisturbed[0])
    for worker in (cluster.one, cluster.two):
        worker.wait(timeout=60)
    cluster.scheduler.wait()
    cluster.scheduler = cluster.start_scheduler()
    cluster.worker("three")
    finish(folder, "--cluster", cluster.address)
    same(folder, undisturbed)


def test_the_client_is_killed(folder, cluster, undisturbed):
    run = start(folder, "--cluster", cluster.address)
    wait_for(folder, 60, run)
    run.kill()
    run.communicate()
    before = set(rows(folder))
    finish(folder, "--cluster", cluster.address)
    assert before <= set(rows(folder))
    same(folder, undisturbed)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c(folder, cluster, undisturbed, times):
    run = start(folder, "--cluster", cluster.address)
    wait_for(folder, 60, run)
    begin = time.monotonic()
    for _ in range(times):
        run.send_signal(signal.SIGINT)
        time.sleep(0.2)
    _, err = ended(run, codes=(130, -signal.SIGINT))
    assert time.monotonic() - begin < 30
    if times == 1:
        assert "the same command goes on from there" in err
    assert "Traceback" not in err
    finish(folder, "--cluster", cluster.address)
    same(folder, undisturbed)


def test_ctrl_c_at_a_terminal(folder, undisturbed):
    """Where all processes of the group get it, those of Dask's workers as well."""
    run = start(folder, "--cluster", "local:2")
    wait_for(folder, 60, run)
    begin, children = time.monotonic(), psutil.Process(run.pid).children(recursive=True)
    os.killpg(run.pid, signal.SIGINT)
    _, err = ended(run, codes=(130,))
    assert time.monotonic() - begin < 30
    assert [line for line in err.splitlines() if "suite: " not in line] == [
        f"nmfcheck: interrupted; {count(folder)} stages are in {STORE}; the same command goes on "
        "from there"
    ]
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    assert set(rows(folder)) <= set(undisturbed[0])
    finish(folder, "--cluster", "local:2")
    same(folder, undisturbed)


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_the_disk_is_full(folder, cluster, undisturbed, where):
    more = ["--cluster", cluster.address] if where == "cluster" else []
    limit = 120_000

    def little_space():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    _, err = ended(start(folder, *more, preexec_fn=little_space), codes=(2,))
    *_, line = [line for line in err.splitlines() if line.startswith("nmfcheck:")]
    assert STORE in line
    assert "Traceback" not in err
    assert set(rows(folder)) <= set(undisturbed[0])
    finish(folder, *more)
    same(folder, undisturbed)


def test_a_second_client_is_refused_by_the_name_of_the_first(folder, cluster, undisturbed):
    run = start(folder, "--cluster", cluster.address)
    wait_for(folder, 20, run)
    _, err = ended(start(folder, "--cluster", cluster.address), codes=(2,))
    assert f"another run is writing to the store '{STORE}': process {run.pid} on" in err
    ended(run)
    same(folder, undisturbed)


def test_children_of_a_subject_that_hangs_do_not_stay(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(HANGING)
    pids = tmp_path / "pids"
    monkeypatch.setenv("PIDS", str(pids))
    with Cluster(tmp_path) as cluster:
        cluster.worker("one")
        finish(tmp_path, "--cluster", cluster.address, "--timeout", "1", "--trials", "5")
        started = {int(pid) for pid in pids.read_text().split()}
        assert started
        until = time.monotonic() + 30
        while any(map(psutil.pid_exists, started)) and time.monotonic() < until:
            time.sleep(0.2)
        assert not [pid for pid in started if psutil.pid_exists(pid)]


class TestWhoIsRefused:
    def other(self, folder):
        """Return a folder with another version of the subject."""
        path = folder / "other"
        path.mkdir()
        (path / "mine.py").write_text(SUBJECT.replace("0.02", "0.01"))
        return path

    def test_a_worker_with_another_version(self, folder):
        with Cluster(folder) as cluster:
            cluster.worker("odd", path=self.other(folder))
            _, err = ended(start(folder, "--cluster", cluster.address), codes=(4,))
        assert "py:mine:nmf on worker odd (tcp://" in err
        assert "is not what it is here: there source " in err
        assert not (folder / STORE).exists()

    def test_a_worker_that_cannot_load_it(self, folder):
        broken = folder / "broken"
        broken.mkdir()
        (broken / "mine.py").write_text("import nothing_of_this_name")
        with Cluster(folder) as cluster:
            cluster.worker("odd", path=broken)
            _, err = ended(start(folder, "--cluster", cluster.address), codes=(4,))
        assert "on worker odd (tcp://" in err
        assert "No module named 'nothing_of_this_name'" in err

    def test_one_that_joins_later(self, folder, undisturbed):
        with Cluster(folder) as cluster:
            one = cluster.worker("one")
            run = start(folder, "--cluster", cluster.address)
            wait_for(folder, 20, run)
            os.kill(one.pid, signal.SIGSTOP)  # until the other one was looked at
            cluster.worker("odd", path=self.other(folder))
            until = time.monotonic() + 60
            while "Registered to" not in (folder / "odd.log").read_text():
                assert time.monotonic() < until
                time.sleep(0.2)
            time.sleep(10)
            os.kill(one.pid, signal.SIGCONT)
            _, err = ended(run)
        assert "not used: py:mine:nmf on worker odd" in err
        same(folder, undisturbed)


def test_tls(folder, undisturbed):
    files = certificates(folder)
    settings = [f"--tls-ca-file={files['ca']}", f"--tls-cert={files['cert']}",
                f"--tls-key={files['key']}"]  # fmt: skip
    with Cluster(folder, tls=[*settings, "--protocol", "tls"]) as cluster:
        cluster.worker("one")
        given = [f"--tls-{name}={path}" for name, path in files.items()]
        finish(folder, "--cluster", cluster.address, *given)
        same(folder, undisturbed)
        (folder / STORE).unlink()
        _, err = ended(start(folder, "--cluster", cluster.address), codes=(2,))
        assert "give --tls-ca, --tls-cert and --tls-key" in err
