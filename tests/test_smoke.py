"""The first look at a subject: what it must notice, and what it must not."""

import json

import pytest

from nmfcheck.errors import SubjectError
from nmfcheck.executors.local import LocalExecutor
from nmfcheck.executors.protocol import Limits
from nmfcheck.subjects import SubjectName
from nmfcheck.tools.smoke import Status, smoke

HEAD = """
import itertools, os, time
import numpy as np
def hals(A, W, H, iterations=300):
    W, H = W.copy(), H.copy()
    for _ in range(iterations):
        for X, Y, B in ((W, H, A), (H.T, W.T, A.T)):
            for k in range(len(Y)):
                size = X[:, k] @ X[:, k] or 1.0
                Y[k] = np.maximum(Y[k] + X[:, k] @ (B - X @ Y) / size, 0)
    return W, H
"""
GOOD = "def nmf(A, rank, *, W0, H0): return hals(A, W0, H0)"

RANDOM = "hals(A, np.random.rand(*A.shape), np.random.rand(*A.shape))"
START, LAST = "def nmf(A, rank, *, W0, H0):\n    W, H = hals(A, W0, H0)\n", "\n    return W, H"

# What the code does, and the names of the checks that must be bad or noted.
SUBJECTS = [
    (GOOD, set(), set()),
    (
        "def nmf(A, rank, *, seed):\n    rng = np.random.default_rng(seed)\n"
        "    return hals(A, rng.random(A.shape), rng.random(A.shape))",
        set(),
        set(),
    ),
    ("def nmf(A, rank): return A, np.eye(rank)", set(), {"takes"}),
    ("def nmf(A, rank, seed): return A, np.eye(rank)", set(), {"uses its start"}),
    (START + "    W = W[:2]" + LAST, {"returns"}, set()),
    ("def nmf(A, rank, *, W0, H0): return W0, H0", {"moves"}, {"product"}),
    (START + "    A[0, 0] = 2" + LAST, {"leaves A alone"}, set()),
    (f"def nmf(A, rank, *, seed): return {RANDOM}", {"repeats itself"}, set()),
    (f"def nmf(A, rank): return {RANDOM}", set(), {"takes", "repeats itself"}),
    (
        "def nmf(A, rank, *, W0, H0): return hals(A.ravel('K').reshape(A.shape), W0, H0)",
        {"memory order"},
        set(),
    ),
    (START + "    H = H.T" + LAST, {"product"}, set()),
    (START + "    W, H = H, W" + LAST, {"product"}, set()),
    (START + "    W, H = H.T, W.T" + LAST, {"product"}, set()),
    ("def nmf(A, rank, *, W0, H0): return hals(A.T, W0, H0)", {"product"}, set()),
    (START + "    W *= 2" + LAST, set(), {"product"}),
    (START + "    W[0, 0] = np.nan" + LAST, {"is nonnegative"}, {"product"}),
    (START + "    W, H = -W, -H" + LAST, {"is nonnegative"}, set()),
    (
        START + "    if rank == 2: raise ValueError('too small')" + LAST,
        {"answers"},
        set(),
    ),
    ("def nmf(A, rank): raise ValueError('never')", {"answers"}, {"takes"}),
    ("def nmf(A, rank): os._exit(3)", {"answers"}, {"takes"}),
    ("def nmf(A, rank): time.sleep(60)", {"answers"}, {"takes"}),
    ("def nmf(A, rank): return A", {"answers"}, {"takes"}),
]


@pytest.mark.parametrize(("code", "bad", "noted"), SUBJECTS)
def test_what_a_first_look_shows(tmp_path, code, bad, noted):
    path = tmp_path / "subject.py"
    path.write_text(HEAD + code)
    with LocalExecutor(SubjectName(f"py:{path}:nmf"), 1, Limits(timeout=1.0)) as workers:
        look = smoke(workers)
    assert {check.name for check in look.checks if check.status is Status.BAD} == bad
    assert {check.name for check in look.bad} == bad
    assert {check.name for check in look.checks if check.status is Status.NOTE} == noted
    assert look.answered != (bad == {"answers"} and "rank == 2" not in code)


def test_what_cannot_start():
    expected = pytest.raises(SubjectError, match="cannot be imported: raised ModuleNotFoundError")
    with LocalExecutor(SubjectName("py:no_such_module:nmf"), 1) as workers, expected:
        smoke(workers)


class TestCommandLine:
    @pytest.fixture
    def subject(self, tmp_path, monkeypatch):
        def subject(code):
            (tmp_path / "subject.py").write_text(HEAD + code)
            monkeypatch.chdir(tmp_path)
            return "py:subject:nmf"

        return subject

    def test_in_words(self, nmfcheck, subject):
        code, out, err = nmfcheck("smoke", subject(GOOD))
        assert (code, err) == (0, "")
        for said in ("takes", "W0, H0", "numpy.ndarray of float64, 3×3", "A is as it was"):
            assert said in out

    def test_in_json(self, nmfcheck, subject):
        code, out, _ = nmfcheck("smoke", subject(GOOD), "--json")
        assert code == 0
        told = json.loads(out)
        assert told["subject"] == "py:subject:nmf"
        assert {check["status"] for check in told["checks"]} == {"ok"}

    def test_something_is_wrong(self, nmfcheck, subject):
        code, out, _ = nmfcheck("smoke", subject("def nmf(A, rank, *, W0, H0): return W0, H0"))
        assert code == 1
        assert "it returns W0 and H0 as they were" in out

    def test_it_cannot_be_run(self, nmfcheck, subject):
        code, out, _ = nmfcheck("smoke", subject("def nmf(A, rank): print('hm'); raise OSError"))
        assert code == 4
        assert "none of 5 problems answered: raised OSError; it printed: hm" in " ".join(
            out.split()
        )

    def test_it_is_not_there(self, nmfcheck):
        code, out, err = nmfcheck("smoke", "py:nowhere:nmf")
        assert (code, out) == (4, "")
        assert err.startswith("nmfcheck: py:nowhere:nmf cannot be imported")
        assert err.count("\n") == 1

    def test_run_looks_first(self, nmfcheck, subject):
        name = subject("def nmf(A, rank): raise OSError('never')")
        code, out, err = nmfcheck("run", name, "--trials", "2", "--sizes", "2")
        assert (code, out) == (4, "")
        assert "could not be run: none of 5 problems answered: raised OSError: never" in err

    def test_run_tells_what_is_bad_and_goes_on(self, nmfcheck, subject):
        name = subject("def nmf(A, rank, *, W0, H0): return W0, H0")
        code, out, err = nmfcheck("run", name, "--trials", "2", "--sizes", "2")
        assert code == 1
        assert "moves: it returns W0 and H0 as they were" in err
        assert "0 of 4 trials" in out
