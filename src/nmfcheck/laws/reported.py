"""Law 11: the reported error is the error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from ..arrays import Array
from ..subjects.capabilities import Fit, Handle, Offer, finite
from .comparison import TOO_LARGE, few, fitted
from .law import BrokenError, DoesNotApplyError, Example, Law, Severity, variants
from .sparse import check_takes_sparse, exact_with_zeros, made_sparse, with_zeros

DIGITS = 1e-4
"""How far a reported number may be off, of itself; single precision has as much."""

ROUNDING = 1e-6
"""How far, of the same number for A's mean in place of W·H: differences of large numbers."""


SINGLE = 1e-6
"""How far ‖A − WH‖² may be off, of ‖A‖²: eight roundings of single precision."""


def definitions_of_square(A: Array, R2: float) -> dict[str, float]:
    """Return the usual definitions that know of ‖A − WH‖² alone."""
    A2, size = float((A**2).sum()), A.size
    return {
        "‖A − WH‖": R2**0.5,
        "‖A − WH‖²": R2,
        "½‖A − WH‖²": R2 / 2,
        "the mean square": R2 / size,
        "the root mean square": (R2 / size) ** 0.5,
        "‖A − WH‖/‖A‖": (R2 / A2) ** 0.5,
        "‖A − WH‖²/‖A‖²": R2 / A2,
        "1 − ‖A − WH‖²/‖A‖²": 1 - R2 / A2,
        "the mean of ½(A − WH)²": R2 / 2 / size,
        "‖A − WH‖²/m": R2 / A.shape[0],
        "‖A − WH‖/√m": (R2 / A.shape[0]) ** 0.5,
    }


def definitions(handle: Handle, A: Array, X: Array) -> dict[str, float]:
    """Return the error of X under the usual definitions."""
    size = A.size
    with np.errstate(all="ignore"):
        R2 = float(((A - X) ** 2).sum())
    if np.isinf(R2):
        raise DoesNotApplyError(TOO_LARGE)
    errors = definitions_of_square(A, R2)
    errors |= {
        "Σ|A − WH|": float(np.abs(A - X).sum()),
        "the mean of |A − WH|": float(np.abs(A - X).mean()),
        "Σ|A − WH|/Σ|A|": float(np.abs(A - X).sum() / np.abs(A).sum()),
    }
    if handle.objective.beta != 2:
        D = handle.value(A, X)
        errors |= {
            "D": D,
            "2·D": 2 * D,
            "√D": D**0.5,
            "√(2·D)": (2 * D) ** 0.5,
            "the mean of D": D / size,
            "D/m": D / A.shape[0],
            "D/n": D / A.shape[1],
            "D/ΣA": D / float(A.sum()),
        }
    if handle.objective.beta == 1:
        errors |= likelihoods(A, X)
    return errors


def likelihoods(A: Array, X: Array) -> dict[str, float]:
    """Return minus the logarithm of the Poisson likelihood, with and without its constant."""
    with np.errstate(all="ignore"):
        short = float((X - np.where(A > 0, A * np.log(X), 0.0)).sum())
    whole = short + sum(math.lgamma(a + 1) for a in A.flat)
    return {
        "Σ(WH − A·log WH)": short,
        "the mean of WH − A·log WH": short / A.size,
        "Σ(WH − A·log WH + log A!)": whole,
        "the mean of WH − A·log WH + log A!": whole / A.size,
    }


def matching(handle: Handle, A: Array, X: Array, said: float) -> dict[str, float]:
    """Return the definitions under which a number is the error of X."""
    large = definitions(handle, A, np.full_like(A, A.mean()))
    return {
        name: value
        for name, value in definitions(handle, A, X).items()
        if abs(said - value) <= DIGITS * abs(value) + ROUNDING * abs(large[name])
    }


def matching_in_single(handle: Handle, A: Array, X: Array, said: float) -> dict[str, float]:
    """Return the same for who expands the square in single precision: ‖A‖² − 2⟨A, WH⟩ + ‖WH‖²."""
    exact = matching(handle, A, X, said)
    R2, slack = float(((A - X) ** 2).sum()), SINGLE * float((A**2).sum())
    lower, upper = (definitions_of_square(A, max(R2 + s, 0.0)) for s in (-slack, slack))
    expanded = {
        name: value
        for name, value in definitions_of_square(A, R2).items()
        if min(lower[name], upper[name]) <= said <= max(lower[name], upper[name])
    }
    return exact | expanded


class ReportedError(Law):
    """A reported error is that of the returned W and H, by the same definition on every matrix.

    After three steps and at the end, and for matrices with zeros. Any of the usual definitions will
    do: the norm, its square, half of it, a mean, relative to A, absolute values, of the subject's
    divergence, or minus the logarithm of the Poisson likelihood. It is found, and not prescribed.
    Up to 1e-4 of itself; ‖A − WH‖² up to 1e-6 of ‖A‖², which an expanded square in single precision
    needs. So it is not below what the SVD leaves.
    """

    name = "reported-error"
    usually = (
        "an error of another step, another formula, or the root of a rounding error below zero"
    )

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return runs to the end, short ones, and matrices with zeros."""
        names = ["end"] + ["three-steps"] * (Offer.LIMIT in handle.offers)
        names += ["zeros"] * (not handle.objective.needs_positive)
        return variants(Example(7, 5, 2), *names)

    def try_(self, handle: Handle, example: Example) -> None:
        """Compare the reported number with the definitions."""
        known: Mapping[str, float] | None = None
        short = {"limit": 3}
        ways: tuple[dict[str, int], ...] = (
            (short, {}) if example.variant == "three-steps" else ({},)
        )
        shapes = (example, Example(5, 8, 3, 1), Example(9, 4, 2, 2))
        for each, how in ((each, how) for each in shapes for how in ways):
            A = with_zeros(each) if example.variant == "zeros" else each.matrix()
            A *= 1 + 2 * each.draw
            fit = fitted(handle, A.copy(), each.k, start=each.start(), **how)
            if fit.reports.error is None:
                raise DoesNotApplyError("it reports no error")
            right = matching_in_single(handle, A, fit.product, fit.reports.error)
            norm = definitions(handle, A, fit.product)["‖A − WH‖"]
            if not right:
                said = f"it reports {fit.reports.error:.4g} where ‖A − WH‖ is {norm:.4g}"
                raise BrokenError(f"{said}, and no usual definition gives that")
            both = right if known is None else {n: right[n] for n in right if n in known}
            if not both:
                sentence = "the reported error is defined differently from matrix to matrix"
                raise BrokenError(
                    f"{sentence}: {next(iter(known or ()))}, then {next(iter(right))}"
                )
            known = both


class ExactError(Law):
    """At an exact fit the reported error is finite and next to zero, dense and sparse.

    Up to 1e-6 of that of A's mean. A finding: W and H are right, and only a corner of what is
    reported is not.
    """

    name = "exact-error"
    severity = Severity.SHOULD
    needs = (Offer.START,)
    usually = "the root of a difference of large numbers, which rounding makes negative"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return draws, dense and sparse: rounding goes either way."""
        sparse = Offer.MEMORY in handle.offers and not handle.objective.needs_positive
        names = ["dense"] + ["sparse"] * sparse
        draws = [Example(7, 5, 2, draw) for draw in range(8)]
        return [each for name in names for draw in draws for each in variants(draw, name)]

    def try_(self, handle: Handle, example: Example) -> None:
        """Look at the reported number."""
        W, H = exact_with_zeros(example) if example.variant == "sparse" else example.exact()
        A: Any = W @ H
        given = A.copy()
        if example.variant == "sparse":
            check_takes_sparse(handle)
            given = made_sparse(A, "csr_array")
        fit = fitted(handle, given, example.k, start=(W, H), **few(handle))
        said = fit.reports.error
        if said is None:
            raise DoesNotApplyError("it reports no error")
        if not finite(said) or not matching(handle, A, fit.product, said):
            raise BrokenError(f"{example.variant}: at an exact fit it reports {said:.4g}")


class LossTrace(Law):
    """A trace of losses is finite and ends at the answer, or a few steps before it.

    By one of the usual definitions, as for `reported-error`. The last number may be of one of the
    ten steps before, for some compute it on the way, or now and then. Who takes no limit is asked
    whether the trace is finite.
    """

    name = "loss-trace"
    usually = "losses that are computed from other factors than those that are returned"

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return two shapes."""
        return [Example(7, 5, 2), Example(5, 8, 3, 1)]

    def try_(self, handle: Handle, example: Example) -> None:
        """Compare the last loss with the answer, and with the answers of fewer steps."""
        A, limited = example.matrix(), Offer.LIMIT in handle.offers
        W0, H0 = example.start()

        def fit(steps: int) -> Fit:
            how = {"limit": steps} if limited else {}
            return fitted(handle, A.copy(), example.k, start=(W0, H0), **how)

        last = fit(10)
        losses = last.reports.losses
        if losses is None:
            raise DoesNotApplyError("it reports no losses")
        if not all(map(np.isfinite, losses)):
            raise BrokenError("the trace of losses is not finite")
        if not limited:
            return
        before = (fit(steps).product for steps in range(9, 0, -1))
        states = chain([last.product], before, [W0 @ H0])
        if not any(matching_in_single(handle, A, X, losses[-1]) for X in states):
            near = definitions(handle, A, last.product)["‖A − WH‖"]
            sentence = f"the trace of losses ends at {losses[-1]:.4g}, where ‖A − WH‖ is {near:.4g}"
            raise BrokenError(f"{sentence}; no usual definition gives that, nor in a step before")
