"""`nmfcheck.check`: what it takes, where it runs it, and what its report can do."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import nmfcheck
import zoo
from nmfcheck import ConformanceError, InputError
from nmfcheck.checking.runnable import importable, runnable
from nmfcheck.errors import SubjectError
from nmfcheck.executors.local import LocalExecutor
from nmfcheck.reference import coordinate_descent

SMALL = {"sizes": [2, 3], "trials": 8}
"""Few trials: most checks here are about the road, not about the verdict."""


def descend(A, W0, H0):
    W, H, _ = coordinate_descent(A, W0, H0, 300, threads=1)
    return W, H


def closure():
    """Return a function that no other process can import."""

    def nmf(A, rank, *, W0, H0):
        return descend(A, W0, H0)

    return nmf


def stages_of(report):
    """Return the outcomes of all cells, which do not depend on where a subject ran."""
    families = json.loads(report.to_json())["subjects"][0]["families"]
    return [cell["asks"] for family in families for cell in family["counts"]]


def test_a_name_a_function_a_closure_and_a_lambda_come_to_the_same():
    reports = [
        nmfcheck.check(subject, **SMALL)
        for subject in (zoo.good, closure(), lambda A, rank, *, W0, H0: descend(A, W0, H0))
    ]
    here = nmfcheck.check(closure(), isolate=False, **SMALL)
    shared = [stages_of(report) for report in (*reports[1:], here)]
    assert shared[0] == shared[1] == shared[2]
    assert reports[0].verdict.share.value > 0.7


def test_what_can_be_imported_travels_by_its_name():
    assert importable(zoo.good) == "py:zoo:good"
    assert importable(closure()) is None
    assert runnable(zoo.good).named.name == "py:zoo:good"
    assert runnable(closure()).named is None
    assert runnable("als").is_reference


def test_an_estimator_instance_travels_as_class_and_parameters():
    decomposition = pytest.importorskip("sklearn.decomposition")
    model = decomposition.NMF(n_components=7, solver="cd", max_iter=3000, tol=1e-12)
    named = runnable(model).named
    assert named.name.startswith("py:sklearn.decomposition")
    assert named.options["max_iter"] == 3000
    assert "n_components" not in named.options
    report = nmfcheck.check(model, sizes=[2], trials=6)
    assert report.verdict.share.whole == 12
    assert report.decision != "FAIL"


def test_a_command_is_run():
    example = Path(__file__).parent.parent / "examples" / "nmf.py"
    report = nmfcheck.check(nmfcheck.Command([sys.executable, str(example)]), sizes=[2], trials=3)
    assert report.verdict.share.whole == 6


@pytest.mark.skipif(not LocalExecutor.can_fork(), reason="needs fork")
def test_a_closure_that_ends_its_process_costs_one_stage():
    here = os.getpid()

    def ends(A, rank, *, W0, H0, seed):
        assert os.getpid() != here
        if seed == 3:
            os._exit(7)
        return descend(A, W0, H0)

    report = nmfcheck.check(ends, sizes=[2], trials=6)
    outcomes = [each["outcomes"] for cell in stages_of(report) for each in cell]
    assert sum(each.get("crashed", 0) for each in outcomes) == 4  # two asks in each of two cells
    assert "exit code 7" in str(report.findings)


def test_where_there_is_no_fork_it_runs_here_and_says_so(monkeypatch, capsys):
    monkeypatch.setattr(LocalExecutor, "can_fork", staticmethod(lambda: False))
    seen = []

    def spies(A, rank, *, W0, H0):
        seen.append(os.getpid())
        return descend(A, W0, H0)

    nmfcheck.check(spies, sizes=[2], trials=2)
    assert set(seen) == {os.getpid()}
    assert "runs in this one" in capsys.readouterr().err


def test_in_process_the_random_state_is_left_as_it_was():
    def careless(A, rank, *, W0, H0):
        np.random.rand(3)  # noqa: NPY002
        return descend(A, W0, H0)

    np.random.seed(5)  # noqa: NPY002
    expected = np.random.rand()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    nmfcheck.check(careless, isolate=False, sizes=[2], trials=2)
    assert np.random.rand() == expected  # noqa: NPY002


def test_nothing_is_written_unless_a_store_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nmfcheck.check("als", **SMALL)
    assert not list(tmp_path.iterdir())
    store = tmp_path / "kept.sqlite"
    first = nmfcheck.check("als", store=store, **SMALL)
    again = nmfcheck.check("als", store=store, **SMALL)
    assert stages_of(first) == stages_of(again)
    assert store.exists()


def test_a_failure_of_a_function_without_a_name_has_a_line_of_python():
    def nameless(A, rank):
        return np.zeros((len(A), rank)), np.zeros((rank, A.shape[1]))

    report = nmfcheck.check(nameless, families=["rays"], trials=4)
    shown = eval(report.failures[0].replay, {"nmfcheck": nmfcheck, "subject": nameless})
    assert shown.stages[0].outcome is report.failures[0].stage.outcome
    assert report.failures[0].replay in str(report)


def test_the_report_of_a_failure(tmp_path):
    report = nmfcheck.check(zoo.returns_zeros, families=["bidiagonal"], trials=30)
    assert report.decision == "FAIL"
    assert not report.passed
    assert "returns zeros" in {finding.cause for finding in report.findings}
    failure = report.failures[0]
    assert failure.replay.startswith("nmfcheck replay bidiagonal/n=")
    assert "--subject py:zoo:returns_zeros" in failure.replay
    assert failure.stage.W is not None
    with pytest.raises(ConformanceError) as raised:
        report.raise_for_failure()
    assert isinstance(raised.value, AssertionError)
    message = str(raised.value)
    assert message.startswith("py:zoo:returns_zeros: FAIL. ")
    assert "It returns zeros" in message
    assert failure.replay in message
    assert "FAIL" in str(report)
    assert "loguniform" in report.table()
    assert "replay" not in report.table()
    html = report._repr_html_()
    assert html.startswith("<div>")
    assert "<script" not in html


def test_the_report_of_a_pass_raises_nothing():
    report = nmfcheck.check("coordinate-descent", families=["bidiagonal"], sizes=[2, 3])
    assert report.passed
    report.raise_for_failure()
    assert repr(report) == "<Report on coordinate-descent: PASS>"


def test_names_are_escaped_in_html():
    def nmf(A, rank):
        return A, np.eye(rank)

    nmf.__qualname__ = nmf.__name__ = "<script>alert(1)</script>"
    report = nmfcheck.check(nmf, isolate=False, sizes=[2], trials=2)
    assert "<script>" not in report._repr_html_()


def test_the_files_of_a_report(tmp_path):
    report = nmfcheck.check("als", **SMALL)
    report.to_html(tmp_path / "out.html")
    report.to_junit(tmp_path / "out.xml")
    text = report.to_json(tmp_path / "out.json")
    assert (tmp_path / "out.html").read_text().startswith("<!doctype html>")
    assert ElementTree.parse(tmp_path / "out.xml").getroot().tag == "testsuites"
    assert json.loads(text) == json.loads((tmp_path / "out.json").read_text())


def test_what_cannot_be_run_is_said_in_a_line():
    with pytest.raises(SubjectError, match="could not be run"):
        nmfcheck.check(lambda A, rank: 1 / 0, **SMALL)
    with pytest.raises(InputError, match="no subject 'alss'; did you mean 'als'"):
        nmfcheck.check("alss")
    with pytest.raises(InputError, match="no suite 'quickly'"):
        nmfcheck.check("als", suite="quickly")
    with pytest.raises(InputError, match="no family 'inflate'; did you mean 'inflated'"):
        nmfcheck.check("als", families=["inflate"])
    with pytest.raises(SubjectError, match="is not a subject but of type int"):
        nmfcheck.check(42)


@pytest.mark.parametrize(
    ("suite", "families"),
    [
        ("quick@2", ["bidiagonal", "inflated"]),
        ("quick", ["bidiagonal", "inflated", "mixed", "noisy", "rays", "rank-one", "optima"]),
    ],
)
def test_rectangular_cells_are_part_of_the_quick_suite(suite, families):
    report = nmfcheck.check("coordinate-descent", suite=suite, trials=3)
    assert [each.family for each in report.verdict.families] == families
