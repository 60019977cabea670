"""Reports: the three files, made from stores alone, and the page in a real browser."""

import html
import importlib
import io
import json
import math
import os
import re
import shutil
import sqlite3
import statistics
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
from junitparser import JUnitXml
from rich.console import Console

import zoo
from browser import PHONE, check_page, needs_browser, opened, overlapping
from nmfcheck import check, reference
from nmfcheck.checking import campaign as campaign_module
from nmfcheck.checking.campaign import Campaign
from nmfcheck.checking.runnable import Runnable, runnable
from nmfcheck.cli.options import selected_suite
from nmfcheck.errors import InputError
from nmfcheck.families import find
from nmfcheck.families.bidiagonal.family import LADDER, Bidiagonal
from nmfcheck.judging.outcomes import Flag, Grade, Outcome, reaches
from nmfcheck.presenting.drawing import Sheet
from nmfcheck.presenting.section import Section
from nmfcheck.report import contents as contents_module
from nmfcheck.report.commands import run_command
from nmfcheck.report.contents import contents, unlike_references
from nmfcheck.report.document import as_document
from nmfcheck.report.junit import as_junit
from nmfcheck.report.page import as_page
from nmfcheck.report.plain import as_json
from nmfcheck.report.sections import sections
from nmfcheck.report.sections.cells import CellsSection
from nmfcheck.report.sections.defects import DefectsSection
from nmfcheck.report.sections.diagnosis import DiagnosisSection
from nmfcheck.report.sections.digits import DigitsSection
from nmfcheck.report.sections.failures import FailuresSection
from nmfcheck.report.sections.verdict import VerdictSection
from nmfcheck.report.terminal import show
from nmfcheck.store import Store
from nmfcheck.subjects import SubjectName
from nmfcheck.subjects.references import REFERENCES
from nmfcheck.tools.smoke import Look
from nmfcheck.trials import suites
from nmfcheck.trials.suites import NEWEST, QUICK, Suite
from nmfcheck.verdict.baseline import (
    ACCEPTED,
    AlgorithmBaseline,
    Baseline,
    BaselineCell,
    empty,
    shipped,
)
from nmfcheck.verdict.counts import CellCount, StageCount, count
from nmfcheck.verdict.tally import CellTally, tally
from strategies import FIXED

ZOO = Path(__file__).parent / "zoo.py"
SUITE = QUICK.selected(sizes=(2, 3), trials=12)
BOTH = suites.find("quick@2").selected(
    families=["bidiagonal", "inflated"],
    sizes=(2, 3),
    shapes=("5x4/k=2", "6x5/k=2/zeros", "4x7/k=3"),
    trials=12,
)
NASTY = "py:<script>alert(1)</script>:nmf"


def filled(path, *subjects, suite=SUITE):
    """Make a store with the results of references and animals of the zoo."""
    campaign = Campaign(suite, jobs=1, whole=True)
    with Store.create_or_open(path, suite) as store:
        for name in subjects:
            subject = SubjectName(name if name in REFERENCES else f"py:{ZOO}:{name}")
            campaign.run(Runnable(subject), store, lambda _: None)
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

    def test_trials_that_only_the_subject_fails(self, found):
        """Another way to it: trial by trial, with the references' letters looked up."""
        stuck = next(each for each in found.subjects if "stuck" in each.name)
        told = set(unlike_references(stuck.families))
        expected = set()
        known = shipped("bidiagonal")
        for cell in SUITE.cells:
            for trial in SUITE.cell(cell):
                letters = [
                    (theirs.letters["eps=0"][trial.seed], theirs.letters["eps=1e-3"][trial.seed])
                    for name in ("multiplicative-update", "als", "gradient-descent")
                    for theirs in [known.algorithms[name].cells[cell.name].tally]
                ]
                if all(zero == "e" and small in "ef" for zero, small in letters):
                    expected.add(trial.id)
        assert told == expected == set(stuck.unlike)
        assert expected

    def test_counted_in_two_ways(self, path):
        """From columns of the store, and stage by stage."""
        with Store.read(path) as store:
            for subject in store.subjects():
                results = store.results(subject)
                by_columns = count(results, SUITE, tally(results, SUITE))
                by_stages = [_counted(cell, list(results.stages_of(cell))) for cell in SUITE.cells]
                assert repr(by_columns) == repr(by_stages)
                for cell, counted in zip(SUITE.cells, by_columns, strict=True):
                    stages = list(results.stages_of(cell))
                    for each in counted.stages:
                        own = [s.outcome.grade for s in stages if s.ask == each.ask]
                        for grade in get_args(Grade):
                            expected = sum(reaches(one, grade) for one in own)
                            assert each.reaching(grade) == expected

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
            "nmfcheck run coordinate-descent --suite quick --family bidiagonal --trials 12 "
            "--sizes 2,3 --option iterations=10000"
        )
        assert selected_suite("quick", 12, "bidiagonal", "frobenius", {"sizes": "2,3"}) == SUITE

    def test_the_first_version_of_a_suite_is_named(self, tmp_path):
        suite = suites.find("quick@1").selected(trials=2)
        filled(tmp_path / "run.sqlite", "coordinate-descent", suite=suite)
        with Store.read(tmp_path / "run.sqlite") as store:
            (subject,) = contents([store]).subjects
        expected = "nmfcheck run coordinate-descent --suite quick@1 --trials 2"
        assert subject.command == f"{expected} --option iterations=10000"

    def test_a_suite_without_a_name_has_no_command(self):
        suite = Suite("mine", 1, SUITE.parts)
        with Store.in_memory(suite) as store:
            campaign = Campaign(suite, jobs=1, whole=True)
            campaign.run(Runnable(SubjectName("coordinate-descent")), store, lambda _: None)
            found = contents([store])
        assert found.subjects[0].command == ""
        assert json.loads(as_document(found))["subjects"][0]["command"] is None
        assert "nmfcheck run" not in as_page(found)


def _counted(cell, stages):
    """Count the stages of a cell one by one."""
    asks = SUITE.part(cell.family).asks
    test = {ask.name for ask in asks if ask.question == "test"}
    passed = {}
    for stage in stages:
        passed.setdefault(stage.trial.seed, set()).update([stage.ask.name] * stage.passed)
    return CellCount(
        cell.family,
        cell.name,
        cell.columns,
        len(passed),
        sum(test <= names for names in passed.values()),
        tuple(_counted_stage(ask, [s for s in stages if s.ask == ask]) for ask in asks),
    )


def _counted_stage(ask, stages):
    grades = [stage.outcome.grade for stage in stages]
    occurred = Counter(stage.outcome for stage in stages)
    flags = Counter(flag for stage in stages for flag in stage.flags)
    shown = {s.trial.family.shown_defect for s in stages}
    defects = [s.measures[name] for s in stages for name in shown if name in s.measures]
    return StageCount(
        ask=ask,
        ran=sum(stage.outcome is not Outcome.NOT_RUN for stage in stages),
        exact=sum(reaches(grade, "exact") for grade in grades),
        passed=sum(stage.passed for stage in stages),
        median_defect=statistics.median(defects) if defects else math.nan,
        outcomes={str(outcome): occurred[outcome] for outcome in Outcome if occurred[outcome]},
        flags={str(flag): flags[flag] for flag in Flag if flags[flag]},
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

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda told: told.update(format=1),
            lambda told: told["subjects"][0].pop("reason"),
            lambda told: told["subjects"][0].update(more=1),
            lambda told: told["subjects"][0]["families"].clear(),
            lambda told: told["subjects"][0]["families"][0].pop("counts"),
            lambda told: told["subjects"][0]["families"][0]["sections"].update(more=1),
            lambda told: told["subjects"][0]["families"][0]["test"].update(verdict=None),
            lambda told: told["subjects"][0]["families"][0]["test"]["pool"].update(passed=-1),
            lambda told: told["subjects"][0]["suite"]["families"][0]["cells"].update({"n=2": 0}),
            lambda told: told["subjects"][2]["failures"][0].update(trial="n=2/ones"),
            lambda told: told["subjects"][2]["failures"][0].update(outcome="bad"),
        ],
    )
    def test_what_is_spoilt_does_not_fit(self, found, schema, spoil):
        told = json.loads(as_document(found))
        spoil(told)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(told, schema)

    def test_what_it_says(self, found):
        told = {each["name"]: each for each in json.loads(as_document(found))["subjects"]}
        assert told[NASTY]["verdict"] == "FAIL"
        assert told[NASTY]["hard_failures"][0]["kind"] == "invalid"
        (family,) = told["coordinate-descent"]["families"]
        assert family["family"] == "bidiagonal"
        test = family["test"]
        assert test["pool"]["trials"] == 48
        assert sum(cell["passed"] for cell in test["cells"]) == test["pool"]["passed"]
        assert [cell["passed"] for cell in family["counts"]] == [
            cell["passed"] for cell in test["cells"]
        ]

    def test_the_suite_is_written_as_in_the_store(self, found):
        told = json.loads(as_document(found))["subjects"][0]["suite"]
        assert told == json.loads(SUITE.as_text())


class TestJUnit:
    def test_a_case_for_each_subject_cell_and_question(self, found):
        document = JUnitXml.fromstring(as_junit(found).encode())
        suites = {suite.name: suite for suite in document}
        assert set(suites) == {each.name for each in found.subjects}
        names = [case.name for case in suites["coordinate-descent"]]
        assert names == [
            "all families: does what is required",
            "bidiagonal: does what is required",
            "bidiagonal/n=2/ones: does what is required",
            "bidiagonal/n=2/loguniform: does what is required",
            "bidiagonal/n=3/ones: does what is required",
            "bidiagonal/n=3/loguniform: does what is required",
            "bidiagonal: is exact",
            "bidiagonal/n=2/ones: is exact",
            "bidiagonal/n=2/loguniform: is exact",
            "bidiagonal/n=3/ones: is exact",
            "bidiagonal/n=3/loguniform: is exact",
        ]
        assert suites[NASTY].failures >= 1
        assert suites["coordinate-descent"].failures == 0
        assert document.tests == 3 * len(names)

    @pytest.mark.slow
    def test_what_could_not_be_run_is_an_error(self, tmp_path, monkeypatch):
        monkeypatch.setattr(campaign_module, "smoke", lambda *_: Look([], answered=True))
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
        parts = ["class=\"verdict", "<h3>Cell by cell", "<h3>Trials passed",
                 "trials passed against n", "<h3>Defects", "<h3>Outcomes", "<h3>Words of n = 3",
                 "<h3>Runs that failed", "How to reproduce",
                 "What this says, and what it does not"]  # fmt: skip
        assert [page.index(part) for part in parts] == sorted(page.index(part) for part in parts)

    def test_every_failure_has_its_line(self, page):
        articles = re.findall(r"<article>.*?</article>", page, re.DOTALL)
        assert articles
        assert all(article.count("nmfcheck replay bidiagonal/") == 1 for article in articles)

    def test_ids_are_unique(self, page):
        ids = re.findall(r'\bid="([^"]+)"', page)
        assert len(ids) == len(set(ids))

    def test_no_more_than_ten_runs(self, path):
        with Store.read(path) as store:
            each = contents([store]).subjects[1]
        assert len(each.shown) == contents_module.MOST_SHOWN


def printed(section):
    """Return what a section prints."""
    screen = Console(file=io.StringIO(), width=1000, no_color=True, force_terminal=False)
    section.show(screen)
    return screen.file.getvalue()


def drawn(section):
    """Return a section as HTML, and the same as text."""
    with Sheet() as sheet:
        page = str(section.html(sheet))
    return page, " ".join(html.unescape(re.sub(r"<[^>]+>", "", page)).split())


@pytest.fixture(params=["good", "nasty", "stuck", "of two families"])
def subject(request, found, found_both):
    if request.param == "of two families":
        return found_both.subjects[0]
    return found.subjects[["good", "nasty", "stuck"].index(request.param)]


class TestSections:
    """A section's data, its terminal form and its HTML form say the same."""

    def test_all_have_all_forms(self, subject):
        listed = list(sections(subject))
        assert all(isinstance(section, Section) for section in listed)
        for section in listed:
            assert json.loads(as_json(section.data())) is not None or not section.key
            assert "\x1b" not in printed(section)
            page, _ = drawn(section)
            may_be_empty = DiagnosisSection | DigitsSection | FailuresSection
            assert page or isinstance(section, may_be_empty)
        keys = [section.key for section in listed if section.key]
        assert keys[:2] == ["verdict", "diagnosis"]
        assert {"counts", "failures"} < set(keys)

    def test_the_verdict(self, subject):
        section = VerdictSection(subject)
        text, page = " ".join(printed(section).split()), drawn(section)[1]
        assert [each["family"] for each in section.data()] == [f.family for f in subject.families]
        decisive = [each["test"] for each in section.data()]
        if subject.verdict.hard:  # then it is all that there is to say
            decisive = [{"verdict": "FAIL", "reason": subject.verdict.reason}]
        for question in [*decisive, *(each["exactness"] for each in section.data())]:
            for form in (text, page):
                assert question["reason"] in form
                assert question["verdict"] in form

    def test_the_cells(self, subject):
        for family in subject.families:
            section = CellsSection(subject, family)
            text, (page, _) = printed(section), drawn(section)
            assert section.data() == family.counts
            for told, counted in zip(family.verdict.test.cells, section.data(), strict=True):
                assert told.cell.name == counted.cell
                assert told.share.part == counted.passed
                row = [*told.cell.columns, str(told.share.whole), f"{100 * told.share.value:.0f} %"]
                assert re.search(r"\s+".join(map(re.escape, row)), text)
                assert re.search(r"\s*".join(f"<td>{cell}</td>" for cell in row), page)

    def test_the_diagnosis(self, subject):
        section = DiagnosisSection(subject)
        text, page = printed(section), drawn(section)[1]
        assert section.data()
        for finding in section.data():
            assert f"- {finding.sentence}" in text
            assert f"{finding.cause}: {' '.join(finding.sentence.split())}" in page
        for note in section.notes:
            assert note in text
            assert note in page

    def test_the_failures(self, subject):
        section = FailuresSection(subject)
        text, page = printed(section), drawn(section)[1]
        assert len(section.data()) == len(subject.shown) > 0
        for told in section.data():
            for part in (told["message"], told["replay"]):
                assert part in text
                assert " ".join(part.split()) in page


@pytest.fixture(scope="module")
def measured():
    """Return what is said of a subject that is right, but for very small ε; slopes were asked."""

    def subject(A, rank, *, W0, H0):
        W, H, _ = reference.coordinate_descent(A, W0, H0, 200, threads=1)
        return (W * math.nan if 0 < A[0, 1] < 1.5e-5 else W), H

    suite = QUICK.selected(sizes=[2], trials=60, slopes=True)
    with Store.in_memory(suite) as store:
        campaign = Campaign(suite, isolate=False)
        campaign.run(runnable(subject), store, lambda _: None)
        return contents([store])


class TestSlopes:
    def test_they_have_three_forms(self, measured, schema):
        told = json.loads(as_document(measured))
        jsonschema.validate(told, schema)
        slopes = told["subjects"][0]["families"][0]["sections"]["slopes"]
        assert slopes["starts"] == 100
        (subject,) = measured.subjects
        listed = list(sections(subject))
        section = next(section for section in listed if section.key == "slopes")
        assert json.loads(as_json(section.data())) == slopes
        assert "Slopes in ε, n = 2, from 100 starts: w0(1) " in printed(section)
        page, text = drawn(section)
        assert "Slopes in ε, n = 2, from 100 starts: w0(1) " in text
        assert "<svg" in page

    def test_they_do_not_count_for_the_verdict(self, measured):
        (subject,) = measured.subjects
        assert [stage for stages in subject.families[0].extra.values() for stage in stages
                if stage.outcome is Outcome.INVALID]  # fmt: skip
        assert subject.verdict.hard == ()
        assert subject.verdict.decision == "PASS"
        assert subject.verdict.share.whole == 120
        assert {stage.trial.cell.name for stage in subject.shown} <= {
            cell.name for cell in subject.suite.cells
        }


def by_hand(family, cells, share):
    """Return a baseline in which all five algorithms pass this share in every cell."""
    passed = round(1000 * share)
    letters = {
        "eps=0": "e" * passed + "c" * (1000 - passed),
        "eps=1e-3": "f" * passed + "." * (1000 - passed),
        "eps=0.25": "e" * 1000,
    }
    tallies = {
        cell.name: BaselineCell(CellTally(cell, tuple(range(1000)), letters), {}, {})
        for cell in cells
    }
    algorithms = {name: AlgorithmBaseline({}, tallies) for name in ACCEPTED}
    return Baseline(family, 1, "frobenius", tuple(letters), algorithms)


@pytest.fixture(scope="module")
def path_of_both(tmp_path_factory):
    """Return a store with a subject that is right on square matrices only, and a good one."""
    path = tmp_path_factory.mktemp("both") / "run.sqlite"
    return filled(path, "ignores_the_rank", "coordinate-descent", suite=BOTH)


@pytest.fixture(scope="module")
def found_both(path_of_both):
    known = {
        "bidiagonal": shipped("bidiagonal"),
        "inflated": by_hand("inflated", BOTH.part("inflated").cells, 0.55),
    }
    with Store.read(path_of_both) as store:
        return contents([store], known)


class TestTwoFamilies:
    @pytest.mark.slow
    def test_the_page_shows_both(self, found_both):
        page = as_page(found_both)
        parts = ['class="verdict', "<h3>The bidiagonal family", "<h3>Words of n = 3",
                 "<h3>The inflated family", "<td>5×4</td>", "<td>6×5</td>", "<td>4×7</td>",
                 "<h3>Runs that failed"]  # fmt: skip
        places = [page.index(part) for part in parts]
        assert places == sorted(places)
        assert "nmfcheck replay inflated/5x4/k=2/dyadic#0/seed=0" in page
        assert page.count("<h3>The inflated family") == len(found_both.subjects)
        ids = re.findall(r'\bid="([^"]+)"', page)
        assert len(ids) == len(set(ids))

    def test_the_verdict_says_which(self, found_both):
        wrong, _ = found_both.subjects
        assert wrong.verdict.decision == "FAIL"
        text = printed(VerdictSection(wrong))
        assert text.splitlines()[0] == "FAIL  inflated fails."
        assert any(line.startswith("inflated: FAIL  ") for line in text.splitlines())
        assert any(line.startswith("bidiagonal, exact? ") for line in text.splitlines())
        page = drawn(VerdictSection(wrong))[1]
        assert "inflated FAIL. " in page
        assert "Is it exact on bidiagonal? " in page

    def test_tables_for_both_on_the_terminal(self, found_both):
        screen = Console(file=io.StringIO(), width=100, no_color=True, force_terminal=False)
        show(screen, found_both, failures=3, details=True, brief=False)
        text = screen.file.getvalue()
        assert "quick suite: bidiagonal" in text
        assert "quick suite: inflated" in text
        assert "4×7" in text
        assert text.count("Passed the test (ε = 0 exact, then ε = 1e-3 first-order)") == 4
        assert "quick suite, the best first" in text

    def test_json_has_both_and_fits(self, found_both, schema):
        told = json.loads(as_document(found_both))
        jsonschema.validate(told, schema)
        for subject in told["subjects"]:
            assert [each["family"] for each in subject["families"]] == ["bidiagonal", "inflated"]
            first, second = subject["families"]
            assert set(first["sections"]) == {"words"}
            assert second["sections"] == {}
            assert len(second["counts"]) == len(second["test"]["cells"]) == 3
            assert {each["required"] for each in second["test"]["cells"]} == {0.55}
        wrong = told["subjects"][0]
        assert wrong["reason"].startswith("inflated: ")
        assert any(each["trial"].startswith("inflated/") for each in wrong["failures"])

    def test_junit_has_a_case_for_each_family_cell_and_question(self, found_both):
        document = JUnitXml.fromstring(as_junit(found_both).encode())
        wrong, good = document
        names = [case.name for case in wrong]
        assert names == [case.name for case in good]
        questions = ("does what is required", "is exact")
        expected = ["all families: does what is required"]
        for family in ("bidiagonal", "inflated"):
            for question in questions:
                expected.append(f"{family}: {question}")
                expected += [f"{cell.id}: {question}" for cell in BOTH.part(family).cells]
        assert names == expected
        assert len(set(names)) == len(names)
        failed = {case.name for case in wrong if any(r.type == "FAIL" for r in case.result)}
        assert "all families: does what is required" in failed
        assert "inflated: does what is required" in failed
        assert "bidiagonal: does what is required" not in failed

    def test_the_failures_are_of_both(self, found_both):
        families = {stage.trial.cell.family for stage in found_both.subjects[0].shown}
        assert families == {"bidiagonal", "inflated"}

    def test_the_command_names_its_cells(self, found_both):
        assert found_both.subjects[1].command == (
            "nmfcheck run coordinate-descent --suite quick@2 --trials 12 --sizes 2,3 "
            "--shapes 5x4/k=2/dyadic,6x5/k=2/zeros,4x7/k=3/dyadic --option iterations=10000"
        )

    @pytest.mark.slow
    def test_without_a_baseline_of_one(self, path_of_both, schema):
        known = {"bidiagonal": shipped("bidiagonal"), "inflated": empty(find("inflated"))}
        with Store.read(path_of_both) as store:
            found = contents([store], known)
        _, good = found.subjects
        assert good.verdict.decision == "INCONCLUSIVE"
        assert "inflated: There is no baseline of version 1 of inflated." in good.verdict.reason
        jsonschema.validate(json.loads(as_document(found)), schema)
        assert "There is no baseline of version 1 of inflated." in as_page(found)
        JUnitXml.fromstring(as_junit(found).encode())


@pytest.fixture(scope="module")
def found_fixed(tmp_path_factory):
    """Return the report on families with fixed requirements, some cells only measured."""
    suite = suites.STANDARD.selected(families=FIXED, trials=6)
    path = tmp_path_factory.mktemp("fixed") / "run.sqlite"
    filled(path, "coordinate-descent", "returns_single_precision", suite=suite)
    with Store.read(path) as store:
        return contents([store])


class TestFixedFamilies:
    @pytest.mark.slow
    def test_the_page_and_the_terminal_and_junit(self, found_fixed):
        page = as_page(found_fixed)
        assert "Every trial has to pass." in page
        assert "Required is a fixed share of the trials" in page
        for family in FIXED:
            assert page.count(f"<h3>The {family} family") == len(found_fixed.subjects)
        screen = Console(file=io.StringIO(), width=120, no_color=True, force_terminal=False)
        show(screen, found_fixed, failures=3, details=True, brief=False)
        text = screen.file.getvalue()
        heading = r"shape +rank +start +trials +passed +95 % interval +required +exact +verdict"
        assert re.search(heading, text)
        assert re.search(r"hexagon +3 +6 +\d+ % +\S+ % +– +\d+ % +–", text)  # only measured
        assert re.search(r"8×6 +3 +near +6 +100 %", text)
        _, single = JUnitXml.fromstring(as_junit(found_fixed).encode())
        assert "rank-one: does what is required" in [case.name for case in single]

    def test_grades_below_exact_are_counted(self, found_fixed):
        single = found_fixed.subjects[1]
        seen = {name for cell in single.counts for s in cell.stages for name in s.outcomes}
        assert Outcome.SINGLE in seen
        assert all(cell.passed == cell.trials for cell in single.counts if cell.family == "mixed")

    def test_json_fits_its_schema(self, found_fixed, schema):
        jsonschema.validate(json.loads(as_document(found_fixed)), schema)

    @pytest.mark.parametrize(("family", "trials"), [("rank-one", 20), ("mixed", 150)])
    def test_the_command_says_how_many_trials(self, family, trials):
        suite = QUICK.selected(families=[family], trials=trials)
        with Store.in_memory(suite) as store:
            subject = store.subject("als", {"options": {}})
        assert f" --trials {trials}" in run_command(subject, suite)

    def test_the_command_of_a_whole_part_does_not(self):
        suite = QUICK.selected(families=["mixed", "rank-one"])
        with Store.in_memory(suite) as store:
            subject = store.subject("als", {"options": {}})
        expected = "nmfcheck run als --suite quick --family mixed,rank-one"
        assert run_command(subject, suite) == expected


class TestFaultsOfOurOwn:
    """What is wrong in a rule or a section is not the store's fault, and shows as it is."""

    @staticmethod
    def raising(*_args, **_more):
        raise KeyError("fault")

    def test_in_a_rule(self, nmfcheck, path, monkeypatch):
        asking = importlib.import_module("nmfcheck.diagnosis.diagnose")
        monkeypatch.setattr(asking, "collapsed", self.raising)
        with Store.read(path) as store, pytest.raises(KeyError, match="fault"):
            contents([store])
        with pytest.raises(KeyError, match="fault"):
            nmfcheck("report", path)

    def test_in_a_section(self, nmfcheck, path, monkeypatch):
        monkeypatch.setattr(DefectsSection, "html", self.raising)
        with pytest.raises(KeyError, match="fault"):
            nmfcheck("report", path, "--report", "out.html")

    def test_in_a_section_of_a_family(self, nmfcheck, path, monkeypatch):
        monkeypatch.setattr(Bidiagonal, "sections", self.raising)
        with pytest.raises(KeyError, match="fault"):
            nmfcheck("report", path, "--json", "out.json")


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

    @pytest.mark.slow
    def test_compare(self, nmfcheck, path, tmp_path):
        filled(tmp_path / "als.sqlite", "als")
        code, out, _ = nmfcheck("compare", "als.sqlite", path, "--report", "c.html")
        assert code == 1
        assert "the best first" in out
        assert (tmp_path / "c.html").exists()

    def test_suites_of_different_versions_are_not_compared(self, nmfcheck, path, tmp_path):
        from dataclasses import replace

        filled(tmp_path / "new.sqlite", "als", suite=replace(SUITE, version=NEWEST + 1))
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
        assert "trials of the suite, " in out
        assert "have been run." in out

    @pytest.mark.slow
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

    @pytest.mark.slow
    def test_different_suites_are_told_apart(self, nmfcheck, path, tmp_path):
        filled(tmp_path / "als.sqlite", "als", suite=QUICK.selected(sizes=(4,), trials=5))
        _, out, _ = nmfcheck("compare", "als.sqlite", path, "--report", "c.html")
        assert "different suites" in out
        assert "different suites" in (tmp_path / "c.html").read_text()

    @pytest.mark.parametrize(
        "damage",
        [
            "stages SET outcome = 'foo'",
            "stages SET outcome = 'foo' WHERE seed = 3",
            "stages SET ask = 'eps=0.5'",
            "stages SET ask = 'foo'",
            "stages SET cell = 'n=0/ones'",
            "stages SET family = 'foo'",
            "stages SET measures = '{\"product_defect\": 1'",
            "stages SET measures = '[1]'",
            "stages SET labels = 'foo'",
            "stages SET flags = 'foo'",
            "stages SET W = x'00' WHERE W IS NOT NULL",
            "subjects SET settings = '{}'",
            "subjects SET settings = 'foo'",
            "subjects SET environment = 'foo'",
            "about SET value = 'foo' WHERE key = 'suite'",
        ],
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
        assert overlapping(tab[0]) == []

    def test_names_are_text(self, tab):
        text = tab[0].inner_text("body")
        assert NASTY in text
        assert "<img src=x onerror=alert(2)>" in text
        assert tab[0].locator("img").count() == 0

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.slow
    def test_a_page_with_two_families_is_so_too(self, browser, found_both, tmp_path, scheme):
        (tmp_path / "page.html").write_text(as_page(found_both), encoding="utf-8")
        with opened(browser, tmp_path / "page.html", scheme) as tab:
            check_page(*tab, figures=16)
            assert overlapping(tab[0]) == []
            text = tab[0].inner_text("body")
        assert text.count("The bidiagonal family") == text.count("The inflated family") == 2


@pytest.mark.slow
@needs_browser
def test_a_page_with_broken_laws_fits_its_window(browser, tmp_path):
    subject = f"py:{zoo.__file__}:is_stuck_at_its_start"
    check(subject, families=["rank-one"], trials=2, laws=["rank-one"]).to_html(
        tmp_path / "page.html"
    )
    with opened(browser, tmp_path / "page.html", "light") as (tab, *_):
        assert tab.locator("table.laws pre").count() > 0
        assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE


def test_the_ladder_is_that_of_the_baseline():
    assert shipped("bidiagonal").asks == tuple(ask.name for ask in LADDER)


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
