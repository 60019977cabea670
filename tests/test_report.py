"""Reports: the three files, made from stores alone, and the page in a real browser."""

import json
import os
import shutil
import sqlite3
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from junitparser import JUnitXml

from browser import check_page, needs_browser, opened
from nmfcheck.verdict.baseline import shipped
from nmfcheck.errors import InputError
from nmfcheck.report import contents as contents_module
from nmfcheck.report.contents import contents, unlike_references
from nmfcheck.report.document import as_document
from nmfcheck.report.html import as_page
from nmfcheck.report.junit import as_junit
from nmfcheck.checking.campaign import Campaign
from nmfcheck.store import Store
from nmfcheck.subjects import SubjectName
from nmfcheck.trials.suites import QUICK
from nmfcheck.verdict.counts import count, count_stored
from nmfcheck.verdict.tally import tally
from nmfcheck.trials.trial import LADDER

ZOO = Path(__file__).parent / "zoo.py"
SUITE = QUICK.selected(sizes=(2, 3), trials=12)
NASTY = "py:<script>alert(1)</script>:nmf"


def filled(path, *subjects, suite=SUITE):
    """Make a store with the results of references and animals of the zoo."""
    campaign = Campaign(suite, jobs=1)
    with Store.create_or_open(path, suite) as store:
        for name in subjects:
            if name in ("als", "coordinate-descent"):
                campaign.run_reference(SubjectName(name), store, lambda _: None)
            else:
                with campaign.workers(SubjectName(f"py:{ZOO}:{name}")) as workers:
                    campaign.run_isolated(workers, store, lambda _: None)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Return a store with a good, a wrong and a badly named subject."""
    path = tmp_path_factory.mktemp("report") / "run.sqlite"
    filled(path, "coordinate-descent", "has_nan_after_some_iterations", "is_stuck_at_its_start")
    with Store.create_or_open(path, SUITE) as store:
        store._connection.execute("UPDATE subjects SET name = ? WHERE name LIKE '%nan%'", (NASTY,))
        store._connection.execute(
            "UPDATE stages SET message = '<img src=x onerror=alert(2)>' WHERE outcome = 'invalid'"
        )
    return path


@pytest.fixture(scope="module")
def found(path):
    with Store.read(path) as store:
        return contents([store])


@pytest.fixture(scope="module")
def page(found):
    return as_page(found)


class TestContents:
    def test_the_same_store_gives_the_same_bytes(self, path, page, found):
        with Store.read(path) as store:
            again = contents([store])
        assert as_page(again) == page
        assert as_junit(again) == as_junit(found)
        assert as_document(again) == as_document(found)

    def test_the_best_comes_first(self, found):
        ranked = [each.name for each in found.ranked]
        assert ranked[0] == "coordinate-descent"
        assert len(ranked) == 3

    def test_trials_that_only_the_subject_fails(self, path):
        """Another way to it: trial by trial, with the references' letters looked up."""
        with Store.read(path) as store:
            stuck = next(s for s in store.subjects() if "stuck" in s.name)
            told = set(unlike_references(tally(store, stuck), shipped()))
        expected = set()
        for n, kind in SUITE.cells():
            for trial in SUITE.cell(n, kind):
                letters = [
                    (cell.letters[0.0][trial.seed], cell.letters[1e-3][trial.seed])
                    for name in ("multiplicative-update", "als", "gradient-descent")
                    for cell in [shipped().algorithms[name].cells[n, kind].tally]
                ]
                if all(zero == "e" and small in "ef" for zero, small in letters):
                    expected.add(trial.id)
        assert told == expected
        assert expected

    def test_counted_in_two_ways(self, path):
        """From columns of the store, and record by record."""
        with Store.read(path) as store:
            for subject in store.subjects():
                by_columns = count_stored(store, subject, tally(store, subject))
                by_records = count(store.records(subject), SUITE.ladder)
                assert repr(by_columns) == repr(by_records)

    def test_two_stores_with_a_subject_of_one_name(self, path, tmp_path):
        other = tmp_path / "other.sqlite"
        shutil.copy(path, other)
        with Store.read(path) as one, Store.read(other) as two:
            names = [each.name for each in contents([one, two]).subjects]
        assert "coordinate-descent (run.sqlite)" in names
        assert "coordinate-descent (other.sqlite)" in names

    def test_the_command_runs_it_again(self, found):
        good = next(each for each in found.subjects if each.name == "coordinate-descent")
        assert good.command == (
            "nmfcheck run coordinate-descent --suite quick --sizes 2,3 --trials 12 "
            "--option iterations=10000"
        )


@pytest.fixture(scope="module")
def schema():
    file = resources.files("nmfcheck") / "data" / "report.schema.json"
    return json.loads(file.read_text())


class TestJson:
    def test_it_fits_its_schema(self, found, schema):
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(json.loads(as_document(found)), schema)

    def test_the_schema_is_strict(self, found, schema):
        told = json.loads(as_document(found))
        told["subjects"][0]["verdict"] = "MAYBE"
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(told, schema)

    def test_what_it_says(self, found):
        told = {each["name"]: each for each in json.loads(as_document(found))["subjects"]}
        assert told[NASTY]["verdict"] == "FAIL"
        assert told[NASTY]["hard_failures"][0]["kind"] == "invalid"
        good = told["coordinate-descent"]
        assert good["paper"]["pool"]["trials"] == 48
        assert (
            sum(cell["passed"] for cell in good["paper"]["cells"])
            == good["paper"]["pool"]["passed"]
        )


class TestJUnit:
    def test_a_case_for_each_subject_size_and_question(self, found):
        document = JUnitXml.fromstring(as_junit(found).encode())
        suites = {suite.name: suite for suite in document}
        assert set(suites) == {each.name for each in found.subjects}
        names = [case.name for case in suites["coordinate-descent"]]
        assert names == [
            "all sizes: does what the published algorithms do",
            "n = 2: does what the published algorithms do",
            "n = 3: does what the published algorithms do",
            "n = 2: is exact",
            "n = 3: is exact",
        ]
        assert suites[NASTY].failures >= 1
        assert suites["coordinate-descent"].failures == 0
        assert document.tests == 15

    def test_what_could_not_be_run_is_an_error(self, tmp_path):
        filled(tmp_path / "run.sqlite", "exits_the_process")
        with Store.read(tmp_path / "run.sqlite") as store:
            document = JUnitXml.fromstring(as_junit(contents([store])).encode())
        assert document.errors == 1

    def test_the_second_question_does_not_fail(self, tmp_path):
        filled(tmp_path / "run.sqlite", "stops_at_a_relative_change_of_1e_4")
        with Store.read(tmp_path / "run.sqlite") as store:
            document = JUnitXml.fromstring(as_junit(contents([store])).encode())
        cases = [case for suite in document for case in suite if case.name.endswith("is exact")]
        assert cases
        assert all(case.is_skipped for case in cases)


class TestPage:
    def test_it_asks_for_nothing(self, page):
        for word in ("<script", "<link", 'src="http', "@import", "url(http"):
            assert word not in page

    def test_the_order_of_its_parts(self, page):
        parts = ["class=\"verdict", "By size and kind of entries", "Trials passed against n",
                 "<h3>Defects", "<h3>Outcomes", "<h3>Words of n = 3", "<h3>Runs that failed",
                 "How to reproduce", "What this says, and what it does not"]  # fmt: skip
        assert [page.index(part) for part in parts] == sorted(page.index(part) for part in parts)

    def test_every_failure_has_its_line(self, page):
        assert page.count("nmfcheck replay bidiagonal/") == page.count("<article>") > 0

    def test_ids_are_unique(self, page):
        import re

        ids = re.findall(r'\bid="([^"]+)"', page)
        assert len(ids) == len(set(ids))

    def test_no_more_than_ten_runs(self, path):
        with Store.read(path) as store:
            each = contents([store]).subjects[1]
        assert len(each.shown) == contents_module.MOST_SHOWN


class TestCommandLine:
    def test_files_of_a_run_and_again(self, nmfcheck, tmp_path):
        arguments = (
            "coordinate-descent",
            "--sizes",
            "2-3",
            "--trials",
            "20",
            "--store",
            "r.sqlite",
        )
        files = ("--report", "a.html", "--junit", "a.xml", "--json", "a.json")
        code, out, _ = nmfcheck("run", *arguments, *files)
        again = [file.replace("a.", "b.") for file in files]
        code_again, out_again, _ = nmfcheck("report", "r.sqlite", *again)
        assert code == code_again
        assert out_again.split() == out.replace("Stored in r.sqlite", "").split()
        for end in ("html", "xml", "json"):
            assert (tmp_path / f"a.{end}").read_bytes() == (tmp_path / f"b.{end}").read_bytes()

    @pytest.mark.parametrize(("animal", "code"), [("good", 0), ("returns_zeros", 1), ("hangs", 4)])
    def test_exit_codes(self, nmfcheck, animal, code):
        few = ("--sizes", "2", "--trials", "60", "--timeout", "0.5")
        assert nmfcheck("run", f"py:{ZOO}:{animal}", *few, "--jobs", "1")[0] == code

    def test_inconclusive(self, nmfcheck):
        assert nmfcheck("run", "coordinate-descent", "--sizes", "2", "--trials", "2")[0] == 3

    def test_compare(self, nmfcheck, path, tmp_path):
        filled(tmp_path / "als.sqlite", "als")
        code, out, _ = nmfcheck("compare", "als.sqlite", path, "--report", "c.html")
        assert code == 1
        assert "the best first" in out
        assert (tmp_path / "c.html").exists()

    def test_suites_of_different_versions_are_not_compared(self, nmfcheck, path, tmp_path):
        from dataclasses import replace

        filled(tmp_path / "new.sqlite", "als", suite=replace(SUITE, version=2))
        code, out, err = nmfcheck("compare", "new.sqlite", path)
        assert (code, out) == (2, "")
        assert "different suite versions cannot be compared" in err
        assert err.count("\n") == 1

    @pytest.mark.parametrize("command", ["report", "compare"])
    def test_no_store(self, nmfcheck, command):
        code, _, err = nmfcheck(command, *(["none.sqlite"] * (1 + (command == "compare"))))
        assert code == 2
        assert err.count("\n") == 1

    @pytest.mark.parametrize("eps", ["0.0001", "0", "0.25", "0.001,0.25"])
    def test_without_the_papers_test_there_is_no_verdict_on_it(self, nmfcheck, eps):
        code, out, _ = nmfcheck("run", "als", "--eps", eps, "--sizes", "3", "--trials", "5")
        assert code == 3
        assert "It fails" not in out

    def test_exactness_is_asked_at_a_quarter(self, nmfcheck):
        few = ("--sizes", "3", "--trials", "5")
        _, out, _ = nmfcheck("run", "als", "--eps", "0,0.001,0.1", *few)
        assert "Nothing was run at ε = 0.25." in out

    def test_fail_fast_gives_no_pass(self, nmfcheck):
        few = ("--sizes", "2-5", "--fail-fast", "--jobs", "1")
        code, out, _ = nmfcheck("run", f"py:{ZOO}:good", *few)
        assert code == 3
        assert "trials of the suite were not run" in out

    def test_a_subject_that_hangs_on_some_size_is_run(self, nmfcheck):
        few = ("--sizes", "2,3", "--trials", "5", "--timeout", "0.5", "--jobs", "1")
        assert nmfcheck("run", f"py:{ZOO}:hangs_on_n_3", *few)[0] == 3

    def test_stores_are_not_written_over(self, nmfcheck, path):
        before = path.read_bytes()
        code, _, err = nmfcheck("report", path, "--report", path)
        assert code == 2
        assert "is a store, which is not written over" in err
        assert path.read_bytes() == before

    def test_one_file_for_two(self, nmfcheck, path):
        code, _, err = nmfcheck("report", path, "--junit", "x", "--json", "x")
        assert code == 2
        assert "'x' is to be written twice" in err

    def test_standard_output_is_the_file_alone(self, nmfcheck):
        _, out, _ = nmfcheck("run", "als", "--sizes", "2", "--trials", "2", "--junit", "-")
        JUnitXml.fromstring(out.encode())

    def test_a_store_with_itself(self, nmfcheck, path):
        assert nmfcheck("compare", path, path)[0] == 2

    def test_different_suites_are_told_apart(self, nmfcheck, path, tmp_path):
        filled(tmp_path / "als.sqlite", "als", suite=QUICK.selected(sizes=(4,), trials=5))
        _, out, _ = nmfcheck("compare", "als.sqlite", path, "--report", "c.html")
        assert "different suites" in out
        assert "different suites" in (tmp_path / "c.html").read_text()

    @pytest.mark.parametrize(
        "damage",
        ["stages SET outcome = 'foo'", "stages SET eps = 0.5", "subjects SET settings = '{}'"],
    )
    def test_a_damaged_store(self, nmfcheck, path, tmp_path, damage):
        shutil.copy(path, tmp_path / "copy.sqlite")
        with sqlite3.connect(tmp_path / "copy.sqlite") as connection:
            connection.execute(f"UPDATE OR REPLACE {damage}")
        code, _, err = nmfcheck("report", "copy.sqlite")
        assert code == 2
        assert "is damaged" in err
        assert err.count("\n") == 1

    def test_a_file_that_cannot_be_written_is_told_before_the_run(self, nmfcheck, tmp_path):
        (tmp_path / "folder").mkdir()
        code, _, err = nmfcheck("run", "als", "--report", "folder")
        assert code == 2
        assert "'folder' is a folder" in err
        assert not (tmp_path / "runs").exists()


@needs_browser
class TestBrowser:
    @pytest.fixture(params=["light", "dark"])
    def tab(self, request, browser, page, tmp_path):
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        with opened(browser, tmp_path / "page.html", request.param) as found:
            yield found

    def test_it_is_as_every_page_must_be(self, tab):
        check_page(*tab, figures=11)

    def test_names_are_text(self, tab):
        text = tab[0].inner_text("body")
        assert NASTY in text
        assert "<img src=x onerror=alert(2)>" in text
        assert tab[0].locator("img").count() == 0


def test_the_ladder_is_that_of_the_baseline():
    assert shipped().ladder == tuple(rung.eps for rung in LADDER)


def test_a_file_is_replaced_whole_where_a_link_leads_and_a_pipe_is_written_to(tmp_path):
    from nmfcheck.report.files import _write

    target, link, pipe = (tmp_path / name for name in ("target", "link", "pipe"))
    target.write_text("old")
    link.symlink_to(target)
    assert _write(str(link), "new") == str(link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    _write(str(pipe), "through")
    assert os.read(reader, 100) == b"through"
    assert pipe.is_fifo()
    os.close(reader)


def test_a_file_that_cannot_be_written_is_named():
    from nmfcheck.report.files import _write

    with pytest.raises(InputError, match=r"'/proc/x.html' cannot be written"):
        _write("/proc/x.html", "")
