"""Who says that it computes in single precision is asked for single precision."""

import json
import sys
from functools import partial
from importlib import import_module

import numpy as np
import pytest

from nmfcheck import InputError, check, reference
from nmfcheck.diagnosis import Cause
from nmfcheck.subjects.precision import own_tolerance
from nmfcheck.verdict.decision import Decision
from stores import dump

SMALL = {"families": "bidiagonal", "sizes": [2], "entries": "ones", "trials": 200}

SUBJECT = """
import numpy as np
from nmfcheck import reference


def right(A, rank, *, W0, H0):
    W, H, *_ = reference.coordinate_descent(A, W0, H0, iterations=500)
    return W.astype(np.float32), H.astype(np.float32)


def said(A, rank, *, W0, H0):
    return right(A, rank, W0=W0, H0=H0)


said.nmfcheck_precision = {value!r}
"""


def unnamed(value=None):
    def factorize(A, rank, *, W0, H0):
        W, H, *_ = reference.coordinate_descent(A, W0, H0, iterations=500)
        return W.astype(np.float32), H.astype(np.float32)

    if value is not None:
        factorize.nmfcheck_precision = value
    return factorize


@pytest.mark.parametrize("isolate", [True, False])
@pytest.mark.parametrize(
    ("said", "given", "tolerance", "decision"),
    [
        (None, None, 1e-10, Decision.FAIL),
        ("double", None, 1e-10, Decision.FAIL),
        ("single", None, 1e-5, Decision.PASS),
        ("single", 1e-10, 1e-10, Decision.FAIL),
        (None, 1e-5, 1e-5, Decision.PASS),
    ],
)
def test_what_is_asked_for(isolate, said, given, tolerance, decision):
    report = check(unnamed(said), isolate=isolate, tolerance=given, **SMALL)
    assert (report.verdict.tolerance, report.decision) == (tolerance, decision)


def test_nothing_in_its_report_says_that_it_fails(tmp_path):
    report = check(unnamed("single"), isolate=False, **SMALL)
    assert not report.failures
    assert not report._subject.unlike
    assert not report._subject.failing
    assert all(cell.passed == cell.trials for cell in report._subject.counts)
    told = {finding.cause for finding in report.findings}
    assert told <= {Cause.NORMAL, Cause.INEXACT, Cause.SINGLE}
    report.to_html(tmp_path / "out.html")
    assert "Exact is 1e-05 or less" in (tmp_path / "out.html").read_text()
    report = check(unnamed("single"), isolate=False, tolerance=1e-10, **SMALL)
    assert report.failures
    assert report._subject.unlike


def test_the_headline_says_which():
    report = check(unnamed("single"), isolate=False, **SMALL)
    assert report.verdict.headline.startswith("PASS at 1e-5 (exact in single precision): correct")


class TestByName:
    """It is kept in the store, and the report knows it."""

    RUN = ("--family", "bidiagonal", "--sizes", "2", "--entries", "ones", "--trials", "200")

    def run(self, nmfcheck, tmp_path, name, *more):
        out = tmp_path / "out.json"
        subject, store = f"py:{tmp_path / 'mine.py'}:{name}", str(tmp_path / f"{name}.sqlite")
        code, _, err = nmfcheck("run", subject, *self.RUN, "--store", store, *more)
        shown = [word for word in more if word != "--fail-fast"]
        again, *_ = nmfcheck("report", store, "--json", str(out), *shown)
        assert again == code
        return code, err, out.exists() and json.loads(out.read_text())["subjects"][0]["tolerance"]

    def test_from_the_run_to_the_report(self, nmfcheck, tmp_path):
        (tmp_path / "mine.py").write_text(SUBJECT.format(value="single"))
        assert self.run(nmfcheck, tmp_path, "right")[::2] == (1, 1e-10)
        assert self.run(nmfcheck, tmp_path, "said")[::2] == (0, 1e-5)
        assert self.run(nmfcheck, tmp_path, "said", "--tolerance", "1e-10")[::2] == (1, 1e-10)

    def test_the_first_failure_ends_a_run_where_it_is_one(self, nmfcheck, tmp_path):
        (tmp_path / "mine.py").write_text(SUBJECT.format(value="single"))
        assert self.run(nmfcheck, tmp_path, "said", "--fail-fast")[0] == 0
        self.run(nmfcheck, tmp_path, "right", "--fail-fast")
        said, right = (len(dump(tmp_path / f"{name}.sqlite")) for name in ("said", "right"))
        assert said > 300 > right

    @pytest.mark.slow
    def test_what_is_compared_is_not_asked_for_the_same(self, nmfcheck, tmp_path):
        (tmp_path / "mine.py").write_text(SUBJECT.format(value="single"))
        for name in ("right", "said"):
            self.run(nmfcheck, tmp_path, name)
        _, out, _ = nmfcheck("compare", *(str(tmp_path / f"{x}.sqlite") for x in ("right", "said")))
        assert "What counts as exact differs: 1e-10 for py:" in out

    def test_replay(self, nmfcheck, tmp_path):
        (tmp_path / "mine.py").write_text(SUBJECT.format(value="single"))
        trial, subject = "bidiagonal/n=2/ones/seed=7", f"py:{tmp_path / 'mine.py'}:said"
        _, out, _ = nmfcheck("replay", trial, "--subject", subject)
        assert "what is within 1e-5 counts as exact" in out
        assert "not asked" not in out

    def test_what_nobody_knows(self, nmfcheck, tmp_path):
        (tmp_path / "mine.py").write_text(SUBJECT.format(value="half"))
        subject = f"py:{tmp_path / 'mine.py'}:said"
        code, _, err = nmfcheck("run", subject, "--store", str(tmp_path / "s.sqlite"))
        assert (code, err.count("\n")) == (2, 1)
        expected = "nmfcheck_precision is 'half'; expected 'double' or 'single'"
        assert expected in err


@pytest.mark.parametrize("isolate", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_program_says_it(tmp_path, isolate):
    program = tmp_path / "nmf.py"
    program.write_text(
        "import json, sys\n"
        "import numpy as np\n"
        "from nmfcheck import reference\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    A, W0, H0 = (np.array(asked[name]) for name in ('A', 'W0', 'H0'))\n"
        "    W, H, *_ = reference.coordinate_descent(A, W0, H0, iterations=500)\n"
        "    W, H = (X.astype(np.float32).tolist() for X in (W, H))\n"
        "    answer = {'id': asked['id'], 'W': W, 'H': H, 'precision': 'single'}\n"
        "    print(json.dumps(answer), flush=True)\n"
    )
    report = check(f"cmd:{sys.executable} {program}", isolate=isolate, **SMALL)
    assert (report.verdict.tolerance, report.decision) == (1e-5, Decision.PASS)


ESTIMATOR = """
from nmfcheck import reference


class NMF:
    def __init__(self, n_components=2):
        self.n_components = n_components

    def get_params(self, deep=True):
        return {"n_components": self.n_components}

    def fit_transform(self, A, W=None, H=None):
        solved = reference.coordinate_descent(A, W, H, iterations=500)
        self.components_ = solved.H.astype("float32")
        return solved.W.astype("float32")
"""


class TestWhoCanSayIt:
    @pytest.fixture
    def module(self, tmp_path, monkeypatch):
        (tmp_path / "single_estimator.py").write_text(ESTIMATOR + SUBJECT.format(value="single"))
        monkeypatch.syspath_prepend(tmp_path)
        yield import_module("single_estimator")
        del sys.modules["single_estimator"]

    @pytest.mark.slow
    def test_an_instance_and_its_class(self, module):
        assert tolerance_for(module.NMF()) == 1e-10
        marked = module.NMF()
        marked.nmfcheck_precision = "single"
        assert tolerance_for(marked) == 1e-5
        module.NMF.nmfcheck_precision = "single"
        assert tolerance_for(module.NMF()) == tolerance_for(module.NMF) == 1e-5

    def test_a_function_that_the_caller_marks(self, module):
        assert tolerance_for(module.right) == 1e-10
        module.right.nmfcheck_precision = "single"
        assert tolerance_for(module.right) == 1e-5

    def test_a_part_of_one(self, module):
        assert tolerance_for(partial(module.said)) == 1e-5

    def test_what_a_factory_returns(self, module):
        assert tolerance_for(lambda: module.said) == 1e-5


def tolerance_for(subject):
    """Return what it is asked for, which is the same wherever it runs."""
    few = SMALL | {"trials": 5}
    found = {check(subject, isolate=yes, **few).verdict.tolerance for yes in (True, False)}
    assert len(found) == 1
    return found.pop()


@pytest.mark.parametrize("value", [32, ["single"], "half"])
def test_values_that_are_none(value):
    with pytest.raises(InputError, match="expected 'double' or 'single'"):
        check(unnamed(value), isolate=False, **SMALL)


def test_a_store_that_says_something_else():
    with pytest.raises(InputError, match="precision is 'half'"):
        own_tolerance({"precision": "half"})
