"""Law 9: the seed, all of the seed, and nothing but the seed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..judging.measures import same_factors
from ..subjects.capabilities import Handle, Offer
from ..subjects.handles import CommandHandle
from ..subjects.refusals import InvalidError, RefusedError
from .comparison import few, fitted
from .law import DRAWS, BrokenError, DoesNotApplyError, Example, Law, Severity


def at_random(handle: Handle) -> dict[str, Any]:
    """Return the settings that let a subject draw a start of its own, where it does."""
    how: dict[str, Any] = {"own_start": Offer.OWN_START in handle.offers, **few(handle)}
    if Offer.INIT in handle.offers and how["own_start"] and _draws(handle):
        how["options"] = {Offer.INIT: "random"}
    return how


def _draws(handle: Handle) -> bool:
    """Say whether one of its starts is called random; otherwise its usual one is asked for."""
    example = Example(5, 4, 2)
    options: dict[Any, Any] = {Offer.INIT: "random"}
    try:
        handle.fit(example.matrix(), 2, own_start=True, options=options, **few(handle))
    except (RefusedError, InvalidError):
        return False
    return True


class Seed(Law):
    """The same seed has the same answer, whatever the caller's random state is.

    Up to 1e-8 of balanced entries. The start is the subject's own where it has one.
    """

    name = "seed"
    needs = (Offer.SEED,)
    usually = "draws from the global random state, or from entropy, beside the seed"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return three draws."""
        return DRAWS

    def try_(self, handle: Handle, example: Example) -> None:
        """Call twice, with another global random state."""
        A, how = example.matrix(), at_random(handle)
        one, other = (
            fitted(handle, A.copy(), example.k, seed=example.draw, world=world, **how)
            for world in (1, 2)
        )
        if not same_factors((one.W, one.H), (other.W, other.H), float(A.max())):
            raise BrokenError("the same seed has two answers")


class OtherSeed(Law):
    """Another seed has another answer, where the start is random.

    Broken if three seeds give products that are equal bit for bit. A finding: a subject that takes
    a seed for the sake of an interface, and needs none, is not wrong.
    """

    name = "other-seed"
    severity = Severity.SHOULD
    needs = (Offer.SEED, Offer.OWN_START)
    usually = "the seed is taken and then ignored"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return one: its three seeds belong together."""
        return [Example(8, 6, 3)]

    def try_(self, handle: Handle, example: Example) -> None:
        """Compare bit for bit."""
        A, how = example.matrix(), at_random(handle)
        first, *others = (
            fitted(handle, A.copy(), example.k, seed=seed, world=0, **how) for seed in range(3)
        )
        if all(np.array_equal(first.product, other.product) for other in others):
            raise BrokenError("three seeds have the same answer, bit for bit")


class GlobalState(Law):
    """The caller's random state is left alone by who takes a seed.

    Neither `numpy.random` nor `random` is drawn from or seeded. A finding: the answer is right,
    and what the caller draws next is not what it was.
    """

    name = "global-state"
    severity = Severity.SHOULD
    needs = (Offer.SEED,)
    usually = "numpy.random.seed(seed) inside; numpy.random.default_rng(seed) does no harm"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return one."""
        return [Example(5, 4, 2)]

    def applies(self, handle: Handle) -> None:
        """Leave programs out, which cannot reach it."""
        super().applies(handle)
        if isinstance(handle, CommandHandle):
            raise DoesNotApplyError("a program has a random state of its own")

    def try_(self, handle: Handle, example: Example) -> None:
        """Compare the states before and after."""
        fit = fitted(handle, example.matrix(), example.k, seed=3, world=7, **at_random(handle))
        if fit.reports.touched:
            raise BrokenError("it changes the global random state of its caller")
