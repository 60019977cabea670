"""What a function gives back as W and as H, and under which names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...arrays import Array
from .factors import COMPONENTS, Names, Sizes, matrix, variables


def returned_pair(value: Any, sizes: Sizes) -> tuple[Array | None, Array | None]:
    """Return what a function gave back as W and as H."""
    values = value if isinstance(value, tuple | list) else [value]
    found = [X for X in map(matrix, values) if X is not None]
    if sizes.telling:
        Ws = [X for X in map(sizes.as_W, found) if X is not None]
        Hs = [X for X in map(sizes.as_H, found) if X is not None]
        return (Ws[0] if Ws else None), (Hs[0] if Hs else None)
    if len(found) != 2:
        return None, None
    return sizes.as_W(found[0]), sizes.as_H(found[1])


def names_of(value: Any, found: Mapping[str, Any], sizes: Sizes, text: str) -> Names:
    """Return the names of the variables that a function gives back as W and H.

    Parameters
    ----------
    text : the statement that returns them; of variables that are equal, what stands there counts.
    """
    written = set(re.findall(r"[\w.]+?(?=\.T\b|\.copy\b|[^\w.]|$)", text))
    W, H = returned_pair(value, sizes)
    known = {name: X for name, value in variables(found) if (X := matrix(value)) is not None}

    def name_of(
        returned: Array | None, laid: Callable[[Array], Array | None], other: str | None = None
    ) -> str | None:
        equal = [
            name
            for name, X in known.items()
            if returned is not None and (Y := laid(X)) is not None and same(returned, Y)
            if name != other
        ]
        return min(
            equal,
            key=lambda name: (known[name] is not returned, name not in written),
            default=None,
        )

    left = COMPONENTS if H is None and COMPONENTS in known else None
    w = name_of(W, sizes.as_W)
    return w, left or name_of(H, sizes.as_H, w)


def same(X: Array, Y: Array) -> bool:
    """Say whether two arrays are equal."""
    return X is Y or (X.shape == Y.shape and np.array_equal(X, Y))
