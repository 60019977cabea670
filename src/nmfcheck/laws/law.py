"""What a law is: a statement, who must satisfy it, and how it is tried on examples."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..subjects.capabilities import Handle, Offer, Start, drawn_matrix, drawn_start


class Severity(StrEnum):
    """What a broken law means for the verdict."""

    MUST = "must"
    SHOULD = "should"


class BrokenError(Exception):
    """An example that breaks a law; says how, in a sentence.

    Attributes
    ----------
    deviation : by how much, where that is a number.
    """

    def __init__(self, sentence: str, deviation: float | None = None) -> None:
        super().__init__(sentence)
        self.deviation = deviation


class DoesNotApplyError(Exception):
    """An example that a law says nothing about, for this subject; says why."""


@dataclass(frozen=True)
class Example:
    """What a law is tried on: a shape and a rank, a draw, and a variant of what is done.

    Its id is ``5x4/k=2#3`` or ``5x4/k=2#3/csr``.
    """

    m: int
    n: int
    k: int
    draw: int = 0
    variant: str = ""

    @property
    def id(self) -> str:
        """What it is called."""
        variant = f"/{self.variant}" if self.variant else ""
        return f"{self.m}x{self.n}/k={self.k}#{self.draw}{variant}"

    @classmethod
    def from_id(cls, text: str) -> Example:
        """Return the example of an id."""
        match = re.fullmatch(r"(\d{1,3})x(\d{1,3})/k=(\d{1,3})#(\d{1,6})(?:/([\w.+-]+))?", text)
        if match is None:
            raise InputError(f"no example {text!r}; expected one such as 5x4/k=2#0")
        m, n, k, draw = map(int, match.groups()[:4])
        return cls(m, n, k, draw, match[5] or "")

    def matrix(self) -> Array:
        """Return A: positive, a product of rank k with noise on it."""
        return drawn_matrix(self.m, self.n, self.k, self.draw)

    def start(self, seed: int = 0) -> Start:
        """Return W0 and H0."""
        return drawn_start((self.m, self.n), self.k, self.draw + 100 * seed)

    def exact(self) -> tuple[Array, Array]:
        """Return positive W and H, whose product can be factorized exactly."""
        rng = np.random.default_rng([self.m, self.n, self.k, self.draw, 2])
        return rng.random((self.m, self.k)) + 0.1, rng.random((self.k, self.n)) + 0.1


class Law:
    """A law; its docstring is its statement, and the reason for its tolerance.

    Attributes
    ----------
    name : what the command line calls it.
    severity : what a broken one means.
    needs : what a subject has to offer for the law to say something of it.
    usually : what a broken one usually means, in a few words.
    tolerance : the largest deviation that is accepted, where there is one.
    in_time : whether no answer within the time limit breaks it.
    of_answers : whether `usually` holds where no valid answer came back, too.
    """

    name: str = ""
    severity: Severity = Severity.MUST
    needs: tuple[Offer, ...] = ()
    usually: str = ""
    tolerance: float | None = None
    in_time: bool = False
    of_answers: bool = False

    @property
    def statement(self) -> str:
        """The first sentence of its docstring."""
        text = inspect.getdoc(self) or ""
        return " ".join(text.split("\n\n")[0].split())

    @property
    def reason(self) -> str:
        """The rest of its docstring: preconditions and the reason for its tolerance."""
        text = inspect.getdoc(self) or ""
        return " ".join(text.partition("\n\n")[2].split())

    def applies(self, handle: Handle) -> None:
        """Raise `DoesNotApplyError` where it says nothing of this subject."""
        missing = [offer for offer in self.needs if offer not in handle.offers]
        if missing:
            raise DoesNotApplyError(f"it offers no {without_article(missing[0])}")

    def probe(self, handle: Handle) -> None:
        """Raise `DoesNotApplyError` where a call of the subject shows that it says nothing of it.

        Not asked where there is no time left.
        """

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return what it is tried on, small ones first."""
        raise NotImplementedError

    def try_(self, handle: Handle, example: Example) -> float | None:
        """Try it; return how far off the answer was, where that is a number.

        Raises
        ------
        BrokenError, DoesNotApplyError : with the sentence.
        """
        raise NotImplementedError

    def within(self, deviation: float, sentence: str) -> float:
        """Return a deviation, or raise `BrokenError` where it is too large."""
        assert self.tolerance is not None
        if not deviation <= self.tolerance:  # NaN is too large
            amount = beyond(deviation, self.tolerance)
            raise BrokenError(f"{sentence} ({amount}; at most {self.tolerance:g})", deviation)
        return deviation


def beyond(deviation: float, most: float) -> str:
    """Return a deviation with enough digits to show that it is too large."""
    for digits in range(2, 17):
        text = f"{deviation:.{digits}g}"
        if not float(text) <= most:
            return text
    return repr(deviation)


def without_article(offer: Offer) -> str:
    """Return an offer as it stands after "no"."""
    return str(offer).removeprefix("a ").removeprefix("an ")


SMALL = (Example(5, 4, 2), Example(8, 6, 3), Example(12, 10, 4))
"""The usual examples."""

DRAWS = tuple(Example(8, 6, 3, draw) for draw in range(3))
"""Three draws, for what a single one may miss by chance."""


def variants(example: Example, *names: str) -> list[Example]:
    """Return an example in variants."""
    return [replace(example, variant=name) for name in names]


def repeatable(handle: Handle) -> None:
    """Raise where answers vary from call to call: then two of them cannot be compared."""
    if not handle.repeats:
        raise DoesNotApplyError("its answers vary from call to call")
