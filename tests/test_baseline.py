"""The baseline: what ships, how it is read, and how it is made."""

import importlib
import json
import sqlite3

import pytest

from nmfcheck.verdict import baseline as module
from nmfcheck.verdict.baseline import ACCEPTED, ITERATIONS, PAPER, as_text, from_text, shipped
from nmfcheck.trials.protocol import run_trial
from nmfcheck.subjects.references import REFERENCES, ReferenceSubject
from nmfcheck.trials.suites import FULL, QUICK, STANDARD
from nmfcheck.trials.trial import LADDER, Trial

TEST = LADDER[:2]


class TestShipped:
    def test_all_algorithms_ran_with_their_iterations(self):
        assert tuple(shipped().algorithms) == ACCEPTED
        for name, algorithm in shipped().algorithms.items():
            expected = ITERATIONS.get(name, REFERENCES[name][1])
            assert algorithm.settings["options"] == {"iterations": expected}

    def test_it_has_every_cell_of_the_suites(self):
        assert shipped().suite_version == STANDARD.version == FULL.version
        for algorithm in shipped().algorithms.values():
            assert set(algorithm.cells) == set(FULL.cells())
            for (n, _), cell in algorithm.cells.items():
                assert len(cell.tally.seeds) >= (1000 if n <= 8 else 200)
                assert set(cell.tally.letters) == {rung.eps for rung in LADDER}
                for letters in cell.tally.letters.values():
                    assert len(letters) == len(cell.tally.seeds)
                    assert set(letters) <= set("efcu.")

    def test_a_stage_is_asked_only_after_the_one_before_it(self):
        for algorithm in shipped().algorithms.values():
            for cell in algorithm.cells.values():
                zero, small, large = (cell.tally.letters[rung.eps] for rung in LADDER)
                assert all((a == "e") == (b != ".") for a, b in zip(zero, small, strict=True))
                assert "." not in large

    def test_words_are_those_of_runs_with_a_form(self):
        for algorithm in shipped().algorithms.values():
            for (n, _), cell in algorithm.cells.items():
                for eps, counts in cell.words.items():
                    assert all(len(word) == n - 1 for word in counts)
                    letters = cell.tally.letters[eps]
                    graded = letters.count("e") + letters.count("f")
                    assert graded <= sum(counts.values()) <= len(letters) - letters.count("c")

    def test_the_papers_three_alone_ask_for_no_less(self):
        for n, kind in FULL.cells():
            alone = shipped().required(n, kind, TEST, PAPER)
            assert alone.share >= shipped().required(n, kind, TEST).share >= 0
        assert all(shipped().required(n, kind, TEST).share > 0 for n, kind in STANDARD.cells())

    @pytest.mark.parametrize("name", ["multiplicative-update", "nenmf"])
    def test_its_trials_can_be_run_again(self, name):
        """The two whose outcomes do not hang on rounding."""
        subject = ReferenceSubject(name, REFERENCES[name][1], threads=1)
        cell = shipped().algorithms[name].cells[2, "loguniform"].tally
        for seed in range(4):
            trial = Trial.of_cell(2, "loguniform", seed, TEST)
            for stage in run_trial(subject, trial).stages:
                assert stage.outcome.letter == cell.letters[stage.rung.eps][seed]


class TestText:
    def test_round_trip(self):
        assert from_text(as_text(shipped())) == shipped()

    def test_another_format(self):
        with pytest.raises(module.InputError, match="a baseline of format 7; expected 1"):
            from_text(json.dumps({"format": 7}))


def _rows(path):
    """Return the rows' own ids: a row that is written again gets another."""
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT rowid, case_id, seed FROM stages").fetchall()


class TestMaking:
    @pytest.fixture
    def small(self, monkeypatch):
        """Make the suites of the baseline small."""
        suites = tuple(QUICK.selected(sizes=[n], trials=3) for n in (2, 3))
        monkeypatch.setattr(importlib.import_module("nmfcheck.cli.baseline"), "SUITES", suites)
        return suites

    def test_one_after_the_other_and_then_the_file(self, nmfcheck, small, tmp_path):
        code, out, _ = nmfcheck("baseline", "als", "nenmf")
        assert code == 0
        assert "the file needs all five" in out
        assert not (tmp_path / "baseline.json").exists()
        store = tmp_path / "runs" / "baseline" / "als-n2-2.sqlite"
        before = _rows(store)
        code, out, _ = nmfcheck("baseline", "--output", "made/baseline.json")
        assert code == 0
        made = from_text((tmp_path / "made" / "baseline.json").read_text())
        assert tuple(made.algorithms) == ACCEPTED
        assert set(made.algorithms["als"].cells) == {(n, k) for s in small for n, k in s.cells()}
        assert len(made.algorithms["als"].cells[2, "ones"].tally.seeds) == 3
        assert _rows(store) == before  # it was not run again

    def test_no_such_algorithm(self, nmfcheck):
        code, _, err = nmfcheck("baseline", "svd")
        assert code == 2
        assert err.startswith("nmfcheck: no algorithm 'svd'; there are multiplicative-update")
