"""What can be tested, and how it is named: functions, estimators, factories, libraries."""

import json
import subprocess
import sys
from importlib import metadata
from typing import ClassVar

import numpy as np
import pytest

from nmfcheck import InputError, run_trial
from nmfcheck.errors import SubjectError
from nmfcheck.executors.local import LocalExecutor
from nmfcheck.families.bidiagonal.family import trial_of
from nmfcheck.judging.objectives import find as find_objective
from nmfcheck.subjects import LIBRARIES, SubjectName, as_subject, load, names
from nmfcheck.subjects.problem import Problem

TRIAL = trial_of(3, "loguniform#2", 2)


def exact(A, rank):
    return A, np.eye(rank)


class Estimator:
    """An estimator that factorizes exactly, and remembers how it was made."""

    made: ClassVar[list[dict]] = []

    def __init__(self, n_components=None, *, random_state=None, scale=1.0):
        self.n_components, self.random_state, self.scale = n_components, random_state, scale

    def fit_transform(self, A, y=None):
        Estimator.made.append(vars(self).copy())
        self.components_ = np.eye(self.n_components) * self.scale
        return A / self.scale


class Starting:
    """One that starts where it is told."""

    def __init__(self, k, init=None):
        self.k, self.init = k, init

    def fit_transform(self, A, W=None, H=None):
        if self.init == "custom":
            assert W.shape == (len(A), self.k)
            assert H.shape == (self.k, len(A))
        self.components_ = np.eye(self.k)
        return A if self.init == "custom" else A * np.nan


def make(power=1):
    return lambda A, rank: (A**power, np.eye(rank))


class TestPython:
    @pytest.mark.parametrize(
        "thing",
        [
            exact,
            Estimator,
            Estimator(),
            Estimator(scale=3.0),
            Starting,
            Starting(5),
            make,
            lambda **options: exact,
            lambda: Estimator,
            lambda: Estimator(scale=2.0),
        ],
    )
    def test_anything_that_factorizes(self, thing):
        assert run_trial(thing, TRIAL).passed

    def test_an_estimators_rank_and_seed_are_set(self):
        Estimator.made.clear()
        run_trial(Estimator, TRIAL)
        assert {(made["n_components"], made["random_state"]) for made in Estimator.made} == {(3, 2)}

    def test_an_instance_keeps_its_other_parameters_and_is_not_touched(self):
        Estimator.made.clear()
        estimator = Estimator(scale=3.0)
        run_trial(estimator, TRIAL)
        assert {made["scale"] for made in Estimator.made} == {3.0}
        assert estimator.n_components is None
        assert not hasattr(estimator, "components_")

    def test_what_is_taken(self):
        assert as_subject(exact).takes == ()
        assert as_subject(Estimator).takes == ("seed",)
        assert as_subject(Starting).takes == ("W0", "H0")
        assert as_subject(Starting(5, init="nndsvd")).takes == ()

    def test_options(self):
        assert as_subject(make, options={"power": 2}).function(np.full((1, 1), 3.0), 1)[0] == 9
        assert as_subject(Estimator, options={"scale": 2.0}).options == {"scale": 2.0}
        assert not run_trial(as_subject(make, options={"power": 3}), TRIAL).passed

    @pytest.mark.parametrize(
        ("thing", "options", "said"),
        [
            (exact, {"power": 2}, "exact has no option 'power'; it takes none"),
            (Estimator, {"power": 2}, "has no option 'power'; it takes random_state, scale"),
            (lambda A, rank, tol=1: (A, A), {"seed": 2}, "has no option 'seed'; it takes tol"),
            (make, {"powers": 2}, "has no option 'powers'; it takes power"),
            (3, {}, "is not a subject but of type int"),
            (lambda: make, {}, "made another factory"),
        ],
    )
    def test_what_does_not_fit(self, thing, options, said):
        with pytest.raises(InputError) as caught:
            as_subject(thing, options=options)
        assert said in str(caught.value)

    def test_an_estimator_without_a_rank(self):
        class Rankless:
            def fit_transform(self, A):
                return A

        with pytest.raises(InputError, match="has no parameter for the rank"):
            as_subject(Rankless)


class TestNames:
    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("py:module", "names no attribute; expected py:package.module:attribute"),
            ("py::f", "names no attribute"),
            ("cmd:", "cmd: names no program"),
            ("cmd:'", "cannot be cut into arguments"),
            ("sklearn_cd", "did you mean 'sklearn-cd'?"),
            ("", "no subject ''"),
        ],
    )
    def test_bad_names(self, name, said):
        with pytest.raises(InputError) as caught:
            SubjectName(name)
        assert said in str(caught.value)

    def test_a_command_takes_no_options(self):
        with pytest.raises(InputError, match="takes no option 'x'"):
            SubjectName("cmd:nmf", {"x": 1})

    def test_naming_a_subject_imports_nothing(self, tmp_path, monkeypatch):
        (tmp_path / "loud.py").write_text("raise SystemExit('imported')")
        monkeypatch.syspath_prepend(tmp_path)
        SubjectName("py:loud:f")

    @pytest.fixture
    def package(self, tmp_path, monkeypatch):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "__init__.py").write_text("from .nmf import factorize")
        (tmp_path / "mine" / "nmf.py").write_text(
            "from .helper import eye\n"
            "def factorize(A, rank, tol=1): return A, eye(rank)\n"
            "class Holder:\n    inner = factorize\n"
        )
        (tmp_path / "mine" / "helper.py").write_text("from numpy import eye")
        monkeypatch.chdir(tmp_path)
        return tmp_path / "mine"

    @pytest.mark.parametrize(
        "name", ["py:mine:factorize", "py:mine.nmf:factorize", "py:mine.nmf:Holder.inner"]
    )
    def test_the_current_folder_is_importable(self, package, name):
        with LocalExecutor(SubjectName(name), 1) as workers:
            assert workers.start().takes == ()

    def test_a_file_by_its_path(self, tmp_path):
        (tmp_path / "other.py").write_text("from numpy import eye")
        (tmp_path / "nmf.py").write_text(
            "from other import eye\ndef f(A, rank): return A, eye(rank)"
        )
        with LocalExecutor(SubjectName(f"py:{tmp_path}/nmf.py:f"), 1) as workers:
            workers.start()

    def test_the_source_counts_with_all_that_it_imports(self, package):
        def source():
            with LocalExecutor(SubjectName("py:mine:factorize"), 1) as workers:
                return workers.start().identity["source"]

        before = source()
        assert source() == before
        (package / "helper.py").write_text("from numpy import eye, ones")
        assert source() != before

    def test_an_entry_point(self, tmp_path, monkeypatch):
        point = metadata.EntryPoint("elsewhere", "elsewhere:f", names.ENTRY_POINTS)
        (tmp_path / "elsewhere.py").write_text("def f(A, rank): return A, A / A.max()")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(names, "entry_points", lambda: {"elsewhere": point})
        assert load(SubjectName("elsewhere")).name == "elsewhere"

    def test_an_installed_entry_point(self, tmp_path):
        """A distribution that offers a subject, as an installer would lay it out."""
        (tmp_path / "offers.py").write_text(
            "import numpy\ndef f(A, rank, seed): return A, numpy.eye(rank)"
        )
        about = tmp_path / "offers-1.2.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: offers\nVersion: 1.2\n")
        (about / "entry_points.txt").write_text("[nmfcheck.subjects]\noffered = offers:f\n")
        (about / "top_level.txt").write_text("offers\n")
        code = (
            "import sys; sys.argv[1:] = ['smoke', 'offered', '--json']; "
            "from nmfcheck.cli import main; main()"
        )
        ran = subprocess.run(
            [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {code}"],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout)["checks"][0]["sentence"] == "loaded (offers 1.2)"


class TestLibraries:
    def test_a_library_that_is_not_installed(self, monkeypatch):
        def missing(package):
            raise metadata.PackageNotFoundError(package)

        monkeypatch.setattr(metadata, "version", missing)
        with pytest.raises(SubjectError, match="try: pip install scikit-learn"):
            load(SubjectName("sklearn-cd"))

    @pytest.mark.parametrize("name", LIBRARIES)
    def test_it_starts_where_it_is_told_and_improves(self, name):
        pytest.importorskip(LIBRARIES[name].module)
        subject = load(SubjectName(name, {"max_iter": 300}))
        (W0, H0), loss = TRIAL.start(), find_objective(LIBRARIES[name].objective)
        A = TRIAL.case("eps=0.25").A + 0.25 * loss.needs_positive
        problem = Problem(A.copy(), 3, W0.copy(), H0.copy(), 2)
        (answer,) = subject.solve([problem], lambda _: None)
        now, before = (loss.divergence(A[None], X[None]) for X in (answer.W @ answer.H, W0 @ H0))
        assert now < 0.05 * before
        again = Problem(A.copy(), 3, H0.copy(), W0.copy(), 2)
        (other,) = subject.solve([again], lambda _: None)
        assert not np.allclose(other.W, answer.W)
