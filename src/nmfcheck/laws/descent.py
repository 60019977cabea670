"""Laws 14 and 15: the objective goes down, and stays where there is nothing to gain."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from ..subjects.capabilities import Handle, Offer
from .comparison import difference, few, fitted
from .law import (
    DRAWS,
    SMALL,
    DoesNotApplyError,
    Example,
    Law,
    Severity,
    repeatable,
)


class Descent(Law):
    """The objective at the end is not above that at the start.

    From random starts, up to 1e-9 of A's own. Everything that is called a minimisation does this.
    """

    name = "descent"
    needs = (Offer.START,)
    usually = "too long a step, a wrong sign or another wrong update, or a start that is not used"
    tolerance = 1e-9

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return the usual shapes."""
        return SMALL

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare the objective's values."""
        A, (W0, H0) = example.matrix(), example.start()
        fit = fitted(handle, A.copy(), example.k, start=(W0.copy(), H0.copy()))
        rise = (handle.value(A, fit.product) - handle.value(A, W0 @ H0)) / handle.size(A)
        return max(self.within(rise, "it ends above its start"), 0.0)


class Monotone(Law):
    """No step raises the objective, and no loss of a trace is above the one before.

    Runs of 1, 2, 3, … steps from the same start, up to 1e-10 of A's own objective. Multiplicative
    updates, coordinate descent and exact alternation promise it. Clipped least squares (ALS) and
    accelerated methods do not, so it is a finding.
    """

    name = "monotone"
    severity = Severity.SHOULD
    needs = (Offer.START, Offer.LIMIT)
    usually = "a step that is too long, or a method that does not promise it"
    tolerance = 1e-10

    def applies(self, handle: Handle) -> None:
        """Leave out who is known not to promise it."""
        super().applies(handle)
        if handle.promises is False:
            raise DoesNotApplyError("it does not promise that")

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return three draws."""
        return DRAWS

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare the objective after each step."""
        repeatable(handle)
        A, start = example.matrix(), example.start()
        values = [handle.value(A, start[0] @ start[1])]
        for limit in (1, 2, 3, 4, 6, 10, 20):
            fit = fitted(handle, A.copy(), example.k, start=start, limit=limit)
            values.append(handle.value(A, fit.product))
        rise = max(b - a for a, b in pairwise(values)) / handle.size(A)
        losses = fit.reports.losses
        if losses is not None and len(losses) > 1:
            worst = float(np.diff(losses).max() / (abs(losses[0]) or 1.0))
            self.within(worst, "the trace of losses rises")
        return max(self.within(rise, "a step raises the objective"), 0.0)


class FixedPoint(Law):
    """Started at an exact factorization, it stays near it.

    There the residual and all gradients are zero. W and H are positive, so least squares are unique
    and nothing is divided by zero. After 20 iterations the product is A up to 0.05 of its largest
    entry: some normalise W and let H follow later.
    """

    name = "fixed-point"
    needs: tuple[Offer, ...] = (Offer.START,)
    usually = "a floor, a constant in a denominator, a penalty, too long a step, or an unused start"
    tolerance = 0.05

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return the usual shapes."""
        return SMALL

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare the product with A."""
        W, H = example.exact()
        A = W @ H
        fit = fitted(handle, A.copy(), example.k, start=(W, H), **few(handle))
        off = difference(A, fit.product, A)
        return self.within(off, "started at an exact factorization it leaves it")


class ExactStart(FixedPoint):
    """Started at an exact factorization, it stays there to the last digits.

    As `fixed-point`, up to 1e-6. A finding: a normalisation of W alone, or a floor, costs digits
    that more iterations bring back.
    """

    name = "exact-start"
    severity = Severity.SHOULD
    needs = (Offer.START, Offer.LIMIT)
    usually = "a small constant in the updates, or a normalisation of one factor alone"
    tolerance = 1e-6
