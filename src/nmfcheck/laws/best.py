"""Law 2: no answer is better than possible, and at rank one it is the best."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..arrays import Array
from ..subjects.capabilities import Handle
from .comparison import converging, fitted
from .law import DoesNotApplyError, Example, Law


class BestAtRankOne(Law):
    """At rank one the answer is the best there is: its residual is the tail of the SVD.

    The first singular vectors of a nonnegative matrix are nonnegative (Perron and Frobenius), so
    they are the best W and H (Eckart and Young). For the Kullback–Leibler divergence the best
    product is row sums times column sums. Every descent gets there from every start. The objective
    may be above the least by 1e-3 of A's own: stopping rules differ, and an iteration limit is not
    a bug. That no residual can be below the tail is asked of what is reported: `reported-error`.
    """

    name = "rank-one"
    usually = "a wrong update, or a stopping rule that ends the run far too early"
    tolerance = 1e-3

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return matrices to be approximated at rank one."""
        return [Example(5, 4, 1), Example(9, 5, 1, 1), Example(5, 9, 1, 2)]

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare with the closed form."""
        rng = np.random.default_rng([example.m, example.n, example.draw, 3])
        A = rng.random((example.m, example.n)) + 0.1
        best = closed_form(handle, A)
        options = converging(handle, limit=500, tol=1e-6)
        fit = fitted(handle, A.copy(), 1, start=example.start(), options=options)
        excess = (handle.value(A, fit.product) - handle.value(A, best)) / handle.size(A)
        return self.within(excess, "at rank one it ends above the least value of the objective")


def closed_form(handle: Handle, A: Array) -> Array:
    """Return the best product of rank one."""
    if handle.objective.beta == 2:
        U, s, V = np.linalg.svd(A, full_matrices=False)
        first: Array = s[0] * np.outer(U[:, 0], V[0])
        return first
    if handle.objective.beta == 1:
        product: Array = np.outer(A.sum(axis=1), A.sum(axis=0)) / A.sum()
        return product
    raise DoesNotApplyError(f"no closed form is known for {handle.objective.title}")
