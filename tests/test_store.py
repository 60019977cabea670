"""The store: what goes in comes out, and what is not a store is left alone."""

import fcntl
import json
import math
import multiprocessing
import os
import shutil
import sqlite3
import time
import zlib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmfcheck import InputError, Trial
from nmfcheck.families.bidiagonal.family import FAMILY, SLOPE_ASKS, eps_of
from nmfcheck.judging.outcomes import Flag, Outcome
from nmfcheck.store import Store
from nmfcheck.store.file import SCHEMA, uri
from nmfcheck.text import decimal
from nmfcheck.trials import suites
from nmfcheck.trials.driver import run_trials
from nmfcheck.trials.stage import Stage

TINY = replace(suites.find("quick@1").selected(sizes=[2, 3], trials=3), name="tiny")


def some_stages():
    """Return stages of all sorts: exact, invalid, with an exception, with a flag."""

    def subject(A, rank, *, seed):
        if seed == 1:
            raise ValueError("no luck")
        if seed == 2:
            A[:] = 7
            return A * np.nan, A
        return (A.copy(), np.eye(rank)) if A[0, 1] != 0.25 else (A * 0, A)

    trials = [trial for trial in TINY if trial.cell.n == 3]
    return [stage for result in run_trials(subject, trials) for stage in result.stages]


def stored(store, subject, *, matrices=False):
    """Return all stages of a subject in a store."""
    results = store.results(subject)
    cells = dict.fromkeys(row.cell for row in results.rows())
    named = [FAMILY.cell(cell.removeprefix("bidiagonal/")) for cell in cells]
    return [s for cell in named for s in results.stages_of(cell, matrices=matrices)]


def place(stage):
    return stage.case_id, stage.ask.name, stage.trial.seed


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs" / "one.sqlite"


@pytest.fixture
def filled(path):
    with Store.create_or_open(path, TINY) as store:
        subject = store.subject("mine", {"options": {}})
        store.write(subject, some_stages())
    return path


def test_what_goes_in_comes_out(path):
    stages = some_stages()
    outcomes = {str(stage.outcome) for stage in stages}
    assert outcomes >= {"exact", "invalid", "error", "unconverged"}
    assert any(stage.flags == (Flag.CHANGED_A,) for stage in stages)
    assert any(math.inf in stage.measures.values() for stage in stages)
    with Store.create_or_open(path, TINY) as store:
        subject = store.subject("mine", {"options": {"x": 1}})
        store.write(subject, stages)
    with Store.read(path) as store:
        (again,) = store.subjects()
        assert again == subject
        found = stored(store, again, matrices=True)
    assert sorted(map(repr, found)) == sorted(map(repr, stages))
    originals = {place(stage): stage for stage in stages}
    for stage in found:
        original = originals[place(stage)]
        assert stage == original
        assert stage.trial.asks == original.trial.asks
        for X, Y in ((stage.W, original.W), (stage.H, original.H)):
            assert (X is None) == (Y is None) == (stage.passed or stage.digest == "")
            if X is not None:
                assert X.tobytes() == Y.tobytes()
        assert math.isnan(stage.seconds) == math.isnan(original.seconds)


def test_it_says_what_it_is(filled):
    with Store.read(filled) as store:
        assert store.suite == TINY
        assert store.suite.name == "tiny"
        (subject,) = store.subjects()
        assert {"python", "numpy", "system", "cores", "engine"} <= subject.environment.keys()


def test_it_says_who_made_it(filled):
    connection = sqlite3.connect(f"{filled.as_uri()}?mode=ro", uri=True)
    about = {key: json.loads(value) for key, value in connection.execute("SELECT * FROM about")}
    connection.close()
    assert about["nmfcheck"] == "0.1.0"
    assert about["suite"]["name"] == "tiny"


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
        yield some_stages()[0]
        raise RuntimeError("power cut")

    with Store.create_or_open(filled, TINY) as store:
        subject = store.subject("other", {"options": {}})
        with pytest.raises(RuntimeError):
            store.write(subject, half())
        assert store.results(subject).rows() == []


def test_it_can_be_read_while_it_is_written(path):
    with Store.create_or_open(path, TINY) as writing:
        subject = writing.subject("mine", {"options": {}})
        writing.write(subject, some_stages())
        with Store.read(path) as reading:
            assert len(reading.results(subject).rows()) == len(some_stages())


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
        self.refused(path, "is not a store", fresh=fresh)

    @pytest.mark.parametrize("fresh", [False, True])
    def test_another_database(self, tmp_path, fresh):
        path = tmp_path / "other.sqlite"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE stages (x)")
        connection.close()
        self.refused(path, "is a database, but not a store of nmfcheck", fresh=fresh)

    def test_an_empty_file(self, tmp_path):
        path = tmp_path / "empty.sqlite"
        path.touch()
        self.refused(path, "is empty, and not a store")

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
        self.refused(path, "is a database, but not a store of nmfcheck")
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
        with Store.read(filled) as store:
            results = store.results(store.subjects()[0])
            with pytest.raises(InputError, match="is damaged: no outcome 'splendid'"):
                results.rows()
            with pytest.raises(InputError, match="is damaged: 'splendid'"):
                list(results.stages_of(FAMILY.cell("n=3/ones")))

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
        scope = "tiny@1: bidiagonal, 4 cells of 3 trials, sizes"
        entries = "entries ones,loguniform, eps 0,1e-3,0.25"
        self.refused(
            filled,
            f"is of another suite ({scope} 2,3, {entries}; not {scope} 2,4, {entries}); choose "
            "another with --store, or --fresh",
            other,
        )

    def test_another_family_or_version(self, filled):
        (inflated,) = suites.QUICK.selected(shapes="5x4/k=2,4x7/k=3", trials=9).parts
        other = replace(TINY, parts=(*TINY.parts, inflated))
        shapes = "shapes 5x4/k=2/dyadic,4x7/k=3/dyadic"
        self.refused(filled, f"; inflated, 2 cells of 9 trials, {shapes})", other)
        self.refused(filled, "not tiny@2: bidiagonal", replace(TINY, version=2))

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
            store.write(subject, some_stages()[:3])
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
            assert len(store.results(subject).rows()) == 3


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


def test_stages_come_trial_by_trial(filled):
    with Store.read(filled) as store:
        stages = stored(store, store.subjects()[0])
    keys = [(s.trial.cell.n, s.trial.draw is not None, s.trial.seed, eps_of(s.ask)) for s in stages]
    assert keys == sorted(keys)
    assert stages[0].trial == Trial.from_id("bidiagonal/n=3/ones/seed=0")


MIXED = suites.QUICK.selected(
    families=["inflated", "bidiagonal"], trials=2, sizes=[10, 9], shapes="4x3/k=2,3x4/k=2",
    eps=[0.25, 1e-3, 0.0, 0.5], slopes=True,
)  # fmt: skip


def all_stages(suite, trials=2):
    """Return a stage of every ask of the first trials of each cell."""
    outcomes = list(Outcome)
    asked = [
        (trial, ask)
        for cell in (*suite.cells, *suite.extra)
        for trial in suite.cell(cell)[:trials]
        for ask in trial.asks
    ]
    return [
        Stage(trial, ask, outcomes[i % len(outcomes)], f"message {i}")
        for i, (trial, ask) in enumerate(asked)
    ]


@given(st.randoms(use_true_random=False), st.integers(1, 60))
def test_the_order_of_rows_is_not_that_of_writing(random, length):
    stages = all_stages(MIXED)
    shuffled = stages + random.sample(stages, 10)  # some are written again
    random.shuffle(shuffled)
    with Store.in_memory(MIXED) as store:
        one, other = (store.subject(name, {"options": {}}) for name in ("one", "other"))
        store.write(one, stages)
        for i in range(0, len(shuffled), length):
            store.write(other, shuffled[i : i + length])
        expected, found = (store.results(subject).rows() for subject in (one, other))
        assert [row[1:] for row in found] == [row[1:] for row in expected]
        assert len({row.id for row in found + expected}) == 2 * len(stages)
        of_the_suite = store.results(other).of_the_suite()
    in_order = [(s.trial.cell.id, s.trial.draw, s.trial.seed, s.ask.name) for s in stages]
    ladder = [each for each in in_order if each[0] != "bidiagonal/slopes"]
    assert [row[1:5] for row in of_the_suite] == ladder
    assert [row[1:5] for row in found[: len(ladder)]] == ladder


def test_results_are_of_one_subject_and_of_one_cell():
    with Store.in_memory(MIXED) as store:
        one, other = (store.subject(name, {"options": {}}) for name in ("one", "other"))
        stages = all_stages(MIXED)
        store.write(one, stages)
        store.write(other, stages[:5])
        assert len(store.results(one).rows()) == len(stages)
        assert len(store.results(other).rows()) == 5
        assert store.count() == len(stages) + 5
        for cell in (*MIXED.cells, *MIXED.extra):
            own = [stage for stage in stages if stage.trial.cell == cell]
            assert list(store.results(one).stages_of(cell)) == own
            done = store.results(one).done(cell)
            assert [outcome for seed in done for outcome in done[seed]] == [s.outcome for s in own]
        ids = [row.id for row in store.results(one).rows("outcome = 'crashed'")]
        crashed = [stage for stage in stages if stage.outcome is Outcome.CRASHED]
        found = store.results(one).stages(ids)
        assert sorted(map(place, found)) == sorted(map(place, crashed))


SCHEMA_1 = Path(__file__).parent / "data" / "schema1.sqlite"
"""Four subjects, two of which fail, and the slopes of one; written by the version before."""


class TestSchema1:
    @pytest.fixture
    def old(self, tmp_path):
        (tmp_path / "runs").mkdir()
        return Path(shutil.copy(SCHEMA_1, tmp_path / "runs" / "old.sqlite"))

    @pytest.fixture(autouse=True)
    def temporary(self, tmp_path, monkeypatch):
        """Let copies go to a folder of their own, in which none must be left."""
        folder = tmp_path / "temporary"
        folder.mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(folder))
        yield folder
        assert list(folder.iterdir()) == []

    @staticmethod
    def plain(table, order):
        """Return a table as SQLite has it."""
        connection = sqlite3.connect(f"{SCHEMA_1.as_uri()}?mode=ro&immutable=1", uri=True)
        connection.row_factory = sqlite3.Row
        found = [dict(row) for row in connection.execute(f"SELECT * FROM {table} ORDER BY {order}")]
        connection.close()
        return found

    @staticmethod
    def numbers(packed):
        return None if packed is None else zlib.decompress(packed)

    def test_it_is_left_as_it_is(self, old, temporary):
        before = old.read_bytes()
        with Store.read(old) as store:
            for subject in store.subjects():
                assert store.results(subject).rows()
            assert len(list(temporary.iterdir())) == 1
            assert store.path == old
        assert old.read_bytes() == before == SCHEMA_1.read_bytes()
        assert list(old.parent.iterdir()) == [old]

    def test_its_suite(self, old):
        with Store.read(old) as store:
            assert store.suite == suites.find("quick@1").selected(sizes=[2, 3], trials=4)

    def test_its_subjects(self, old):
        with Store.read(old) as store:
            found = store.subjects()
        rows = self.plain("subjects", "latest")
        assert [s.name for s in found] == [
            "coordinate-descent", "multiplicative-update", "als", "py:odd:nmf",
        ]  # fmt: skip
        for subject, row in zip(found, rows, strict=True):
            assert (subject.id, subject.name, subject.fingerprint) == (
                row["id"], row["name"], row["fingerprint"],
            )  # fmt: skip
            assert subject.settings == json.loads(row["settings"])
            assert subject.environment == json.loads(row["environment"])

    def test_its_stages(self, old):
        rows = self.plain("stages", "subject, n, entries != 'ones', seed, eps")
        kept, outcomes = 0, Counter()
        with Store.read(old) as store:
            for subject in store.subjects():
                own = [row for row in rows if row["subject"] == subject.id]
                results = store.results(subject)
                stages = [
                    stage
                    for cell in store.suite.cells
                    for stage in results.stages_of(cell, matrices=True)
                ]
                for stage, row in zip(stages, own, strict=True):
                    trial = stage.trial
                    assert stage.case_id == row["case_id"]
                    assert trial.id == f"bidiagonal/n={row['n']}/{row['entries']}/seed={trial.seed}"
                    assert (trial.seed, eps_of(stage.ask)) == (row["seed"], row["eps"])
                    assert (stage.outcome, stage.outcome.grade) == (row["outcome"], row["grade"])
                    assert stage.measures == {
                        name: row[name]
                        for name in (
                            "form_defect", "product_defect", "kkt_residual", "permutation_changed",
                        )
                        if row[name] is not None
                    }  # fmt: skip
                    assert stage.labels == {
                        name: row[name] for name in ("word", "permutation") if row[name]
                    }
                    for name in ("message", "output", "digest"):
                        assert getattr(stage, name) == row[name]
                    assert ",".join(stage.flags) == row["flags"]
                    assert stage.seconds == row["seconds"] or (
                        math.isnan(stage.seconds) and row["seconds"] is None
                    )
                    for X, packed in ((stage.W, row["W"]), (stage.H, row["H"])):
                        assert (None if X is None else X.tobytes()) == self.numbers(packed)
                        kept += X is not None
                    outcomes[str(stage.outcome)] += 1
        assert kept > 50
        assert outcomes.keys() >= {"exact", "first-order", "unconverged", "collapsed", "invalid",
                                   "error", "crashed"}  # fmt: skip

    def test_its_slopes(self, old):
        rows = self.plain("slopes", "subject, seed, eps")
        assert len(rows) == 1000
        by_place = {(row["subject"], row["seed"], decimal(row["eps"])): row for row in rows}
        with Store.read(old) as store:
            for subject in store.subjects():
                results = store.results(subject)
                stages = list(results.stages_of(FAMILY.cell("slopes"), matrices=True))
                assert len(stages) == (1000 if subject.name == "coordinate-descent" else 0)
                for stage in stages:
                    eps = stage.ask.name.removeprefix("slopes:eps=")
                    row = by_place.pop((subject.id, stage.trial.seed, eps))
                    assert stage.W.tobytes() == self.numbers(row["W"])
                    assert stage.H.tobytes() == self.numbers(row["H"])
                    assert ("permutation_changed" in stage.measures) == (eps != "0")
                assert [s.ask for s in stages] == list(SLOPE_ASKS) * (len(stages) // 10)
                assert not {row.id for row in results.of_the_suite()} & {
                    row.id for row in results.rows("cell = 'slopes'")
                }
        assert not by_place

    @pytest.mark.parametrize("fresh", [False, True])
    def test_it_is_not_written_to(self, old, fresh):
        suite = suites.find("quick@1").selected(sizes=[2, 3], trials=4)
        TestRefusals().refused(
            old, "was made by an earlier version, and is not written to; choose another", suite,
            fresh=fresh,
        )  # fmt: skip
        assert list(old.parent.iterdir()) == [old]

    def test_a_run_does_not_go_on_with_it(self, old, nmfcheck):
        before = old.read_bytes()
        arguments = ("--suite", "quick@1", "--sizes", "2-3", "--trials", "4", "--store", old)
        code, out, err = nmfcheck("run", "coordinate-descent", *arguments)
        assert (code, out) == (2, "")
        assert "('nmfcheck report' shows this one)" in err
        assert err.count("\n") == 1
        assert old.read_bytes() == before

    def test_its_verdicts(self, old, nmfcheck):
        before = old.read_bytes()
        code, out, err = nmfcheck("report", old)
        assert (code, err) == (1, "")
        assert "16 of 16 trials passed (100.0 %)" in out
        assert "Slopes in ε, n = 2, from 100 starts: w0(1) is linear (100 of 100)" in out
        assert "Hard failure: W or H is not a finite, nonnegative real matrix" in out
        code, out, _ = nmfcheck("report", old, "--json", "-")
        assert code == 1
        subjects = json.loads(out)["subjects"]
        assert {each["name"]: each["verdict"] for each in subjects} == {
            "coordinate-descent": "INCONCLUSIVE",
            "multiplicative-update": "FAIL",
            "als": "INCONCLUSIVE",
            "py:odd:nmf": "FAIL",
        }
        assert old.read_bytes() == before
        assert list(old.parent.iterdir()) == [old]

    def test_what_a_killed_run_has_not_written_out(self, old):
        """Its log counts, and is left as it is."""
        child = os.fork()
        if child == 0:
            connection = sqlite3.connect(old, isolation_level=None)
            connection.execute("UPDATE stages SET message = 'in the log' WHERE subject = 3")
            os._exit(0)
        os.waitpid(child, 0)
        log = old.with_name("old.sqlite-wal")
        before = old.read_bytes(), log.read_bytes()
        assert before[0] == SCHEMA_1.read_bytes()
        assert before[1]
        with Store.read(old) as store:
            messages = {s.message for s in stored(store, store.subjects()[2])}
        assert messages == {"in the log"}
        assert (old.read_bytes(), log.read_bytes()) == before

    @pytest.mark.parametrize(
        "change",
        [
            "DELETE FROM about",
            "UPDATE about SET value = 'quick' WHERE key = 'suite'",
            "UPDATE about SET value = '{}' WHERE key = 'suite'",
            "UPDATE about SET value = replace(value, 'ones', 'twos') WHERE key = 'suite'",
            "UPDATE stages SET entries = 'twos' WHERE subject = 1",
            "UPDATE stages SET entries = x'00' WHERE subject = 1",
            "UPDATE stages SET form_defect = 'small' WHERE subject = 1",
            "UPDATE slopes SET eps = 7 WHERE seed = 3 AND eps = 0",
            "UPDATE slopes SET W = x'00' WHERE seed = 3",
            "ALTER TABLE stages RENAME COLUMN word TO words",
            "DROP TABLE subjects",
        ],
    )
    def test_damaged(self, old, change):
        with sqlite3.connect(old) as connection:
            connection.execute(change)
        connection.close()
        before = old.read_bytes()
        with pytest.raises(InputError) as caught, Store.read(old) as store:
            for subject in store.subjects():
                stored(store, subject)
        assert str(old) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert old.read_bytes() == before

    def test_scribbled_over(self, old):
        whole = bytearray(old.read_bytes())
        whole[50000:90000] = b"\x55" * 40000
        old.write_bytes(whole)
        with pytest.raises(InputError, match="damaged"):
            Store.read(old)
        assert old.read_bytes() == whole


class TestWhereNothingCanBeWritten:
    """Such as a file system that is read-only; permissions would not stop root."""

    @pytest.fixture(autouse=True)
    def sealed(self, monkeypatch):
        monkeypatch.setattr(os, "access", lambda _path, mode: mode != os.W_OK)

    def test_a_store_is_read(self, filled):
        assert uri(filled).endswith("one.sqlite?mode=ro&immutable=1")
        with Store.read(filled) as store:
            assert store.count() > 0
            assert [each.name for each in filled.parent.iterdir()] == [filled.name]

    def test_what_is_beside_it_counts(self, filled):
        log = filled.with_name(f"{filled.name}-wal")
        log.touch()
        assert "immutable" in uri(filled)
        log.write_bytes(b"something")
        assert uri(filled).endswith("?mode=rw")

    def test_to_write_is_something_else(self, filled):
        assert uri(filled, write=True).endswith("?mode=rw")


def test_elsewhere_others_may_write(filled):
    assert uri(filled).endswith("?mode=rw")
