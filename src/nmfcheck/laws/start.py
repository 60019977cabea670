"""Law 8: a given start is used and left alone, every offered one is good, entry points agree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..subjects.capabilities import Handle, Offer, quiet
from ..subjects.handles import CommandHandle, EstimatorHandle, guarded
from .comparison import AGREE, CHANCE, FEW, accepted, check_valid, difference, few, fitted
from .law import (
    DRAWS,
    BrokenError,
    DoesNotApplyError,
    Example,
    Law,
    Severity,
    beyond,
    repeatable,
    variants,
)
from .symmetry import noise

INITS = ("random", "nndsvd", "nndsvda", "nndsvdar")


class StartUsed(Law):
    """A given start is used: two starts give two answers.

    After one iteration where the number can be limited, otherwise at the end: even then two
    starts leave their traces in the last digits. Broken if three pairs of starts give products that
    are equal bit for bit.
    """

    name = "start-used"
    needs = (Offer.START,)
    usually = "W0 and H0 are taken and then ignored, or what came of them is lost"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return one: its three draws belong together."""
        return [Example(8, 6, 3)]

    def try_(self, handle: Handle, example: Example) -> None:
        """Compare bit for bit."""
        how = {"limit": 1} if Offer.LIMIT in handle.offers else {}
        for draw in DRAWS:
            A = draw.matrix()
            one, other = (
                fitted(handle, A.copy(), draw.k, start=draw.start(seed), **how) for seed in (0, 1)
            )
            if not np.array_equal(one.product, other.product):
                return
        sentence = "two different starts have the same answer, bit for bit"
        if isinstance(handle, CommandHandle) and self._uses_the_seed(handle, example, how):
            sentence += (
                ', and two seeds have not: a program that takes no start says "takes": ["seed"] in '
                "its first answer"
            )
        raise BrokenError(sentence)

    @staticmethod
    def _uses_the_seed(handle: Handle, example: Example, how: dict[str, int]) -> bool:
        A, start = example.matrix(), example.start()
        one, other = (
            fitted(handle, A.copy(), example.k, start=start, seed=seed, **how) for seed in (0, 1)
        )
        return not np.array_equal(one.product, other.product)


class StartLeftAlone(Law):
    """The caller's W0 and H0 are not written to.

    A finding: some libraries document that they work in place.
    """

    name = "start-left-alone"
    severity = Severity.SHOULD
    needs = (Offer.START, Offer.MEMORY)
    usually = "updates in place on what the caller passed in; pass copies"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return both memory orders."""
        return variants(Example(5, 4, 2), "C", "F")

    def try_(self, handle: Handle, example: Example) -> None:
        """Look at the bytes."""
        W0, H0 = (np.asarray(X, order=example.variant) for X in example.start())  # type: ignore[call-overload]
        given = W0.copy(order="K"), H0.copy(order="K")
        fitted(handle, example.matrix(), example.k, start=given, lend=True, **few(handle))
        changed = [
            name
            for name, X, Y in zip(("W0", "H0"), given, (W0, H0), strict=True)
            if not np.array_equal(X, Y)
        ]
        if changed:
            raise BrokenError(f"it writes to the caller's {' and '.join(changed)}")


class InitsValid(Law):
    """Every `init` that is offered gives a valid answer, for tall, wide and small A.

    random, nndsvd, nndsvda and nndsvdar; what is not offered may be refused clearly, and so may a
    rank above min(m, n).
    """

    name = "inits-valid"
    needs = (Offer.INIT, Offer.OWN_START)
    usually = "a start that asks the SVD for more vectors than there are"
    of_answers = True

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return each for four shapes."""
        shapes = (Example(6, 5, 2), Example(3, 8, 3), Example(8, 3, 3), Example(4, 8, 6))
        return [each for shape in shapes for each in variants(shape, *INITS)]

    def try_(self, handle: Handle, example: Example) -> None:
        """Look at W and H."""
        A = example.matrix()
        options = {Offer.INIT: example.variant}
        what = f"init={example.variant!r}"
        fit = accepted(
            handle, A.copy(), example.k, what, value=example.variant, own_start=True,
            options=options,
        )  # fmt: skip
        check_valid(A, fit, what)


class InitsGood(Law):
    """No `init` that is offered ends worse than random starts, beyond chance.

    Of three draws the objective ends above the worst of five random starts by 1e-2 of A's own in
    all. A finding: multiplicative updates cannot leave the zeros of NNDSVD, and libraries say so.
    """

    name = "inits-good"
    severity = Severity.SHOULD
    needs = (Offer.INIT, Offer.OWN_START, Offer.SEED)
    usually = "a start with zeros that the updates cannot leave"
    tolerance = CHANCE

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return the others than random ones."""
        return variants(Example(8, 6, 3), *INITS[1:])

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare with random starts."""
        losses = []
        for draw in DRAWS:
            A = noise(draw)

            def value(init: str, seed: int, A: Any = A, draw: Example = draw) -> float:
                fit = accepted(
                    handle, A.copy(), draw.k, f"init={init!r}", value=init,
                    own_start=True, seed=seed, options={Offer.INIT: init},
                )  # fmt: skip
                return handle.value(A, fit.product)

            random = max(value("random", seed) for seed in range(5))
            losses.append((value(example.variant, 0) - random) / handle.size(A))
        sentence = f"init={example.variant!r} always ends worse than random starts"
        return max(self.within(min(losses), sentence), 0.0)


class EntryPoints(Law):
    """`fit` and `fit_transform` find the same H, and so does the function beside the class.

    From the same start or seed, after 20 iterations, up to 1e-6.
    """

    name = "entry-points"
    needs = (Offer.REFIT,)
    usually = "two implementations of the same thing, of which one was mended"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return the ways to call it."""
        names = ["fit"] + ["function"] * (Offer.FUNCTION in handle.offers)
        return variants(Example(8, 6, 3), *names)

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare with `fit_transform`."""
        repeatable(handle)
        assert isinstance(handle, EstimatorHandle)
        A = example.matrix()
        settings: dict[str, Any] = {}
        if Offer.LIMIT in handle.offers:
            settings[handle.own[Offer.LIMIT]] = FEW
        if example.variant == "fit":
            usual = fitted(handle, A.copy(), example.k, own_start=True, options=settings)
            model = handle.make(example.k, 0, settings)
            if not callable(getattr(model, "fit", None)):
                raise DoesNotApplyError("it has no fit")
            guarded(lambda: np.asarray(model.fit(A.copy()) is not None))
            off = difference(A, usual.W @ np.asarray(model.components_), usual.product)
        else:
            start = example.start()
            usual = fitted(handle, A.copy(), example.k, start=start, options=settings)
            off = difference(A, _by_function(handle, A, example, settings), usual.product)
        if not off <= AGREE:
            sentence = f"{example.variant} and fit_transform find different factors"
            amount = beyond(off, AGREE)
            raise BrokenError(f"{sentence} (off by {amount}; at most {AGREE:g})", off)
        return off


def _by_function(handle: EstimatorHandle, A: Any, example: Example, settings: Any) -> Any:
    assert handle.subject.beside is not None
    W0, H0 = example.start()
    options = {**handle.subject.options, **handle.subject.custom, **settings}
    with quiet():
        W, H, *_ = handle.subject.beside(A.copy(), n_components=example.k, W=W0, H=H0, **options)
    return W @ H
