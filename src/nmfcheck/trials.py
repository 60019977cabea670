"""Trials: one draw of entries and one seed, to be carried through a ladder of ε (by `protocol.py`).

A trial's result is a stage for each rung of the ladder that was reached.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .arrays import Array, whole_number
from .cases import ENTRIES, FAMILY, ONES, Case, case_of
from .errors import InputError
from .judge import Judgement
from .outcomes import Flag, Grade, Outcome, reaches


class Rung(NamedTuple):
    """One ε of a ladder, and the question that it belongs to.

    Question 1 is the paper's test: its rungs are climbed in order, exact at ε = 0, first-order or
    better above, and the first failure ends it. Question 2, exactness, is asked in any case; so is
    question 3, about slopes, of which W and H are always kept.
    """

    eps: float
    question: int

    @property
    def needs(self) -> Grade:
        """The grade that a run has to reach on this rung."""
        return "first-order" if self.question == 1 and self.eps > 0 else "exact"


LADDER = (Rung(0.0, 1), Rung(1e-3, 1), Rung(0.25, 2))
SMALL = 0.01
"""Up to here an ε that a user asks for belongs to the paper's test, in which ε is small."""


def rung_of(eps: float) -> Rung:
    """Return the rung of any ε."""
    return next((rung for rung in LADDER if rung.eps == eps), Rung(eps, 1 if eps <= SMALL else 2))


@dataclass(frozen=True)
class Trial:
    """One draw of a0, a1 and one seed, to be carried through the ladder.

    Attributes
    ----------
    n : size of A.
    entries : ``ones``, or ``loguniform#i`` for draw i.
    seed : of the starting point.
    ladder : the rungs, in the order in which they are climbed.
    """

    n: int
    entries: str
    seed: int
    ladder: tuple[Rung, ...] = field(default=LADDER, repr=False, compare=False)

    def __post_init__(self) -> None:
        whole_number("n", self.n, 1)
        whole_number("seed", self.seed, 0)
        if not (self.ladder and all(isinstance(rung, Rung) for rung in self.ladder)):
            raise InputError(f"a ladder is one Rung or more, not {self.ladder!r}")
        if re.fullmatch(ENTRIES, str(self.entries)) is None:
            raise InputError(f"no entries {self.entries!r}; expected 'ones' or 'loguniform#7'")

    @classmethod
    def of_cell(cls, n: int, kind: str, i: int, ladder: tuple[Rung, ...] = LADDER) -> Trial:
        """Return trial i of a cell (a size and a kind of entries): draw i and seed i."""
        return cls(n, kind if kind == ONES else f"{kind}#{i}", i, ladder)

    @classmethod
    def from_id(cls, id: str) -> Trial:
        """Return the trial that has this id, such as ``bidiagonal/n=3/loguniform#7/seed=7``."""
        form = rf"{FAMILY}/n=(\d{{1,4}})/({ENTRIES})/seed=(\d{{1,18}})"
        match = re.fullmatch(form, str(id))
        if match is None:
            raise InputError(
                f"no trial {id!r}; expected an id such as 'bidiagonal/n=3/ones/seed=7'"
            )
        return cls(int(match[1]), match[2], int(match[3]))

    @property
    def id(self) -> str:
        """Stable name of the trial."""
        return f"{FAMILY}/n={self.n}/{self.entries}/seed={self.seed}"

    @property
    def kind(self) -> str:
        """Kind of entries: ``ones`` or ``loguniform``."""
        return self.entries.partition("#")[0]

    def case(self, eps: float) -> Case:
        """Return the case of one rung."""
        return case_of(self.n, self.entries, eps)

    def start(self) -> tuple[Array, Array]:
        """Return W0 and H0, the same on every rung, for every subject and on every machine."""
        return starting_point(self.n, self.seed)


@dataclass(frozen=True)
class Stage:
    """What came of one rung of a trial.

    Attributes
    ----------
    rung, case : what was asked.
    outcome, message : what became of it, and why, in a sentence.
    judgement : None where the subject gave no answer to judge.
    permutation_changed : whether P is another one than at ε = 0; None where either is not known.
    flags, output, seconds : as in the subject's answer.
    digest : the same for the same W and H, bit by bit; "" where there are none.
    W, H : kept where they are matrices of numbers and the stage was not passed, or is of
        question 3.
    """

    rung: Rung
    case: Case
    outcome: Outcome
    message: str
    judgement: Judgement | None
    permutation_changed: bool | None
    flags: tuple[Flag, ...] = ()
    output: str = ""
    seconds: float = field(default=math.nan, compare=False)
    digest: str = ""
    W: Array | None = field(default=None, compare=False, repr=False)
    H: Array | None = field(default=None, compare=False, repr=False)

    @property
    def passed(self) -> bool:
        """Whether the grade that the rung needs was reached."""
        return reaches(self.outcome.grade, self.rung.needs)


@dataclass(frozen=True)
class TrialResult:
    """The stages of one trial, in the ladder's order; those after a failure are missing."""

    trial: Trial
    stages: tuple[Stage, ...]

    @property
    def passed(self) -> bool:
        """Whether the trial passed the paper's test (question 1), if it was asked."""
        return self._passed(1)

    @property
    def exact(self) -> bool:
        """Whether the trial passed the test of exactness (question 2), if it was asked."""
        return self._passed(2)

    def _passed(self, question: int) -> bool:
        asked = [rung for rung in self.trial.ladder if rung.question == question]
        passed = {stage.rung for stage in self.stages if stage.passed}
        return bool(asked) and passed.issuperset(asked)

    def stage(self, eps: float) -> Stage | None:
        """Return the stage of this ε, if it was run."""
        return next((stage for stage in self.stages if stage.rung.eps == eps), None)


def starting_point(n: int, seed: int) -> tuple[Array, Array]:
    """Return W0 and then H0, uniform in (0, 1), from `default_rng([n, seed])`."""
    rng = np.random.Generator(np.random.PCG64([n, seed]))
    return rng.random((n, n)), rng.random((n, n))
