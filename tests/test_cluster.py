"""A cluster on this machine: the same rows as without it, and nothing but data comes back."""

import json
import logging
import os
import threading
import time
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from distributed import Client, LocalCluster
from hypothesis import given
from hypothesis import strategies as st

import zoo
from clusters import certificates
from nmfcheck import InputError, check
from nmfcheck.checking import campaign
from nmfcheck.cli import options as options_module
from nmfcheck.diagnosis import Cause
from nmfcheck.diagnosis.experiments import alone, repeated
from nmfcheck.errors import SubjectError
from nmfcheck.executors.cluster import connection as connection_module
from nmfcheck.executors.cluster import executor as executor_module
from nmfcheck.executors.cluster import members as members_module
from nmfcheck.executors.cluster.connection import Tls, check_address, connected
from nmfcheck.executors.cluster.members import Members, _difference
from nmfcheck.executors.cluster.parcels import (
    pack_refusal,
    pack_replies,
    pack_requests,
    unpack_replies,
    unpack_requests,
)
from nmfcheck.executors.local import LocalExecutor
from nmfcheck.executors.messages import encode
from nmfcheck.executors.protocol import Limits, Reply, Request
from nmfcheck.judging.outcomes import Flag, Outcome
from nmfcheck.paper.plan import MU, Batch
from nmfcheck.paper.runs import Folder
from nmfcheck.subjects import Answer, Problem, SubjectName
from nmfcheck.subjects.names import found_anywhere
from stores import dump

SMALL = {"families": "bidiagonal", "sizes": (2, 3), "trials": 8, "whole": True}
SUBJECT, BIASED = (f"py:{zoo.__file__}:{name}" for name in ("good", "adds_1e_9_to_denominators"))


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL,
                     host="127.0.0.1") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
        yield client


@pytest.fixture
def time_enough(monkeypatch):
    """Let experiments take longer: the machine may be busy."""
    monkeypatch.setattr(campaign, "perform", partial(campaign.perform, seconds=100.0))


DRAWS = """
import numpy as np

def never_the_same(A, rank, *, seed):
    rng = np.random.default_rng()
    return rng.random((len(A), rank)), rng.random((rank, A.shape[1]))
"""


def experiments(report):
    return {each.name: each for each in report._subject.experiments}


class TestTheSame:
    @pytest.mark.parametrize(
        "subject", [SUBJECT, "als", pytest.param(BIASED, marks=pytest.mark.slow)]
    )
    def test_rows(self, client, tmp_path, subject):
        here, there = tmp_path / "here.sqlite", tmp_path / "there.sqlite"
        one = check(subject, store=here, **SMALL)
        other = check(subject, store=there, cluster=client, **SMALL)
        assert dump(there) == dump(here)
        assert other.verdict == one.verdict

    @pytest.mark.slow
    def test_report_on_one_that_fails(self, client, time_enough):
        """Experiments are made as they are without a cluster, those with new processes as well."""
        subject = f"py:{zoo.__file__}:returns_h_of_another_run"
        here, there = check(subject, **SMALL), check(subject, cluster=client, **SMALL)
        assert there._subject.experiments == here._subject.experiments
        assert experiments(there)["alone"].runs == 4
        assert there.findings == here.findings

    @pytest.mark.slow
    def test_what_has_two_answers_is_asked_in_new_processes(self, client, time_enough, tmp_path):
        (tmp_path / "draws.py").write_text(DRAWS)
        subject = f"py:{tmp_path}/draws.py:never_the_same"
        # twice, once with other random states, and twice with another seed than 0
        assert experiments(check(subject, cluster=client, **SMALL))["repeated"].runs == 5

    @pytest.mark.slow
    def test_small_batches(self, client, tmp_path, monkeypatch):
        """Whatever the batches are: what is left of one is asked again."""
        monkeypatch.setattr(executor_module, "FIRST", 1)
        monkeypatch.setattr(executor_module, "MOST", 3)
        assert check(SUBJECT, cluster=client, **SMALL).verdict == check(SUBJECT, **SMALL).verdict

    @pytest.mark.slow
    def test_a_run_that_ends_early(self, client):
        chosen = {"families": "bidiagonal,rank-one", "sizes": (2, 3)}
        subject = f"py:{zoo.__file__}:is_stuck_at_its_start"
        there, here = check(subject, cluster=client, **chosen), check(subject, **chosen)
        assert there.verdict == here.verdict
        assert there.verdict.stopped is not None

    def test_the_papers_runs(self, client, tmp_path):
        batches = [Batch(MU, 3, "ones", eps, 20, 500) for eps in (0.0, 0.25)]
        here, there = Folder(tmp_path / "here"), Folder(tmp_path / "there")
        done = []
        here.complete(batches, lambda _: None)
        there.complete(batches, done.append, client)
        assert len(done) == 2
        for batch in batches:
            one, other = here.runs(batch), there.runs(batch)
            assert np.array_equal(one.W, other.W)
            assert np.array_equal(one.H, other.H)


OTHER_MACHINES = """
import os, time
on_the_cluster = "ON_THE_CLUSTER" in os.environ

def is_wrong_otherwise(A, rank, *, W0, H0):
    return (W0, H0) if on_the_cluster else (H0.T, W0.T)

def has_two_answers_there(A, rank, *, W0, H0):
    return (W0 * (1 + time.time() % 1), H0) if on_the_cluster else (W0, H0)
"""


class TestOtherMachines:
    """What differs between machines is not taken for what a process remembers."""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("name", "experiment", "reason"),
        [
            ("is_wrong_otherwise", "alone", alone.OTHERS_HERE),
            ("has_two_answers_there", "repeated", repeated.ONE_HERE),
        ],
    )
    def test_left_out(self, client, tmp_path, time_enough, name, experiment, reason):
        source = tmp_path / "machines.py"
        source.write_text(OTHER_MACHINES)
        client.run(lambda: os.environ.setdefault("ON_THE_CLUSTER", "yes"))
        report = check(f"py:{source}:{name}", cluster=client, **SMALL)
        made = experiments(report)[experiment]
        assert (made.runs, made.left_out) == (0, reason)
        assert all(finding.cause is not Cause.REMEMBERS for finding in report.findings)
        assert not any("new processes" in finding.sentence for finding in report.findings)


class TestBadInput:
    def test_what_has_no_name(self, client):
        with pytest.raises(InputError, match="cannot be sent to a cluster"):
            check(lambda A, rank: (A, np.eye(rank)), cluster=client, **SMALL)

    def test_in_process(self, client):
        with pytest.raises(InputError, match="always isolated"):
            check(SUBJECT, cluster=client, isolate=False, **SMALL)

    def test_dask_does_not_remember_batches(self):
        with connected("local:1") as client:
            assert client.scheduler_comm.recent_message_log.maxlen == 20

    @pytest.mark.parametrize("subject", [SUBJECT, "als"])
    def test_a_refusal_costs_no_results(self, client, nmfcheck, tmp_path, monkeypatch, subject):
        """With --fresh, nothing is thrown away before the cluster takes the subject."""

        def refuse(_):
            raise SubjectError("not here")

        path = tmp_path / "run.sqlite"
        check(subject, store=path, **SMALL)
        before = dump(path)
        monkeypatch.setattr(executor_module.ClusterExecutor, "start", refuse)
        monkeypatch.setattr(options_module, "connected", lambda *_: nullcontext(client))
        arguments = ["--sizes", "2", "--trials", "3", "--store", str(path), "--fresh"]
        code, _, err = nmfcheck("run", subject, *arguments, "--cluster", "tcp://127.0.0.1:1")
        assert (code, "not here" in err) == (4, True)
        assert before
        assert dump(path) == before

    def test_not_a_cluster(self):
        with pytest.raises(InputError, match=r"distributed\.Client or an address"):
            check(SUBJECT, cluster=7, **SMALL)

    @pytest.mark.parametrize(
        "where",
        ["", "host:8786", "local", "local:0", "local:00", "tcp:host", "local:-1"],
    )
    def test_addresses(self, where):
        with pytest.raises(InputError, match="expected a scheduler's address"):
            check_address(where, Tls())

    @pytest.mark.parametrize("where", ["tcp://host", "tcp://127.0.0.1:port", "tcp://[::1:1"])
    def test_addresses_that_dask_does_not_understand(self, nmfcheck, where):
        threads = threading.active_count()
        code, _, err = nmfcheck("run", "als", "--cluster", where)
        assert (code, err.count("\n")) == (2, 1)
        assert f"--cluster is '{where}'; expected a scheduler's address" in err
        assert threading.active_count() == threads  # the client that was begun is closed, in time

    @pytest.mark.parametrize("error", [OSError, TimeoutError, RuntimeError])
    def test_whatever_the_client_says(self, nmfcheck, monkeypatch, tmp_path, error):
        def fail(*_, **__):
            raise error

        monkeypatch.setattr("distributed.Client.__init__", fail)
        monkeypatch.setattr("distributed.Client.__del__", lambda _: None)
        store = tmp_path / "new.sqlite"
        where = ("--cluster", "tcp://127.0.0.1:1", "--store", str(store))
        code, _, err = nmfcheck("run", "als", *where)
        assert not store.exists()
        assert (code, err) == (
            4,
            f"nmfcheck: no scheduler answers at tcp://127.0.0.1:1: {error.__name__}\n",
        )

    @pytest.mark.parametrize("where", ["local:1", "tcp://127.0.0.1:1", "ws://127.0.0.1:1"])
    def test_tls_for_an_address_without_it(self, nmfcheck, where):
        files = ["--tls-ca", "ca.pem", "--tls-cert", "cert.pem", "--tls-key", "key.pem"]
        code, _, err = nmfcheck("run", "als", "--cluster", where, *files)
        assert (code, err.count("\n")) == (2, 1)
        assert "are for addresses with tls:// or wss://" in err

    @pytest.mark.parametrize(
        ("which", "what"),
        [("ca", "holds no certif"), ("cert", "holds no certif"), ("key", "is not the key of ")],
    )
    def test_tls_files_that_are_something_else(self, nmfcheck, tmp_path, which, what):
        files = certificates(tmp_path)
        files[which].write_text("nothing of the kind")
        given_ = [f"--tls-{name}={path}" for name, path in files.items()]
        code, _, err = nmfcheck("run", "als", "--cluster", "tls://127.0.0.1:1", *given_)
        assert (code, err.count("\n")) == (2, 1)
        assert f"--tls-{which} is '{files[which]}', which {what}" in err

    def test_tls_without_certificates(self, nmfcheck):
        code, _, err = nmfcheck("run", "als", "--cluster", "tls://127.0.0.1:1")
        assert (code, "give --tls-ca, --tls-cert and --tls-key" in err) == (2, True)

    def test_nobody_there(self, nmfcheck, monkeypatch):
        monkeypatch.setattr(connection_module, "TIMEOUT", 1)
        code, _, err = nmfcheck("run", "als", "--cluster", "tcp://127.0.0.1:1")
        assert code == 4
        assert err.count("\n") == 1
        assert "no scheduler answers at tcp://127.0.0.1:1" in err

    def test_tls_files(self, nmfcheck, tmp_path):
        code, _, err = nmfcheck("run", "als", "--cluster", "tls://h:1", "--tls-ca", "missing.pem")
        assert (code, err) == (2, "nmfcheck: --tls-ca is 'missing.pem', which is not a file\n")
        (tmp_path / "ca.pem").write_text("")
        code, _, err = nmfcheck("run", "als", "--cluster", "tls://h:1", "--tls-ca", "ca.pem")
        assert (code, "--tls-cert is missing" in err) == (2, True)
        code, _, err = nmfcheck("run", "als", "--tls-ca", "ca.pem")
        assert (code, "are for --cluster" in err) == (2, True)
        assert Tls().security() is None

    def test_without_dask(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "distributed", None)
        with (
            pytest.raises(InputError, match=r"pip install 'nmfcheck\[dask\]'"),
            connected("local:1"),
        ):
            pass


class Workers:
    """In place of a client: workers that come and go, each of which is what it should be."""

    def __init__(self):
        self.there = {}

    def scheduler_info(self, n_workers):
        return {"workers": self.there}

    def submit(self, *_, **__):
        return future_of(json.dumps({"about": {}}))


def future_of(result):
    return SimpleNamespace(status="finished", result=lambda: result)


class TestNobodyThere:
    @pytest.fixture
    def workers(self, monkeypatch):
        monkeypatch.setattr(members_module, "PATIENCE", 100.0)
        self.now, self.lines, workers = 0.0, [], Workers()
        monkeypatch.setattr(members_module.time, "monotonic", lambda: self.now)
        self.members = Members(workers, "als", "{}", {}, self.lines.append)
        workers.there = {"tcp://one": {"nthreads": 2}}
        self.members.begin()
        assert self.members.slots == 2
        workers.there = {}
        return workers

    def pass_(self, seconds):
        for _ in range(int(seconds / 2)):
            self.now += 2
            self.members.look()

    def test_for_long(self, workers):
        self.pass_(100)
        assert (self.members.slots, len(self.lines)) == (0, 1)
        assert "no workers now; waiting for 100 s at most" in self.lines[0]
        with pytest.raises(SubjectError, match="has had no workers for 100 s"):
            self.pass_(4)

    def test_until_another_one_comes(self, workers):
        for _ in range(2):
            self.pass_(98)
            workers.there = {"tcp://two": {"nthreads": 3}}
            self.pass_(2)
            assert self.members.slots == 3
            workers.there = {}
        assert len(self.lines) == 2

    def test_but_some_that_cannot_be_used(self, workers):
        workers.submit = lambda *_, **__: future_of(json.dumps({"cannot": "no such module"}))
        workers.there = {"tcp://odd": {"nthreads": 1}}
        with pytest.raises(SubjectError, match="has had no workers"):
            self.pass_(110)
        assert self.lines[0].startswith("not used: als on worker tcp://odd cannot be loaded")


def test_nobody_there_for_the_paper(monkeypatch, tmp_path):
    monkeypatch.setattr(members_module, "PATIENCE", 1.0)
    lines, batches = [], [Batch(MU, 3, "ones", 0.0, 20, 500)]
    with (
        LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1",
                     silence_logs=logging.CRITICAL) as nobody,
        Client(nobody, set_as_default=False) as client,
        pytest.raises(SubjectError, match="has had no workers for 1 s"),
    ):  # fmt: skip
        Folder(tmp_path).complete(batches, lambda _: None, client, lines.append)
    assert lines == ["the cluster has no workers now; waiting for 1 s at most"]


def problem(m=3, n=2, k=2):
    rng = np.random.default_rng(0)
    return Problem(rng.random((m, n)), k, rng.random((m, k)), rng.random((k, n)), 7, "kl")


class TestParcels:
    def test_requests(self):
        asked = [Request(i, problem(), 5, "F") for i in range(3)]
        for one, other in zip(asked, unpack_requests(pack_requests(asked)), strict=True):
            assert (one.number, one.random, one.order) == (other.number, other.random, other.order)
            assert (one.problem.seed, one.problem.objective) == (7, "kl")
            for name in ("A", "W0", "H0"):
                assert np.array_equal(getattr(one.problem, name), getattr(other.problem, name))

    def test_replies(self):
        W = np.array([[np.nan, -0.0], [1e-320, np.inf]])
        given_ = [
            Reply(1, Answer(W, W, seconds=0.5, flags=(Flag.CHANGED_A,)), ("ndarray", "list")),
            Reply(2, Answer(error="no", outcome=Outcome.TIMEOUT, output="words")),
        ]
        found = unpack_replies(pack_replies(given_, 1.5))
        assert (found.seconds, found.cannot) == (1.5, "")
        one, other = found.replies
        assert one.answer.W.tobytes() == W.tobytes()
        assert (one.answer.flags, one.returned) == ((Flag.CHANGED_A,), ("ndarray", "list"))
        assert (other.answer.error, other.answer.outcome) == ("no", Outcome.TIMEOUT)
        assert unpack_replies(pack_refusal("it is gone")).cannot == "it is gone"

    @given(st.binary(max_size=200))
    def test_anything_else_is_refused(self, garbage):
        for parcel in (garbage, encode({"seconds": 1.0}) + garbage):
            try:
                found = unpack_replies(parcel)
            except ValueError:
                continue
            assert found.replies == []

    @pytest.mark.parametrize("parcel", [None, "text", 7, [b""], {"seconds": 1}])
    def test_what_is_not_bytes_is_refused(self, parcel):
        with pytest.raises(ValueError, match="instead of a parcel"):
            unpack_replies(parcel)

    @given(st.dictionaries(st.text(max_size=10), st.one_of(st.none(), st.floats(), st.text())))
    def test_other_fields_are_refused(self, fields):
        with pytest.raises(ValueError):
            unpack_replies(encode({"seconds": 1.0}) + encode(fields))

    @pytest.mark.parametrize("seconds", [np.nan, np.inf, -np.inf, -1.0, 10**400])
    def test_a_batch_takes_a_time_that_is_known(self, seconds):
        with pytest.raises(ValueError, match="not a parcel"):
            unpack_replies(encode({"seconds": seconds}))

    @pytest.mark.parametrize(
        "odd",
        [{"number": x} for x in (np.inf, -np.inf, np.nan, 1.5, True, "1", None)]
        + [{"seconds": x} for x in (np.inf, -np.inf, -1.0, 10**400, "soon", None)],
    )
    def test_numbers_that_cannot_be(self, odd):
        usual = {"number": 1, "seconds": 0.5, "flags": [], "output": "", "returned": []}

        def parcel(**fields):
            return encode({"seconds": 1.0}) + encode(usual | fields, W=np.eye(2), H=np.eye(2))

        assert len(unpack_replies(parcel()).replies) == 1
        assert np.isnan(unpack_replies(parcel(seconds=np.nan)).replies[0].answer.seconds)
        with pytest.raises(ValueError):
            unpack_replies(parcel(**odd))

    def test_what_a_worker_prints_cannot_move_the_cursor(self):
        found = unpack_replies(pack_replies([Reply(1, Answer(error="\x1b[2J"))], 0.0))
        assert "\x1b" not in found.replies[0].answer.error


SLOW = """
import os, time
def nmf(A, rank, *, W0, H0, seed):
    with open({pids!r}, "a") as file:
        print(os.getpid(), file=file)
    time.sleep(300)
    return W0, H0
"""


def test_a_stage_does_not_outlast_its_run(client, tmp_path):
    pids = tmp_path / "pids"
    (tmp_path / "slow.py").write_text(SLOW.format(pids=str(pids)))
    subject, limits = SubjectName(f"py:{tmp_path / 'slow.py'}:nmf"), Limits(timeout=300)
    with LocalExecutor(subject, 1, limits) as here:
        about = here.start()
    with executor_module.ClusterExecutor(client, subject, about, limits) as executor:
        executor.start()
        assert executor.submit(Request(0, problem(), 0, "C"))
        until = time.monotonic() + 30
        while not (pids.exists() and pids.read_text().endswith("\n")):
            assert executor.replies(0.2) == []
            assert time.monotonic() < until
    _, alive = psutil.wait_procs([psutil.Process(int(pids.read_text()))], timeout=10)
    assert not alive


def test_files_are_found_from_other_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("")
    assert found_anywhere("py:mine.py:nmf") == f"py:{tmp_path}/mine.py:nmf"
    assert found_anywhere("py:package.module:nmf") == "py:package.module:nmf"
    assert found_anywhere("cmd:python3 mine.py 7") == f"cmd:python3 {tmp_path}/mine.py 7"
    assert found_anywhere("als") == "als"
    assert SubjectName(found_anywhere("py:mine.py:nmf"))


def test_what_differs_is_named():
    here = {"takes": ["W0"], "identity": {"version": "numpy 1", "source": "a"}}
    there = {"takes": ["W0"], "identity": {"version": "numpy 2", "source": "a"}}
    assert _difference(here, json.loads(json.dumps(there))) == (
        "version numpy 1",
        "version numpy 2",
    )
