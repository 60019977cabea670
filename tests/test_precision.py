"""Who says that it computes in single precision is asked for single precision."""

import json
import sys

import numpy as np
import pytest

from nmfcheck import InputError, check, reference
from nmfcheck.subjects import as_subject
from nmfcheck.subjects.precision import declared, own_tolerance
from nmfcheck.verdict.decision import Decision

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
        again, *_ = nmfcheck("report", store, "--json", str(out), *more)
        assert again == code
        return code, err, out.exists() and json.loads(out.read_text())["subjects"][0]["tolerance"]

    def test_from_the_run_to_the_report(self, nmfcheck, tmp_path):
        (tmp_path / "mine.py").write_text(SUBJECT.format(value="single"))
        assert self.run(nmfcheck, tmp_path, "right")[::2] == (1, 1e-10)
        assert self.run(nmfcheck, tmp_path, "said")[::2] == (0, 1e-5)
        assert self.run(nmfcheck, tmp_path, "said", "--tolerance", "1e-10")[::2] == (1, 1e-10)

    def test_what_nobody_knows(self, nmfcheck, tmp_path):
        (tmp_path / "mine.py").write_text(SUBJECT.format(value="half"))
        subject = f"py:{tmp_path / 'mine.py'}:said"
        code, _, err = nmfcheck("run", subject, "--store", str(tmp_path / "s.sqlite"))
        assert (code, err.count("\n")) == (2, 1)
        expected = "nmfcheck_precision is 'half'; expected 'double' or 'single'"
        assert expected in err


def test_a_program_says_it(tmp_path):
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
    report = check(f"cmd:{sys.executable} {program}", **SMALL)
    assert (report.verdict.tolerance, report.decision) == (1e-5, Decision.PASS)


def test_classes_and_estimators_say_it():
    class NMF:
        nmfcheck_precision = "single"

        def __init__(self, n_components=2):
            self.n_components = n_components

        def fit_transform(self, A):
            return np.ones((len(A), self.n_components))

    for subject in (NMF, NMF()):
        assert own_tolerance(declared(as_subject(subject))) == 1e-5


def test_a_value_that_is_none():
    with pytest.raises(InputError, match="expected 'double' or 'single'"):
        check(unnamed(32), isolate=False, **SMALL)
