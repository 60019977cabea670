"""One trial again: everything that it shows, and the same as in the run."""

import numpy as np
import pytest

from nmfcheck import Trial, reference
from nmfcheck.store import Store
from nmfcheck.tools.matrices import read_matrix

ID = "bidiagonal/n=3/loguniform#4/seed=4"


def test_a_reference(nmfcheck):
    code, out, err = nmfcheck("replay", ID, "--subject", "als", "--option", "iterations=500")
    assert (code, err) == (0, "")
    for said in (
        f"{ID}, als",
        "bidiagonal/n=3/loguniform#4/eps=0",
        "bidiagonal/n=3/loguniform#4/eps=0.25",
        "nearest exact: W",
        "A − WH",
        "outcome",
        "why",
    ):
        assert said in out


def test_the_matrices_are_saved_bit_by_bit(nmfcheck, tmp_path):
    arguments = ("--subject", "multiplicative-update", "--option", "iterations=200")
    code, _, _ = nmfcheck("replay", ID, *arguments, "--save", tmp_path / "saved")
    assert code == 0
    trial = Trial.from_id(ID)
    W0, H0 = trial.start()
    found = reference.multiplicative_update(trial.case("eps=0.25").A, W0, H0, 200)
    folder = tmp_path / "saved" / "eps=0.25"
    for name, X in (("A", trial.case("eps=0.25").A), ("W0", W0), ("W", found.W), ("H", found.H)):
        assert np.array_equal(read_matrix(folder / f"{name}.csv"), X)
    W, H = (read_matrix(folder / f"nearest_{name}.csv") for name in "WH")
    np.testing.assert_allclose(W @ H, trial.case("eps=0.25").A, atol=1e-12)


def test_a_rectangular_trial(nmfcheck, tmp_path):
    trial = Trial.from_id("inflated/9x6/k=3/dyadic#2/seed=2")
    arguments = ("--subject", "coordinate-descent", "--option", "iterations=2000")
    code, out, err = nmfcheck("replay", trial.id, *arguments, "--save", tmp_path / "saved")
    assert (code, err) == (0, "")
    for said in (f"{trial.id}, coordinate-descent", "nearest exact: W", "padding defect"):
        assert said in out
    folder = tmp_path / "saved" / "eps=0"
    found = {
        name: read_matrix(folder / f"{name}.csv")
        for name in ("A", "W0", "H0", "W", "H", "nearest_W", "nearest_H")
    }
    shapes = {name: X.shape for name, X in found.items()}
    W, H = (9, 3), (3, 6)
    assert shapes == {
        "A": (9, 6), "W0": W, "H0": H, "W": W, "H": H, "nearest_W": W, "nearest_H": H,
    }  # fmt: skip
    product = found["nearest_W"] @ found["nearest_H"]
    np.testing.assert_allclose(product, trial.case("eps=0").A, atol=1e-12)


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("mixed/12x10/k=4/dyadic#7/seed=7", "padding defect"),
        ("mixed/8x6/k=3/dyadic#7/seed=7/start=warm", "padding defect"),
        ("noisy/6x5/k=2/dyadic#7/seed=7", "residual over noise  1  "),
        ("rays/k=3/alpha=0.25/extra=0x4/dyadic#7/seed=7", "cosine"),
        ("rays/k=3/alpha=0.25/extra=0x4/dyadic#7/seed=7/start=warm", "cosine"),
        ("rank-one/9x6/dyadic#7/seed=7", "WH is the best product of rank one"),
        ("rank-one/4x3/one/seed=7", "WH is the best product of rank one"),
        ("optima/hexagon/k=2/shuffled#7/seed=7", "3.464101615"),
    ],
)
def test_a_family_with_a_fixed_requirement(nmfcheck, tmp_path, id, said):
    arguments = ("--subject", "coordinate-descent", "--option", "iterations=2000")
    code, out, err = nmfcheck("replay", id, *arguments, "--save", tmp_path / "saved")
    assert (code, err) == (0, "")
    assert out.startswith(f"{id}, coordinate-descent")
    trial = Trial.from_id(id)
    (ask,) = trial.asks
    case, (W0, H0) = trial.case(ask), trial.start()
    assert case.id in out
    assert said in out
    assert ("the answer: W" in out) == (trial.cell.family != "optima")
    assert "nearest exact" not in out
    found = reference.coordinate_descent(case.A, W0, H0, 2000)
    folder = tmp_path / "saved" / ask.name
    for name, X in {"A": case.A, "W0": W0, "H0": H0, "W": found.W, "H": found.H}.items():
        assert np.array_equal(read_matrix(folder / f"{name}.csv"), X)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise ValueError('no luck')", "raised ValueError: no luck"),
        ("print('about to go'); os.abort()", "about to go"),
        ("return A * np.nan, A", "W is nan at row 1, column 1"),
        ("return A[:1], A", "W has shape (1, 3); expected (3, 3)."),
        ("return A * 0, A * 0", "A − WH"),
    ],
)
def test_failures_of_all_kinds(nmfcheck, tmp_path, code, said):
    (tmp_path / "mine.py").write_text(f"import os, numpy as np\ndef nmf(A, rank):\n    {code}\n")
    exit_code, out, err = nmfcheck("replay", ID, "--subject", "py:mine:nmf")
    assert (exit_code, err) == (0, "")
    assert said in out


def test_a_replay_is_what_the_run_was(nmfcheck, tmp_path):
    """For a subject that draws its start from the global random state, too."""
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "def nmf(A, rank):\n"
        "    return np.random.rand(*A.shape), np.random.rand(*A.shape)\n"
    )
    nmfcheck("run", "py:mine:nmf", "--sizes", "3", "--trials", "5", "--store", "run.sqlite")
    nmfcheck("replay", ID, "--subject", "py:mine:nmf", "--save", "saved")
    with Store.read(tmp_path / "run.sqlite") as store:
        found = store.results(store.subjects()[0])
        stages = found.stages_of(Trial.from_id(ID).cell, matrices=True)
        (stage,) = [s for s in stages if (s.trial.id, s.ask.name) == (ID, "eps=0.25")]
    assert np.array_equal(stage.W, read_matrix(tmp_path / "saved" / "eps=0.25" / "W.csv"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bidiagonal/n=3/seed=4", "--subject", "als"), "no cell 'n=3' of bidiagonal"),
        (("bidiagonal/n=3/ones", "--subject", "als"), "no trial 'bidiagonal/n=3/ones'"),
        (("sparse/n=3/ones/seed=1", "--subject", "als"), "no trial 'sparse/n=3/ones/seed=1'"),
        (
            ("mixed/8x6/k=3/dyadic/start=warm#7/seed=7", "--subject", "als"),
            "start and loss stand behind the seed",
        ),
        (("rays/k=2/alpha=0.25/extra=0x4/dyadic#7/seed=7", "--subject", "als"), "no rays of rank"),
        ((ID, "--subject", "alss"), "did you mean 'als'?"),
        ((ID, "--subject", "als", "--option", "iterations"), "expected KEY=VALUE"),
        ((ID, "--subject", "als", "--option", "iterations=many"), "not 'many'"),
        ((ID, "--subject", "als", "--option", "tol=1"), "als has no option 'tol'"),
        ((ID, "--subject", "als", "--eps", "x"), "--eps is 'x'"),
        ((ID,), "Missing option '--subject'"),
    ],
)
def test_bad_input(nmfcheck, arguments, said):
    code, out, err = nmfcheck("replay", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
