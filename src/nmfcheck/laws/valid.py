"""Law 1: an answer is a pair of finite nonnegative matrices, and bad input has none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..subjects.capabilities import Handle, Offer, drawn_start
from ..subjects.refusals import InvalidError, RefusedError
from .comparison import accepted, check_agree, check_valid, few, fitted
from .law import BrokenError, DoesNotApplyError, Example, Law, Severity, repeatable, variants

SHAPES = (
    Example(6, 5, 1, variant="rank-one"),
    Example(1, 5, 1, variant="one-row"),
    Example(5, 1, 1, variant="one-column"),
    Example(7, 3, 2, variant="tall"),
    Example(3, 7, 2, variant="wide"),
    Example(4, 6, 4, variant="full-rank"),
    Example(4, 3, 5, variant="rank-above"),
)
CONTENTS = variants(Example(6, 5, 2), "zero-row", "zero-column", "zero", "huge", "tiny")
MAY_BE_REFUSED = {
    "rank-above": "a rank above min(m, n)",
    "zero-row": "a zero row",
    "zero-column": "a zero column",
    "zero": "A = 0",
}


def content(example: Example) -> Array:
    """Return the matrix of an example with what its variant puts into it."""
    A = example.matrix()
    match example.variant:
        case "zero-row":
            A[1] = 0
        case "zero-column":
            A[:, 1] = 0
        case "zero":
            A[:] = 0
        case "huge":
            A[1, 1] = 1e6
        case "tiny":
            A[1, 1] = 1e-6
    return A


class Valid(Law):
    """W and H are finite, nonnegative and of the right shapes, for every nonnegative A.

    Tall and wide A, one row or column, rank 1, rank min(m, n) and above it, zero rows and columns,
    A = 0, one entry of 1e6 or 1e-6 among others of size 1; from a given start and from the
    subject's own. A clear refusal of zeros is an answer, and any exception for a rank above
    min(m, n). Negative entries as small as rounding are accepted. Divergences that are infinite for
    zeros are not asked about zeros.
    """

    name = "valid"
    usually = "a division by zero, a shape that was taken for square, or a loop to the wrong bound"
    in_time = True
    of_answers = True

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return shapes, then contents."""
        own = Offer.START in handle.offers and Offer.OWN_START in handle.offers
        for example in (*SHAPES, *CONTENTS):
            yield example
            if own:
                yield replace(example, variant=f"{example.variant}+own-start")

    def try_(self, handle: Handle, example: Example) -> None:
        """Look at W and H."""
        variant, _, own = example.variant.partition("+")
        if variant.startswith("zero") and handle.objective.needs_positive:
            raise DoesNotApplyError(f"{handle.objective.title} is infinite for zeros")
        A = content(replace(example, variant=variant))
        how: dict[str, Any] = {"own_start": True} if own else {"start": example.start()}
        if variant == "rank-above":
            fit = accepted(
                handle, A.copy(), example.k, MAY_BE_REFUSED[variant], lenient=True, **how
            )
        elif variant in MAY_BE_REFUSED:
            fit = accepted(handle, A.copy(), example.k, MAY_BE_REFUSED[variant], **how)
        else:
            fit = fitted(handle, A.copy(), example.k, **how)
        check_valid(A, fit, example.variant)


class Layouts(Law):
    """The same numbers in another memory layout or type have the same answer.

    Fortran order, every second column of a larger array, reversed rows, a read-only array, whole
    numbers, float32. After 20 iterations products agree up to 1e-6; from float32 up to 1e-3, which
    its rounding needs. Whole numbers, float32 and reversed rows may be refused clearly.
    """

    name = "layouts"
    needs = (Offer.MEMORY,)
    usually = "memory that is read as if it were contiguous, in C order, or of one type"
    of_answers = True

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return layouts."""
        names = ("fortran", "strided", "reversed", "read-only", "integers", "float32")
        return variants(Example(7, 4, 2), *names)

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare with C order and float64."""
        repeatable(handle)
        A = example.matrix()
        other: Any = None
        match example.variant:
            case "fortran":
                other = np.asfortranarray(A)
            case "strided":
                other = np.repeat(A, 2, axis=1)[:, ::2]
            case "reversed":
                other = A[::-1].copy()[::-1]
            case "read-only":
                other = A.copy()
                other.setflags(write=False)
            case "integers":
                A = np.round(10 * A) + 1
                other = A.astype(np.int64)
            case "float32":
                other = A.astype(np.float32)
                A = other.astype(np.float64)
        start = example.start()
        usual = fitted(handle, A.copy(), example.k, start=start, **few(handle))
        if example.variant in ("integers", "float32", "reversed"):
            what = f"A of {other.dtype}" if example.variant != "reversed" else "reversed rows"
            if example.variant == "float32":
                start = tuple(X.astype(np.float32) for X in start)  # type: ignore[assignment]
            fit = accepted(handle, other, example.k, what, start=start, **few(handle))
        else:
            fit = fitted(handle, other, example.k, start=start, **few(handle))
        check_valid(A, fit, example.variant)
        if example.variant == "float32":
            off = float(np.abs(fit.product - usual.product).max() / A.max())
            if not off <= 1e-3:
                raise BrokenError(f"from float32 it finds another product (off by {off:.2g})")
            return 0.0
        sentence = f"A as {example.variant} has another answer than in C order and float64"
        return check_agree(handle, A, fit.product, usual.product, sentence)


class BadInput(Law):
    """Bad input raises an exception, and never gives W and H in silence.

    A negative entry, NaN, infinity, one or three dimensions, rank 0, an empty A. Which exception is
    the subject's business. Many small functions leave that to their callers, so a broken law is a
    finding and does not decide.
    """

    name = "bad-input"
    severity = Severity.SHOULD
    usually = "missing checks of the input"
    in_time = True

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return what is bad."""
        in_memory = Offer.MEMORY in handle.offers
        names: tuple[str, ...] = ("negative", "rank-zero", "empty")
        names += ("nan", "infinity", "one-dimensional", "three-dimensional") * in_memory
        return variants(Example(5, 4, 2), *names)

    def try_(self, handle: Handle, example: Example) -> None:
        """Expect a refusal."""
        A: Any = example.matrix()
        rank = example.k
        match example.variant:
            case "negative":
                A[1, 1] = -1.0
            case "nan":
                A[1, 1] = np.nan
            case "infinity":
                A[1, 1] = np.inf
            case "one-dimensional":
                A = A[0]
            case "three-dimensional":
                A = np.stack([A, A], axis=2)
            case "rank-zero":
                rank = 0
            case "empty":
                A = A[:0]
        try:
            handle.fit(A, rank, start=drawn_start(A.shape, rank))
        except RefusedError:
            return
        except InvalidError:
            pass
        raise BrokenError(f"{example.variant.replace('-', ' ')}: W and H come back in silence")
