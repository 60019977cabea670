"""Which line: what runs that were followed line by line have in common, in sentences.

Each sentence is a fact about these runs, with the line that it is about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ...judging.outcomes import Outcome
from ...subjects.watching import Line, Watched
from ...subjects.watching.facts import Emptied, Leap, Loop, Rise, Spoiling

Seen = TypeVar("Seen", bound=Hashable)

FEW = 3
"""Of more lines that only failing runs go through, each says little."""

OFTEN = 6
"""A statement that runs so often is in a loop."""

LARGE = 5.0
"""A start that misses A by so many times its norm is far too large: one near 0 misses it once."""

STRONG = 0.8
"""A statement that makes it worse in so many of the times is wrong, or undone by others."""

BOUNDED = " Negative entries end there: probably the updates before have no bound at 0."

TWO = 2
"""Of more statements, each of which makes it worse in some of the runs, each says little."""

ALWAYS = 0.5
"""What holds of more than this part of the failing runs is told."""


@dataclass(frozen=True)
class Followed:
    """A run that was followed, and what became of it before."""

    watched: Watched
    outcome: Outcome

    @property
    def fails(self) -> bool:
        """Whether it is one of those that fail."""
        return self.outcome.grade is None


def raised(runs: Sequence[Followed]) -> str:
    """Say where the exception comes from."""
    failing = [run for run in runs if run.outcome is Outcome.ERROR]
    seen = common(run.watched.raised or None for run in failing)
    if seen is None:
        return ""
    line, *calls = seen
    called = f"; called at line {calls[0].number}: `{calls[0].text}`" if calls else ""
    return f"It is raised at {at_line(line, failing)}{called}."


def not_finite(runs: Sequence[Followed]) -> str:
    """Say where the first entry comes up that is not finite."""
    failing = [run for run in runs if run.watched.first_nan is not None]
    seen = common(run.watched.first_nan for run in failing)
    if seen is None:
        return ""
    line, name = seen
    return f"The first entry that is not finite comes up in `{name}`, at {at_line(line, failing)}."


def negative(runs: Sequence[Followed]) -> str:
    """Say which statement makes a factor negative."""
    failing = [run for run in runs if run.outcome is Outcome.INVALID]
    line = common(run.watched.negative for run in failing)
    return "" if line is None else f"It becomes negative at {at_line(line, failing)}."


def spoiled(runs: Sequence[Followed]) -> str:
    """Say which statement spoils a factorization that was better."""
    failing = most_failing(runs, lambda watched: watched.spoiled is not None, told_by(runs))
    line = common(_line_of(run.watched.spoiled) for run in failing)
    if line is None:
        return ""
    each = [
        run.watched.spoiled
        for run in failing
        if run.watched.spoiled and run.watched.spoiled.line == line
    ]
    worst = max(each, key=lambda spoiling: spoiling.after / max(spoiling.before, 1e-16))
    return (
        f"Up to {at_line(line, failing)}, the error of W·H, beyond what is unavoidable, is "
        f"{worst.before:.0e} of the norm of A, and in the end {worst.after:.0e}."
        f"{BOUNDED if all(spoiling.bounds for spoiling in each) else ''}"
    )


def leaves(runs: Sequence[Watched]) -> str:
    """Say which statement takes W·H away from A, in runs that were started at the answer."""
    left = [run.leaves for run in runs]
    line = common(each.line if each else None for each in left)
    if line is None:
        return ""
    same = [each for each in left if each and each.line == line]
    far = max(each.error for each in same)
    again = ", before it comes back" if all(each.returns for each in same) else ""
    return (
        f"Started at an exact factorization, W·H leaves A at {_written(line, runs[0].file)}, and "
        f"is {far:.0e} of the norm of A away from it then{again}."
    )


def leaves_for_good(runs: Sequence[Watched]) -> str:
    """Say the same where W·H does not come back to A."""
    back = (run.leaves is not None and run.leaves.returns for run in runs)
    return leaves(
        [replace(run, leaves=None) if x else run for run, x in zip(runs, back, strict=True)]
    )


def worse(runs: Sequence[Followed]) -> str:
    """Say which statement makes the error larger often, or which two do."""
    failing = most_failing(runs, lambda watched: watched.rise is not None, told_by(runs))
    rises = [run.watched.rise for run in failing if run.watched.rise]
    lines = [rise.line for rise in rises]
    told = [line for line, _ in Counter(lines).most_common(TWO)]
    if common(lines) is not None:
        told = told[:1]
    if not failing or sum(line in told for line in lines) <= ALWAYS * len(lines):
        return ""
    same = [rise for rise in rises if rise.line in told]
    rose, of = sum(rise.rose for rise in same), sum(rise.of for rise in same)
    where = " or at ".join(at_line(line, failing) for line in told)
    return (
        f"W·H gets farther from A at {where}, in {rose} of the {of} times that were looked at and "
        "changed it."
    )


def leap(runs: Sequence[Followed]) -> str:
    """Say which statement makes the error larger by most in one go."""
    failing = [run for run in runs if run.outcome in told_by(runs)]
    leaping = [run for run in failing if run.watched.leap]
    line = common(_line_of(run.watched.leap) for run in leaping)
    each = [r.watched.leap for r in leaping if r.watched.leap and r.watched.leap.line == line]
    if len(leaping) < ALWAYS * len(failing) or not each:
        return ""
    worst = max(each, key=lambda leap: leap.after / max(leap.before, 1e-16))
    return (
        f"W·H gets farther from A by most at {at_line(each[0].line, leaping)}: from "
        f"{worst.before:.0e} to {worst.after:.0e} of the norm of A in one go, for instance."
    )


def frozen(runs: Sequence[Followed]) -> str:
    """Say that some components never change."""
    failing = most_failing(runs, lambda watched: watched.frozen is not None, told_by(runs))
    if not failing or any(run.watched.frozen for run in runs if not run.fails):
        return ""
    each = [run.watched.frozen for run in failing if run.watched.frozen]
    return (
        "Some components of W and H are what they were at the start, to the last bit: in a run "
        f"that was followed, {each[0].number} of {each[0].of}."
    )


def held(runs: Sequence[Followed]) -> str:
    """Say which factor has rows or columns that no longer change, while others do."""
    failing = most_failing(runs, lambda watched: watched.held is not None, told_by(runs))
    each = [run.watched.held for run in failing if run.watched.held]
    key = common((one.name, one.kind) for one in each)
    if key is None or any(run.watched.held for run in runs if not run.fails):
        return ""
    one = next(one for one in each if (one.name, one.kind) == key)
    return (
        f"Some {one.kind} of `{one.name}` no longer change on the way, to the last bit, while all "
        f"others do: {one.number} of {one.of}, for instance."
    )


def seldom(runs: Sequence[Followed]) -> str:
    """Say which factor hardly ever changes, while the other does."""
    failing = most_failing(runs, lambda watched: watched.seldom is not None, told_by(runs))
    each = [run.watched.seldom for run in failing if run.watched.seldom]
    key = common((one.name, one.line) for one in each)
    if key is None:
        return ""
    name, line = key
    one = next(one for one in each if (one.name, one.line) == key)
    return (
        f"`{name}` hardly ever changes: {at_line(line, failing)}, runs {_times(one.runs)}, and its "
        f"loop goes round {_times(one.passes)}, for instance."
    )


def zeros(runs: Sequence[Followed]) -> str:
    """Say from which statement on a factor is 0."""
    failing = most_failing(runs, lambda watched: watched.zeros is not None)
    seen = common(run.watched.zeros for run in failing)
    if seen is None or not seen[1]:
        return ""
    line, name = seen
    return f"`{name}` is 0 from {at_line(line, failing)} on, up to the end."


def emptied(runs: Sequence[Followed]) -> str:
    """Say which statement makes a component 0 that comes back as 0."""
    failing = most_failing(runs, lambda watched: watched.emptied is not None)
    line = common(_line_of(run.watched.emptied) for run in failing)
    return "" if line is None else f"A component becomes 0 at {at_line(line, failing)}."


def emptied_on_the_way(runs: Sequence[Followed]) -> bool:
    """Say whether components become 0 in a statement that runs again and again."""
    each = [run.watched.emptied for run in runs if run.fails and run.watched.emptied]
    return bool(each) and all(emptied.runs >= OFTEN for emptied in each)


def emptied_at_the_end(runs: Sequence[Followed]) -> bool:
    """Say whether components become 0 in a statement that does not."""
    return bool(emptied(runs)) and not emptied_on_the_way(runs)


def better(runs: Sequence[Followed]) -> str:
    """Say which variables are better, in the end, than what comes back."""
    failing = most_failing(runs, lambda watched: watched.better is not None, told_by(runs))
    each = [run.watched.better for run in failing if run.watched.better]
    names = common(one.names for one in each)
    if names is None:
        return ""
    worst = max(each, key=lambda one: one.returned / max(one.error, 1e-16))
    return (
        f"What comes back is not the best that is there: in the end `{names[0]}` and `{names[1]}` "
        f"have an error of {worst.error:.0e} of the norm of A, beyond what is unavoidable, and "
        f"what comes back has {worst.returned:.0e}."
    )


def start(runs: Sequence[Followed]) -> str:
    """Say that it starts far too large, if it does."""
    begun = [run.watched.begun for run in runs if run.fails and run.watched.begun is not None]
    if not begun or min(begun) < LARGE:
        return ""
    return (
        f"It starts far too large: before the first update, W·H misses A by {min(begun):.2g} times "
        "the norm of A or more, in all failing runs that were followed."
    )


def zeros_come_of_an_update(runs: Sequence[Followed]) -> bool:
    """Say whether a statement makes W·H worse on the way, so that zeros may come of that."""
    return bool(worse(runs))


def spoiled_on_the_way(runs: Sequence[Followed]) -> bool:
    """Say whether the statement that spoils it is one that runs again and again."""
    failing = [run.watched.spoiled for run in runs if run.fails and run.watched.spoiled]
    return bool(failing) and all(spoiling.runs >= OFTEN for spoiling in failing)


def scales(runs: Sequence[Followed]) -> bool:
    """Say whether W·H was A before a statement, or is A with variables that do not come back."""
    return bool(spoiled(runs) or better(runs))


def strong_rise(runs: Sequence[Followed]) -> bool:
    """Say whether one statement nearly always makes W·H worse, in all failing runs."""
    failing = [run for run in runs if run.outcome in told_by(runs)]
    rises = [run.watched.rise for run in failing]
    return (
        bool(worse(runs))
        and len({rise.line for rise in rises if rise}) == 1
        and all(rise and rise.rose >= OFTEN for rise in rises)
        and sum(rise.rose for rise in rises if rise) >= STRONG * sum(r.of for r in rises if r)
    )


def left(runs: Sequence[Followed]) -> str:
    """Say where the main loop is left, and after how many passes."""
    failing = most_failing(runs, lambda watched: watched.loop is not None)
    line = common(_line_of(run.watched.loop) for run in failing)
    if line is None:
        return ""
    loops = [r.watched.loop for r in failing if r.watched.loop and r.watched.loop.left == line]
    passes = sorted(loop.passes for loop in loops)
    few, most = passes[0], passes[-1]
    number = f"{few}" if few == most else f"{few} to {most}"
    head = loops[0].head
    if line == head:
        often = _times(few) if few == most else f"{number} times"
        return f"The loop at {at_line(head, failing)}, goes round {often}."
    return (
        f"The loop of line {head.number} is left after {number} "
        f"{'pass' if number == '1' else 'passes'} at {at_line(line, failing)}."
    )


def left_inside(runs: Sequence[Followed]) -> bool:
    """Say whether the main loop is left before its end, in most failing runs."""
    loops = [run.watched.loop for run in runs if run.fails and run.watched.loop]
    inside = [loop for loop in loops if loop.left != loop.head]
    return len(inside) > ALWAYS * len(loops)


def passes(runs: Sequence[Followed]) -> int:
    """Return how often the main loop goes round at most, in runs that fail."""
    loops = (run.watched.loop for run in runs if run.fails)
    return max((loop.passes for loop in loops if loop), default=0)


def unread(runs: Sequence[Followed], names: Iterable[str]) -> str:
    """Say which parameters nothing reads."""
    known = set(names)
    never = [name for name in runs[0].watched.unread if name in known] if runs else []
    if not never:
        return ""
    listed = " and ".join(f"`{name}`" for name in never)
    return f"Nothing in the function reads {listed}."


def only_failing(runs: Sequence[Followed]) -> str:
    """Say which statements all failing runs go through, and no run that passes."""
    failing = [run for run in runs if run.fails]
    passing = [run for run in runs if not run.fails]
    if len(failing) < 2 or len(passing) < 2:
        return ""
    lines: set[int] = set(failing[0].watched.lines)
    lines = lines.intersection(*(run.watched.lines for run in failing))
    lines = lines.difference(*(run.watched.lines for run in passing))
    if not 0 < len(lines) <= FEW:
        return ""
    return (
        f"All {len(failing)} failing runs that were followed go through line {min(lines)} of "
        f"{failing[0].watched.file}, and none of {len(passing)} that pass."
    )


VALID = (Outcome.UNCONVERGED, Outcome.COLLAPSED)
ANSWERED = (*VALID, Outcome.INVALID)


def told_by(runs: Sequence[Followed]) -> Sequence[Outcome]:
    """Return the outcome of runs that say most of updates: some collapse whatever these are."""
    unconverged = any(run.outcome is Outcome.UNCONVERGED for run in runs)
    return (Outcome.UNCONVERGED,) if unconverged else ANSWERED


def most_failing(
    runs: Sequence[Followed],
    holds: Callable[[Watched], bool],
    outcomes: Sequence[Outcome] = VALID,
) -> list[Followed]:
    """Return the failing runs that ended in some ways, if something holds of most of them."""
    failing = [run for run in runs if run.outcome in outcomes]
    some = [run for run in failing if holds(run.watched)]
    return some if len(some) > ALWAYS * len(failing) else []


def common(seen: Iterable[Seen | None]) -> Seen | None:
    """Return what is seen in more than half of them."""
    listed = list(seen)
    counts = Counter(each for each in listed if each is not None)
    if not counts:
        return None
    ((most, number),) = counts.most_common(1)
    return most if number > ALWAYS * len(listed) else None


def _line_of(seen: Spoiling | Rise | Emptied | Leap | Loop | None) -> Line | None:
    if seen is None:
        return None
    return seen.left if isinstance(seen, Loop) else seen.line


def at_line(line: Line, runs: Sequence[Followed]) -> str:
    """Write a line of the subject's file."""
    return _written(line, runs[0].watched.file)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _written(line: Line, file: str) -> str:
    text = f": `{line.text}`" if line.text else ""
    return f"line {line.number} of {file}{text}"
