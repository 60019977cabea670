"""Problems in files: written out, answered by hand, judged."""

import json
import shutil

import numpy as np
import pytest

from nmfcheck import Trial, exact_factorization
from nmfcheck.families.bidiagonal.family import trial_of
from nmfcheck.families.inflated.cases import inflated_factors
from nmfcheck.tools.exchange import problem_name
from nmfcheck.tools.matrices import read_matrix, write_matrix
from nmfcheck.trials import suites
from strategies import FIXED, right_factors

FEW = ("--sizes", "2-3", "--trials", "2")


@pytest.mark.parametrize("form", ["csv", "npy", "mtx"])
def test_there_and_back(nmfcheck, tmp_path, form):
    code, out, err = nmfcheck("cases", "problems", "--format", form, *FEW)
    assert (code, err) == (0, "")
    assert "24 problems are in problems, each in a folder" in out
    folder = tmp_path / "problems" / "bidiagonal-n3-loguniform1-seed1-eps0.25"
    trial = trial_of(3, "loguniform#1", 1)
    for name, X in zip(("A", "W0", "H0"), (trial.case("eps=0.25").A, *trial.start()), strict=True):
        assert np.array_equal(read_matrix(folder / f"{name}.{form}"), X)
    for place in (tmp_path / "problems").iterdir():
        if place.is_dir() and "seed0" in place.name:
            A = read_matrix(place / f"A.{form}")
            write_matrix(place / f"W.{form}", A)
            write_matrix(place / f"H.{form}", np.eye(len(A)))
    code, out, err = nmfcheck("judge-dir", "problems")
    assert (code, err) == (0, "")
    assert "4 of 8 trials, 50 %" in out
    assert "not-run" in out


def test_json(nmfcheck, tmp_path):
    nmfcheck("cases", "problems", "--format", "json", *FEW)
    problems = (tmp_path / "problems" / "problems.jsonl").read_text().splitlines()
    assert len(problems) == 24
    answers = []
    for line in problems:
        problem = json.loads(line)
        W = [[None]] if problem["seed"] == 1 else problem["A"]
        answers.append({"id": problem["id"], "W": W, "H": np.eye(problem["rank"]).tolist()})
    (tmp_path / "problems" / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    code, out, _ = nmfcheck("judge-dir", "problems", "--json")
    assert code == 0
    cells = json.loads(out)["cells"]
    assert [cell["passed"] for cell in cells] == [1] * 4
    assert cells[0]["stages"][0]["outcomes"] == {"exact": 1, "invalid": 1}


@pytest.mark.parametrize("form", ["csv", "json"])
def test_rectangular_problems(nmfcheck, tmp_path, form):
    arguments = ("--family", "inflated,bidiagonal", "--shapes", "4x3/k=2", "--sizes", "2")
    code, out, _ = nmfcheck("cases", "problems", "--format", form, "--trials", "2", *arguments)
    assert code == 0
    assert "18 problems are in problems" in out
    folder, answers = tmp_path / "problems", []
    for i in range(2):
        trial = Trial.from_id(f"inflated/4x3/k=2/dyadic#{i}/seed={i}")
        for ask in trial.asks:
            case = trial.case(ask)
            W, H = inflated_factors(case, *exact_factorization(case.core))
            name = f"inflated-4x3-k2-dyadic{i}-seed{i}-{ask.name.replace('=', '')}"
            answers.append({"id": name, "W": W.tolist(), "H": H.tolist()})
            if form == "json":
                continue
            place = folder / name
            for key, X in zip(("A", "W0", "H0"), (case.A, *trial.start()), strict=True):
                assert np.array_equal(read_matrix(place / f"{key}.csv"), X)
            write_matrix(place / "W.csv", W)
            write_matrix(place / "H.csv", H)
    if form == "json":
        problems = (folder / "problems.jsonl").read_text().splitlines()
        shapes = {
            tuple(np.shape(problem[key]) for key in ("A", "W0", "H0"))
            for problem in map(json.loads, problems)
            if problem["id"].startswith("inflated")
        }
        assert shapes == {((4, 3), (4, 2), (2, 3))}
        (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))
    code, out, err = nmfcheck("judge-dir", "problems", "--json")
    assert (code, err) == (0, "")
    cells = json.loads(out)["cells"]
    assert [(cell["family"], cell["passed"]) for cell in cells] == [
        ("inflated", 2),
        ("bidiagonal", 0),
        ("bidiagonal", 0),
    ]
    assert {name for stage in cells[0]["stages"] for name in stage["outcomes"]} == {"exact"}
    assert nmfcheck("judge-dir", "problems")[0] == 0


@pytest.fixture
def fixed_folder(nmfcheck, tmp_path):
    """Return what judge-dir says of right answers to problems with fixed requirements, by cell."""
    code, out, err = nmfcheck("cases", "problems", "--family", ",".join(FIXED), "--trials", "1")
    assert (code, err) == (0, "")
    suite = suites.QUICK.selected(families=FIXED, trials=1)
    assert f"{suite.trials} problems are in problems" in out
    for trial in suite:
        (ask,) = trial.asks
        case, place = trial.case(ask), tmp_path / "problems" / problem_name(trial, ask)
        for key, X in zip(("A", "W0", "H0"), (case.A, *trial.start()), strict=True):
            assert np.array_equal(read_matrix(place / f"{key}.csv"), X)
        for key, X in zip("WH", right_factors(case), strict=True):
            write_matrix(place / f"{key}.csv", X)
    code, out, err = nmfcheck("judge-dir", "problems", "--json")
    assert (code, err) == (0, "")
    assert nmfcheck("judge-dir", "problems")[0] == 0
    cells = json.loads(out)["cells"]
    return suite, {f"{cell['family']}/{cell['cell']}": cell["stages"] for cell in cells}


def test_problems_with_fixed_requirements(fixed_folder):
    suite, cells = fixed_folder
    assert {cell.id for cell in suite.cells if not cell.warm} <= set(cells)
    for (stage,) in cells.values():
        assert stage["outcomes"] == {"exact": 1}
        assert 0 <= stage["median_defect"] < 1e-10  # of optima the excess of the residual


def test_problems_that_start_near_the_answer_are_judged(fixed_folder):
    suite, cells = fixed_folder
    assert {cell.id for cell in suite.cells} == set(cells)


class TestBadInput:
    @pytest.fixture
    def problems(self, nmfcheck, tmp_path):
        nmfcheck("cases", "problems", *FEW)
        return tmp_path / "problems"

    def told(self, nmfcheck, *arguments):
        code, out, err = nmfcheck(*arguments)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        return err

    def test_a_folder_that_is_there(self, nmfcheck, problems):
        assert "is there already and not an empty folder" in self.told(
            nmfcheck, "cases", "problems"
        )

    def test_no_problems(self, nmfcheck, tmp_path):
        assert "'nmfcheck cases" in self.told(nmfcheck, "judge-dir", tmp_path)

    def test_a_suite_file_that_was_changed(self, nmfcheck, problems):
        (problems / "suite.json").write_text("{}")
        assert "is not as 'nmfcheck cases' wrote it" in self.told(nmfcheck, "judge-dir", "problems")

    def test_another_version(self, nmfcheck, problems):
        """Of a family: its matrices would be others, under the same names."""
        about = json.loads((problems / "suite.json").read_text())
        about["suite"]["families"][0]["version"] = 7
        (problems / "suite.json").write_text(json.dumps(about))
        assert "is of version 7 of the bidiagonal family; this is 1" in self.told(
            nmfcheck, "judge-dir", "problems"
        )

    def test_two_answers(self, nmfcheck, problems):
        place = problems / "bidiagonal-n2-ones-seed0-eps0"
        shutil.copy(place / "A.csv", place / "W.csv")
        np.save(place / "W.npy", np.eye(2))
        assert "which counts?" in self.told(nmfcheck, "judge-dir", "problems")

    def test_an_unreadable_answer_counts_as_an_error(self, nmfcheck, problems):
        place = problems / "bidiagonal-n2-ones-seed0-eps0"
        for name in ("W.csv", "H.csv"):
            (place / name).write_text("one,two\n")
        code, out, _ = nmfcheck("judge-dir", "problems", "--json")
        assert code == 0
        outcomes = json.loads(out)["cells"][0]["stages"][0]["outcomes"]
        assert outcomes == {"error": 1, "not-run": 1}

    @pytest.mark.parametrize(
        ("line", "said"), [("nonsense", "line 1: no JSON object with an id"), ("[]", "line 1")]
    )
    def test_answers_that_are_none(self, nmfcheck, tmp_path, line, said):
        nmfcheck("cases", "in-json", "--format", "json", *FEW)
        (tmp_path / "in-json" / "answers.jsonl").write_text(line)
        assert said in self.told(nmfcheck, "judge-dir", "in-json")
