"""The reference algorithms as subjects."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .. import reference
from ..judging.objectives import FROBENIUS, ITAKURA_SAITO
from ..reference import Algorithm
from .problem import Answer, Problem, Progress


@dataclass(frozen=True)
class Reference:
    """A reference algorithm, and a line about it.

    Attributes
    ----------
    algorithm : for the objective that it minimises, or for the first of several.
    of : the algorithm for an objective, where there is one for each.
    since : the version of the suites from which on it is accepted.
    """

    algorithm: Algorithm
    summary: str
    of: Callable[[str], Algorithm] | None = None
    since: int = 1

    @property
    def iterations(self) -> int:
        """How many it runs, unless told: the paper's number where it has one."""
        return self.algorithm.iterations

    @property
    def objective(self) -> str | None:
        """The name of what it minimises; None where the problem says that."""
        return None if self.of else self.algorithm.objective

    def minimising(self, objective: str) -> Algorithm:
        """Return the algorithm for an objective."""
        return self.of(objective) if self.of else self.algorithm


REFERENCES = {
    "multiplicative-update": Reference(
        reference.multiplicative_update,
        "multiplicative update (Lee and Seung 2000), the paper's Algorithm 1",
    ),
    "als": Reference(
        reference.als,
        "alternating least squares, clipped (Berry et al. 2007), the paper's Algorithm 2",
    ),
    "gradient-descent": Reference(
        reference.gradient_descent,
        "fast gradient descent (Guan, Tao et al. 2011), the paper's Algorithm 3",
    ),
    "nenmf": Reference(reference.nenmf, "NeNMF (Guan, Tao et al. 2012), alternating Nesterov"),
    "coordinate-descent": Reference(
        reference.coordinate_descent, "cyclic coordinate descent, HALS (Cichocki et al. 2007)"
    ),
    "anls": Reference(
        reference.anls,
        "alternating nonnegative least squares by active sets (Kim and Park 2008)",
        since=5,
    ),
    "kl-multiplicative-update": Reference(
        reference.kl_multiplicative_update,
        "multiplicative update for the Kullback–Leibler divergence (Lee and Seung 2000)",
    ),
    "kl-scalar-newton": Reference(
        reference.kl_scalar_newton,
        "Newton steps entry by entry for the Kullback–Leibler divergence (Hien and Gillis 2021)",
    ),
    "beta-multiplicative-update": Reference(
        reference.beta_multiplicative_update(ITAKURA_SAITO.name),
        "multiplicative update for any β-divergence (Févotte and Idier 2011)",
        reference.beta_multiplicative_update,
    ),
}


def accepted(objective: str = FROBENIUS.name, version: float = math.inf) -> tuple[str, ...]:
    """Return the names of the references that minimise an objective.

    The lowest share that one of them reaches is what is asked of others. Where none is made for it,
    the one for any objective stands for them.

    Parameters
    ----------
    version : of the suites; the newest if not given.
    """
    own = tuple(
        name
        for name, each in REFERENCES.items()
        if each.objective == objective and each.since <= version
    )
    return own or tuple(name for name, each in REFERENCES.items() if each.of)


@dataclass(frozen=True)
class ReferenceSubject:
    """A reference algorithm with a number of iterations; solves problems in batches.

    `engine` and `threads` as for the functions of `nmfcheck.reference`; `together` is how many
    problems are worth putting into one batch.
    """

    name: str
    iterations: int
    engine: str = "auto"
    threads: int | None = None
    together: int = 400

    @property
    def options(self) -> dict[str, int]:
        """What makes it this one, under its name."""
        return {"iterations": self.iterations}

    def solve(self, problems: Sequence[Problem], progress: Progress) -> list[Answer]:
        """Solve problems of one shape all at once."""
        algorithm = REFERENCES[self.name].minimising(problems[0].objective)
        A, W0, H0 = (np.stack([getattr(p, part) for p in problems]) for part in ("A", "W0", "H0"))
        each = max(self.iterations, 1)
        factors = algorithm(
            A,
            W0,
            H0,
            self.iterations,
            progress=lambda settled: progress(settled / each),
            engine=self.engine,
            threads=self.threads,
        )
        return [Answer(W, H) for W, H in zip(factors.W, factors.H, strict=True)]
