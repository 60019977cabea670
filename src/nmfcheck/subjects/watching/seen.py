"""Facts of a run from what was seen: which statement spoiled, worsened, emptied; which loop."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import cast

import numpy as np

from .factors import COMPONENTS, Pair
from .facts import Better, Emptied, Leap, Leaving, Loop, Rise, Spoiling
from .place import Function, Place
from .source import Line, loops
from .tracer import NAMELESS, Looks, State, Step

IN_A_LOOP, IN_LOOPS = 6, 1e-6
"""What runs so often is in a loop. There a constant of 1e-9 makes errors of its own size, which
may be less by chance before a statement; nothing is spoiled below the second."""

SPOILS = 10.0
"""A statement that makes the error so many times larger, for good, spoils a factorization."""

NEARBY = 0.1
"""Only what has come so near to A, beyond what is unavoidable, is something to be spoiled: a start
is not."""

RISES = 1e-3
"""A statement that makes the error larger by this part of it makes it worse."""

DRAWN = re.compile(r"rand|rng|normal\(|uniform\(")
"""What stands in statements that draw a start."""

FALLEN, LATEST = 1e-4, 20
"""Where the error falls to this part of what it was, and is there in so many of the last steps, no
update is wrong that makes it larger now and then: one with a momentum may go too far."""

NOISE = 1e-6
"""Errors up to this may rise and fall by rounding in single precision."""

SAME = 1e-6
"""An error that comes back up to this part of it was only scaled away for a moment."""

EXACT, LEFT = 1e-8, 1e-6
"""A relative error up to the first is none; one from the second on shows that W·H has left A."""

NEAR = 2
"""So many statements before or behind are looked at for that."""

LEAPS = 1.5
"""A statement that makes the error so many times larger in one go leaps."""

FEWEST, OFTEN = 4, 0.4
"""A statement that makes it worse so many times, and so often, is worth a word."""


def line_of(place: Place) -> Line:
    """Return a statement."""
    function, number = place
    return function.line(number)


def times(place: Place) -> int:
    """Return how often a statement ran."""
    function, number = place
    return function.counts.get(number, 0)


class Course:
    """The errors of what a function returns, or of its best pair, before and after statements."""

    def __init__(self, looks: Looks, least: float) -> None:
        self._least = least
        self._in_order = looks.steps
        by_function: dict[Function, list[Step]] = {}
        for step in looks.steps:
            by_function.setdefault(step.place[0], []).append(step)
        self.steps = [
            (step, self._error(step.before, function), self._error(step.after, function))
            for function, steps in by_function.items()
            for step in steps
        ]
        self._at_work = [
            (step, self._error(step.before, function, at_work=True),
             self._error(step.after, function, at_work=True))
            for function, steps in by_function.items()
            for step in steps
        ]  # fmt: skip

    @property
    def _returned(self) -> float:
        """The error of what comes back in the end, from the outermost function."""
        outermost = min((step.depth for step in self._in_order), default=0)
        ends = [after for step, _, after in self.steps if step.depth == outermost]
        return ends[-1] if ends and np.isfinite(ends[-1]) else np.inf

    def _error(self, state: State, function: Function, *, at_work: bool = False) -> float:
        """Return the error of the pair that is returned, where it is there; of the best, else.

        Parameters
        ----------
        at_work : whether what an estimator leaves behind counts no more than other variables.
        """
        w, h = function.returned
        h = None if at_work and h == COMPONENTS else h
        nameless = [NAMELESS in {pair[i] for pair in state.errors} for i in (0, 1)]
        w, h = (NAMELESS if none else name for none, name in zip(nameless, (w, h), strict=True))
        meant = [
            error
            for pair, error in state.errors.items()
            if w in (None, pair[0]) and h in (None, pair[1])
        ]
        if meant:
            return min(meant)
        # Before both are there: whatever else is an NMF.
        others = (e for (a, b), e in state.errors.items() if state.least[a] >= 0 <= state.least[b])
        return min(others, default=np.nan)

    def better(self, function: Function) -> Better | None:
        """Return variables of a function that are better, in the end, than what it returns."""
        ends = [(step, after) for step, _, after in self.steps if step.place[0] is function]
        if not ends:
            return None
        step, returned = ends[-1]
        errors = step.after.errors
        pair = min(errors, key=lambda pair: errors[pair], default=None)
        if pair is None or NAMELESS in pair or not np.isfinite(returned):
            return None
        if min(step.after.least[name] for name in pair) < 0:
            return None
        if errors[pair] > NEARBY or returned < SPOILS * max(errors[pair], self._least):
            return None
        return Better(pair, errors[pair], returned)

    def spoiled(self) -> Spoiling | None:
        """Return the innermost statement after which the error is larger, and stays so."""
        found: list[tuple[int, float, Step, float, float]] = []
        for i, (step, before, after) in enumerate(self.steps):
            if not (before <= NEARBY and after >= SPOILS * before and after > self._least):
                continue
            if step.nth < times(step.place) or not self._mostly_rises(step.place):
                continue
            if times(step.place) >= IN_A_LOOP and after < IN_LOOPS:
                continue
            function = step.place[0]
            ends = [a for s, _, a in self.steps[i + 1 :] if s.place[0] is function]
            end = ends[-1] if ends else after
            # and not only while it is built anew, or up to the end of one function of several
            if min(end, self._returned) >= SPOILS * before and end > self._least:
                found.append((step.depth, end, step, before, end))
        if not found:
            return None
        *_, step, before, after = max(found, key=lambda each: each[:2])
        return Spoiling(line_of(step.place), before, after, _bounds(step), times(step.place))

    def _mostly_rises(self, place: Place) -> bool:
        """Say whether a statement makes the error larger in half of the times at least."""
        changes = [
            after > before for step, before, after in self.steps if step.place == place
            and abs(after - before) > SAME * before
        ]  # fmt: skip
        return sum(changes) >= 0.5 * len(changes)

    def rise(self, passes: int) -> Rise | None:
        """Return the statement that often makes the error larger, by most of all, and for good.

        Parameters
        ----------
        passes : of the main loop; what runs less often, such as a start that is built, is left out.
        """
        near = self._near()
        rises: dict[Place, list[bool]] = {}
        grown: dict[Place, float] = {}
        for i, (step, before, after) in enumerate(self._at_work):
            if not (np.isfinite(before) and abs(after - before) > SAME * before):
                continue
            if max(before, after) <= max(self._least, NOISE) or step.place[0] in near:
                continue
            if DRAWN.search(line_of(step.place).text):
                continue  # a start, of one run of several
            rose = after > (1 + RISES) * before
            rose = rose and not (self._is_undone(i) or self._undoes(i) or self._is_half(i))
            rises.setdefault(step.place, []).append(rose)
            if rose:
                grown[step.place] = grown.get(step.place, 0.0) + math.log10(
                    after / max(before, self._least)
                )
        often = [
            place
            for place, each in rises.items()
            if sum(each) >= max(FEWEST, OFTEN * len(each)) and times(place) >= passes
        ]
        if not often:
            return None
        place = max(often, key=lambda place: grown[place])
        return Rise(line_of(place), sum(rises[place]), len(rises[place]))

    def _near(self) -> set[Function]:
        """Return the functions in which the error falls to a small part of what it was."""
        errors: dict[Function, list[float]] = {}
        for step, _, after in self._at_work:
            if np.isfinite(after):
                errors.setdefault(step.place[0], []).append(after)
        return {
            function for function, each in errors.items() if max(each[-LATEST:]) <= FALLEN * each[0]
        }

    def _is_undone(self, i: int) -> bool:
        """Say whether the error comes back at once: then something was only scaled to and fro."""
        step, before, _ = self._at_work[i]
        following = self._at_work[i + 1 : i + 1 + NEAR]
        return any(
            _alike(a, before) for other, _, a in following if other.place[0] is step.place[0]
        )

    def _undoes(self, i: int) -> bool:
        """Say whether the error was the same a moment ago."""
        step, _, after = self._at_work[i]
        previous = self._at_work[max(0, i - NEAR) : i]
        return any(_alike(b, after) for other, b, _ in previous if other.place[0] is step.place[0])

    def _is_half(self, i: int) -> bool:
        """Say whether it is one half of a step, and both halves together do no harm.

        A step without a bound, and then the bound; H times the one, and then divided by the other.
        """
        step = self._at_work[i][0]
        ends = i > 0 and _bounds(step) and self._harmless(i - 1)
        return ends or (i + 1 < len(self._at_work) and self._harmless(i))

    def _harmless(self, i: int) -> bool:
        """Say whether a statement and the next one change the same, and do no harm together."""
        (one, before, _), (other, _, after) = self._at_work[i : i + 2]
        function, number = one.place
        adjacent = function is other.place[0] and number < other.place[1]
        return adjacent and changed(one) == changed(other) and after <= (1 + RISES) * before

    def leaves(self) -> Leaving | None:
        """Return the statement after which W·H is not A any more; inner ones end before outer ones.

        What only scales to and fro comes back.
        """
        away: dict[Function, tuple[Step, float]] = {}
        for step, before, after in self._at_work:
            function = step.place[0]
            if after <= EXACT:
                away.pop(function, None)
            elif before <= EXACT:
                away[function] = step, after
        gone = {id(step): after for step, after in away.values() if after >= LEFT}
        first = next((step for step in self._in_order if id(step) in gone), None)
        if first is not None:
            return Leaving(line_of(first.place), gone[id(first)])
        for i, (step, before, after) in enumerate(self._at_work):
            following = self._at_work[i + 1 : i + 1 + NEAR]
            undone = any(a <= EXACT for x, _, a in following if x.place[0] is step.place[0])
            if before <= EXACT and after >= LEFT and not (undone or self._is_half(i)):
                return Leaving(line_of(step.place), after, returns=True)
        return None

    def leap(self, loop: Loop | None) -> Leap | None:
        """Return the statement of a loop that makes the error larger by most in one go."""
        inside = {
            step.place[0] for step, _, _ in self._at_work
            if loop is not None and loop.head.number in step.place[0].counts
            and step.place[0].line(loop.head.number) == loop.head
        }  # fmt: skip
        leaps = [
            Leap(line_of(step.place), before, after)
            for i, (step, before, after) in enumerate(self._at_work)
            if step.place[0] in inside and loop is not None and step.place[1] > loop.head.number
            and np.isfinite(after) and after > LEAPS * max(before, self._least, NOISE)
            and not (self._is_undone(i) or self._undoes(i) or self._is_half(i) or _bounds(step))
            and not DRAWN.search(line_of(step.place).text)
        ]  # fmt: skip
        return max(leaps, key=lambda leap: leap.after / max(leap.before, self._least), default=None)

    def begun(self, loop: Loop | None) -> float | None:
        """Return the error before the first statement of a loop that changes it."""
        for step, before, after in self.steps:
            function, number = step.place
            inside = loop is not None and number > loop.head.number in function.counts
            if inside and np.isfinite(before) and abs(after - before) > SAME * before:
                return float(before)
        return None

    def moving(self) -> set[Place]:
        """Return the statements that changed the error."""
        return {
            step.place
            for step, before, after in self.steps
            if np.isfinite(before) and abs(after - before) > SAME * before
        }


def changed(step: Step) -> set[str]:
    """Return the variables that a statement changed."""
    before, after = step.before.sums, step.after.sums
    return {name for name in after if name in before and after[name] != before[name]}


def _bounds(step: Step) -> bool:
    """Say whether a variable has negative entries before a statement, and none afterwards."""
    return any(step.before.least[name] < 0 <= step.after.least[name] for name in changed(step))


def _alike(one: float, other: float) -> bool:
    return abs(one - other) <= SAME * max(abs(other), 1e-12)


def emptied(looks: Looks) -> Emptied | None:
    """Return the last statement that made a component 0 which comes back as 0."""
    found: Step | None = None
    ends: dict[Function, State] = {step.place[0]: step.after for step in looks.steps}
    for step in looks.steps:
        for name in _dying(step):
            if name not in step.before.dead or not ends[step.place[0]].dead.get(name, 0):
                continue
            now = step.after.dead.get(name, 0)
            if now > step.before.dead[name] and (found is None or step.depth >= found.depth):
                found = step
    return None if found is None else Emptied(line_of(found.place), times(found.place))


def _dying(step: Step) -> Sequence[str | Pair]:
    """Return what comes back: as a pair, where both are there, since either factor can be first."""
    names = step.place[0].returned
    if None not in names and names in step.after.dead:
        return [cast(Pair, names)]
    return [x for x in (*names, NAMELESS) if x is not None]


SIGNED = re.compile(r"_?(grad|dir|delta|step|resid|diff|desc|search|[dgpr]$)", re.IGNORECASE)
"""How names begin of what has the shape of a factor, and negative entries by right."""


def negative(looks: Looks) -> Line | None:
    """Return the last statement that made a factor negative which comes back negative."""
    found: Step | None = None
    ends: dict[Function, State] = {step.place[0]: step.after for step in looks.steps}
    for step in looks.steps:
        names = [x for x in (*step.place[0].returned, NAMELESS) if x is not None]
        for name in names:
            if SIGNED.match(name):
                continue
            if ends[step.place[0]].least.get(name, 0.0) >= 0:
                continue
            now = step.after.least.get(name, 0.0)
            if now < 0 <= step.before.least.get(name, 0.0) and (
                found is None or step.depth >= found.depth
            ):
                found = step
    return None if found is None else line_of(found.place)


def zeros(looks: Looks) -> tuple[Line, str] | None:
    """Return the first statement after which a factor that comes back is 0, up to the end."""
    found: dict[tuple[Function, str], Step] = {}
    for step in looks.steps:
        function = step.place[0]
        for name in (*function.returned, NAMELESS):
            if name is None or name not in step.after.sums:
                continue
            if step.after.sums[name] != 0 or step.after.least[name] < 0:
                found.pop((function, name), None)
            else:
                found.setdefault((function, name), step)
    first = next(iter(found.items()), None)
    return None if first is None else (line_of(first[1].place), first[0][1])


def main_loop(moving: Collection[Place]) -> Loop | None:
    """Return the loop with a statement that changes W·H which is begun once, and runs most.

    One that is left from inside goes before those that run to their ends: that of the components
    does so, where the one around it is left in its first pass.
    """
    found: list[tuple[int, Loop]] = []
    for function in {function for function, _ in moving}:
        inside = [number for f, number in moving if f is function]
        for first, last in loops(function.code.co_filename):
            if not any(first <= number <= last for number in inside):
                continue
            begun, ends = 0, dict[int, int]()
            for (p, s), number in function.moves.items():
                begun += number * (s == first and not first <= p <= last)
                if first <= p <= last and not first <= s <= last:
                    ends[p] = ends.get(p, 0) + number
            if not (begun and ends):
                continue
            end = max(ends, key=lambda p: ends[p])
            passes = (function.counts[first] - ends.get(first, 0)) // begun
            found.append((begun, Loop(function.line(first), passes, function.line(end))))
    found.sort(key=lambda each: (each[0] > 1, each[1].left == each[1].head, -each[1].passes))
    return found[0][1] if found else None
