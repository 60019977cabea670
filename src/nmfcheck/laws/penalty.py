"""Law 16: a penalty does what its name says."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from ..subjects.capabilities import Handle, Offer
from .comparison import AGREE, converging, difference, few, fitted
from .law import BrokenError, DoesNotApplyError, Example, Law, variants


class Penalty(Law):
    """A penalty of 0 is none, a larger one gives no larger product at rank one, and it is used.

    At rank one a penalty on both factors is one on the size of the product, so it can only shrink
    it. A penalty of 1e-13 is none after 20 iterations, up to 1e-6. Norms may grow by 1e-3 of
    themselves: stopping rules differ.
    """

    name = "penalty"
    needs = (Offer.PENALTY,)
    usually = "a penalty with the wrong sign, or one that is accepted and then ignored"
    tolerance = 1e-3

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return each penalty; that of H alone only where there is no other."""
        names = [name for name in handle.penalties if name != "alpha_H"] or ["alpha_H"]
        return variants(Example(6, 5, 1), *names)

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare products for several penalties."""
        A, start = example.matrix(), example.start()

        def product(alpha: float, **how: Any) -> Any:
            options = {**how.pop("options", {}), example.variant: alpha}
            return fitted(handle, A.copy(), 1, start=start, options=options, **how).product

        none, tiny = (product(alpha, **few(handle)) for alpha in (0.0, 1e-13))
        found = difference(A, none, tiny)
        if Offer.LIMIT in handle.offers and not found <= AGREE:
            raise BrokenError(f"{example.variant} of 0 and of 1e-13 differ by {found:.2g}", found)
        settings = converging(handle, limit=500, tol=1e-8)
        norms = [
            float(np.linalg.norm(product(alpha, options=settings)))
            for alpha in (0.0, 0.01, 0.1, 1.0)
        ]
        growth = max(b / a - 1 if a > 0 else b for a, b in pairwise(norms))
        self.within(growth, f"a larger {example.variant} gives a larger product")
        if norms[-1] >= norms[0] * (1 - 1e-9):
            raise BrokenError(f"{example.variant} has no effect: 0 and 1 give the same norm")
        return max(growth, 0.0)


class PenaltyForm(Law):
    """At rank one, squares of both factors as penalty: the singular value shrinks by √(αβmn).

    For `alpha_W` = α, `alpha_H` = β and `l1_ratio` = 0, as scikit-learn documents them: with
    ½αn‖w‖² + ½βm‖h‖² the best product is (σ₁ − √(αn·βm))₊·u₁v₁ᵀ, for at the best scaling both terms
    are equal. So the dependence on m and n is seen as well. Up to 1e-3 of A's largest entry.
    """

    name = "penalty-form"
    needs = (Offer.PENALTY,)
    usually = "a factor of 2, of m or of n that is not as documented"
    tolerance = 1e-3

    def applies(self, handle: Handle) -> None:
        """Look for scikit-learn's parameters."""
        super().applies(handle)
        parameters: set[str] = getattr(getattr(handle, "subject", None), "parameters", set())
        if not {"alpha_W", "alpha_H", "l1_ratio"} <= set(parameters):
            raise DoesNotApplyError("its penalty is not that of scikit-learn's parameters")
        if handle.objective.beta != 2:
            raise DoesNotApplyError("the closed form is that of the Frobenius norm")

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return shapes of different proportions."""
        return [Example(5, 4, 1), Example(9, 4, 1), Example(4, 9, 1)]

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare with the closed form."""
        A = example.matrix()
        alpha, beta = 0.03, 0.01
        options = {**converging(handle, tol=1e-12), "l1_ratio": 0.0}
        options |= {"alpha_W": alpha, "alpha_H": beta}
        fit = fitted(handle, A.copy(), 1, start=example.start(), options=options)
        U, s, V = np.linalg.svd(A, full_matrices=False)
        less = (alpha * example.n * beta * example.m) ** 0.5
        best = max(s[0] - less, 0.0) * np.outer(U[:, 0], V[0])
        return self.within(difference(A, fit.product, best), "it is not as the closed form says")
