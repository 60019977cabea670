"""Stores that are joined, and blocks of seeds."""

import contextlib
import sqlite3

import pytest

import zoo
from nmfcheck import InputError
from nmfcheck.store import Store
from nmfcheck.store.merging import merge
from stores import dump

SUBJECT = f"py:{zoo.__file__}:good"


@pytest.fixture
def run(nmfcheck):
    def run(store, seeds, *more, subject=SUBJECT):
        chosen = ("--seeds", seeds) if seeds else ()
        code, out, err = nmfcheck("run", subject, "--sizes", "2", *chosen, "--store", store, *more)
        assert code in (0, 1, 3), err
        return out

    return run


def test_blocks_are_the_whole(run, nmfcheck, tmp_path):
    run("whole.sqlite", "0-11")
    run("one.sqlite", "0-4")
    run("two.sqlite", "5-11")
    code, out, _ = nmfcheck("merge", "two.sqlite", "one.sqlite", "--into", "all.sqlite")
    assert (code, out.startswith("all.sqlite: ")) == (0, True)
    assert dump(tmp_path / "all.sqlite") == dump(tmp_path / "whole.sqlite")
    with Store.read(tmp_path / "all.sqlite") as one, Store.read(tmp_path / "whole.sqlite") as other:
        assert one.suite == other.suite
    (_, merged, _), (_, expected, _) = (
        nmfcheck("report", f"{name}.sqlite") for name in ("all", "whole")
    )
    assert merged == expected


def test_again_changes_nothing(run, nmfcheck, tmp_path):
    run("one.sqlite", "0-4")
    run("two.sqlite", "5-7")
    for stores in (("one.sqlite", "two.sqlite"), ("two.sqlite",), ("all.sqlite", "one.sqlite")):
        code, _, _ = nmfcheck("merge", *stores, "--into", "all.sqlite")
        assert code == 0
        found = dump(tmp_path / "all.sqlite")
        assert len(found) == len(dump(tmp_path / "one.sqlite")) + len(dump(tmp_path / "two.sqlite"))
    assert not list(tmp_path.glob("*.merged*"))


@pytest.mark.parametrize("reading", [False, True])
def test_nothing_is_lost_where_it_ends_before_its_end(
    run, nmfcheck, tmp_path, monkeypatch, reading
):
    """Of a store whose rows are in its log still, too."""
    run("all.sqlite", "0-2")
    run("two.sqlite", "3-4")
    into = tmp_path / "all.sqlite"
    with contextlib.closing(sqlite3.connect(into, isolation_level=None)) as reader:
        with contextlib.closing(sqlite3.connect(into, isolation_level=None)) as writer:
            writer.execute("UPDATE stages SET seconds = 7")
            if reading:
                reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM stages").fetchone()  # keeps the log there
            writer.execute("UPDATE stages SET seconds = 8")
        assert (tmp_path / "all.sqlite-wal").stat().st_size > 0

        def fail(*_):
            raise OSError(28, "No space left on device")

        why = "is being read by another process" if reading else "No space left"
        with monkeypatch.context() as patched:
            patched.setattr("pathlib.Path.replace", fail)
            with pytest.raises((InputError, OSError), match=why):
                merge([tmp_path / "two.sqlite"], into)
    with contextlib.closing(sqlite3.connect(into)) as connection:
        assert set(connection.execute("SELECT seconds FROM stages")) == {(8.0,)}
    code, _, _ = nmfcheck("merge", "two.sqlite", "--into", "all.sqlite")
    assert code == 0


@pytest.mark.slow
def test_a_gap_is_run_later(run, nmfcheck, tmp_path):
    run("one.sqlite", "3-4")
    run("two.sqlite", "8-9")
    nmfcheck("merge", "one.sqlite", "two.sqlite", "--into", "all.sqlite")
    _, out, _ = nmfcheck("report", "all.sqlite")
    assert "Of 14 trials of the suite, 8 have been run" in out
    run("all.sqlite", "3-9")
    run("whole.sqlite", "3-9")
    assert dump(tmp_path / "all.sqlite") == dump(tmp_path / "whole.sqlite")


class TestWhatDoesNotBelongTogether:
    def refused(self, nmfcheck, *stores):
        code, out, err = nmfcheck("merge", *stores, "--into", "all.sqlite")
        assert (code, out, err.count("\n")) == (2, "", 1)
        return err

    def test_another_suite(self, run, nmfcheck, tmp_path):
        run("one.sqlite", "0-1")
        run("two.sqlite", "2-3", "--suite", "quick@1")
        assert "do not belong together" in self.refused(nmfcheck, "one.sqlite", "two.sqlite")
        assert not (tmp_path / "all.sqlite").exists()

    def test_another_subject(self, run, nmfcheck):
        run("one.sqlite", "0-1")
        run("two.sqlite", "2-3", subject="als")
        assert "which is not in" in self.refused(nmfcheck, "one.sqlite", "two.sqlite")

    def test_another_setting(self, run, nmfcheck):
        run("one.sqlite", "0-1")
        run("two.sqlite", "2-3", "--timeout", "20")
        err = self.refused(nmfcheck, "one.sqlite", "two.sqlite")
        assert "which is another one" in err
        assert "limits" in err

    def test_another_outcome_of_the_same_trial(self, run, nmfcheck, tmp_path):
        run("one.sqlite", "0-1")
        run("two.sqlite", "1-2")
        with contextlib.closing(sqlite3.connect(tmp_path / "two.sqlite")) as connection:
            connection.execute("UPDATE stages SET outcome = 'collapsed' WHERE seed = 1")
            connection.commit()
        err = self.refused(nmfcheck, "one.sqlite", "two.sqlite")
        assert "contradicts the others: bidiagonal/n=2/" in err
        assert not (tmp_path / "all.sqlite").exists()

    def test_no_store(self, run, nmfcheck):
        run("one.sqlite", "0-1")
        assert "there is no store 'nothing'" in self.refused(nmfcheck, "one.sqlite", "nothing")


@pytest.mark.parametrize("seeds", ["", "7", "5-3", "a-b", "-1-5", "0-1-2"])
def test_bad_blocks(nmfcheck, seeds):
    code, _, err = nmfcheck("run", "als", "--seeds", seeds)
    assert code == 2
    assert f"--seeds is {seeds!r}" in err


def test_a_block_of_another_run_is_another_suite(run, nmfcheck):
    run("one.sqlite", "0-1")
    code, _, err = nmfcheck(
        "run", SUBJECT, "--sizes", "2", "--seeds", "4-5", "--store", "one.sqlite"
    )
    assert code == 2
    assert "seeds from 4 on" in err


def test_seeds_and_trials(nmfcheck):
    code, _, err = nmfcheck("run", "als", "--seeds", "0-1", "--trials", "2")
    assert (code, "leave out --trials" in err) == (2, True)
