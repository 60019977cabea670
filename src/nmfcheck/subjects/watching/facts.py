"""The facts that a diagnosis can point at, and how they are written down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .memory import Overwritten
from .outdated import Outdated
from .reading import Bound, Stale
from .source import Line


@dataclass(frozen=True)
class Loop:
    """A loop that was left.

    Attributes
    ----------
    head : its first line.
    passes : how often it went round, each time that it was begun.
    left : the statement at which it was left.
    """

    head: Line
    passes: int
    left: Line


@dataclass(frozen=True)
class Rise:
    """A statement that made the error larger in `rose` of `of` times that it changed it."""

    line: Line
    rose: int
    of: int


@dataclass(frozen=True)
class Emptied:
    """A statement that made a component 0, and how often it ran."""

    line: Line
    runs: int


@dataclass(frozen=True)
class Better:
    """Variables whose product is nearer to A, in the end, than what comes back."""

    names: tuple[str, str]
    error: float
    returned: float


@dataclass(frozen=True)
class Spoiling:
    """A statement after which W·H was farther from A for good: relative errors.

    Attributes
    ----------
    bounds : whether W or H had negative entries before it, and none afterwards.
    runs : how often it ran.
    """

    line: Line
    before: float
    after: float
    bounds: bool = False
    runs: int = 1

    def as_data(self) -> list[Any]:
        """Return what JSON can hold."""
        return [self.line.as_data(), self.before, self.after, self.bounds, self.runs]

    @classmethod
    def from_data(cls, data: Sequence[Any]) -> Spoiling:
        """Return what `as_data` wrote down."""
        line, before, after, bounds, runs = data
        return cls(Line.from_data(line), float(before), float(after), bool(bounds), int(runs))


@dataclass(frozen=True)
class Leaving:
    """A statement after which W·H, which was A, is not A, and how far away it is then.

    Attributes
    ----------
    returns : whether W·H is A again later on.
    """

    line: Line
    error: float
    returns: bool = False


@dataclass(frozen=True)
class Leap:
    """The statement that makes the error larger by most in one go: relative errors."""

    line: Line
    before: float
    after: float


@dataclass(frozen=True)
class Frozen:
    """So many of the components of W and H never change."""

    number: int
    of: int


@dataclass(frozen=True)
class Held:
    """So many rows or columns of a factor no longer change in the second half of a run."""

    name: str
    kind: str
    number: int
    of: int


@dataclass(frozen=True)
class Seldom:
    """A factor that changes in a statement which runs seldom, and how often its loop goes round."""

    name: str
    line: Line
    runs: int
    passes: int

    def as_data(self) -> list[Any]:
        """Return what JSON can hold."""
        return [self.name, self.line.as_data(), self.runs, self.passes]

    @classmethod
    def from_data(cls, data: Sequence[Any]) -> Seldom:
        """Return what `as_data` wrote down."""
        name, line, runs, passes = data
        return cls(str(name), Line.from_data(line), int(runs), int(passes))


@dataclass(frozen=True)
class Watched:
    """The facts of one run.

    Attributes
    ----------
    file : the name of the file that the subject is in.
    raised : where the exception came from that ended it, and what called that.
    first_nan : after which statement which variable had an entry that is not finite.
    negative : the statement that made a factor negative which comes back so.
    spoiled : the statement that spoils a factorization which was better.
    leaves : the statement after which W·H is not A any more.
    rise : the statement that makes the error larger often, and by most of all.
    emptied : the statement that made a component 0 which comes back as 0.
    better : variables that are better, in the end, than what comes back.
    loop : the outermost loop that improves W and H.
    stale : the statement that most often reads what W and H were like before.
    bound : the statement that most often reads an array with a bound.
    begun : the error before the first statement that changes W·H: of the start.
    zeros : the statement after which a factor is 0 up to the end, and its name.
    frozen : components that never change.
    seldom : the factor that hardly ever changes, while the other does.
    held : the factor of which some rows or columns no longer change on the way.
    leap : the statement that makes the error larger by most in one go.
    shared : the names of W and H, where both are in the same memory.
    overwritten : the variable that is read most often after it changed under another name.
    outdated : the statement that changes a factor by what is older than the other one.
    old_start : a statement that reads a start which was given, though W and H have moved on.
    unread : parameters that are never read.
    lines : all statements that ran, by their numbers, in the subject's own file.
    """

    file: str
    raised: tuple[Line, ...] = ()
    first_nan: tuple[Line, str] | None = None
    negative: Line | None = None
    spoiled: Spoiling | None = None
    rise: Rise | None = None
    emptied: Emptied | None = None
    better: Better | None = None
    loop: Loop | None = None
    stale: Stale | None = None
    bound: Bound | None = None
    begun: float | None = None
    leaves: Leaving | None = None
    zeros: tuple[Line, str] | None = None
    frozen: Frozen | None = None
    seldom: Seldom | None = None
    held: Held | None = None
    leap: Leap | None = None
    shared: tuple[str, str] | None = None
    overwritten: Overwritten | None = None
    outdated: Outdated | None = None
    old_start: tuple[Line, str] | None = None
    unread: Sequence[str] = ()
    lines: Sequence[int] = ()

    def as_data(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        loop, rise, spoiled, nan = self.loop, self.rise, self.spoiled, self.first_nan
        better, leaves, leap, held = self.better, self.leaves, self.leap, self.held
        return {
            "file": self.file,
            "raised": [line.as_data() for line in self.raised],
            "first_nan": nan and [nan[0].as_data(), nan[1]],
            "negative": self.negative and self.negative.as_data(),
            "spoiled": spoiled and spoiled.as_data(),
            "rise": rise and [rise.line.as_data(), rise.rose, rise.of],
            "emptied": self.emptied and [self.emptied.line.as_data(), self.emptied.runs],
            "better": better and [*better.names, better.error, better.returned],
            "loop": loop and [loop.head.as_data(), loop.passes, loop.left.as_data()],
            "stale": self.stale and self.stale.as_data(),
            "bound": self.bound and self.bound.as_data(),
            "begun": self.begun,
            "leaves": leaves and [leaves.line.as_data(), leaves.error, leaves.returns],
            "zeros": self.zeros and [self.zeros[0].as_data(), self.zeros[1]],
            "frozen": self.frozen and [self.frozen.number, self.frozen.of],
            "seldom": self.seldom and self.seldom.as_data(),
            "held": held and [held.name, held.kind, held.number, held.of],
            "leap": leap and [leap.line.as_data(), leap.before, leap.after],
            "shared": self.shared and list(self.shared),
            "overwritten": self.overwritten and self.overwritten.as_data(),
            "outdated": self.outdated and self.outdated.as_data(),
            "old_start": self.old_start and [self.old_start[0].as_data(), self.old_start[1]],
            "unread": list(self.unread),
            "lines": list(self.lines),
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Watched:
        """Return the facts that `as_data` wrote down."""
        line = Line.from_data
        nan, spoiled, rise, loop = (data[x] for x in ("first_nan", "spoiled", "rise", "loop"))
        emptied, better, leaves = (data[x] for x in ("emptied", "better", "leaves"))
        leap, shared, old_start = (data[x] for x in ("leap", "shared", "old_start"))
        held = data["held"]
        return cls(
            str(data["file"]),
            tuple(map(line, data["raised"])),
            nan and (line(nan[0]), str(nan[1])),
            data["negative"] and line(data["negative"]),
            spoiled and Spoiling.from_data(spoiled),
            rise and Rise(line(rise[0]), int(rise[1]), int(rise[2])),
            emptied and Emptied(line(emptied[0]), int(emptied[1])),
            better and Better((str(better[0]), str(better[1])), *map(float, better[2:])),
            loop and Loop(line(loop[0]), int(loop[1]), line(loop[2])),
            data["stale"] and Stale.from_data(data["stale"]),
            data["bound"] and Bound.from_data(data["bound"]),
            data["begun"],
            leaves and Leaving(line(leaves[0]), float(leaves[1]), bool(leaves[2])),
            data["zeros"] and (line(data["zeros"][0]), str(data["zeros"][1])),
            data["frozen"] and Frozen(*map(int, data["frozen"])),
            data["seldom"] and Seldom.from_data(data["seldom"]),
            held and Held(str(held[0]), str(held[1]), int(held[2]), int(held[3])),
            leap and Leap(line(leap[0]), float(leap[1]), float(leap[2])),
            shared and (str(shared[0]), str(shared[1])),
            data["overwritten"] and Overwritten.from_data(data["overwritten"]),
            data["outdated"] and Outdated.from_data(data["outdated"]),
            old_start and (line(old_start[0]), str(old_start[1])),
            tuple(map(str, data["unread"])),
            tuple(map(int, data["lines"])),
        )
