"""Laws 5 and 6: the order of rows and columns does not matter, nor does transposition."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from ..arrays import Array, Ints
from ..subjects.capabilities import Handle, Offer, Start
from .comparison import CHANCE, FEW, difference, draws, fitted, minus, unanimous
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

    Who takes no start has unrelated ones, so that a subject of random quality may differ in all
    draws. Then the law is broken only if the same order ends worse, by as much, in each of ten.
    If each draw has a start of its own, whose rows are drawn alike, and the new order is its own
    inverse, either is as likely to end worse: a fair coin, and all ten agree with probability
    2·2⁻¹⁰ at most, 0.2 %. Who starts alike each time may be unlucky with one shape: shape and rank
    differ from draw to draw. No further draw is asked after one that contradicts. So that one of
    them can be worse, A has an order that means something: rows in pairs that are alike, large rows
    and columns first; the other tears pairs apart and exchanges the ends.
    """

    name = "permutation"
    usually = "an update that only sees some rows, or a start that is made from the first ones"
    tolerance = CHANCE

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return two; the draws of each belong together."""
        return [Example(8, 6, 3), Example(7, 7, 3, variant="first-row-as-column")]

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare the objectives."""
        related = Offer.START in handle.offers
        matrix = noise if related or example.variant else in_order

        def loss(draw: Example) -> float:
            if not related:
                draw = grown(draw, draw.draw, draw.draw)
            _, rows, columns, start = permuted(draw)
            if not related:
                rows, columns = swapped(draw.m), swapped(draw.n)
            A = matrix(draw)
            if example.variant:
                A[:, 0] = A[0]
            usual = fitted(handle, A.copy(), draw.k, start=draw.start(), seed=draw.draw)
            B = A[rows][:, columns]
            other = fitted(handle, B.copy(), draw.k, start=start, seed=draw.draw)
            above = minus(handle.value(B, other.product), handle.value(A, usual.product))
            return above / handle.size(A)

        return in_every_draw(handle, example, loss, "rows and columns are in another order")


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
    in `permutation`: who alternates between W and H takes another path. Who takes no start breaks
    it only if the same one of A and Aᵀ ends worse in each of ten draws: by chance that has
    probability 2·2⁻¹⁰ at most where each draw has a start of its own, and both have the same
    distribution. Shapes are from 10×4 to 28×8 then, of rank 2 to 4, for who starts alike each time
    may be unlucky with one.
    """

    name = "transposition"
    usually = "a bound or a sum over the wrong axis, which square matrices hide"
    tolerance = CHANCE

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return one: its draws belong together."""
        return [Example(10, 4, 3)]

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare the objectives."""

        def loss(draw: Example) -> float:
            if Offer.START not in handle.offers:
                draw = grown(draw, 2 * draw.draw, draw.draw // 2)
            A, (W0, H0) = noise(draw), draw.start()
            usual = fitted(handle, A.copy(), draw.k, start=(W0, H0), seed=draw.draw)
            turned = (H0.T.copy(), W0.T.copy())
            other = fitted(handle, A.T.copy(), draw.k, start=turned, seed=draw.draw)
            above = minus(handle.value(A.T, other.product), handle.value(A, usual.product))
            return above / handle.size(A)

        return in_every_draw(handle, example, loss, "it is transposed")


def grown(example: Example, rows: int, columns: int) -> Example:
    """Return an example with so many more rows and columns, and a rank that its draw chooses."""
    m, n = example.m + rows, example.n + columns
    return replace(example, m=m, n=n, k=2 + example.draw % 3)


def noise(example: Example) -> Array:
    """Return a matrix without any structure, of which all parts count."""
    rng = np.random.default_rng([example.m, example.n, example.draw, 7])
    A: Array = rng.random((example.m, example.n)) + 0.05
    return A


def in_order(example: Example) -> Array:
    """Return a matrix whose rows come in pairs that are alike, large rows and columns first."""
    half = noise(replace(example, m=(example.m + 1) // 2))
    sizes = np.linspace(1, 0.3, example.m)[:, None] * np.linspace(1, 0.3, example.n)
    A: Array = np.repeat(half, 2, axis=0)[: example.m] * sizes
    return A


def swapped(count: int) -> Ints:
    """Return an order that is its own inverse: ends change places, and pairs are torn apart."""
    order = np.arange(count)
    order[[0, -1]] = order[[-1, 0]]
    for i in range(1, count - 2, 2):
        order[[i, i + 1]] = order[[i + 1, i]]
    return order


def in_every_draw(
    handle: Handle, example: Example, loss: Callable[[Example], float], what: str
) -> float:
    """Return by how much all draws differ; raise where that is too much, and not by chance."""
    one_by_one = (loss(draw) for draw in draws(handle, example))
    related = Offer.START in handle.offers
    losses = list(one_by_one) if related else unanimous(one_by_one)
    least = min(map(abs, losses), default=0.0)
    if not least <= CHANCE:
        better = sum(each < 0 for each in losses)
        counts = {"worse": len(losses) - better, "better": better}
        words = [f"{word} in {n} of {len(losses)} draws" for word, n in counts.items() if n]
        amount = f"at least {beyond(least, CHANCE)} of A's objective (up to {CHANCE:g} is allowed)"
        sentence = f"where {what}, the same A ends {' and '.join(words)}, by {amount}"
        raise BrokenError(sentence, least)
    return least
