"""Adapters of NMF libraries. To add one: a function with the decorator `library`.

Its keywords beside W0, H0 and seed are options of the command line. Defaults let it converge: the
question is what the algorithm can do, not what its tolerance allows.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..arrays import Array
from ..errors import SubjectError
from ..judging.objectives import FROBENIUS, ITAKURA_SAITO, KL, Objective
from .estimator import EstimatorSubject

Adapter = Callable[..., tuple[Any, Any]]


@dataclass(frozen=True)
class Library:
    """An adapter, the distribution on the package index that it needs, and what it minimises.

    Attributes
    ----------
    estimator : the class that it calls, by its name in the module; "" where there is none.
    beside : a function of the module that does the same as the class; "" where there is none.
    settings : what the class is given besides the options.
    """

    name: str
    package: str
    module: str
    summary: str
    function: Adapter
    objective: str = FROBENIUS.name
    estimator: str = ""
    beside: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    def model(self, options: Mapping[str, Any]) -> Callable[[], EstimatorSubject] | None:
        """Return what makes the class that the adapter calls, with options, as a subject."""
        if not self.estimator:
            return None
        usual = {
            p.name: p.default
            for p in inspect.signature(self.function).parameters.values()
            if p.default is not p.empty
        }

        def made() -> EstimatorSubject:
            module = importlib.import_module(self.module)
            beside = getattr(module, self.beside) if self.beside else None
            settings = {**self.settings, **usual, **options}
            return EstimatorSubject(getattr(module, self.estimator), self.name, settings, beside)

        return made

    def load(self) -> Adapter:
        """Import the library, so that no stage has to wait for that; return the adapter."""
        self.version()
        importlib.import_module(self.module)
        return self.function

    def version(self) -> str:
        """Return the installed version, or say how to get one."""
        from importlib import metadata  # late: it takes long to import

        try:
            return metadata.version(self.package)
        except metadata.PackageNotFoundError:
            missing = f"{self.name} needs {self.package}, which is not installed"
            raise SubjectError(f"{missing}; try: pip install {self.package}") from None


LIBRARIES: dict[str, Library] = {}


def library(
    name: str,
    package: str,
    module: str,
    summary: str,
    objective: Objective = FROBENIUS,
    *,
    estimator: str = "",
    beside: str = "",
    settings: Mapping[str, Any] | None = None,
) -> Callable[[Adapter], Adapter]:
    """Make a function the adapter of this name.

    Parameters
    ----------
    package, module : what is installed, and what is imported.
    objective : what it minimises.
    estimator, beside, settings : the class that it calls, for laws about what else that offers: its
        name in the module, a function that does the same, and what the class is given.
    """

    def register(function: Adapter) -> Adapter:
        LIBRARIES[name] = Library(
            name, package, module, summary, function, objective.name,
            estimator, beside, dict(settings or {}),
        )  # fmt: skip
        return function

    return register


@library(
    "sklearn-cd",
    "scikit-learn",
    "sklearn.decomposition",
    "scikit-learn's NMF(solver='cd'), coordinate descent",
    estimator="NMF",
    beside="non_negative_factorization",
    settings={"solver": "cd"},
)
def sklearn_cd(
    A: Array, rank: int, *, W0: Array, H0: Array, max_iter: int = 20_000, tol: float = 1e-14
) -> tuple[Array, Array]:
    """Run until the violation of the optimality conditions has fallen by `tol`."""
    return _sklearn(A, rank, W0, H0, solver="cd", max_iter=max_iter, tol=tol)


@library(
    "sklearn-mu",
    "scikit-learn",
    "sklearn.decomposition",
    "scikit-learn's NMF(solver='mu'), multiplicative update",
    estimator="NMF",
    beside="non_negative_factorization",
    settings={"solver": "mu"},
)
def sklearn_mu(
    A: Array, rank: int, *, W0: Array, H0: Array, max_iter: int = 10_000, tol: float = 0.0
) -> tuple[Array, Array]:
    """Run all iterations: `tol` 0."""
    return _sklearn(A, rank, W0, H0, solver="mu", max_iter=max_iter, tol=tol)


@library(
    "sklearn-mu-kl",
    "scikit-learn",
    "sklearn.decomposition",
    "scikit-learn's NMF(solver='mu', beta_loss='kullback-leibler')",
    KL,
    estimator="NMF",
    beside="non_negative_factorization",
    settings={"solver": "mu", "beta_loss": "kullback-leibler"},
)
def sklearn_mu_kl(
    A: Array, rank: int, *, W0: Array, H0: Array, max_iter: int = 10_000, tol: float = 0.0
) -> tuple[Array, Array]:
    """Run all iterations: `tol` 0."""
    settings = {"solver": "mu", "beta_loss": "kullback-leibler"}
    return _sklearn(A, rank, W0, H0, **settings, max_iter=max_iter, tol=tol)


@library(
    "sklearn-mu-is",
    "scikit-learn",
    "sklearn.decomposition",
    "scikit-learn's NMF(solver='mu', beta_loss='itakura-saito')",
    ITAKURA_SAITO,
    estimator="NMF",
    beside="non_negative_factorization",
    settings={"solver": "mu", "beta_loss": "itakura-saito"},
)
def sklearn_mu_is(
    A: Array, rank: int, *, W0: Array, H0: Array, max_iter: int = 10_000, tol: float = 0.0
) -> tuple[Array, Array]:
    """Run all iterations: `tol` 0."""
    settings = {"solver": "mu", "beta_loss": "itakura-saito"}
    return _sklearn(A, rank, W0, H0, **settings, max_iter=max_iter, tol=tol)


def _sklearn(A: Array, rank: int, W0: Array, H0: Array, **settings: Any) -> tuple[Array, Array]:
    from sklearn.decomposition import NMF

    model = NMF(n_components=rank, init="custom", **settings)
    return model.fit_transform(A, W=W0, H=H0), model.components_
