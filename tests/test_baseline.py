"""The baselines: what ships, how it is read, and how it is made."""

import hashlib
import json
import math
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from nmfcheck.checking.campaign import Campaign
from nmfcheck.checking.runnable import Runnable
from nmfcheck.errors import InputError
from nmfcheck.families import find
from nmfcheck.families.bidiagonal.family import LADDER, Bidiagonal, cell_of
from nmfcheck.families.inflated.family import CELLS, Inflated
from nmfcheck.store import Store
from nmfcheck.subjects import SubjectName
from nmfcheck.subjects.references import REFERENCES, ReferenceSubject, accepted
from nmfcheck.text import decimal
from nmfcheck.trials import suites
from nmfcheck.trials.driver import run_trial
from nmfcheck.trials.suites import FULL, STANDARD, Part, Suite
from nmfcheck.verdict.baseline import (
    ACCEPTED,
    PAPER,
    AlgorithmBaseline,
    BaselineCell,
    as_text,
    empty,
    from_text,
    of_results,
    shipped,
    shipped_for,
    trials_of,
)
from nmfcheck.verdict.tally import CellTally

DOCUMENT = Path(__file__).parents[1] / "docs" / "families.md"

FAMILIES = ("bidiagonal", "inflated")
TEST = LADDER[:2]

LETTERS = {
    "multiplicative-update": "2189d070d638a6a849f271fbbabb42cd1a74015071ef5a60e94dcafef9be49f6",
    "als": "b39079bb42f222458a178689662fe5d3f64e75c40792889b1719fae63859d2d5",
    "gradient-descent": "b3f66376c32caf83efbd72ef8fc7627f8823d2bb3092c2b6093f4a092d422edf",
    "nenmf": "678a030295b4996b70c8eb4a3524d8e3d768559b3787b506eb2e78e031f4ca23",
    "coordinate-descent": "9bf9d2ade40ea6443543d2998e2149d4bbe7dd5123bcc3f7e03a7ec2c0620cd8",
}
"""Of all letters of the bidiagonal baseline, as they were when it was made; those of ALS anew since
its singular steps are solved by QR."""


def cells_of(family):
    """Return algorithm, cell and what the shipped baseline has of them."""
    return [
        (name, find(family).cell(cell), each)
        for name, algorithm in shipped(family).algorithms.items()
        for cell, each in algorithm.cells.items()
    ]


@pytest.mark.parametrize("family", FAMILIES)
class TestShipped:
    def test_all_algorithms_ran_with_their_iterations(self, family):
        assert tuple(shipped(family).algorithms) == ACCEPTED
        of_the_family = find(family).baseline_iterations
        for name, algorithm in shipped(family).algorithms.items():
            expected = of_the_family.get(name, REFERENCES[name].iterations)
            assert algorithm.settings["options"] == {"iterations": expected}

    def test_it_has_every_cell_of_the_suites(self, family):
        room, known = find(family), shipped(family)
        assert (known.family, known.version, known.objective) == (family, room.version, "frobenius")
        assert known.asks == tuple(ask.name for ask in room.asks)
        assert known.algorithms
        for algorithm in known.algorithms.values():
            assert set(algorithm.cells) == {cell.name for cell in FULL.part(family).cells}
        for _, cell, each in cells_of(family):
            large = family == "bidiagonal" and cell.n > 8
            assert len(each.tally.seeds) >= (200 if large else 1000)
            assert set(each.tally.letters) == {ask.name for ask in LADDER}
            for letters in each.tally.letters.values():
                assert len(letters) == len(each.tally.seeds)
                assert set(letters) <= set("efcu.")

    def test_a_stage_is_asked_only_after_the_one_before_it(self, family):
        assert cells_of(family)
        for _, _, each in cells_of(family):
            zero, small, large = (each.tally.letters[ask.name] for ask in LADDER)
            assert all((a == "e") == (b != ".") for a, b in zip(zero, small, strict=True))
            assert "." not in large

    def test_words_are_those_of_runs_with_a_form(self, family):
        assert cells_of(family)
        for _, cell, each in cells_of(family):
            for ask, counts in each.labels.get("word", {}).items():
                assert all(len(word) == cell.k - 1 for word in counts)
                letters = each.tally.letters[ask]
                graded = letters.count("e") + letters.count("f")
                assert graded <= sum(counts.values()) <= len(letters) - letters.count("c")

    def test_the_papers_three_alone_ask_for_no_less(self, family):
        known = shipped(family)
        for cell in FULL.part(family).cells:
            alone = known.required(cell.name, TEST, PAPER)
            assert alone.share >= known.required(cell.name, TEST).share >= 0
        for cell in STANDARD.part(family).cells:
            assert known.required(cell.name, TEST).share > 0

    @pytest.mark.parametrize("name", ["multiplicative-update", "nenmf", "anls"])
    def test_its_trials_can_be_run_again(self, family, name):
        """Those whose outcomes do not hang on rounding."""
        room = find(family)
        iterations = room.baseline_iterations.get(name, REFERENCES[name].iterations)
        subject = ReferenceSubject(name, iterations, threads=1)
        cell = room.cell("n=2/loguniform" if family == "bidiagonal" else "5x4/k=2/dyadic")
        letters = shipped(family).algorithms[name].cells[cell.name].tally.letters
        for seed in range(4):
            for stage in run_trial(subject, room.trial(cell, seed, TEST)).stages:
                assert stage.outcome.letter == letters[stage.ask.name][seed]

    def test_the_file_is_what_would_be_written(self, family):
        assert as_text(shipped(family)) == find(family).baseline.read_text(encoding="utf-8")


@pytest.mark.parametrize("algorithm", LETTERS)
def test_the_letters_of_the_bidiagonal_baseline_are_as_they_were(algorithm):
    letters = "".join(
        text
        for name, _, each in cells_of("bidiagonal")
        for text in each.tally.letters.values()
        if name == algorithm
    )
    assert len(letters) == 46_800
    assert hashlib.sha256(letters.encode()).hexdigest() == LETTERS[algorithm]


class TestShippedOfTheInflatedFamily:
    def test_nine_cells_of_a_thousand_trials(self):
        assert set(shipped("inflated").algorithms["als"].cells) == set(CELLS["full"])
        assert len(CELLS["full"]) == 9
        for _, _, each in cells_of("inflated"):
            assert each.tally.seeds == tuple(range(1000))

    def test_digits_tell_what_is_exact(self):
        """Exact is 1e-10 or less in all defects, and digits are rounded to a decimal."""
        assert cells_of("inflated")
        for _, _, each in cells_of("inflated"):
            assert set(each.digits) == set(each.tally.letters)
            for ask, letters in each.tally.letters.items():
                assert len(each.digits[ask]) == len(letters)
                for letter, digits in zip(letters, each.digits[ask], strict=True):
                    assert (digits is None) == (letter == ".")
                    if digits is not None:
                        assert digits == round(digits, 1)
                        assert digits >= 10.0 if letter == "e" else digits <= 10.0


class TestVersions:
    """Who is accepted depends on the version of a suite: what older ones require stays."""

    @pytest.mark.parametrize("family", FAMILIES)
    def test_older_suites_require_what_they_did(self, family):
        four = shipped_for(suites.find("full@4"))[family]
        five = shipped_for(suites.find("full@5"))[family]
        assert four.accepted == five.accepted[:5]
        lower = 0
        for cell in FULL.part(family).cells:
            before, now = (known.required(cell.name, TEST) for known in (four, five))
            assert before.of in four.accepted
            assert before == four.required(cell.name, TEST, four.accepted)
            alone = five.required(cell.name, TEST, ("anls",))
            assert now == (alone if alone.share < before.share else before)
            lower += now.of == "anls"
        assert lower == {"bidiagonal": 8, "inflated": 0}[family]

    def test_for_the_kullback_leibler_divergence_nothing_changes(self):
        for title in ("quick@4", "quick@5", "quick@6"):
            known = shipped_for(suites.find(title, "kl"))["bidiagonal"]
            assert known.accepted == accepted("kl")

    def test_whoever_is_accepted_since_version_5_stays_so(self):
        five, six = (shipped_for(suites.find(f"full@{version}")) for version in (5, 6))
        for family, known in five.items():
            assert six[family].accepted == known.accepted
            assert six[family].algorithms == known.algorithms

    def test_all_accepted_algorithms_reach_the_least_residual_up_to_1e_5(self):
        """So what version 6 requires of optima is no news to them; 1e-10 would be."""
        five, six = (suites.find(f"full@{version}").part("optima") for version in (5, 6))
        (exact,) = (replace(ask, needs="exact") for ask in six.test)
        known = shipped("optima")
        certified = [c.name for c in six.cells if not math.isnan(six.room.required_of(c))]
        assert len(certified) == 4
        lowest = {}
        for cell in certified:
            for part in (five, six):
                shares = known.shares(cell, part.test)
                assert list(shares) == list(known.accepted)
                assert all(share.part == share.whole == 400 for share in shares.values())
            for name, share in known.shares(cell, (exact,)).items():
                lowest[name] = min(lowest.get(name, 1.0), share.value)
        slow = ("multiplicative-update", "gradient-descent")
        assert lowest == {name: float(name not in slow) for name in known.accepted}

    def test_how_near_they_come_is_in_the_documentation(self):
        """The table of docs/families.md: the largest excess of 400 trials."""
        known, written = shipped("optima"), DOCUMENT.read_text(encoding="utf-8")
        cells = [f"{matrix}/k={k}/shuffled" for k in (1, 2) for matrix in ("thomas", "hexagon")]
        for name, algorithm in known.algorithms.items():
            worst = [10.0 ** -min(algorithm.cells[cell].digits["residual"]) for cell in cells]
            row = " | ".join(decimal(float(f"{x:.0e}")) if x > 1e-15 else "< 1e-15" for x in worst)
            assert f"| `{name}` | {row} |" in written


class TestText:
    def test_round_trip(self):
        known = shipped("bidiagonal")
        again = from_text(as_text(known))
        head = ("family", "version", "objective", "asks", "algorithms")
        assert [getattr(again, name) for name in head] == [getattr(known, name) for name in head]

    def test_a_line_for_each_cell(self):
        text = as_text(shipped("bidiagonal"))
        assert json.loads(text)["format"] == 2
        assert sum('"outcomes"' in line for line in text.splitlines()) == 6 * 22
        assert text.count('"outcomes"') == 6 * 22

    def test_another_format(self):
        with pytest.raises(InputError, match="a baseline of format 7; expected 2"):
            from_text(json.dumps({"format": 7}))

    def test_nothing_but_trials_from_0_on(self):
        missing = CellTally(cell_of(2, "ones"), (0, 2), {ask.name: "ee" for ask in LADDER})
        cells = {"n=2/ones": BaselineCell(missing, {}, {})}
        known = replace(empty(find("bidiagonal")), algorithms={"als": AlgorithmBaseline({}, cells)})
        with pytest.raises(InputError, match="n=2/ones: some trials are missing"):
            as_text(known)

    def test_of_a_family_that_ships_none(self, monkeypatch):
        monkeypatch.setattr(Inflated, "baseline", None)
        known = shipped.__wrapped__("inflated")
        assert known.algorithms == {}
        assert known.required("5x4/k=2/dyadic", TEST) is None
        assert trials_of(known, "als", find("inflated").cell("5x4/k=2/dyadic")) == 0


@pytest.fixture
def ran(request):
    """Return what makes what `of_results` takes: a run of coordinate descent through one cell."""

    def run(cell, trials=12, **options):
        room = find(cell.family)
        suite = Suite("baseline", 1, (Part(room.name, room.version, {cell: trials}, room.asks),))
        store = Store.in_memory(suite)
        request.addfinalizer(store.close)
        runnable = Runnable(SubjectName("coordinate-descent", options))
        subject = Campaign(suite, jobs=1).run(runnable, store, lambda _: None)
        return "coordinate-descent", subject.settings, store.results(subject), suite

    return run


class TestMerging:
    def test_new_cells_leave_old_ones_untouched(self, ran):
        first, second = cell_of(2, "ones"), cell_of(3, "loguniform")
        known = of_results(empty(find("bidiagonal")), [ran(first)])
        before = known.algorithms["coordinate-descent"]
        merged = of_results(known, [ran(second)]).algorithms["coordinate-descent"]
        assert list(merged.cells) == [first.name, second.name]
        assert merged.cells[first.name] is before.cells[first.name]
        assert merged.settings == before.settings
        assert list(before.cells) == [first.name]

    def test_they_keep_their_text(self, ran):
        first, second = cell_of(2, "ones"), cell_of(3, "loguniform")
        known = of_results(empty(find("bidiagonal")), [ran(first)])
        merged = of_results(known, [ran(second)])
        old = set(as_text(known).splitlines())
        lines = {line.rstrip(",") for line in as_text(merged).splitlines()}
        assert {line.rstrip(",") for line in old} < lines

    def test_with_other_settings_they_do_not_go_together(self, ran):
        known = of_results(empty(find("bidiagonal")), [ran(cell_of(2, "ones"))])
        with pytest.raises(InputError, match="has coordinate-descent with other settings"):
            of_results(known, [ran(cell_of(3, "ones"), iterations=50)])

    @pytest.mark.parametrize("name", ["bidiagonal/n=3/loguniform", "inflated/9x6/k=3/dyadic"])
    def test_digits_and_words_trial_by_trial(self, ran, name):
        """Another way to them: from the stages themselves."""
        family, _, within = name.partition("/")
        cell = find(family).cell(within)
        run = ran(cell, iterations=200)
        made = of_results(empty(find(family)), [run]).algorithms["coordinate-descent"]
        stages = list(run[2].stages_of(cell))
        digits = {ask.name: [None] * 12 for ask in LADDER}
        letters = {ask.name: ["."] * 12 for ask in LADDER}
        words = {}
        for stage in stages:
            defects = [x for key, x in stage.measures.items() if key.endswith("_defect")]
            largest = max(x for x in defects if math.isfinite(x))
            place = stage.trial.seed
            digits[stage.ask.name][place] = min(round(-math.log10(max(largest, 1e-300)), 1), 17.0)
            letters[stage.ask.name][place] = stage.outcome.letter
            if word := stage.labels.get("word"):
                counts = words.setdefault(stage.ask.name, {})
                counts[word] = counts.get(word, 0) + 1
        each = made.cells[within]
        assert each.digits == digits
        assert each.tally.letters == {ask: "".join(text) for ask, text in letters.items()}
        assert each.labels == {"word": words}
        assert len({x for of_ask in digits.values() for x in of_ask}) > 5

    def test_they_are_read_back(self, ran):
        known = of_results(empty(find("inflated")), [ran(find("inflated").cell("5x4/k=2/dyadic"))])
        assert from_text(as_text(known)).algorithms == known.algorithms


def _rows(path):
    """Return the rows' own ids: a row that is written again gets another."""
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT rowid, family, cell, seed, ask FROM stages").fetchall()


class TestMaking:
    @pytest.fixture
    def small(self, monkeypatch):
        """Make the suites small."""
        cells = [cell_of(n, kind) for n in (2, 3) for kind in ("ones", "loguniform")]
        monkeypatch.setattr(Bidiagonal, "cells", lambda _self, _suite: dict.fromkeys(cells, 3))
        return cells

    def test_one_after_the_other_and_then_the_file(self, nmfcheck, small, tmp_path):
        few = ("--trials", "3", "--anew")
        code, out, _ = nmfcheck("baseline", "bidiagonal", "als", "nenmf", *few)
        assert code == 0
        assert "the file needs all of multiplicative-update" in out
        assert not (tmp_path / "bidiagonal.json").exists()
        store = tmp_path / "runs" / "baseline" / "bidiagonal" / "als-n=2-ones.sqlite"
        before = _rows(store)
        assert before
        code, out, _ = nmfcheck("baseline", "bidiagonal", *few, "--output", "made/baseline.json")
        assert code == 0
        made = from_text((tmp_path / "made" / "baseline.json").read_text())
        assert tuple(made.algorithms) == ACCEPTED
        assert set(made.algorithms["als"].cells) == {cell.name for cell in small}
        assert len(made.algorithms["als"].cells["n=2/ones"].tally.seeds) == 3
        assert _rows(store) == before  # it was not run again

    def test_its_trials_are_the_first_of_the_shipped_ones(self, nmfcheck, small, tmp_path):
        nmfcheck("baseline", "bidiagonal", "--trials", "3", "--anew")
        made = from_text((tmp_path / "bidiagonal.json").read_text())
        for name in ("multiplicative-update", "nenmf"):  # they do not hang on rounding
            for cell, each in made.algorithms[name].cells.items():
                theirs = shipped("bidiagonal").algorithms[name].cells[cell].tally.letters
                first = {ask: letters[:3] for ask, letters in theirs.items()}
                assert each.tally.letters == first

    def test_what_is_shipped_is_not_made_again(self, nmfcheck, tmp_path):
        code, _, _ = nmfcheck("baseline", "bidiagonal")
        assert code == 0
        assert not (tmp_path / "runs").exists()
        text = find("bidiagonal").baseline.read_text(encoding="utf-8")
        assert (tmp_path / "bidiagonal.json").read_text(encoding="utf-8") == text

    def test_no_such_algorithm(self, nmfcheck):
        code, _, err = nmfcheck("baseline", "bidiagonal", "svd")
        assert code == 2
        assert err.startswith("nmfcheck: no algorithm 'svd'; there are multiplicative-update")

    def test_no_such_family(self, nmfcheck):
        code, _, err = nmfcheck("baseline", "bidiagnoal")
        assert (code, err) == (2, "nmfcheck: no family 'bidiagnoal'; did you mean 'bidiagonal'?\n")

    def test_a_family_with_a_fixed_requirement_needs_none(self, nmfcheck, monkeypatch):
        """Unless it ships one all the same, to be shown."""
        monkeypatch.setattr(Inflated, "required", 0.8)
        assert nmfcheck("baseline", "inflated")[0] == 0
        monkeypatch.setattr(Inflated, "baseline", None)
        code, _, err = nmfcheck("baseline", "inflated")
        assert code == 2
        expected = "inflated needs no baseline: it requires a fixed share of 80 %"
        assert err == f"nmfcheck: {expected}\n"
