"""The start comes back, or a part of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array, Bools
from ..evidence import Evidence
from ..findings import MOST, Cause, Finding, mostly

Pair = tuple[Array, Array]

WHOLE = "It returns its start as it was"
"""Where another family shows that only a part comes back, that says more."""

SMALL, FEWEST, NEARLY = 2, 3, 0.9
"""Of so few rows each is first or last; so many longer ones show it, if so many of them do."""


def unmoved(evidence: Evidence) -> Finding | None:
    """Say so if W0 and H0, or one of them, are returned as they were."""
    runs = evidence.unconverged
    W, H = (
        [(run[place + 1], start[place])
         for run, start in zip(runs.factors, runs.starts, strict=True)]
        for place in (0, 1)
    )  # fmt: skip
    if _same(W) and _same(H):
        return Finding(Cause.UNMOVED, f"{WHOLE}: the updates never ran.")
    for name, start, pairs, others in (("W", "W0", W, H), ("H", "H0", H, W)):
        # Where the other factor is 0, there is nothing to be done.
        moving = [pair for pair, (other, _) in zip(pairs, others, strict=True) if other.any()]
        if _same(moving) and all(np.array_equal(X, X0) for X, X0 in pairs):
            return Finding(
                Cause.UNMOVED,
                f"It returns {start} as {name}: the other factor changes, {name} is never updated.",
            )
    return None


def partly_unmoved(evidence: Evidence) -> Finding | None:
    """Say so if some rows or columns of W or H are returned as they were, and others are not."""
    runs = evidence.unconverged
    W = [(run[1], start[0]) for run, start in zip(runs.factors, runs.starts, strict=True)]
    H = [(run[2], start[1]) for run, start in zip(runs.factors, runs.starts, strict=True)]
    # Where a component is 0 in the other factor, there is nothing to be done about it.
    rows_H = [(X[used], X0[used]) for used, (X, X0) in zip(_used(W), H, strict=True)]
    columns_W = [
        (X.T[used], X0.T[used]) for used, (X, X0) in zip(_used(_transposed(H)), W, strict=True)
    ]
    parts = (
        ("column", "H", _transposed(H)), ("row", "W", W), ("row", "H", rows_H),
        ("column", "W", columns_W),
    )  # fmt: skip
    for kind, name, pairs in parts:
        kept = [(X == X0).all(axis=1) for X, X0 in pairs if len(X) > 1]
        some = [rows for rows in kept if rows.any() and not rows.all()]
        whole = [rows for rows in kept if rows.all()] if len(some) >= FEWEST else []
        if kept and len(some) + len(whole) >= MOST * len(kept):
            return Finding(
                Cause.UNMOVED, _left_out(kind, name, some, whole),
                evidence=f"so in {len(some) + len(whole)} of {len(kept)} failing runs",
            )  # fmt: skip
    return None


def _left_out(kind: str, name: str, some: Sequence[Bools], whole: Sequence[Bools]) -> str:
    """Say which rows or columns came back: those at an end, or some.

    Parameters
    ----------
    some, whole : where some did, and where all did.
    """
    telling = [rows for rows in some if len(rows) > SMALL]
    for end, place in (("last", slice(None, None, -1)), ("first", slice(None))):
        # At an end if nothing that changed comes before what did not.
        at_end = [not (np.diff(rows[place].astype(int)) > 0).any() for rows in telling]
        if len(telling) < FEWEST or np.mean(at_end) < NEARLY:
            continue
        number, of = int(telling[0].sum()), len(telling[0])
        if all(rows.sum() == 1 for rows in (*telling, *whole)):
            which = f"The {end} {kind} of {name} comes back as it was at the start"
            return f"{which}: a loop or a slice leaves it out."
        which = f"The {end} {kind}s of {name} come back as they were at the start ({number} of {of}"
        return f"{which}, for instance): a loop or a slice leaves them out."
    number, of = int(some[0].sum()), len(some[0])
    which = f"Some {kind}s of {name} come back as they were at the start ({number} of {of}, for"
    return f"{which} instance): the updates leave them out."


def _used(pairs: Sequence[Pair]) -> list[Bools]:
    """Say which columns of each factor are not 0."""
    return [np.asarray(X.any(axis=0)) for X, _ in pairs]


def _transposed(pairs: Sequence[Pair]) -> list[Pair]:
    return [(X.T, X0.T) for X, X0 in pairs]


def _same(pairs: Sequence[Pair]) -> bool:
    return mostly(np.array_equal(X, X0) for X, X0 in pairs)
