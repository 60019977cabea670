"""W and H among the variables of a running function, and how far their product is from A."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array

MOST = 4
"""So many variables are taken for W, and so many for H, at most."""

Pair = tuple[str, str]
"""The names of what is taken for W and for H."""

Names = tuple[str | None, str | None]
"""The same, where they are known."""

COMPONENTS = "self.components_"
"""What an estimator leaves H in."""


@dataclass(frozen=True)
class Sizes:
    """What W and H are known by."""

    m: int
    n: int
    k: int

    @property
    def telling(self) -> bool:
        """Whether shapes alone tell W from H, and each from its transpose."""
        return len({self.m, self.n, self.k}) == 3

    def as_W(self, X: Array) -> Array | None:
        """Return an array as W, turned if it has to be; None where it cannot be W."""
        return _laid(X, (self.m, self.k))

    def as_H(self, X: Array) -> Array | None:
        """Return an array as H."""
        return _laid(X, (self.k, self.n))


def _laid(X: Array, shape: tuple[int, int]) -> Array | None:
    if X.shape == shape:
        return X
    return X.T if X.shape == shape[::-1] else None


def matrix(value: Any) -> Array | None:
    """Return a value as it is, if it is a matrix of real numbers."""
    if type(value) is np.ndarray and value.ndim == 2 and value.dtype.kind == "f":
        return value
    return None


def variables(found: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return the variables of a function, and the attributes of the object that it belongs to."""
    yield from found.items()
    try:
        own = object.__getattribute__(found.get("self"), "__dict__")
    except Exception:  # it has none, or no wish to show it
        return
    if type(own) is dict:
        for name, value in own.items():
            yield f"self.{name}", value


def candidates(
    found: Mapping[str, Any], sizes: Sizes, known: Names = (None, None)
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return the variables that may be W, and those that may be H.

    Parameters
    ----------
    known : names of W and H that count, whatever letters they begin with; they come first.
    """
    Ws: dict[str, Array] = {}
    Hs: dict[str, Array] = {}
    for name, value in variables(found):
        X = matrix(value)
        if X is None:
            continue
        # "" of a name such as `_`, which may be either
        letter = name.removeprefix("self.").lstrip("_")[:1].lower()
        if (sizes.telling or letter in ("w", "") or name == known[0]) and (
            W := sizes.as_W(X)
        ) is not None:
            Ws[name] = W
        if (sizes.telling or letter in ("h", "c", "") or name == known[1]) and (
            H := sizes.as_H(X)
        ) is not None:
            Hs[name] = H
    return _some(Ws, known[0]), _some(Hs, known[1])


def _some(found: dict[str, Array], first: str | None) -> dict[str, Array]:
    names = sorted(found, key=lambda name: name != first)[:MOST]
    return {name: found[name] for name in names}


@dataclass(frozen=True)
class Aim:
    """A, and what no product of its rank can avoid to miss: what its SVD leaves."""

    A: Array
    size: float
    unavoidable: float

    @classmethod
    def of(cls, A: Array, rank: int) -> Aim:
        """Look at A."""
        tail = np.linalg.svd(A, compute_uv=False)[rank:]
        return cls(A.copy(), float(np.linalg.norm(A)), float(np.linalg.norm(tail)))

    @property
    def least(self) -> float:
        """An error below this is rounding."""
        return 1e-9 if self.unavoidable < 1e-9 * self.size else 1e-6

    def missed(self, W: Array, H: Array) -> float:
        """Return √(‖A − WH‖² − what is unavoidable) / ‖A‖; infinite where that is no number."""
        with np.errstate(all="ignore"):
            off = float(np.linalg.norm(self.A - W @ H))
            # (a − b)(a + b) for a² − b², which would lose digits
            above = max(off - self.unavoidable, 0.0) * (off + self.unavoidable)
            size = above**0.5 / self.size
        return size if np.isfinite(size) else np.inf
