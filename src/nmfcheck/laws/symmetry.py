"""Laws 5 and 6: the order of rows and columns does not matter, nor does transposition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..arrays import Array, Ints
from ..subjects.capabilities import Handle, Offer, Start
from .comparison import CHANCE, FEW, difference, fitted, minus
from .law import DRAWS, BrokenError, Example, Law, Severity, beyond, repeatable


def permuted(example: Example) -> tuple[Array, Ints, Ints, Start]:
    """Return A, two permutations, and the start that belongs to the permuted A."""
    rng = np.random.default_rng([example.m, example.n, example.draw, 4])
    rows, columns = rng.permutation(example.m), rng.permutation(example.n)
    W0, H0 = example.start()
    return example.matrix(), rows, columns, (W0[rows], H0[:, columns])


class Permutation(Law):
    """A with its rows and columns in another order is solved as well.

    Quality is compared, of three draws from permuted starts: the law is broken if the objective
    differs by more than 1e-2 of A's own in all of them. In a single one it may do so by chance,
    another local minimum. Also for a square A whose first row is its first column: it is not
    symmetric all the same.
    """

    name = "permutation"
    usually = "an update that only sees some rows, or a start that is made from the first ones"
    tolerance = CHANCE

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return two, of three draws each."""
        return [Example(8, 6, 3), Example(7, 7, 3, variant="first-row-as-column")]

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare the objectives."""
        losses = []
        for number in range(3):
            draw = replace(example, draw=number)
            _, rows, columns, start = permuted(draw)
            A = noise(draw)
            if example.variant:
                A[:, 0] = A[0]
            usual = fitted(handle, A.copy(), draw.k, start=draw.start(), seed=draw.draw)
            B = A[rows][:, columns]
            other = fitted(handle, B.copy(), draw.k, start=start, seed=draw.draw)
            loss = minus(handle.value(B, other.product), handle.value(A, usual.product))
            losses.append(loss / handle.size(A))
        return in_every_draw(losses, "rows and columns are in another order")


class RowsAlike(Law):
    """Permuted rows and columns of A and of the start permute the answer.

    It holds for all that treat rows and columns alike: multiplicative updates, coordinate descent
    over components, least squares, gradients. Not for online and mini-batch methods, so it is a
    finding. After 20 iterations up to 1e-6.
    """

    name = "rows-alike"
    severity = Severity.SHOULD
    needs = (Offer.START, Offer.LIMIT)
    usually = "rows that are treated one after the other, as online methods do"
    tolerance = 1e-6

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return three draws."""
        return DRAWS

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare the products."""
        repeatable(handle)
        A, rows, columns, start = permuted(example)
        usual = fitted(handle, A.copy(), example.k, start=example.start(), limit=FEW)
        other = fitted(handle, A[rows][:, columns].copy(), example.k, start=start, limit=FEW)
        off = difference(A, other.product, usual.product[rows][:, columns])
        return self.within(off, "permuted rows and columns do not permute the answer")


class Transposition(Law):
    """The transposed problem is solved as well.

    W and H change places, and nothing else does. Quality is compared, of three draws at 10×4, as
    in `permutation`: who alternates between W and H takes another path.
    """

    name = "transposition"
    usually = "a bound or a sum over the wrong axis, which square matrices hide"
    tolerance = CHANCE

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return one: its three draws belong together."""
        return [Example(10, 4, 3)]

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare the objectives."""
        losses = []
        for number in range(3):
            draw = Example(example.m, example.n, example.k, number)
            A, (W0, H0) = noise(draw), draw.start()
            usual = fitted(handle, A.copy(), draw.k, start=(W0, H0), seed=number)
            turned = (H0.T.copy(), W0.T.copy())
            other = fitted(handle, A.T.copy(), draw.k, start=turned, seed=number)
            loss = minus(handle.value(A.T, other.product), handle.value(A, usual.product))
            losses.append(loss / handle.size(A))
        return in_every_draw(losses, "it is transposed")


def noise(example: Example) -> Array:
    """Return a matrix without any structure, of which all parts count."""
    rng = np.random.default_rng([example.m, example.n, example.draw, 7])
    A: Array = rng.random((example.m, example.n)) + 0.05
    return A


def in_every_draw(losses: list[float], what: str) -> float:
    """Return by how much every run differs; raise where that is too much."""
    least = min(map(abs, losses))
    if not least <= CHANCE:
        word = "worse" if min(losses) > 0 else "better" if max(losses) < 0 else "otherwise"
        amount = beyond(least, CHANCE)
        sentence = f"where {what}, the same A always ends {word}, by {amount} of A's objective"
        raise BrokenError(f"{sentence} (at most {CHANCE:g})", least)
    return least
