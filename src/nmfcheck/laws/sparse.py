"""Law 7: sparse is dense."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays import Array
from ..subjects.capabilities import Handle, Offer, Start
from ..subjects.refusals import InvalidError, RefusedError
from .comparison import accepted, check_agree, check_valid, few, fitted
from .law import DoesNotApplyError, Example, Law, repeatable, variants

FORMATS = ("csr_array", "csr_matrix", "csc_array", "csc_matrix", "coo_array", "coo_matrix")


def with_zeros(example: Example) -> Array:
    """Return a matrix with about half of its entries zero, and no zero row or column."""
    rng = np.random.default_rng([example.m, example.n, example.draw, 5])
    A = example.matrix()
    A[rng.random(A.shape) < 0.5] = 0
    for i in range(max(A.shape)):
        A[i % example.m, i % example.n] += 0.5
    return A


def made_sparse(A: Array, variant: str) -> Any:
    """Return a matrix in a sparse format, with the same numbers."""
    from scipy import sparse

    if variant == "exact":
        return sparse.csr_array(A)
    if variant in FORMATS:
        return getattr(sparse, variant)(A)
    made = sparse.csr_array(A)
    if variant == "unsorted":
        for i in range(A.shape[0]):
            row = slice(made.indptr[i], made.indptr[i + 1])
            made.indices[row], made.data[row] = made.indices[row][::-1], made.data[row][::-1]
        made.has_sorted_indices = False
        return made
    rows, columns = np.nonzero(np.ones_like(A))  # explicit zeros: every entry is there
    return sparse.csr_array((A[rows, columns], (rows, columns)), shape=A.shape)


def exact_with_zeros(example: Example) -> Start:
    """Return W and H whose product has zeros; it can be factorized exactly."""
    W, H = example.exact()
    W[: example.m // 2, 0], H[0, : example.n // 2] = 0, 0
    W[example.m // 2 :, 1:], H[1:, example.n // 2 :] = 0, 0
    return W, H


def check_takes_sparse(handle: Handle) -> None:
    """Raise `DoesNotApplyError` unless CSR is taken, as array and as matrix.

    A function for NumPy arrays may take one of them by accident: both have `@`, and only one `**`.
    """
    example = Example(6, 5, 2)
    for kind in ("csr_array", "csr_matrix"):
        try:
            made = made_sparse(with_zeros(example), kind)
            handle.fit(made, 2, start=example.start(), **few(handle))
        except RefusedError as error:
            raise DoesNotApplyError(f"it takes no {kind}: it {error}") from None
        except InvalidError as error:
            raise DoesNotApplyError(f"it takes no {kind}: {error}") from None


class Sparse(Law):
    """A sparse matrix has the answer of the dense one.

    CSR, CSC and COO, as matrix and as array, with unsorted indices and with explicit zeros, from
    the same start; after 20 iterations up to 1e-6. Also where A is fitted exactly. Asked of those
    who return W and H for CSR, both as array and as matrix; other formats may be refused clearly.
    """

    name = "sparse"
    needs = (Offer.MEMORY,)
    usually = "a code path of its own for sparse input, which nobody compares with the other"
    of_answers = True

    def applies(self, handle: Handle) -> None:
        """Leave out divergences that are infinite for zeros."""
        super().applies(handle)
        if handle.objective.needs_positive:
            raise DoesNotApplyError(f"{handle.objective.title} is infinite for zeros")

    def probe(self, handle: Handle) -> None:
        """Look whether CSR is accepted at all."""
        check_takes_sparse(handle)

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return formats."""
        exact = [Example(7, 5, 2, draw, "exact") for draw in range(8)]
        formats = variants(Example(8, 6, 3), *FORMATS, "unsorted", "explicit-zeros")
        return [*formats, *(exact if Offer.START in handle.offers else ())]

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare with the dense matrix."""
        repeatable(handle)
        A, start = with_zeros(example), example.start()
        if example.variant == "exact":
            W, H = start = exact_with_zeros(example)
            A = W @ H
        dense = fitted(handle, A.copy(), example.k, start=start, **few(handle))
        made = made_sparse(A, example.variant)
        how: dict[str, Any] = {"start": start, **few(handle)}
        if example.variant[:3] in ("csc", "coo"):
            fit = accepted(handle, made, example.k, example.variant, **how)
        else:
            fit = fitted(handle, made, example.k, **how)
        check_valid(A, fit, example.variant)
        exact = example.variant == "exact"
        given = "where A is fitted exactly, as csr_array it" if exact else f"as {example.variant} A"
        sentence = f"{given} has another answer than as a dense matrix"
        return check_agree(handle, A, fit.product, dense.product, sentence)
