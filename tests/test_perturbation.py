"""Slopes of the parameters in ε: closed forms, real algorithms, the command line."""

import json
from importlib import resources

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmfcheck import InputError, reference
from nmfcheck.families.bidiagonal.cases import case_of
from nmfcheck.families.bidiagonal.exact import exact_factorization
from nmfcheck.families.bidiagonal.family import FAMILY, eps_of
from nmfcheck.families.bidiagonal.slopes import EPS, PARAMETERS, SEEDS
from nmfcheck.intervals import Share
from nmfcheck.perturbation import slopes, slopes_of
from nmfcheck.store import Store

LADDER = (0.0, *EPS)


def family(eps, w0, share, order=(0, 1)):
    """Return an exact factorization for n = 2, a ≡ 1, whose diagonal of W is w0."""
    case = case_of(2, "ones", eps)
    return exact_factorization(case, w0=w0, theta=share, permutation=list(order))


def runs(diagonals, share=1.0, order=lambda _: (0, 1)):
    """Return runs whose w0 is a function of ε, for several functions."""
    return {eps: [family(eps, w0(eps), share, order(eps)) for w0 in diagonals] for eps in LADDER}


positive = st.floats(0.2, 5)
small = st.floats(-1, 1)


@given(st.lists(st.tuples(positive, positive, small, small), min_size=2, max_size=5))
def test_slopes_of_an_exact_family_that_is_linear_are_its_slopes(members):
    found = slopes_of(runs([lambda e, m=m: (m[0] + m[2] * e, m[1] + m[3] * e) for m in members]))
    assert found.of_W.all()
    for i, eps in enumerate(found.eps):
        expected = [(m[2], m[3], m[1] + m[3] * eps) for m in members]  # w1 = ε·w0(2)
        np.testing.assert_allclose(found.slope[i], expected, rtol=1e-6, atol=1e-16 / eps * 100)
    assert all(each.runs == Share(len(members), len(members)) for each in found.linearity)


@given(positive, positive)
def test_h_is_described_where_h_takes_the_entry(first, second):
    # h0(2) = 1/w0(2) stands for w0(1), h0(1) for w0(2): slopes of 2 and 3.
    made = runs([lambda e: (1 / (first + 3 * e), 1 / (second + 2 * e))] * 2, share=0.0)
    found = slopes_of(made)
    assert not found.of_W.any()
    expected = (2, 3, first + 3 * EPS[-1])  # h1 = ε·h0(1)
    np.testing.assert_allclose(found.mean[-1], expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.portion, 0, atol=1e-9)


def test_a_parameter_that_goes_like_the_root_is_not_linear():
    diagonals = [lambda e, c=c: (1 + c * e**0.5, 1.0) for c in np.linspace(1, 2, 100)]
    first, second, upper = slopes_of(runs(diagonals)).linearity
    assert (first.runs, first.linear) == (Share(0, 100), False)
    assert (second.runs, second.linear) == (Share(100, 100), True)
    assert upper.linear


def test_few_runs_leave_it_open():
    few = slopes_of(runs([lambda _: (1.0, 2.0)] * 5)).linearity[0]
    assert (few.runs, few.linear) == (Share(5, 5), None)


def test_one_run_with_a_huge_slope_does_not_decide():
    diagonals = [lambda e: (1 + 0.1 * e, 1.0)] * 99 + [lambda e: (1 + 50 * e**0.5, 1.0)]
    first = slopes_of(runs(diagonals)).linearity[0]
    assert (first.runs, first.linear) == (Share(99, 100), True)
    assert first.median == pytest.approx(0.1)
    assert first.mean > 100


def test_runs_whose_permutation_changes_do_not_count():
    order = lambda eps: (1, 0) if eps == 0.1 else (0, 1)  # noqa: E731
    found = slopes_of(runs([lambda _: (1.0, 2.0)] * 3, order=order))
    assert found.counted == [0] + [3] * (len(EPS) - 1)
    assert np.isnan(found.mean[0]).all()


def test_runs_without_an_answer_or_a_form_do_not_count():
    made = runs([lambda _: (1.0, 2.0)] * 4)
    made[EPS[-1]][0] = None
    made[EPS[-1]][1] = (np.zeros((2, 2)), np.zeros((2, 2)))
    made[EPS[-1]][2] = ("nonsense", 3)
    found = slopes_of(made)
    assert found.counted == [4] * (len(EPS) - 1) + [1]


@pytest.mark.parametrize("name", ["coordinate_descent", "als"])
def test_real_algorithms_are_linear(name):
    algorithm = getattr(reference, name)

    def nmf(A, rank, *, W0, H0):
        found = algorithm(A, W0, H0, 5000)
        return found.W, found.H

    found = slopes(nmf, seeds=20)
    assert found.counted == [20] * len(EPS)
    assert all(each.runs == Share(20, 20) for each in found.linearity)
    assert found.linearity[-1].parameter == PARAMETERS[-1]


@pytest.mark.parametrize("eps", [[], [1e-3], [0.1, -1e-3], [0.1, 0.0], [0.1, float("nan")]])
def test_values_of_eps_that_give_no_slope(eps):
    with pytest.raises(InputError, match="slopes need two values or more, above 0"):
        slopes(lambda A, rank: (A, np.eye(2)), eps=eps)


def test_one_seed_gives_no_error_bars():
    with pytest.raises(InputError, match="seeds"):
        slopes(lambda A, rank: (A, np.eye(2)), seeds=1)


def slopes_in(subject):
    """Return what a report says of the slopes of a subject."""
    (family,) = subject["families"]
    return family["sections"]["slopes"]


class TestCommandLine:
    FEW = ("--sizes", "2", "--trials", "2", "--store", "s.sqlite", "--jobs", "1")

    @pytest.fixture
    def own(self, tmp_path):
        (tmp_path / "mine.py").write_text(
            "import numpy as np\n"
            "def nmf(A, rank):\n"
            "    return A, np.eye(rank)  # w1 takes all: w0 does not change\n"
        )
        return "py:mine.py:nmf"

    def test_an_own_function(self, nmfcheck, own, tmp_path):
        _, out, _ = nmfcheck("run", own, *self.FEW, "--slopes", "--json", "s.json",
                             "--report", "s.html")  # fmt: skip
        assert "w0(1) is linear (100 of 100), w0(2) is linear (100 of 100)" in out
        document = json.loads((tmp_path / "s.json").read_text())
        schema = resources.files("nmfcheck").joinpath("data/report.schema.json").read_text()
        jsonschema.validate(document, json.loads(schema))
        (subject,) = document["subjects"]
        found = slopes_in(subject)
        assert found["starts"] == found["of_W"] == SEEDS
        upper = found["parameters"][-1]
        assert upper["mean"] == pytest.approx([1.0] * len(EPS))
        assert "--slopes" in subject["command"]
        assert "Figure 1" in (tmp_path / "s.html").read_text()

    def test_a_reference_and_again(self, nmfcheck, tmp_path):
        _, out, _ = nmfcheck("run", "coordinate-descent", *self.FEW, "--slopes")
        assert "Slopes in ε" in out
        with Store.read(tmp_path / "s.sqlite") as store:
            results = store.results(store.subjects()[0])
            before = {}
            for stage in results.stages_of(FAMILY.cell("slopes"), matrices=True):
                before.setdefault(stage.trial.seed, {})[eps_of(stage.ask)] = stage.W, stage.H
        assert sorted(before) == list(range(SEEDS))
        assert sorted(before[0]) == sorted(LADDER)
        assert all(
            X.shape == (2, 2) for run in before.values() for pair in run.values() for X in pair
        )
        assert "Slopes in ε" in nmfcheck("report", "s.sqlite")[1]

    def test_they_are_made_when_first_asked_for_and_gone_when_begun_anew(self, nmfcheck, own):
        assert "Slopes" not in nmfcheck("run", own, *self.FEW)[1]
        assert "Slopes" in nmfcheck("run", own, *self.FEW, "--slopes")[1]
        assert "Slopes" in nmfcheck("run", own, *self.FEW)[1]
        assert "Slopes" not in nmfcheck("run", own, *self.FEW, "--fresh")[1]

    def test_a_subject_that_fails_at_some_eps(self, nmfcheck, tmp_path):
        (tmp_path / "mine.py").write_text(
            "import numpy as np\n"
            "def nmf(A, rank):\n"
            "    if A[0, 1] == 0.1:\n"
            "        raise ValueError('no')\n"
            "    return A, np.eye(rank)\n"
        )
        _, out, _ = nmfcheck("run", "py:mine.py:nmf", *self.FEW, "--slopes", "--json", "s.json")
        assert "Slopes in ε" in out
        (subject,) = json.loads((tmp_path / "s.json").read_text())["subjects"]
        assert slopes_in(subject)["counted"] == [0] + [SEEDS] * (len(EPS) - 1)
