"""Law 13: with H fixed, the rest is a convex problem, and it is solved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays import Array
from ..subjects.capabilities import Fit, Handle, Offer, drawn_start, quiet
from ..subjects.function import parameters_of
from ..subjects.handles import EstimatorHandle
from .comparison import converging, fitted
from .law import BrokenError, DoesNotApplyError, Example, Law, variants
from .sparse import check_takes_sparse, made_sparse

STEPS = 3000
"""Of multiplicative updates with H fixed, which converge for the Kullback–Leibler divergence."""


def best_value(handle: Handle, A: Array, H: Array) -> float | None:
    """Return the least objective over W ≥ 0; None where nobody knows how to find it."""
    if handle.objective.beta == 2:
        from scipy.optimize import nnls

        W = np.array([nnls(H.T, row)[0] for row in A])
    elif handle.objective.beta == 1:
        W = np.full((len(A), len(H)), A.mean() / max(H.mean() * len(H), 1e-300))
        with np.errstate(all="ignore"):
            for _ in range(STEPS):
                ratio = np.where(A == 0, 0.0, A / (W @ H))
                W = W * np.nan_to_num(ratio @ H.T / H.sum(axis=1))
    else:
        return None
    return handle.value(A, W @ H)


def rows_of(example: Example, count: int) -> Array:
    """Return new rows that look like those of A."""
    rng = np.random.default_rng([example.m, example.n, example.draw, 6])
    A = example.matrix()
    mixed: Array = rng.random((count, example.m)) @ A / example.m + 0.05 * rng.random((count, 1))
    return mixed


class Transform(Law):
    """`transform` solves for W with H fixed: nonnegative least squares, or its like.

    On the training data it is no worse than the fit, up to the same tolerance; on new rows, a
    single row, rows one by one, and sparse rows the objective is within 1e-3 of A's own of the
    least (`scipy.optimize.nnls`; for the Kullback–Leibler divergence, updates to the end). An
    iteration limit inside `transform` costs less than that. Neither H nor the parameters move.
    """

    name = "transform"
    needs = (Offer.TRANSFORM,)
    usually = "clipped least squares in place of nonnegative ones, or H that is fitted again"
    tolerance = 1e-3

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return what is transformed."""
        sparse = [] if handle.objective.needs_positive else ["sparse"]
        names = ("training", "new", "one-row", "row-by-row", *sparse)
        return variants(Example(9, 6, 3), *names)

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare with the least objective."""
        A = example.matrix()
        fit = fitted(handle, A.copy(), example.k, start=example.start())
        match example.variant:
            case "training":
                new = A
            case "one-row":
                new = rows_of(example, 1)
            case _:
                new = rows_of(example, 5)
        given: Any = new.copy()
        if example.variant == "sparse":
            check_takes_sparse(handle)
            new[new < np.median(new)] = 0
            given = made_sparse(new, "csr_array")
        before = _state(fit)
        if example.variant == "row-by-row":
            W = np.vstack([handle.transform(fit, row[None].copy()) for row in new])
        else:
            W = handle.transform(fit, given)
        if _state(fit) != before:
            raise BrokenError("transform changes the fitted H or the parameters")
        if W.shape != (len(new), example.k):
            raise BrokenError(f"transform returns shape {W.shape}, not {(len(new), example.k)}")
        if not (W >= -1e-12).all():
            raise BrokenError(f"transform returns {'NaN' if np.isnan(W).any() else 'negatives'}")
        least = best_value(handle, new, fit.H)
        if least is None:
            if example.variant != "training":
                raise DoesNotApplyError(f"the least {handle.objective.title} is not known")
            least = handle.value(A, fit.product)
        excess = (handle.value(new, W @ fit.H) - least) / handle.size(new if len(new) > 1 else A)
        return max(self.within(excess, f"{example.variant}: W is not the best for this H"), 0.0)


def _state(fit: Fit) -> tuple[bytes, str]:
    H = np.asarray(fit.model.components_)
    parameters: dict[str, Any] = getattr(fit.model, "get_params", dict)()
    return H.tobytes(), repr(sorted((name, repr(value)) for name, value in parameters.items()))


class Inverse(Law):
    """`inverse_transform(W)` is W·H.

    Up to 1e-6: single precision has as much.
    """

    name = "inverse-transform"
    needs = (Offer.INVERSE,)
    usually = "a scaling of components that is not undone"
    tolerance = 1e-6

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return two shapes."""
        return [Example(5, 4, 2), Example(4, 7, 3)]

    def try_(self, handle: Handle, example: Example) -> float:
        """Compare with the product."""
        A = example.matrix()
        fit = fitted(handle, A.copy(), example.k, start=example.start())
        X = handle.inverse(fit, fit.W.copy())
        if X.shape != A.shape:
            raise BrokenError(f"inverse_transform returns shape {X.shape}, not {A.shape}")
        off = float(np.abs(X - fit.product).max() / A.max())
        return self.within(off, "inverse_transform(W) is not W·H")


class FixedFactor(Law):
    """With H fixed by an option, H comes back as it was, and W is the best for it.

    H up to 1e-6 of each entry: single precision has as much. As for `transform`, the objective is
    within 1e-3 of A's own of the least.
    """

    name = "fixed-factor"
    usually = "the option is ignored in one of the updates, or the factor is normalised"
    tolerance = 1e-3

    def applies(self, handle: Handle) -> None:
        """Look for the option `update_H`, of the function or of one beside the class."""
        if Offer.FIXED not in handle.offers and not _beside(handle):
            raise DoesNotApplyError("it offers no fixed factor")

    def examples(self, handle: Handle) -> Iterable[Example]:
        """Return two shapes."""
        return [Example(5, 4, 2), Example(9, 6, 3)]

    def try_(self, handle: Handle, example: Example) -> float:
        """Fix H, and look at both."""
        A, H0 = example.matrix(), example.exact()[1]
        W0 = drawn_start(A.shape, example.k)[0]
        if _beside(handle):
            assert isinstance(handle, EstimatorHandle) and handle.subject.beside is not None
            options = {**handle.subject.options, **handle.subject.custom}
            with quiet():
                W, H, *_ = handle.subject.beside(
                    A.copy(), n_components=example.k, H=H0.copy(), update_H=False, **options
                )
        else:
            given = (W0, H0.copy())
            options = {**converging(handle), Offer.FIXED: False}
            fit = fitted(handle, A.copy(), example.k, start=given, options=options)
            W, H = fit.W, fit.H
        if not np.allclose(H, H0, rtol=1e-6, atol=0):
            raise BrokenError("H was to be fixed, and comes back changed")
        least = best_value(handle, A, H0)
        if least is None:
            raise DoesNotApplyError(f"the least {handle.objective.title} is not known")
        excess = (handle.value(A, W @ H0) - least) / handle.size(A)
        return max(self.within(excess, "with H fixed, W is not the best for it"), 0.0)


def _beside(handle: Handle) -> bool:
    beside = handle.subject.beside if isinstance(handle, EstimatorHandle) else None
    return beside is not None and "update_H" in parameters_of(beside)
