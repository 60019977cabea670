"""The store: what goes in comes out, and what is no store is left alone."""

import fcntl
import math
import multiprocessing
import os
import sqlite3
import time

import numpy as np
import pytest

from nmfcheck import InputError
from nmfcheck.judging.outcomes import Flag
from nmfcheck.trials.protocol import run_trials
from nmfcheck.trials.records import records_of
from nmfcheck.store import Store
from nmfcheck.store.file import SCHEMA
from nmfcheck.trials.suites import Suite
from nmfcheck.trials.trial import Trial

TINY = Suite("tiny", (2, 3), 3, None, "for tests")


def some_records():
    """Return records of all sorts: exact, invalid, with an exception, with a flag."""

    def subject(A, rank, *, seed):
        if seed == 1:
            raise ValueError("no luck")
        if seed == 2:
            A[:] = 7
            return A * np.nan, A
        return (A.copy(), np.eye(rank)) if A[0, 1] != 0.25 else (A * 0, A)

    trials = [trial for trial in TINY if trial.n == 3]
    return [record for result in run_trials(subject, trials) for record in records_of(result)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs" / "one.sqlite"


@pytest.fixture
def filled(path):
    with Store.create_or_open(path, TINY) as store:
        subject = store.subject("mine", {"options": {}})
        store.write(subject, some_records())
    return path


def test_what_goes_in_comes_out(path):
    records = some_records()
    outcomes = {str(record.outcome) for record in records}
    assert outcomes >= {"exact", "invalid", "error", "unconverged"}
    assert any(record.flags == (Flag.CHANGED_A,) for record in records)
    with Store.create_or_open(path, TINY) as store:
        subject = store.subject("mine", {"options": {"x": 1}})
        store.write(subject, records)
    with Store.read(path) as store:
        (again,) = store.subjects()
        assert again == subject
        found = list(store.records(again, matrices=True))
    assert sorted(map(repr, found)) == sorted(map(repr, records))
    originals = {(record.case, record.seed): record for record in records}
    for record in found:
        original = originals[record.case, record.seed]
        for X, Y in ((record.W, original.W), (record.H, original.H)):
            assert (X is None) == (Y is None) == (record.passed or record.digest == "")
            if X is not None:
                assert X.tobytes() == Y.tobytes()
        assert math.isnan(record.seconds) == math.isnan(original.seconds)


def test_it_says_what_it_is(filled):
    with Store.read(filled) as store:
        assert store.about["suite"]["name"] == "tiny"
        assert store.about["nmfcheck"] == "0.1.0"
        (subject,) = store.subjects()
        assert {"python", "numpy", "system", "cores", "engine"} <= subject.environment.keys()


def test_a_subject_is_another_one_with_other_settings(path):
    with Store.create_or_open(path, TINY) as store:
        one = store.subject("mine", {"options": {}, "source": "a"})
        other = store.subject("mine", {"options": {}, "source": "b"})
        assert one.fingerprint != other.fingerprint
        assert store.subject("mine", {"options": {}, "source": "b"}) == other
        assert store.subjects() == [other]
        assert store.subject("mine", {"source": "a", "options": {}}) == one
        assert store.subjects() == [one]
        assert store.subjects(latest=False) == [other, one]


def test_all_of_a_batch_or_nothing(filled):
    def half():
        yield some_records()[0]
        raise RuntimeError("power cut")

    with Store.create_or_open(filled, TINY) as store:
        subject = store.subject("other", {"options": {}})
        with pytest.raises(RuntimeError):
            store.write(subject, half())
        assert list(store.records(subject)) == []


def test_it_can_be_read_while_it_is_written(path):
    with Store.create_or_open(path, TINY) as writing:
        subject = writing.subject("mine", {"options": {}})
        writing.write(subject, some_records())
        with Store.read(path) as reading:
            assert len(list(reading.records(subject))) == len(some_records())


class TestRefusals:
    def refused(self, path, said, suite=TINY, fresh=False):
        before = path.read_bytes() if path.exists() else None
        with pytest.raises(InputError) as caught:
            Store.create_or_open(path, suite, fresh=fresh).close()
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)
        assert (path.read_bytes() if path.exists() else None) == before

    @pytest.mark.parametrize("fresh", [False, True])
    def test_no_store_at_all(self, tmp_path, fresh):
        path = tmp_path / "thesis.txt"
        path.write_text("years of work\n" * 100)
        self.refused(path, "is no store", fresh=fresh)

    @pytest.mark.parametrize("fresh", [False, True])
    def test_another_database(self, tmp_path, fresh):
        path = tmp_path / "other.sqlite"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE stages (x)")
        connection.close()
        self.refused(path, "is a database, but no store of nmfcheck", fresh=fresh)

    def test_an_empty_file(self, tmp_path):
        path = tmp_path / "empty.sqlite"
        path.touch()
        self.refused(path, "is empty, and no store")

    @pytest.mark.parametrize("missing", [1, 100, 5000, 20000])
    def test_truncated(self, filled, missing):
        filled.write_bytes(filled.read_bytes()[:-missing])
        self.refused(filled, "damaged")

    def test_another_database_with_a_log(self, tmp_path):
        """Opening it with SQLite would write the log into it."""
        path = tmp_path / "other.sqlite"
        child = os.fork()
        if child == 0:
            connection = sqlite3.connect(path, isolation_level=None)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE precious (x)")
            os._exit(0)
        os.waitpid(child, 0)
        log = path.with_name("other.sqlite-wal")
        before = log.read_bytes()
        assert before
        self.refused(path, "is a database, but no store of nmfcheck")
        assert log.read_bytes() == before

    @pytest.mark.parametrize(
        "change",
        [
            "DELETE FROM about",
            "UPDATE about SET value = 'quick' WHERE key = 'suite'",
            "UPDATE about SET value = '[]' WHERE key = 'suite'",
        ],
    )
    def test_no_suite(self, filled, change):
        with sqlite3.connect(filled) as connection:
            connection.execute(change)
        connection.close()
        self.refused(filled, "is damaged: it names no suite")

    def test_an_unknown_outcome(self, filled):
        with sqlite3.connect(filled) as connection:
            connection.execute("UPDATE stages SET outcome = 'splendid'")
        connection.close()
        with Store.read(filled) as store, pytest.raises(InputError, match="is damaged: 'splendid'"):
            list(store.records(store.subjects()[0]))

    def test_scribbled_over(self, filled):
        whole = bytearray(filled.read_bytes())
        whole[5000:9000] = b"\x55" * 4000
        filled.write_bytes(whole)
        self.refused(filled, "damaged")

    def test_a_newer_schema(self, filled):
        with sqlite3.connect(filled) as connection:
            connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
        connection.close()
        self.refused(filled, f"has schema {SCHEMA + 1}, not {SCHEMA}; a newer nmfcheck made it")

    def test_another_suite(self, filled):
        other = TINY.selected(sizes=[2, 4])
        self.refused(filled, "is of another suite (tiny version 1: n = 2,3;", other)
        self.refused(filled, "ε = 0,0.001,0.25, not tiny version 1: n = 2,4;", other)

    def test_a_second_writer(self, filled):
        with Store.create_or_open(filled, TINY):
            with pytest.raises(InputError, match="another run is writing to the store"):
                Store.create_or_open(filled, TINY)
            with pytest.raises(InputError, match="another run is writing to the store"):
                Store.create_or_open(filled, TINY, fresh=True)
        Store.create_or_open(filled, TINY).close()

    def test_locked_by_somebody_else(self, filled):
        other = sqlite3.connect(filled, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InputError, match="cannot be used: database is locked"):
            Store.create_or_open(filled, TINY).subject("mine", {"options": {"y": 2}})
        other.close()

    def test_a_folder_that_cannot_be_written(self, tmp_path):
        (tmp_path / "file").touch()
        self.refused(tmp_path / "file" / "one.sqlite", "cannot be made")

    def test_a_folder_in_its_place(self, tmp_path):
        path = tmp_path / "folder"
        path.mkdir()
        with pytest.raises(InputError, match="there is no store"):
            Store.create_or_open(path, TINY)

    def test_nothing_to_read(self, tmp_path):
        with pytest.raises(InputError, match="there is no store"):
            Store.read(tmp_path / "none.sqlite")


def test_beginning_anew(filled):
    other = TINY.selected(sizes=[7])
    with Store.create_or_open(filled, other, fresh=True) as store:
        assert len(store.subjects()) == 1
        store.begin_anew(other)
        assert store.subjects() == []
    Store.create_or_open(filled, other).close()


def test_a_store_that_nobody_entered_goes(path):
    with Store.create_or_open(path, TINY) as store:
        store.remove_if_empty()
    assert list(path.parent.iterdir()) == []


def race(path, barrier, won):
    barrier.wait()
    try:
        with Store.create_or_open(path, TINY) as store:
            subject = store.subject(f"mine {os.getpid()}", {"options": {}})
            store.write(subject, some_records()[:3])
            won.put(os.getpid())
            time.sleep(0.3)
    except InputError as error:
        assert "another run is writing" in str(error)


def test_one_writer_of_several_that_begin_at_once(tmp_path):
    context = multiprocessing.get_context("fork")
    for i in range(10):
        path = tmp_path / f"{i}.sqlite"
        barrier, won = context.Barrier(3), context.Queue()
        processes = [context.Process(target=race, args=(path, barrier, won)) for _ in range(3)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
            assert process.exitcode == 0
        assert won.get(timeout=5)
        assert won.empty()
        with Store.read(path) as store:
            (subject,) = store.subjects()
            assert len(list(store.records(subject))) == 3


def test_the_lock_goes_with_the_process(filled):
    """A process that is killed leaves no lock behind: the system lets go of it."""
    child = os.fork()
    if child == 0:
        Store.create_or_open(filled, TINY)
        os._exit(0)
    os.waitpid(child, 0)
    Store.create_or_open(filled, TINY).close()


def test_the_lock_is_not_sqlites_own(filled):
    """So that those who only read are not kept out."""
    with Store.create_or_open(filled, TINY), filled.open() as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        with Store.read(filled) as reading:
            assert len(reading.subjects()) == 1


def test_records_come_trial_by_trial(filled):
    with Store.read(filled) as store:
        records = list(store.records(store.subjects()[0]))
    keys = [(r.n, r.entries != "ones", r.seed, r.eps) for r in records]
    assert keys == sorted(keys)
    assert records[0].trial == Trial(3, "ones", 0)
