"""Law 17: weights count, and missing entries do not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays import Array, Bools
from ..subjects.capabilities import Handle, Offer
from .comparison import (
    accepted,
    apart,
    check_agree,
    difference,
    draws,
    few,
    fitted,
    unanimous,
    worse,
)
from .law import BrokenError, DoesNotApplyError, Example, Law, repeatable, variants


class Weights(Law):
    """Weights of one are none, a weight of two is a row twice, and a weight of zero hides an entry.

    Ones and zeros after 20 iterations up to 1e-6; an exact factorization of all entries that have
    weight is a fixed point, whatever the others are; a row twice by its quality, for three draws,
    up to 1e-2 of A's own objective, and for ten where no start is taken, as in `permutation`.
    Weights that are refused clearly, of A's shape or of zero, are not asked about.
    """

    name = "weights"
    needs = (Offer.WEIGHTS,)
    usually = "weights that are used in one update and not in the other, or squared"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return kinds of weights."""
        names = ("ones", "zero", *(("fixed",) if Offer.START in handle.offers else ()), "twice")
        return variants(Example(8, 6, 3), *names)

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare with what they stand for."""
        repeatable(handle)
        A, start = example.matrix(), example.start()
        if example.variant == "twice":
            return self._twice(handle, example)
        V = np.ones_like(A)
        if example.variant == "ones":
            none = fitted(handle, A.copy(), example.k, start=start, **few(handle))
            ones = weighted(handle, A, V, example)
            return check_agree(handle, A, ones, none.product, "weights of one are not none")
        V[2, 3] = V[4, 1] = 0
        if example.variant == "fixed":
            return stays(handle, example, {Offer.WEIGHTS: V}, V == 0)
        B = A.copy()
        B[V == 0] = 3 * A.max()
        one, other = (weighted(handle, X, V, example) for X in (A, B))
        return check_agree(handle, A, one, other, "an entry of weight zero matters")

    @staticmethod
    def _twice(handle: Handle, example: Example) -> float:
        def loss(draw: Example) -> float:
            A, (W0, H0) = draw.matrix(), draw.start()
            V = np.ones_like(A)
            V[0] = 2
            twice, start = np.vstack([A, A[:1]]), (np.vstack([W0, W0[:1]]), H0)
            options = {Offer.WEIGHTS: V}
            what = "weights of A's shape"
            one = accepted(handle, A, draw.k, what, start=(W0, H0), options=options).product
            two = fitted(handle, twice, draw.k, start=start).product
            return worse(handle, twice, np.vstack([one, one[:1]]), two)

        losses = unanimous(loss(draw) for draw in draws(handle, example))
        if losses and not max(losses) < 0:
            raise BrokenError("a row of weight two is not fitted as well as the row twice")
        return 0.0


def stays(handle: Handle, example: Example, options: dict[Any, Any], hidden: Bools) -> float:
    """Return how far an exact factorization of what is seen is left; raise where it is too far."""
    W, H = example.exact()
    A = W @ H
    A[hidden] *= 3
    how = {"start": (W, H), "options": options, **few(handle)}
    fit = accepted(handle, A.copy(), example.k, "entries that do not count", **how)
    off = difference(A, np.where(hidden, 0, fit.product), np.where(hidden, 0, W @ H))
    if not off <= 1e-2:
        sentence = "started where all entries that count are fitted exactly, it leaves that"
        raise BrokenError(f"{sentence} (by {off:.2g})", off)
    return off


def weighted(handle: Handle, A: Array, V: Array, example: Example) -> Array:
    """Return the product for weights, after few iterations."""
    what = "weights of A's shape" if V.all() else "weights of zero"
    how: dict[str, Any] = {"start": example.start(), **few(handle)}
    options = {Offer.WEIGHTS: V.copy()}
    return accepted(handle, A.copy(), example.k, what, options=options, **how).product


class Missing(Law):
    """A mask that hides nothing is none, and what a mask hides does not matter.

    Whether True means seen or hidden is the subject's business, and found by looking: one of the
    two masks without exception gives the answer without a mask. After 20 iterations up to 1e-6. An
    exact factorization of all that is seen is a fixed point. Who refuses masks of A's shape clearly
    is not asked.
    """

    name = "missing"
    needs = (Offer.MASK,)
    usually = "hidden entries that are filled with something, and then fitted"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return two draws."""
        return [Example(8, 6, 3), Example(8, 6, 3, 1)]

    def try_(self, handle: Handle, example: Example) -> float:
        """Find the convention, then change what is hidden."""
        repeatable(handle)
        A = example.matrix()

        def product(X: Array, mask: Array) -> Array:
            how = {"start": example.start(), **few(handle), "options": {Offer.MASK: mask.copy()}}
            return accepted(handle, X.copy(), example.k, "masks of A's shape", **how).product

        none = fitted(handle, A.copy(), example.k, start=example.start(), **few(handle)).product
        errors: list[Exception] = []
        for seen in (True, False):
            everything = np.full(A.shape, seen)
            try:
                off, most = apart(handle, A, product(A, everything), none)
            except (BrokenError, DoesNotApplyError) as error:
                errors.append(error)
                continue
            if not off <= most:
                continue
            mask, B = everything.copy(), A.copy()
            mask[2, 3] = mask[4, 1] = not seen
            B[mask != seen] = 3 * A.max()
            sentence = "an entry that is hidden by the mask matters"
            off = check_agree(handle, A, product(A, mask), product(B, mask), sentence)
            if Offer.START in handle.offers:
                off = max(off, stays(handle, example, {Offer.MASK: mask}, mask != seen))
            return off
        if len(errors) == 2:
            raise next((each for each in errors if isinstance(each, DoesNotApplyError)), errors[0])
        raise BrokenError("a mask that hides nothing has another answer than no mask")
