"""Law 10: what goes in is left alone, and nothing stays behind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..subjects.capabilities import Handle, Offer
from ..subjects.handles import EstimatorHandle, guarded
from ..subjects.refusals import InvalidError, RefusedError
from .comparison import AGREE, apart, difference, few, fitted
from .law import BrokenError, DoesNotApplyError, Example, Law, beyond, repeatable, variants
from .sparse import made_sparse, with_zeros


class Input(Law):
    """A is left alone: dense, in Fortran order, of float32, sparse.

    Byte for byte; entries of a sparse matrix may be sorted. Types that are refused are not asked.
    """

    name = "input"
    needs = (Offer.MEMORY,)
    usually = "an update, a clipping or a normalisation in place"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return types of A."""
        sparse = () if handle.objective.needs_positive else ("csr_array", "csc_matrix", "unsorted")
        return variants(Example(6, 5, 2), "dense", "fortran", "float32", *sparse)

    def try_(self, handle: Handle, example: Example) -> None:
        """Look at the bytes before and after."""
        dense = example.matrix() if handle.objective.needs_positive else with_zeros(example)
        A: Any = dense
        if example.variant == "fortran":
            A = np.asfortranarray(dense)
        elif example.variant == "float32":
            A = dense.astype(np.float32)
        elif example.variant != "dense":
            A = made_sparse(dense, example.variant)
        before = _bytes(A)
        try:
            handle.fit(A, example.k, start=example.start(), **few(handle))
        except (RefusedError, InvalidError) as error:
            raise DoesNotApplyError(f"{example.variant}: it {error}") from None
        if _bytes(A) != before:
            raise BrokenError(f"it writes to its input ({example.variant})")


def _bytes(A: Any) -> tuple[bytes, ...]:
    if isinstance(A, np.ndarray):
        return (A.tobytes("A"),)
    return (A.toarray().tobytes(),)  # the order in which entries are stored is no part of it


class Parameters(Law):
    """Fitting leaves the parameters alone: `get_params` says the same before and after.

    So that an estimator can be cloned, fitted again and searched over. As scikit-learn asks of all
    estimators.
    """

    name = "parameters"
    needs = (Offer.REFIT, Offer.PARAMETERS)
    usually = "defaults that are resolved by overwriting the parameter"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return one."""
        return [Example(5, 4, 2)]

    def try_(self, handle: Handle, example: Example) -> None:
        """Compare the parameters."""
        assert isinstance(handle, EstimatorHandle)
        model = handle.make(example.k, 0, {})
        before = {name: repr(value) for name, value in model.get_params().items()}
        A = example.matrix()
        guarded(lambda: handle.fitted(model, A, None)[0])
        after = {name: repr(value) for name, value in model.get_params().items()}
        for name, value in before.items():
            if value != after.get(name):
                change = f"{value:.40} before, {after.get(name)!s:.40} after"
                raise BrokenError(f"fitting changes the parameter {name}: {change}")


ALIVE = 1e-3
"""W·H whose largest entry is below this, relative to A's, counts as 0."""


class Refit(Law):
    """An answer does not depend on what was factorized before.

    The same estimator fitted to another A and then to this one finds what a new one does; a
    function called in between with another A as well. After 20 iterations up to 1e-6. Nor is
    another A of the same shape given the same product: that would be the first one's.
    """

    name = "refit"
    usually = "factors, sums or a cache that are kept from the fit before"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return what comes before: the same A, another one, one of another shape."""
        return variants(Example(6, 5, 2), "same", "other", "other-shape")

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare with a first fit."""
        repeatable(handle)
        A, start = example.matrix(), example.start()
        first = fitted(handle, A.copy(), example.k, start=start, **few(handle))
        if isinstance(handle, EstimatorHandle):
            other, product = self._fitted_again(handle, example)
        else:
            earlier, begin = self._earlier(example)
            other = fitted(handle, earlier, example.k, start=begin, **few(handle)).product
            product = fitted(handle, A.copy(), example.k, start=start, **few(handle)).product
        alive = np.abs(first.product).max() > ALIVE * A.max()  # W·H = 0 has other reasons
        moved = difference(A, start[0] @ start[1], first.product) > AGREE  # and so has W0·H0
        own = example.variant == "other" and alive and moved  # W·H is of this A
        if own and difference(A, other, first.product) <= AGREE:
            raise BrokenError("another A of this shape gets the same W·H")
        off, most = apart(handle, A, product, first.product)
        if not off <= most:
            sentence = f"fitted after {example.variant.replace('-', ' ')} A it finds something else"
            raise BrokenError(f"{sentence} (off by {beyond(off, most)}; at most {most:g})", off)
        return off

    @staticmethod
    def _earlier(example: Example) -> tuple[Any, Any]:
        """Return the A before and where to begin: if the shape allows it, at the same start.

        So what is kept by shape comes to the very same product, after however few iterations.
        """
        if example.variant == "other-shape":
            before = Example(9, 4, 2)
            return before.matrix(), before.start()
        before = Example(6, 5, 2, 1) if example.variant == "other" else example
        return before.matrix(), example.start()

    @classmethod
    def _fitted_again(cls, handle: EstimatorHandle, example: Example) -> tuple[Any, Any]:
        """Return what an estimator finds for the A before, and then for this one."""
        settings: dict[str, Any] = {}
        if Offer.LIMIT in handle.offers:
            settings[handle.own[Offer.LIMIT]] = few(handle)["limit"]
        if Offer.TOLERANCE in handle.offers:
            settings[handle.own[Offer.TOLERANCE]] = handle.least
        starts = Offer.START in handle.offers
        custom = handle.subject.custom if starts else {}
        model = handle.make(example.k, 0, {**custom, **settings})

        def fit(A: Any, start: Any) -> Any:
            W, H, *_ = handle.fitted(model, A, start if starts else None)
            return np.asarray(W) @ np.asarray(H)

        earlier = guarded(lambda: fit(*cls._earlier(example)))
        return earlier, guarded(lambda: fit(example.matrix(), example.start()))
