"""The command line, as a user meets it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from nmfcheck import Case, bidiagonal, cli, exact_factorization
from nmfcheck.families.bidiagonal import family
from nmfcheck.trials import suites
from strategies import right_factors


@pytest.fixture
def tiny_suite(monkeypatch):
    monkeypatch.setitem(family.SIZES, "tiny", (2, 3))
    monkeypatch.setitem(family.TRIALS, "tiny", 4)
    monkeypatch.setitem(suites.ITERATIONS, "tiny", 100)
    monkeypatch.setitem(suites.SUMMARIES, "tiny", "for tests")
    monkeypatch.setitem(suites.SUITES, "tiny", suites.of_version("tiny", 1))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = bidiagonal([1, 1, 1], eps=1e-3)
    W, H = exact_factorization(case, permutation=[2, 0, 1])
    for name, X in (("W", W), ("H", H)):
        np.savetxt(f"{name}.csv", X, delimiter=",")
        np.save(f"{name}.npy", X)
        scipy.io.mmwrite(f"{name}.mtx", X)
        scipy.io.mmwrite(f"{name}-sparse.mtx", scipy.sparse.coo_matrix(X))
    return tmp_path


PAPER = ("--a0", "1,1,1", "--a1", "1,1", "--eps", "1e-3")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--budget", "nan"), "'nan' is not a number of seconds"),
        (("--timeout", "nan"), "'nan' is not a number of seconds"),
        (
            ("--store", "x.html", "--report", "./x.html"),
            "'./x.html' is the store",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(nmfcheck, tmp_path, options, expected):
    code, _, err = nmfcheck("run", "als", "--family", "rank-one", "--trials", 1, *options)
    assert code == 2
    assert expected in err
    assert not list(tmp_path.iterdir())


class TestJudge:
    @pytest.mark.parametrize("kind", [".csv", ".npy", ".mtx", "-sparse.mtx"])
    def test_the_whole_judgement_in_words(self, nmfcheck, folder, kind):
        code, out, err = nmfcheck("judge", *PAPER, f"W{kind}", f"H{kind}")
        assert (code, err) == (0, "")
        for said in (
            "bidiagonal/n=3/ones/eps=1e-3",
            "exact: W and H are the known answer, or one of them",
            "on the solution set, with the word hw",
            "exact up to 1e-10, first-order up to 2e-06",
            "1: 3, 2: 1, 3: 2",
            "hw, the paper's Type III",
            "at switch 1 with θ = 0",
        ):
            assert said in out

    def test_json(self, nmfcheck, folder):
        code, out, _ = nmfcheck("judge", *PAPER, "--json", "W.csv", "H.npy")
        told = json.loads(out)
        assert code == 0
        assert told["case"] == "bidiagonal/n=3/ones/eps=1e-3"
        assert told["outcome"] == told["grade"] == "exact"
        assert told["labels"] == {"permutation": "2,0,1", "word": "hw", "type": "III"}
        assert told["nearest_exact"]["place"] == "switch 1 with θ = 0"
        assert np.array(told["nearest_exact"]["W"]).shape == (3, 3)

    def test_a_failure_exits_with_1(self, nmfcheck, folder):
        np.savetxt("ones.csv", np.ones((3, 3)), delimiter=",")
        code, out, _ = nmfcheck("judge", *PAPER, "ones.csv", "ones.csv")
        assert code == 1
        assert "unconverged" in out
        assert "none: no permutation gives W and H the form" in out

    def test_infinities_become_null_in_json(self, nmfcheck, folder):
        np.savetxt("ones.csv", np.ones((3, 3)), delimiter=",")
        code, out, _ = nmfcheck("judge", *PAPER, "--json", "ones.csv", "ones.csv")
        assert code == 1
        assert json.loads(out)["measures"]["form_defect"] is None

    def test_nan_in_a_file_is_judged(self, nmfcheck, folder):
        (folder / "W.csv").write_text("1,0,0\n0,nan,0\n0,0,1\n")
        code, out, _ = nmfcheck("judge", *PAPER, "W.csv", "H.csv")
        assert code == 1
        assert "W is nan at row 2, column 2; expected finite numbers." in out
        code, out, _ = nmfcheck("judge", *PAPER, "--json", "W.csv", "H.csv")
        assert json.loads(out)["nearest_exact"] is None

    @pytest.mark.parametrize("eps", ["0", "0.1", "3", "1e-200"])
    @pytest.mark.parametrize("size", [1e200, 1e-200, 1.0, 0.0])
    def test_extreme_factors_are_judged(self, nmfcheck, folder, eps, size):
        np.savetxt("W.csv", np.full((2, 2), size), delimiter=",")
        for arguments in ((), ("--json",)):
            code, out, err = nmfcheck(
                "judge", "--a0", "2,1", "--eps", eps, *arguments, "W.csv", "W.csv"
            )
            assert (code, err) == (1, "")
            assert out

    def test_a_case_by_its_id(self, nmfcheck, folder):
        code, out, _ = nmfcheck("judge", "--case", "bidiagonal/n=3/ones/eps=1e-3", "W.csv", "H.csv")
        assert code == 0
        assert "Type III" in out

    @pytest.mark.parametrize(
        "id",
        [
            "mixed/12x10/k=4/dyadic#7/eps=0",
            "noisy/6x5/k=2/dyadic#7/eps=0",
            "rays/k=4/alpha=0.25/extra=0x3/dyadic#7",
            "rank-one/9x6/dyadic#7/beta=2",
            "rank-one/4x3/one/beta=2",
            "optima/hexagon/k=2/shuffled#7/residual",
        ],
    )
    def test_families_with_fixed_requirements(self, nmfcheck, folder, id):
        case = Case.from_id(id)
        for name, X in zip("WH", right_factors(case), strict=True):
            np.save(f"{name}.npy", X)
        code, out, err = nmfcheck("judge", "--case", id, "W.npy", "H.npy")
        assert (code, err) == (0, "")
        for said in (id, "exact: ", "why", "kkt residual"):
            assert said in out.replace("KKT", "kkt")
        assert ("the answer" in out) == (case.family != "optima")
        assert "nearest exact" not in out
        told = json.loads(nmfcheck("judge", "--case", id, "--json", "W.npy", "H.npy")[1])
        assert (told["case"], told["outcome"], told["grade"]) == (id, "exact", "exact")
        assert (told["nearest_exact"] is None) == (case.family == "optima")
        np.save("W.npy", np.full((case.m, case.rank), 0.1))
        code, out, _ = nmfcheck("judge", "--case", id, "--json", "W.npy", "H.npy")
        assert (code, json.loads(out)["grade"]) == (1, None)

    def test_a_trial_with_one_ask_names_its_case(self, nmfcheck, folder):
        id = "mixed/12x10/k=4/dyadic#7/seed=7"
        for name, X in zip("WH", right_factors(Case.from_id(id)), strict=True):
            np.save(f"{name}.npy", X)
        code, out, err = nmfcheck("judge", "--case", id, "W.npy", "H.npy")
        assert (code, err) == (0, "")
        assert "mixed/12x10/k=4/dyadic#7/eps=0" in out

    def test_spaces_blank_lines_and_byte_order_marks(self, nmfcheck, folder):
        (folder / "W.csv").write_text("\ufeff# W\n1, 0 ,0\n\n0,1,0\n0,0,1\n", encoding="utf-8")
        (folder / "H.csv").write_text("1,0,0\n0,1,0\n0,0,1\n\n", encoding="utf-8")
        code, *_ = nmfcheck("judge", "--a0", "1,1,1", "W.csv", "H.csv")
        assert code == 0

    def test_one_by_one(self, nmfcheck, folder):
        (folder / "W.csv").write_text("4\n")
        (folder / "H.csv").write_text("0.5\n")
        code, *_ = nmfcheck("judge", "--a0", "2", "W.csv", "H.csv")
        assert code == 0


BAD = {
    "a negative a0": (("judge", "--a0", "1,-1,1", "W.csv", "H.csv"), "a0(2) is -1"),
    "a zero a0": (("judge", "--a0", "1,0,1", "W.csv", "H.csv"), "a0(2) is 0"),
    "an empty a0": (("judge", "--a0", "", "W.csv", "H.csv"), "a0 is empty"),
    "a0 in words": (("judge", "--a0", "one,two", "W.csv", "H.csv"), "--a0 is 'one,two'"),
    "a0 of NaN": (("judge", "--a0", "nan,1,1", "W.csv", "H.csv"), "a0 must be finite"),
    "a1 too long": (("judge", "--a0", "1,1", "--a1", "1,1", "W.csv", "H.csv"), "a1 has 2 entries"),
    "a negative eps": (("judge", "--a0", "1,1,1", "--eps", "-1", "W.csv", "H.csv"), "eps is -1"),
    "eps in words": (("judge", "--a0", "1", "--eps", "x", "W.csv", "H.csv"), "expected a number"),
    "an empty eps": (("judge", "--a0", "1", "--eps", "", "W.csv", "H.csv"), "expected one number"),
    "two epsilons": (("judge", "--a0", "1,1", "--eps", "1,2", "W.csv", "H.csv"), "one number"),
    "no a0": (("judge", "W.csv", "H.csv"), "say which matrix was factorized"),
    "both": (("judge", "--a0", "1", "--case", "x", "W.csv", "H.csv"), "--case says it all"),
    "a bad id": (("judge", "--case", "x/y", "W.csv", "H.csv"), "no case 'x/y'"),
    "a trial of several cases": (
        ("judge", "--case", "bidiagonal/n=2/ones/seed=7", "W.csv", "H.csv"),
        "is a trial of 3 cases; its cases are bidiagonal/n=2/ones/eps=0, bidiagonal/n=2",
    ),
    "a matrix too large": (
        ("judge", "--case", "mixed/9999x9999/k=2/dyadic#7/eps=0", "W.csv", "H.csv"),
        "a 9999×9999 matrix is too large; expected at most 1000000 entries",
    ),
    "a cell that is none": (
        ("judge", "--case", "optima/thomas/k=4/shuffled#7/residual", "W.csv", "H.csv"),
        "no optimum is known of thomas/k=4; there are thomas/k=1",
    ),
    "a draw too far": (
        ("judge", "--case", f"bidiagonal/n=2/loguniform#{'9' * 5000}/eps=0", "W.csv", "H.csv"),
        "no case",
    ),
    "an eps too large": (
        ("judge", "--a0", "1,1e-300,1", "--eps", "1e300", "W.csv", "H.csv"),
        "leaves the range of double precision",
    ),
    "an eps too small": (
        ("judge", "--a0", "1,1,1", "--eps", "1e-320", "W.csv", "H.csv"),
        "leaves the range of double precision",
    ),
    "one file": (("judge", "--a0", "1", "W.csv"), "Missing argument 'H'"),
    "the wrong shape": (("judge", "--a0", "1,1", "W.csv", "H.csv"), "W.csv has shape (3, 3)"),
    "a missing file": (("judge", *PAPER, "no.csv", "H.csv"), "no.csv cannot be read: No such file"),
    "a folder": (("judge", *PAPER, "folder.csv", "H.csv"), "folder.csv cannot be read: Is a dir"),
    "a ragged file": (("judge", *PAPER, "ragged.csv", "H.csv"), "ragged: line 2 has 2 numbers"),
    "words in a file": (("judge", *PAPER, "words.csv", "H.csv"), "line 1: 'a' is not a number"),
    "an empty file": (("judge", *PAPER, "empty.csv", "H.csv"), "empty.csv is empty"),
    "a broken .npy": (("judge", *PAPER, "broken.npy", "H.csv"), "is not a .npy matrix of numbers"),
    "a pickle": (("judge", *PAPER, "pickled.npy", "H.csv"), "is not a .npy matrix of numbers"),
    "a cube": (("judge", *PAPER, "cube.npy", "H.csv"), "holds an array of shape (2, 2, 2)"),
    "a broken .mtx": (("judge", *PAPER, "broken.mtx", "H.csv"), "broken.mtx is not a .mtx matrix"),
    "another format": (("judge", *PAPER, "W.txt", "H.csv"), "expected .csv, .npy or .mtx"),
    "an unknown suite": (("run", "als", "--suite", "fast"), "no suite 'fast'; there are quick"),
    "an unknown algorithm": (("run", "asl"), "no subject 'asl'; did you mean 'als'?"),
    "no algorithm": (("run",), "Missing argument 'SUBJECT...'; see 'nmfcheck run --help'"),
    "no jobs": (("run", "als", "--jobs", "0"), "Invalid value for '--jobs': 0"),
    "an unknown command": (("walk",), "No such command 'walk'; see 'nmfcheck --help'"),
    "an unknown option": (("run", "als", "--fast"), "No such option"),
    "an unknown list": (("list", "everything"), "'everything' is not one of"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_input_gets_one_clear_line_and_exit_code_2(nmfcheck, folder, what):
    (folder / "folder.csv").mkdir()
    (folder / "ragged.csv").write_text("1,2,3\n4,5\n")
    (folder / "words.csv").write_text("a,b\n1,2\n")
    (folder / "empty.csv").write_text("\n")
    (folder / "broken.npy").write_bytes(b"no numpy here")
    (folder / "broken.mtx").write_text("%%MatrixMarket nonsense\n")
    (folder / "W.txt").write_text("1")
    np.save("pickled.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    np.save("cube.npy", np.ones((2, 2, 2)))
    arguments, said = BAD[what]
    code, out, err = nmfcheck(*arguments)
    assert code == 2
    assert out == ""
    assert said in err
    assert err.startswith("nmfcheck: ")
    assert err.count("\n") == 1


class TestRun:
    def test_a_table_for_each_subject(self, nmfcheck, tiny_suite):
        code, out, err = nmfcheck(
            "run", "multiplicative-update", "als", "--suite", "tiny", "--jobs", "1"
        )
        assert code == 1  # a hundred iterations are too few
        assert "multiplicative-update, tiny suite: bidiagonal, 100 iterations" in out
        assert "als, tiny suite: bidiagonal, 100 iterations" in out
        assert out.count("Exact? ") == 2
        assert "tiny suite, the best first" in out
        assert "tiny suite: 100 %" in err
        assert "\x1b" not in out

    def test_json(self, nmfcheck, tiny_suite):
        _, out, _ = nmfcheck("run", "als", "als", "--suite", "tiny", "--jobs", "1", "--json", "-")
        told = json.loads(out)
        suite = told["subjects"][0]["suite"]
        assert (suite["name"], suite["version"]) == ("tiny", 1)
        assert [subject["name"] for subject in told["subjects"]] == ["als"]
        (of_family,) = told["subjects"][0]["families"]
        assert [cell["cell"] for cell in of_family["counts"]] == [
            "n=2/ones", "n=2/loguniform", "n=3/ones", "n=3/loguniform",
        ]  # fmt: skip
        assert of_family["counts"][0]["asks"][1]["ask"] == "eps=1e-3"
        asked = suite["families"][0]["asks"][1]
        assert asked == {"name": "eps=1e-3", "needs": "first-order", "question": "test"}


def test_every_command_can_be_loaded():
    """They are named without being loaded; none is missing, and none is a wrong one."""
    for name in cli.COMMANDS:
        assert cli.cli.get_command(None, name).name == name
    assert cli.cli.get_command(None, "svd") is None


class TestList:
    def test_everything(self, nmfcheck):
        code, out, _ = nmfcheck("list")
        assert code == 0
        for name in ("multiplicative-update", "coordinate-descent", "quick", "standard", "full"):
            assert name in out

    def test_cases(self, nmfcheck):
        _, out, _ = nmfcheck("list", "cases", "--suite", "quick@1")
        ids = out.splitlines()
        assert "bidiagonal/n=3/loguniform#7/eps=1e-3" in ids
        assert len(ids) == len(set(ids)) == 4 * 3 * (1 + 100)

    def test_cases_of_two_families(self, nmfcheck):
        _, out, _ = nmfcheck("list", "cases", "--suite", "quick@2")
        ids = out.splitlines()
        assert "bidiagonal/n=3/loguniform#7/eps=1e-3" in ids
        assert "inflated/9x6/k=3/dyadic#7/eps=1e-3" in ids
        inflated = suites.QUICK.part("inflated").trials
        assert len(ids) == len(set(ids)) == 3 * (4 * (1 + 100) + inflated)
        _, out, _ = nmfcheck("list", "cases", "--suite", "quick@3")
        newest = out.splitlines()
        assert newest[: len(ids)] == ids
        assert len(newest) == len(set(newest))
        assert {id.partition("/")[0] for id in newest[len(ids) :]} == {
            "mixed", "noisy", "rays", "rank-one", "optima",
        }  # fmt: skip

    def test_families(self, nmfcheck):
        code, out, _ = nmfcheck("list", "families")
        assert code == 0
        for said in ("bidiagonal", "inflated", "inflated/9x6/k=3/dyadic#7/seed=7"):
            assert said in out

    @pytest.mark.parametrize("what", ["all", "subjects", "suites", "families", "cases"])
    def test_json(self, nmfcheck, what):
        _, out, _ = nmfcheck("list", what, "--json")
        told = json.loads(out)
        everything = {"subjects", "suites", "families", "cases"}
        assert set(told) == (everything if what == "all" else {what})


def command(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "nmfcheck", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_help_helps():
    for arguments in ((), ("--help",), ("run", "-h"), ("list", "-h"), ("judge", "-h")):
        result = command(*arguments)
        assert result.returncode == 0
        assert "Usage: nmfcheck" in result.stdout
    assert "--a0 1,1,1" in result.stdout


def test_the_version_names_the_engine():
    said = command("--version").stdout
    assert said.startswith(("nmfcheck 0.1.0, engine: native, ", "nmfcheck 0.1.0, engine: NumPy"))
    assert "thread" in said


def test_an_unknown_instruction_set_is_bad_input():
    result = command("--version", env=os.environ | {"NMFCHECK_INSTRUCTIONS": "mmx"})
    if "NumPy" not in result.stdout:
        assert result.returncode == 2
        assert result.stderr.startswith(
            "nmfcheck: NMFCHECK_INSTRUCTIONS is 'mmx'; this machine has"
        )


@pytest.fixture
def long_run(tmp_path):
    """Start a run that takes long, in a process group of its own, and let it get under way."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nmfcheck", "run", "als", "gradient-descent", "--suite", "full"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=tmp_path,
    )
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob("runs/*.sqlite")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    yield process
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_a_run_that_is_killed_leaves_nothing_behind(long_run):
    os.kill(long_run.pid, signal.SIGKILL)
    long_run.communicate(timeout=20)
    assert_gone(long_run.pid)


def test_ctrl_c_ends_a_run_at_once_and_leaves_nothing_behind(long_run):
    process = long_run
    asked = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "nmfcheck: interrupted; " in err
    assert err.endswith("-full@6.sqlite; the same command goes on from there\n")
    assert time.monotonic() - asked < 10
    assert_gone(process.pid)


def assert_gone(group, seconds=10):
    """Assert that nobody is left in a process group; the last ones may take a moment to leave."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail(f"process group {group} is still there after {seconds} s")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_cannot_show_everything(folder, encoding):
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    result = command("judge", *PAPER, "W.csv", "H.csv", env=environment, encoding=encoding)
    assert (result.returncode, result.stderr) == (0, "")
    assert "max|A ? WH|" in result.stdout


def test_a_full_disk():
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "nmfcheck", "list"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert result.returncode == 2
    assert result.stderr == "nmfcheck: cannot write: No space left on device\n"


def test_a_reader_that_has_seen_enough(tmp_path):
    shell = f"{sys.executable} -m nmfcheck list cases --suite full | head -n 1"
    result = subprocess.run(shell, shell=True, capture_output=True, text=True, check=False)
    assert result.stdout.startswith("bidiagonal/n=2/ones/eps=0")
    assert result.stderr == ""


class TestOptions:
    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("--sizes", "2-"), "--sizes is '2-'; expected sizes from 1 to 200 such as 2-5,8"),
            (("--sizes", "5-2"), "--sizes is '5-2'"),
            (("--sizes", "0"), "--sizes is '0'"),
            (("--eps", "a"), "--eps is 'a'; expected numbers between commas"),
            (("--eps", "-1"), "ε is -1; it must be at least 0"),
            (("--eps", "nan"), "--eps is 'nan'"),
            (("--entries", "twos"), "no entries 'twos'; there are ones, loguniform"),
            (("--trials", "0"), "0 is not in the range"),
            (("--timeout", "0"), "0.0 is not in the range"),
            (("--memory-limit", "much"), "--memory-limit is 'much'; expected 64M or more"),
            (("--memory-limit", "1M"), "--memory-limit is '1M'; expected 64M or more"),
            (("--option", "x"), "--option 'x': expected KEY=VALUE"),
            (("--option", "x=1"), "als has no option 'x'; it takes iterations"),
            (("--suite", "fast"), "no suite 'fast'"),
            (("--suite", "quick@7"), "no suite 'quick@7'; there are quick@1, quick@2, quick@3"),
            (("--family", "triangular"), "no family 'triangular'; there are bidiagonal, inflated"),
            (("--family", "inflate"), "no family 'inflate'; did you mean 'inflated'?"),
            (("--family", ""), "no family ''"),
            (
                ("--family", "bidiagonal", "--shapes", "5x4/k=2"),
                "'shapes' is not an option of the bidiagonal family",
            ),
            (("--suite", "quick@1", "--shapes", "5x4/k=2"), "'shapes' is not an option"),
            (("--shapes", "5x4"), "no cell '5x4/dyadic' of inflated; expected one such as"),
            (("--shapes", "5x4/k=5"), "no rank 5 of a 5×4 matrix; expected 1 to 4"),
        ],
    )
    def test_bad_input(self, nmfcheck, arguments, said):
        code, out, err = nmfcheck("run", "als", *arguments)
        assert (code, out) == (2, "")
        assert said in err
        assert err.count("\n") == 1

    def test_a_selection(self, nmfcheck, tmp_path):
        arguments = ("--sizes", "2-3,5", "--trials", "3", "--eps", "0,0.5", "--entries", "ones")
        code, out, _ = nmfcheck(
            "run", "als", *arguments, "--option", "iterations=50", "--json", "-"
        )
        assert code == 3  # without ε = 1e-3 it is not the paper's test
        told = json.loads(out)
        (of_family,) = told["subjects"][0]["families"]
        cells = of_family["counts"]
        assert [(c["cell"], c["trials"]) for c in cells] == [
            ("n=2/ones", 3), ("n=3/ones", 3), ("n=5/ones", 3),
        ]  # fmt: skip
        assert [stage["ask"] for stage in cells[0]["asks"]] == ["eps=0", "eps=0.5"]
        assert told["subjects"][0]["settings"]["options"] == {"iterations": 50}
        assert (tmp_path / "runs" / told["subjects"][0]["store"]).is_file()

    def test_other_selections_have_other_stores(self, nmfcheck, tmp_path):
        for n in (1, 2, 1):
            nmfcheck("run", "als", "--trials", n, "--sizes", "2")
        assert len(list((tmp_path / "runs").glob("als-quick@6-*.sqlite"))) == 2

    def test_values_of_options(self):
        from nmfcheck.cli.options import parse_limits, parse_options

        given = ["a=1", "b=1e-3", "c=text", "d=true", "e=None", "f=[1, 2]", "g=x=y", "h="]
        assert parse_options(given) == {
            "a": 1, "b": 1e-3, "c": "text", "d": True, "e": None, "f": [1, 2], "g": "x=y", "h": "",
        }  # fmt: skip
        assert parse_limits(3.0, "2G").memory == 2 << 30
        assert parse_limits(3.0, "512 MiB").memory == 512 << 20


class TestFamilies:
    FEW = ("run", "coordinate-descent", "--json", "-")

    @pytest.mark.parametrize(
        ("arguments", "cells"),
        [
            (("--family", "inflated", "--shapes", "5x4/k=2,6x5/k=2/zeros"),
             ["inflated/5x4/k=2/dyadic", "inflated/6x5/k=2/zeros"]),
            (("--shapes", "5x4/k=2"), ["inflated/5x4/k=2/dyadic"]),
            (("--sizes", "2", "--entries", "ones"), ["bidiagonal/n=2/ones"]),
            (("--sizes", "2", "--entries", "ones", "--shapes", "5x4/k=2"),
             ["bidiagonal/n=2/ones", "inflated/5x4/k=2/dyadic"]),
            (("--family", "inflated,bidiagonal", "--shapes", "5x4/k=2", "--sizes", "2"),
             ["inflated/5x4/k=2/dyadic", "bidiagonal/n=2/ones", "bidiagonal/n=2/loguniform"]),
            (("--suite", "quick@1", "--family", "inflated", "--shapes", "6x4/k=1"),
             ["inflated/6x4/k=1/dyadic"]),
        ],
    )  # fmt: skip
    def test_a_selection(self, nmfcheck, arguments, cells):
        _, out, _ = nmfcheck(*self.FEW, *arguments, "--trials", "2")
        families = json.loads(out)["subjects"][0]["families"]
        found = [f"{each['family']}/{c['cell']}" for each in families for c in each["counts"]]
        assert found == cells
        assert {c["trials"] for each in families for c in each["counts"]} == {2}

    def test_the_bidiagonal_part_is_the_first_version(self, nmfcheck):
        (_, one, _), (_, other, _) = (
            nmfcheck(*self.FEW, *arguments, "--trials", "10")
            for arguments in (
                ("--suite", "quick@1"),
                ("--suite", "quick@3", "--family", "bidiagonal"),
            )
        )
        one, other = (json.loads(told)["subjects"][0] for told in (one, other))
        assert one["families"] == other["families"]
        for key in ("verdict", "reason", "findings", "failures", "fails_where_references_pass"):
            assert one[key] == other[key]
        assert (one["suite"]["version"], other["suite"]["version"]) == (1, 3)

    @pytest.mark.parametrize(
        ("suite", "needs"),
        [("quick", "exact-in-single"), ("quick@5", "identified"), ("quick@1", "identified")],
    )
    def test_the_least_residual_is_asked_for_as_near_as_the_suite_says(
        self, nmfcheck, tmp_path, suite, needs
    ):
        asked = ("--suite", suite, "--family", "optima", "--trials", 2)
        page = tmp_path / "page.html"
        _, out, _ = nmfcheck("run", "als", *asked, "--details", "--report", page)
        assert f"Passed the test (the least residual {needs}): 8 of 8 trials" in out
        shown = page.read_text(encoding="utf-8")
        bound = {"exact-in-single": "1e-05", "identified": "0.001"}[needs]
        assert f"{bound} is asked for. Exact is 1e-10 or less." in shown
        assert f"nmfcheck run als --suite {suite} --family optima --trials 2" in shown

    def test_a_store_is_named_after_subject_and_suite(self):
        from nmfcheck.checking.runnable import Runnable
        from nmfcheck.cli.run import _default_store
        from nmfcheck.subjects import SubjectName

        named = [Runnable(SubjectName("als"))]
        for title in ("quick@1", "quick@2", "quick@5", "standard@6"):
            expected = Path("runs") / f"als-{title}.sqlite"
            assert _default_store(named, suites.find(title)) == expected
        part = suites.QUICK.selected(families=["bidiagonal"])
        assert _default_store(named, part).name.startswith("als-quick@6-")

    def test_a_factorization_of_an_inflated_case(self, nmfcheck, folder):
        from nmfcheck.families.inflated.cases import inflated_factors

        case = Case.from_id("inflated/5x4/k=2/dyadic#3/eps=0.25")
        for name, X in zip("WH", inflated_factors(case, *exact_factorization(case.core)),
                           strict=True):  # fmt: skip
            np.savetxt(f"{name}.csv", X, delimiter=",")
        code, out, err = nmfcheck("judge", "--case", case.id, "W.csv", "H.csv")
        assert (code, err) == (0, "")
        assert "exact: W and H are the known answer, or one of them" in out
        assert "padding defect" in out
        code, out, _ = nmfcheck("judge", "--case", case.id, "--json", "W.csv", "H.csv")
        told = json.loads(out)
        assert told["outcome"] == "exact"
        assert set(told["measures"]) == {
            "form_defect", "product_defect", "padding_defect", "kkt_residual",
        }  # fmt: skip
        code, _, err = nmfcheck("judge", "--case", case.id, "H.csv", "W.csv")
        assert code == 2
        assert "for a 5×4 matrix of rank 2 it must be (5, 2)" in err


def test_an_interrupted_reference_goes_on(nmfcheck, tiny_suite, monkeypatch):
    """What was stored is not run again, and the table is the same."""
    from nmfcheck.checking import campaign

    arguments = ("run", "gradient-descent", "--suite", "tiny", "--engine", "numpy", "--jobs", "1")
    _, whole, _ = nmfcheck(*arguments, "--store", "whole.sqlite")
    asked, stored, driver = [], [], campaign.Driver

    def interrupted(executor, plans, *more, **options):
        asked.append({trial.id for plan in plans for trial in plan.trials})
        part = next(iter(driver(executor, plans, *more, **options)))
        stored.append({stage.trial.id for stage in part})
        yield part
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "Driver", interrupted)
    for _ in range(2):
        code, _, err = nmfcheck(*arguments, "--store", "parts.sqlite")
        assert code == 130
        assert "stages are in parts.sqlite; the same command goes on from there" in err
    assert len(asked[0]) == 16
    assert set() < stored[0] < asked[0]
    assert asked[1] == asked[0] - stored[0]
    monkeypatch.setattr(campaign, "Driver", driver)
    _, parts, _ = nmfcheck(*arguments, "--store", "parts.sqlite")
    assert parts == whole.replace("whole", "parts")
