"""What hardly changes: components that are never updated, and a factor that is updated seldom."""

from __future__ import annotations

import numpy as np

from ...arrays import Array
from .facts import Frozen, Held, Loop, Seldom
from .place import Function
from .seen import changed, line_of, times
from .tracer import Looks

MOVED = 1e-3
"""A row that changes by this part of it in the second half of a run moves on."""

PASSES, OFTEN, RARELY = 20, 0.5, 0.1
"""In a loop of so many passes or more, one factor changes in half of them, the other in a tenth."""


def frozen(looks: Looks, loop: Loop | None) -> Frozen | None:
    """Return how many components are what they were when W and H were made, to the last bit."""
    function = _around(looks, loop)
    if function is None or None in function.returned:
        return None
    same = []
    for name, turned in zip(function.returned, (True, False), strict=True):
        first, last = (kept.get((function, name or "")) for kept in (looks.first, looks.last))
        if first is None or last is None or first.shape != last.shape:
            return None
        same.append(_unchanged(*((first.T, last.T) if turned else (first, last))))
    kept = same[0] & same[1]
    return Frozen(int(kept.sum()), len(kept)) if kept.any() and not kept.all() else None


def _unchanged(first: Array, last: Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    unchanged: np.ndarray[tuple[int], np.dtype[np.bool_]]
    unchanged = (first == last).all(axis=1) & last.any(axis=1)
    return unchanged


def held(looks: Looks, loop: Loop | None) -> Held | None:
    """Return the factor of which some rows or columns no longer change, while others do."""
    function = _around(looks, loop)
    if function is None or loop is None or loop.passes < PASSES:
        return None
    for place, name in enumerate(function.returned):
        later, last = (kept.get((function, name or "")) for kept in (looks.later, looks.last))
        if later is None or last is None or later.shape != last.shape:
            continue
        for kind, turned in (("rows", False), ("columns", True)):
            now, was = (last.T, later.T) if turned else (last, later)
            moved = np.linalg.norm(now - was, axis=1) > MOVED * np.linalg.norm(now, axis=1)
            still = _unchanged(was, now)
            if still.any() and moved.any() and (still | moved | ~now.any(axis=1)).all():
                return Held(name or "WH"[place], kind, int(still.sum()), len(still))
    return None


def seldom(looks: Looks, loop: Loop | None) -> Seldom | None:
    """Return the factor that changes in few passes of a loop, while the other does in most."""
    function = _around(looks, loop)
    if function is None or loop is None or loop.passes < PASSES:
        return None
    most: dict[str, tuple[int, int]] = {}
    for step in looks.steps:
        if step.place[0] is function:
            now = times(step.place), step.place[1]
            most |= {name: max(now, most.get(name, now)) for name in changed(step)}
    names = [name for name in function.returned if name in most]
    for name, other in zip(names, names[::-1], strict=True):
        (runs, number), (others, _) = most[name or ""], most[other or ""]
        if runs < RARELY * loop.passes and others >= OFTEN * loop.passes:
            return Seldom(name or "", line_of((function, number)), runs, loop.passes)
    return None


def _around(looks: Looks, loop: Loop | None) -> Function | None:
    """Return the function that a loop is in."""
    if loop is None:
        return None
    functions = {step.place[0] for step in looks.steps}
    number = loop.head.number
    inside = (f for f in functions if number in f.counts and f.line(number) == loop.head)
    return next(inside, None)
