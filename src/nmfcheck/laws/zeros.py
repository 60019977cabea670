"""Law 3: zero stays zero."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..subjects.capabilities import Handle, Offer
from .comparison import accepted, check_valid, converging
from .law import DoesNotApplyError, Example, Law


class ZeroRows(Law):
    """Zero rows of A give zero rows of W·H, and zero columns give zero columns.

    Anything else in them only adds to the objective. It is about the product, for in components
    that are dead W may be anything. Up to 1e-3 of A's largest entry after 2000 iterations, for who
    takes a limit: multiplicative updates, ALS and coordinate descent are there after one sweep,
    gradient methods in the limit. Up to 0.1 where a subject cannot be told to run longer.
    """

    name = "zero-rows"
    usually = "a constant that is added to W, H or A, a row that is skipped, or a wrong update"
    tolerance = 1e-3

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return places of the zeros."""
        return [
            Example(5, 4, 2, variant="row"),
            Example(5, 4, 2, variant="column"),
            Example(9, 8, 3, 1, variant="both"),
        ]

    def try_(self, handle: Handle, example: Example) -> float:
        """Look at the product."""
        if handle.objective.needs_positive:
            raise DoesNotApplyError(f"{handle.objective.title} is infinite for zeros")
        A = example.matrix()
        if example.variant != "column":
            A[2] = 0
        if example.variant != "row":
            A[:, 1] = 0
        start, options = example.start(), converging(handle)
        fit = accepted(handle, A.copy(), example.k, "zeros", start=start, options=options)
        check_valid(A, fit, f"a zero {example.variant}")
        zero = (A.sum(axis=1) == 0)[:, None] | (A.sum(axis=0) == 0)
        left = float(np.abs(fit.product[zero]).max() / A.max())
        if Offer.LIMIT not in handle.offers and left <= 0.1:
            return left
        return self.within(left, "a row or column of zeros does not stay zero in W·H")
