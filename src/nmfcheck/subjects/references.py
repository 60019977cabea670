"""The reference algorithms as subjects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .. import reference
from .problem import Answer, Problem, Progress

Algorithm = Callable[..., reference.Factorization]

REFERENCES: dict[str, tuple[Algorithm, int, str]] = {
    "multiplicative-update": (
        reference.multiplicative_update,
        10**6,
        "multiplicative update (Lee and Seung 2000), the paper's Algorithm 1",
    ),
    "als": (
        reference.als,
        10**6,
        "alternating least squares, clipped (Berry et al. 2007), the paper's Algorithm 2",
    ),
    "gradient-descent": (
        reference.gradient_descent,
        10**4,
        "fast gradient descent (Guan, Tao et al. 2011), the paper's Algorithm 3",
    ),
    "nenmf": (
        reference.nenmf,
        10**3,
        "NeNMF (Guan, Tao et al. 2012), alternating Nesterov",
    ),
    "coordinate-descent": (
        reference.coordinate_descent,
        2 * 10**4,
        "cyclic coordinate descent, HALS (Cichocki et al. 2007)",
    ),
}
"""Function, the paper's number of iterations (for the last two: ours), and a line about it."""


@dataclass(frozen=True)
class ReferenceSubject:
    """A reference algorithm with a number of iterations; solves problems in batches.

    `engine` and `threads` as for the functions of `nmfcheck.reference`.
    """

    name: str
    iterations: int
    engine: str = "auto"
    threads: int | None = None

    @property
    def options(self) -> dict[str, int]:
        """What makes it this one, under its name."""
        return {"iterations": self.iterations}

    def solve(self, problems: Sequence[Problem], progress: Progress) -> list[Answer]:
        """Solve problems of one shape all at once."""
        algorithm, _, _ = REFERENCES[self.name]
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
