"""Law 16: a penalty does what its name says."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from ..subjects.capabilities import Handle, Offer
from .comparison import AGREE, accepted, converging, difference, few, fitted
from .law import BrokenError, DoesNotApplyError, Example, Law, variants

THREE = Example(8, 6, 3)
"""Where a penalty must have an effect, if it has none at rank one."""

SHAPES = (Example(5, 4, 1), Example(9, 4, 1), Example(4, 9, 1))
"""Of different proportions."""


class Penalty(Law):
    """A penalty of 0 is none, a larger one gives no larger product at rank one, and it is used.

    At rank one a penalty on both factors is one on the size of the product, so it can only shrink
    it. A penalty of 1e-13 is none after 20 iterations, up to 1e-6. Norms may grow by 1e-3 of
    themselves: stopping rules differ. 0.01, 0.1 and 1 are asked, of which some may be refused
    clearly; the largest one that is taken must have an effect, at rank one or at rank three.
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
        A, name = example.matrix(), example.variant

        def product(alpha: float, of: Example = example, **how: Any) -> Any:
            options = {**how.pop("options", {}), name: alpha}
            how |= {"start": of.start(), "options": options}
            return accepted(handle, of.matrix(), of.k, f"{name}={alpha:g}", **how).product

        none, tiny = (product(alpha, **few(handle)) for alpha in (0.0, 1e-13))
        off = difference(A, none, tiny)
        if Offer.LIMIT in handle.offers and not off <= AGREE:
            raise BrokenError(f"{name} of 0 and of 1e-13 differ by {off:.2g}", off)
        settings = converging(handle, limit=500, tol=1e-8)
        taken = _taken(lambda alpha: product(alpha, options=settings))
        norms = [float(np.linalg.norm(each)) for each in taken.values()]
        growth = max(b / a - 1 if a > 0 else b for a, b in pairwise(norms))
        self.within(growth, f"a larger {name} gives a larger product")
        if norms[-1] >= norms[0] * (1 - 1e-9):
            largest = max(taken)
            with_it, without = (product(alpha, THREE, **few(handle)) for alpha in (largest, 0.0))
            if difference(A, with_it, without) <= 1e-9:
                raise BrokenError(f"{name} has no effect: 0 and {largest:g} give the same")
        return max(growth, 0.0)


def _taken(product: Callable[[float], Any]) -> dict[float, Any]:
    """Return products for 0 and for all larger penalties that are not refused."""
    products = {0.0: product(0.0)}
    for alpha in (0.01, 0.1, 1.0):
        try:
            products[alpha] = product(alpha)
        except DoesNotApplyError as error:
            reason = error
    if len(products) == 1:
        raise reason
    return products


class PenaltyForm(Law):
    """At rank one, squares of both factors as penalty: the singular value shrinks by √(αβmn).

    For `alpha_W` = α, `alpha_H` = β and `l1_ratio` = 0, as scikit-learn documents them: with
    ½αn‖w‖² + ½βm‖h‖² the best product is (σ₁ − √(αn·βm))₊·u₁v₁ᵀ, for at the best scaling both terms
    are equal. Others leave m and n out, by √(αβ), or have m·n in both terms, by √(αβ)·mn: one of
    the three must hold for all shapes. So the dependence on m and n is seen as well. Up to 1e-3 of
    A's largest entry.
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
        """Return one: its three shapes belong together."""
        return [Example(5, 4, 1)]

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare with the closed form, in each scaling."""
        off = [_from_closed_form(handle, each) for each in SHAPES]
        worst = min(max(scaling) for scaling in zip(*off, strict=True))
        return self.within(worst, "it is not as the closed form says, in no usual scaling")


def _from_closed_form(handle: Handle, example: Example) -> list[float]:
    """Return how far the answer is from the best one, in each scaling of the penalty."""
    A = example.matrix()
    alpha, beta = 0.03, 0.01
    options = {**converging(handle, tol=1e-12), "l1_ratio": 0.0}
    options |= {"alpha_W": alpha, "alpha_H": beta}
    fit = fitted(handle, A.copy(), 1, start=example.start(), options=options)
    U, s, V = np.linalg.svd(A, full_matrices=False)
    first = np.outer(U[:, 0], V[0])
    less = [(alpha * beta) ** 0.5 * A.size**power for power in (0.5, 0.0, 1.0)]
    return [difference(A, fit.product, max(s[0] - each, 0.0) * first) for each in less]
