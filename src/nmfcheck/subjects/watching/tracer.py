"""Runs a subject line by line, twice: once to count, once to look at W and H on the way.

The first run tells how often each statement runs and what each function returns. The second looks
at W and H before and after each statement: the first times that it runs, the last times, and now
and then in between.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ...arrays import Array
from .factors import Aim, Pair, Sizes, candidates, matrix, variables
from .memory import Memories, Memory, share
from .outdated import Ages, Moves
from .place import Function, Place
from .reading import Reading, Reads
from .returned import names_of, returned_pair, same
from .source import Line, Touched, returns, statements, touched

FIRST, LAST = 20, 5
"""So many times at its beginning, and so many at its end, each statement is looked at."""

LATER = 16
"""From so many times on, up to half of all, what is returned is kept."""

SELDOM = 256
"""After so many statements, or times that one has run, the clock is looked at."""

SECONDS = 1.0
"""After so long, only statements that have hardly run are looked at."""

ENOUGH = 2.0
"""A run that takes longer than so many seconds is ended."""

NAMELESS = ""
"""What is returned without ever having been a variable."""

RETURN = Line(0, "return")
"""Stands for what comes after the last statement of a function."""


@dataclass(frozen=True)
class State:
    """What W and H are like at some moment.

    Attributes
    ----------
    errors : how far each pair is off.
    least : the least entry of each variable.
    sums : of the entries of each variable, which show whether it has changed.
    dead : how many components of a variable are 0; of a pair, in one of the two or in both.
    """

    errors: Mapping[Pair, float]
    least: Mapping[str, float]
    dead: Mapping[str | Pair, int]
    sums: Mapping[str, float]


@dataclass(frozen=True)
class Step:
    """A statement that was looked at while it ran.

    Attributes
    ----------
    depth : how many functions of the subject call each other there.
    nth : the how manieth time it ran.
    """

    depth: int
    place: Place
    nth: int
    before: State
    after: State


@dataclass
class Totals:
    """What the first run tells.

    Attributes
    ----------
    functions : by the identity of their code, which is quicker to look up than the code.
    raised : the last exception, where it came from, and through which calls.
    gave_up : whether its variables could not be looked at, or it went on beyond the time.
    """

    functions: dict[int, Function] = field(default_factory=dict)
    raised: tuple[BaseException, list[Place]] | None = None
    gave_up: bool = False

    def of(self, code: CodeType) -> Function:
        """Return what is known of a function."""
        known = self.functions.get(id(code))
        if known is None:
            starts = {n: line.number for n, line in statements(code.co_filename).items()}
            known = self.functions[id(code)] = Function(code, starts)
        return known


@dataclass
class Looks:
    """What the second run tells.

    Attributes
    ----------
    first_nan : the statement after which a variable first had an entry that is not finite, and its
        name.
    reads, memories, moves : what statements read, and what they change W and H by.
    old_start : a statement that reads a start, though W and H have moved on, and its name.
    first, later, last : what functions return, when it was first there, on the way, and in the end.
    """

    steps: list[Step] = field(default_factory=list)
    first_nan: tuple[Place, str] | None = None
    reads: Reads = field(default_factory=Reads)
    memories: Memories = field(default_factory=Memories)
    moves: Moves = field(default_factory=Moves)
    old_start: tuple[Place, str] | None = None
    first: dict[tuple[Function, str], Array] = field(default_factory=dict)
    later: dict[tuple[Function, str], Array] = field(default_factory=dict)
    last: dict[tuple[Function, str], Array] = field(default_factory=dict)
    gave_up: bool = False


class EnoughError(BaseException):
    """Ends a run that takes too long; subjects catch exceptions of other kinds."""


Local = Callable[[FrameType, str, Any], Any]


@contextmanager
def traced(
    own: Callable[[str], bool], begin: Callable[[FrameType], Local], seen: Totals | Looks
) -> Iterator[None]:
    """Have each call of a function in some files followed.

    What goes wrong while variables are looked at must not show in the subject.
    """
    before = sys.gettrace()

    def called(frame: FrameType, event: str, _: Any) -> Local | None:
        if seen.gave_up or event != "call" or not own(frame.f_code.co_filename):
            return None
        local = begin(frame)

        def follow(frame: FrameType, event: str, value: Any) -> Local | None:
            try:
                local(frame, event, value)
            except EnoughError:
                seen.gave_up = True  # should the subject catch it
                raise
            except Exception:
                seen.gave_up = True
                return None
            return follow

        return follow

    sys.settrace(called)
    try:
        yield
    finally:
        sys.settrace(before)


def counting(sizes: Sizes, totals: Totals) -> Callable[[FrameType], Local]:
    """Count what runs, and see what comes back."""
    until = time.monotonic() + ENOUGH
    events = 0

    def begin(frame: FrameType) -> Local:
        function = totals.of(frame.f_code)
        leaving = returns(frame.f_code.co_filename)
        starts, counts, moves = function.starts, function.counts, function.moves
        previous = raw = 0

        def follow(frame: FrameType, event: str, value: Any) -> Local:
            nonlocal previous, raw, events
            if event == "line":
                number, before = frame.f_lineno, raw
                first, raw = starts.get(number), number
                if first is None or (first == previous and {number, before} != {first}):
                    return follow  # still in that statement
                counts[first] = counts.get(first, 0) + 1
                move = previous, first
                moves[move] = moves.get(move, 0) + 1
                previous = first
                events += 1
                if not events % SELDOM:
                    _check(until)
            elif event == "return":
                move = previous, RETURN.number
                moves[move] = moves.get(move, 0) + 1
                if previous in leaving or value is None:
                    text = function.line(previous).text
                    function.returned = names_of(value, frame.f_locals, sizes, text)
            else:  # an exception, which each function that it goes through sees
                place = function, starts.get(frame.f_lineno, RETURN.number)
                if totals.raised is None or totals.raised[0] is not value[1]:
                    totals.raised = value[1], []
                if function not in {each for each, _ in totals.raised[1]}:
                    totals.raised[1].append(place)
            return follow

        return follow

    return begin


class Looking:
    """Looks at W and H while a subject runs.

    Parameters
    ----------
    totals : what the first run told.
    given : the start.
    nan : whether the first entry is looked for that is not finite.
    """

    def __init__(
        self, aim: Aim, sizes: Sizes, totals: Totals, given: tuple[Array, Array], *, nan: bool
    ) -> None:
        self.looks = Looks()
        self._given, self._moved = given, set[str]()
        self._aim, self._sizes, self._totals = aim, sizes, totals
        self._until = time.monotonic() + SECONDS
        self._end = time.monotonic() + ENOUGH
        self._nan = nan
        self._counts: dict[Function, dict[int, int]] = {}
        self._depth = 0

    def begin(self, frame: FrameType) -> Local:
        """Follow one call."""
        function = self._totals.of(frame.f_code)
        starts, counts = function.starts, self._counts.setdefault(function, {})
        totals = function.counts
        self._depth += 1
        depth = self._depth
        pending: tuple[Place, int, State] | None = None
        previous = raw = 0
        names = touched(frame.f_code.co_filename)
        looks, returned = self.looks, function.returned
        reading = Reading(self._aim.A, self._sizes, function, looks.reads)
        memory = Memory(self._sizes, returned, looks.memories)
        ages = Ages(self._sizes, returned, looks.moves)

        def follow(frame: FrameType, event: str, value: Any) -> Local:
            nonlocal pending, previous, raw
            if event == "line":
                number, before = frame.f_lineno, raw
                first, raw = starts.get(number), number
                if first is None or (first == previous and {number, before} != {first}):
                    return follow
                if self._nan:
                    self._hunt(frame, (function, previous))
                nth = counts[first] = counts.get(first, 0) + 1
                found = frame.f_locals if nth <= FIRST else {}
                if previous in names:
                    ages.behind(names[previous])
                    if nth <= FIRST:
                        reading.behind(names[previous], found)
                        memory.behind((function, previous), names[previous], found)
                if nth <= FIRST and first in names:
                    place = function, first
                    reading.before(place, names[first], found)
                    memory.before(place, names[first], found)
                    ages.before(place, names[first], found)
                    if nth == FIRST and looks.old_start is None:
                        looks.old_start = self._old_start(place, names[first], found)
                previous = first
                due = nth <= FIRST or self._due(nth, totals.get(first, 0) - nth)
                if pending is not None or due:
                    state = self._state(
                        function, frame.f_locals, on=LATER <= nth <= totals.get(first, 0) / 2
                    )
                    if pending is not None:
                        self.looks.steps.append(Step(depth, *pending, state))
                    pending = ((function, first), nth, state) if due else None
            elif event == "return":
                self._depth = depth - 1
                if self._nan:
                    self._hunt(frame, (function, previous))
                if pending is not None:
                    state = self._at_return(function, frame.f_locals, value)
                    self.looks.steps.append(Step(depth, *pending, state))
            return follow

        return follow

    def _due(self, nth: int, left: int) -> bool:
        if not nth % SELDOM:
            _check(self._end)
        if left < LAST:
            return left < 1 or time.monotonic() < self._until
        return nth & (nth - 1) == 0 and time.monotonic() < self._until

    def _state(self, function: Function, found: Mapping[str, Any], *, on: bool) -> State:
        Ws, Hs = candidates(found, self._sizes, function.returned)
        w, h = function.returned
        for role, name, of, start in zip("WH", (w, h), (Ws, Hs), self._given, strict=True):
            if name in of and not same(of[name], start):
                self._moved.add(role)
        if (
            w != h
            and w in Ws
            and h in Hs
            and self.looks.memories.shared is None
            and share(Ws[w], Hs[h])
        ):
            self.looks.memories.shared = w, h
        for name, X in _returned(function, Ws, Hs):
            if (function, name) not in self.looks.first:
                self.looks.first[function, name] = X.copy()
            if on:
                self.looks.later[function, name] = X.copy()
        return state_of(self._aim, Ws, Hs)

    def _at_return(self, function: Function, found: Mapping[str, Any], value: Any) -> State:
        """Look at what is returned, under the names that it has, or without any."""
        names = function.returned
        Ws, Hs = candidates(found, self._sizes, names)
        for name, X in _returned(function, Ws, Hs):
            self.looks.last[function, name] = X.copy()
        W, H = returned_pair(value, self._sizes)
        if W is not None and names[0] is None:
            Ws = {NAMELESS: W, **Ws}
        if H is not None and names[1] is None:
            Hs = {NAMELESS: H, **Hs}
        return state_of(self._aim, Ws, Hs)

    def _old_start(
        self, place: Place, names: Touched, found: Mapping[str, Any]
    ) -> tuple[Place, str] | None:
        """Return a start that a statement reads to compute W, H or the like, if these moved on."""
        function, number = place
        computes = number in returns(function.code.co_filename) or any(
            matrix(found.get(name)) is not None for name in names.set
        )
        both = candidates(found, self._sizes, function.returned)
        for factor, (role, of, start) in enumerate(zip("WH", both, self._given, strict=True)):
            starts = {name for name, X in of.items() if same(X, start)}
            read = sorted((names.read & starts) - {function.returned[factor]})
            moved = role in self._moved and not names.read & (of.keys() - starts)
            if read and moved and computes:
                return place, read[0]
        return None

    def _hunt(self, frame: FrameType, place: Place) -> None:
        for name, value in variables(frame.f_locals):
            if (
                (X := matrix(value)) is not None  # what has one dimension may be a log
                and not np.isfinite(X).all()
            ):
                self.looks.first_nan = place, name
                self._nan = False
                return


def _returned(
    function: Function, Ws: Mapping[str, Array], Hs: Mapping[str, Array]
) -> Iterator[tuple[str, Array]]:
    """Return the variables that a function returns."""
    for name, found in zip(function.returned, (Ws, Hs), strict=True):
        if name is not None and name in found:
            yield name, found[name]


def _check(until: float) -> None:
    if time.monotonic() > until:
        raise EnoughError


def state_of(aim: Aim, Ws: Mapping[str, Array], Hs: Mapping[str, Array]) -> State:
    """Return how far all pairs are off."""
    errors = {(w, h): aim.missed(W, H) for w, W in Ws.items() for h, H in Hs.items()}
    with np.errstate(all="ignore"):
        least = {name: float(X.min()) for name, X in (*Ws.items(), *Hs.items()) if X.size}
        empty = {name: ~X.any(axis=0) for name, X in Ws.items()}
        empty |= {name: ~X.any(axis=1) for name, X in Hs.items()}
        dead: dict[str | Pair, int] = {name: int(each.sum()) for name, each in empty.items()}
        dead |= {(w, h): int((empty[w] | empty[h]).sum()) for w, h in errors}
        sums = {name: float(X.sum()) for name, X in (*Ws.items(), *Hs.items())}
    return State(errors, least, dead, sums)
