"""The plan: which runs the paper's experiments need, at what scale. The numbers are here alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..families.bidiagonal.cases import KINDS_OF_ENTRIES, ONES, BidiagonalCase, bidiagonal, case_of
from ..families.bidiagonal.family import starting_point
from ..families.bidiagonal.slopes import EPS
from ..text import decimal

MU, ALS, GD = ALGORITHMS = ("multiplicative-update", "als", "gradient-descent")
"""The paper's Algorithms 1, 2 and 3."""

CD, NENMF = "coordinate-descent", "nenmf"

SIZES = tuple(range(2, 21))
RANDOM_SIZES = (*range(2, 9), 10, 12, 16, 20)
"""Where random entries are tried, too."""

SMALL_EPS = 1e-3
"""The ε of the paper's test, and of its 3×3 experiment."""

LARGE_EPS = 0.25
"""Where exact and inexact words are told apart within the iterations that there are."""

LADDER = EPS
"""The values of ε of the 2×2 experiment; with 0 before them, for the slopes."""

ESCAPE_EPS = 0.01
ESCAPE = tuple(round(10 ** (k / 4)) for k in range(25))
"""Sweeps after which a run that was started in Type IV is looked at."""

DECAY = tuple(round(10 ** (k / 2)) for k in range(4, 13))
"""Iterations after which the entries off the pattern are looked at."""


@dataclass(frozen=True)
class Batch:
    """Runs of one algorithm on one kind of case, one for each seed from 0 on.

    Attributes
    ----------
    entries : ``ones``, ``loguniform`` (draw i for seed i), or a name of `OUTSIDE`.
    start : ``uniform``, or ``type IV`` for the symmetric inexact solution.
    """

    algorithm: str
    n: int
    entries: str
    eps: float
    seeds: int
    iterations: int
    start: str = "uniform"

    @property
    def name(self) -> str:
        """A name for a file."""
        parts = [self.algorithm, f"n{self.n}", self.entries, f"eps{decimal(self.eps)}"]
        parts += [f"{self.seeds}x{self.iterations}", self.start]
        return "_".join(parts).replace(" ", "-")

    def cases(self) -> list[BidiagonalCase]:
        """Return the case of each seed."""
        if self.entries in OUTSIDE:
            return [OUTSIDE[self.entries](self.eps)] * self.seeds
        if self.entries == ONES:
            return [case_of(self.n, ONES, self.eps)] * self.seeds
        return [case_of(self.n, f"{self.entries}#{i}", self.eps) for i in range(self.seeds)]

    def starts(self) -> tuple[Array, Array]:
        """Return W0 and H0 of all seeds."""
        if self.start == "type IV":
            W, H = type_iv(self.eps)
            return np.stack([W] * self.seeds), np.stack([H] * self.seeds)
        pairs = [starting_point(self.n, seed) for seed in range(self.seeds)]
        return np.stack([W for W, _ in pairs]), np.stack([H for _, H in pairs])


def type_iv(eps: float) -> tuple[Array, Array]:
    """Return the balanced, symmetric `wh` for a0 = [1 1 1], a1 = [1 1]: off by ε² at (1,3)."""
    W, H = np.eye(3), np.eye(3)
    W[0, 1] = H[1, 2] = eps
    return W, H


def _outside(part: str, power: int) -> Callable[[float], BidiagonalCase]:
    """Return a 3×3 case of ones but for a0(2) or a1(1), which is ε to a power."""

    def case(eps: float) -> BidiagonalCase:
        a0, a1 = np.ones(3), np.ones(2)
        (a0[1:2] if part == "a0" else a1[:1])[:] = eps**power
        return bidiagonal(a0, a1, eps)

    return case


OUTSIDE = {
    "small a0": _outside("a0", 1),
    "large a0": _outside("a0", -1),
    "small a1": _outside("a1", 1),
    "large a1": _outside("a1", -1),
}
"""Cases outside the paper's assumption that all entries are of comparable magnitude: a0(2) or a1(1)
is ε or 1/ε."""


@dataclass(frozen=True)
class Scale:
    """How many seeds, and how many iterations.

    Attributes
    ----------
    part : 1 for the paper's scale or larger. 0.1 for a tenth of the seeds, and of the iterations of
        multiplicative update (n > 2) and ALS. The others keep theirs, and so does multiplicative
        update for n = 2, where ε goes down to 1e-5: with a tenth, many runs would be short of any
        solution, and the statements would be about that.
    """

    name: str
    part: float

    @property
    def in_words(self) -> str:
        """Seeds and iterations."""
        seeds = {
            self.seeds(n): f"n = {last}" for n, last in ((3, "2, 3"), (8, "4..8"), (20, "9..20"))
        }
        numbers = "; ".join(f"{sizes}: {number} seeds" for number, sizes in seeds.items())
        iterations = ", ".join(
            f"{name} {self.iterations(a, 2):,} (n = 2), {self.iterations(a, 3):,} (n > 2)"
            for a, name in ((MU, "multiplicative update"), (ALS, "ALS"))
        )
        return f"{numbers}. Iterations: {iterations}, gradient descent {self.iterations(GD, 2):,}."

    def seeds(self, n: int) -> int:
        """Return the number of seeds for a size."""
        whole = 1000 if n <= 3 else 200 if n <= 8 else 50
        return round(whole * self.part)

    def iterations(self, algorithm: str, n: int) -> int:
        """Return the number of iterations."""
        if algorithm == MU:
            return round(10**6 * (self.part if n > 2 else 1))
        if algorithm == ALS:
            return round(10**6 * self.part)
        return {GD: 10**4, CD: 2 * 10**4, NENMF: 10**3}[algorithm]

    def batch(self, algorithm: str, n: int, entries: str, eps: float) -> Batch:
        """Return the runs of an algorithm on a kind of case."""
        return Batch(algorithm, n, entries, eps, self.seeds(n), self.iterations(algorithm, n))

    def decay(self) -> list[Batch]:
        """Return multiplicative update's runs at n = 3 after more and more iterations."""
        seeds = min(100, self.seeds(3))
        times = [t for t in DECAY if t <= self.iterations(MU, 3)]
        return [Batch(MU, 3, ONES, SMALL_EPS, seeds, t) for t in times]

    def escape(self, algorithm: str) -> list[Batch]:
        """Return runs from Type IV after more and more iterations."""
        last = 10**4 if algorithm == NENMF else self.iterations(MU, 3)
        return [Batch(algorithm, 3, ONES, ESCAPE_EPS, 1, t, "type IV") for t in ESCAPE if t <= last]

    def batches(self) -> list[Batch]:
        """Return all runs, in the order in which they are made."""
        two = [
            self.batch(algorithm, 2, entries, eps)
            for algorithm in (*ALGORITHMS, NENMF)
            for entries in KINDS_OF_ENTRIES
            for eps in (0.0, *LADDER)
        ]
        three = [
            self.batch(algorithm, 3, entries, eps)
            for algorithm in (*ALGORITHMS, CD)
            for entries in KINDS_OF_ENTRIES
            for eps in (0.0, SMALL_EPS, LARGE_EPS)
        ]
        outside = [
            self.batch(algorithm, 3, entries, SMALL_EPS)
            for algorithm in ALGORITHMS
            for entries in OUTSIDE
        ]
        escape = [b for a in (*ALGORITHMS, CD, NENMF) for b in self.escape(a)]
        larger = [
            self.batch(algorithm, n, entries, eps)
            for n in SIZES[2:]
            for algorithm in ALGORITHMS
            for entries in KINDS_OF_ENTRIES
            for eps in (0.0, SMALL_EPS)
            if entries == ONES or n in RANDOM_SIZES
        ]
        every = [*two, *three, *outside, *self.decay(), *escape, *larger]
        return list(dict.fromkeys(every))


WHOLE = Scale("full", 1.0)
TENTH = Scale("quick", 0.1)
