"""Law 4: the answer does not depend on the units of A."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..arrays import Array
from ..subjects.capabilities import Handle, Offer
from .comparison import CHANCE, FEW, difference, fitted, scaled, worse
from .law import (
    BrokenError,
    DoesNotApplyError,
    Example,
    Law,
    Severity,
    beyond,
    repeatable,
    variants,
)

BAD = 0.1
"""Who is left with so much of A's own objective has not solved it: a residual of a third of ‖A‖."""

TELLING = 7
"""So many draws that tell something are asked of who takes no start."""


class Scale(Law):
    """c·A, with the start scaled, is solved as well as A, for c = 2^±10.

    Both are the same problem in other units: W0 and H0 are multiplied by √c each; where that makes
    a difference H0 alone by c, for who keeps W at a size of its own. Broken if both do. Compared
    after 20 iterations with the stopping rule off. Powers of two are exact in floating point, √c is
    one as well, so most algorithms agree bit for bit; the objective may differ by 1e-2 of A's own,
    for a small constant in a denominator is not a bug at 1/1000 of the usual size. Who stops early
    by an absolute tolerance that cannot be switched off is left to `units`.
    """

    name = "scale"
    needs = (Offer.START, Offer.LIMIT)
    usually = "a constant in the updates that has the size of the data, or a penalty"
    tolerance = CHANCE

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return factors."""
        return _factors(10)

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare with the answer for A itself."""
        repeatable(handle)
        c = _factor(example)
        for exponent in (0.5, 1.0):
            A, usual, other = _both(handle, example, c, exponent)
            off = abs(worse(handle, A, other, usual))
            if off <= CHANCE:
                return off
            vanishes = bool(other.max() < 1e-3 * A.max())
            if Offer.TOLERANCE not in handle.offers and not vanishes:
                start = scaled(example.start(), c, exponent)
                longer = fitted(handle, c * A, example.k, start=start, limit=2 * FEW)
                if np.array_equal(longer.product / c, other):
                    raise DoesNotApplyError("it stops before its limit")
        return self.within(off, f"A times {c:g} is not solved as A is: the objective differs")


class Units(Law):
    """c·A has c times the answer for c = 2^±20 and 2^±40 as well, and ends no worse.

    After 20 iterations up to 1e-3; at the subject's own tolerance the objective is no worse by more
    than 1e-2 of A's own. Constants such as 1e-7 and absolute tolerances show here. It is a finding:
    many libraries expect data of size 1, and few say so.

    Who takes no start cannot be told to scale it, so that its path and its local minimum may be
    others. It is only asked that the quality stays, at 2^±20 (about 1e±6): broken if c·A, with the
    same seed, ends worse than A by more than 0.1 of A's own objective in seven draws, and in none
    before better by as much, or well, below 0.1. Draws in which both end badly say nothing. Where
    quality is random, which of two ends worse is the toss of a coin: seven agree with probability
    2⁻⁷, 0.8 % for each factor. W·H = 0 is worse by 1. Even that is a finding: a penalty that is
    not relative rightly leaves nothing of a tiny A, and a gradient step of a fixed length nothing
    of a huge one, of which maintainers say that data should be scaled.
    """

    name = "units"
    severity = Severity.SHOULD
    usually = "a fixed constant or an absolute tolerance: data should be scaled to size 1 before"
    tolerance = 1e-3

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return factors, with few iterations and with the subject's own tolerance."""
        exact = {Offer.START, Offer.LIMIT} <= handle.offers
        fixed = _factors(20, 40) if exact else []
        return [*fixed, *variants(Example(8, 6, 3), "stop-20", "stop+20")]

    def try_(self, handle: Handle, example: Example) -> float | None:
        """Compare with the answer for A itself."""
        c = _factor(example)
        if Offer.START not in handle.offers:
            return self._from_its_own_start(handle, example, c)
        repeatable(handle)
        if not example.variant.startswith("stop"):
            A, few_steps, as_many = _both(handle, example, c)
            off = difference(A, as_many, few_steps)
            return self.within(off, f"A times {c:.2g} has not {c:.2g} times the answer")
        A, start = example.matrix(), example.start()
        usual = fitted(handle, A.copy(), example.k, start=start)
        other = fitted(handle, c * A, example.k, start=scaled(start, c))
        loss = worse(handle, A, other.product / c, usual.product)
        if not loss <= CHANCE:
            sentence = f"A times {c:.2g} ends worse, by {beyond(loss, CHANCE)} of A's own objective"
            raise BrokenError(sentence, loss)
        return None

    @staticmethod
    def _from_its_own_start(handle: Handle, example: Example, c: float) -> None:
        losses: list[float] = []
        for number in range(2 * TELLING):
            A = replace(example, draw=number).matrix()
            usual, other = (
                fitted(handle, X, example.k, seed=number).product for X in (A.copy(), c * A)
            )
            loss = worse(handle, A, other / c, usual)
            if not loss <= BAD:
                losses.append(loss)
            elif loss < -BAD or handle.value(A, other / c) <= BAD * handle.size(A):
                return
            if len(losses) == TELLING:
                amount = f"at least {beyond(min(losses), BAD)} of A's own objective"
                sentence = (
                    f"A times {c:.2g} ends well in no draw, and worse in {TELLING}, by {amount}"
                )
                raise BrokenError(sentence, min(losses))
        raise DoesNotApplyError("its answers for A itself are too bad")


def _factors(*exponents: int) -> list[Example]:
    names = [f"2{sign}{s}" for s in exponents for sign in "-+"]
    return variants(Example(8, 6, 3), *names)


def _factor(example: Example) -> float:
    variant = example.variant.removeprefix("stop").removeprefix("2")
    try:
        return float(2.0 ** int(variant))
    except ValueError:
        raise DoesNotApplyError(f"no factor {example.variant!r}") from None


def _both(
    handle: Handle, example: Example, c: float, exponent: float = 0.5
) -> tuple[Array, Array, Array]:
    """Return A, the product for A, and that for c·A in units of A; its H0 has c**exponent."""
    A, start = example.matrix(), example.start()
    usual = fitted(handle, A.copy(), example.k, start=start, limit=FEW)
    other = fitted(handle, c * A, example.k, start=scaled(start, c, exponent), limit=FEW)
    return A, usual.product, other.product / c
