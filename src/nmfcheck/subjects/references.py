"""The reference algorithms as subjects."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .. import reference
from ..errors import InputError
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


def find(
    name: str, at_most: int | None = None, *, engine: str = "auto", threads: int | None = None
) -> ReferenceSubject:
    """Return the built-in subject of this name.

    Parameters
    ----------
    at_most : a limit to the number of iterations.
    engine, threads : as for the functions of `nmfcheck.reference`.
    """
    if name not in REFERENCES:
        close = difflib.get_close_matches(name, REFERENCES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(REFERENCES)}"
        raise InputError(f"no subject {name!r}; {hint}")
    iterations = REFERENCES[name][1]
    limited = iterations if at_most is None else min(iterations, at_most)
    return ReferenceSubject(name, limited, engine, threads)
