"""The reference algorithms as subjects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import reference
from ..judging.objectives import FROBENIUS
from ..reference import Algorithm
from .problem import Answer, Problem, Progress


@dataclass(frozen=True)
class Reference:
    """A reference algorithm, and a line about it."""

    algorithm: Algorithm
    summary: str

    @property
    def iterations(self) -> int:
        """How many it runs, unless told: the paper's number where it has one."""
        return self.algorithm.iterations


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
}


def accepted(objective: str = FROBENIUS.name) -> tuple[str, ...]:
    """Return the names of the references that minimise an objective.

    The lowest share that one of them reaches is what is asked of others.
    """
    return tuple(n for n, each in REFERENCES.items() if each.algorithm.objective == objective)


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
        algorithm = REFERENCES[self.name].algorithm
        A, W0, H0 = (np.stack([getattr(p, part) for p in problems]) for part in ("A", "W0", "H0"))
        each = max(self.iterations, 1)
        found = algorithm(
            A,
            W0,
            H0,
            self.iterations,
            progress=lambda settled: progress(settled / each),
            engine=self.engine,
            threads=self.threads,
        )
        return [Answer(W, H) for W, H in zip(found.W, found.H, strict=True)]
