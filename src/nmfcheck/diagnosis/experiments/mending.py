"""Mending: small changes of the subject's own source, one at a time, until failing runs come right.

Where it is written in Python and runs in a process of its own. First each change is run for a
moment, on one problem that it fails; those that come nearer to A than the subject as it is are then
run to their end, and judged, on several that it fails and some that it passes. Which line has to be
changed says more about a fault than anything that its answers show. No file is changed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from ...executors.protocol import Executor, Reply
from ...judging.outcomes import Outcome
from ...subjects.mending import Edit, Order, Spot, What
from .asking import FIRST, WAIT, Clock, answered_by, request_of
from .choosing import CHANCE, CHANGES, Chosen, collapsed, question, right
from .record import Experiment, Run, defect_of, stage_of

NAME = "mending"

SEEKING = 0.6
"""For so much of the time changes are sought; what is left is for those that look good."""

MOMENT, FULL = 0.012, 3.0
"""Seconds that a change is run for at first; or so many times what a run takes, if that is less."""

SHORTEST, ENOUGH = 1e-3, 0.5
"""Seconds that a moment lasts at least, and that a whole run may take in any case."""

LONGEST = 0.1
"""Of who usually takes more seconds than this few changes could be run to their end: no time is
kept for them, and they get what is left."""

AT_ONCE = 0.1
"""A worker gets changes for so many seconds at a time."""

LATER, MOST = 1.5, 0.1
"""A moment lasts so many times what a run takes, and so many seconds at most, where W and H are
right on the way and wrong in the end."""

SIDE_BY_SIDE = 4
"""So many changes are run to their end at a time."""

NEARER = 0.7
"""A change is good if the error is less than this part of what it is without it."""

THERE = 1e-6
"""A run that ends nearer than this is at the answer; of such changes simple ones come first."""

MENDS = 0.8
"""It mends if so many of the failing runs come right, without those that right ones may fail."""

FEWEST = 3
"""Of fewer failing runs nothing is said."""

EXACT = 1e-12
"""Who is nearer than this to an answer is at it."""

KEPT = 6
"""So many changes that mend are compared."""

AS_IT_IS = 2
"""So many failing runs are made again without a change, after others were tried."""

NO_SOURCE = "there is no source, or what ran may do more than compute"
TIME_UP = "the time was up"
BY_CHANCE = "too few runs fail, or too many of their cells pass, to tell a change from chance"
KEEPS = (
    "nothing is told of changes, since failing runs came right without one, too, after others were "
    "tried: something is kept from one run to the next"
)
NO_RUN = "no run fails"
NOTHING = (NO_RUN, NO_SOURCE, TIME_UP, BY_CHANCE)
"""Why no change was tried."""


@dataclass(frozen=True)
class Candidate:
    """A change, how near it came to A in a moment, and whether it ended there."""

    edit: Edit
    error: float
    ended: bool

    @property
    def key(self) -> tuple[bool, float, float]:
        """Put those first that have ended near A, simple ones before others."""
        there = self.ended and self.error < THERE
        return not there, self.edit.rank if there else 0, self.error


class Mending:
    """Tries changes of one subject, as long as there is time.

    Parameters
    ----------
    usual : the seconds that a run usually takes.
    """

    _numbers = count(FIRST << 1)

    def __init__(self, executor: Executor, clock: Clock, usual: float) -> None:
        self._executor, self._clock = executor, clock
        self._usual = usual
        self._each = min(MOMENT, max(FULL * usual, SHORTEST)) if usual else MOMENT
        self._whole = max(ENOUGH, FULL * usual)
        self._keeps = False

    def experiment(self, chosen: Chosen, suspects: Collection[str] = ()) -> Experiment:
        """Look for changes that mend failing runs, and leave those as they are that pass.

        Parameters
        ----------
        suspects : lines that stood out when runs were followed, as ``line 12``; they come first.
        """
        if not chosen.failing:
            return Experiment(NAME, (), NO_RUN)
        failing = chosen.failing
        if chosen.chance(failing[1:], len(failing) - 1) > CHANCE / CHANGES:
            return Experiment(NAME, (), BY_CHANCE)
        edits = self._proposed(failing[0])
        if not edits:
            return Experiment(NAME, (), TIME_UP if edits is None else NO_SOURCE)
        edits = sorted(edits, key=lambda edit: edit.rank - (f"line {edit.begin[0]}" in suspects))
        before, candidates, number = self._sought(failing[0], edits, self._clock.part(SEEKING))
        if not number:
            return Experiment(NAME, (), TIME_UP)
        good = sorted(
            (each for each in candidates if each.error < NEARER * before), key=lambda each: each.key
        )
        kept: list[list[Run]] = []
        judged = 0
        for some in batched(good, SIDE_BY_SIDE):
            for run in self._runs([(each.edit, failing[0]) for each in some]):
                judged += 1
                if right([run]) and len(kept) < KEPT:
                    kept += filter(None, [self._mended(run, chosen, CHANCE / number)])
            if self._keeps:
                return Experiment(NAME, (), KEEPS)
            if self._clock.left <= 0 or len(kept) >= KEPT:
                break
        kept.sort(key=_how_far)
        left = len(edits) - number
        short = [f"{left} of {len(edits)} changes were not tried"] if left else []
        if not kept and judged < len(good):
            short.append(f"{len(good) - judged} that looked good were not run to their end")
        said = f"{' and '.join(short)}: {TIME_UP}" if short else ""
        return Experiment(NAME, [run for runs in kept for run in runs], said)

    def _proposed(self, run: Run) -> Sequence[Edit] | None:
        """Return the edits that may mend it; None where there was no time to look for them."""
        order = Order(What.PROPOSE, each=self._clock.left / 4)
        found = [reply.found for _, reply in self._asked([(run, order)], self._clock)]
        if not found:
            return None
        return found[0].edits if found[0] else ()

    def _sought(
        self, run: Run, edits: Sequence[Edit], clock: Clock
    ) -> tuple[float, list[Candidate], int]:
        """Return the error without a change, those with each that was tried, and how many."""
        without = self._tried(run, [(None,)], clock)
        _, before, ended = without[0] if without else (None, np.inf, True)
        if before < THERE and not ended:  # what is wrong comes later
            self._each = min(LATER * self._usual, MOST)
            before = np.inf
        size = max(1, int(AT_ONCE / self._each))
        parts = [tuple(edits[i : i + size]) for i in range(0, len(edits), size)]
        tried = self._tried(run, parts, clock)
        found = [Candidate(edit, error, ended) for edit, error, ended in tried if edit]
        return before, found, len(tried)

    def _tried(
        self, run: Run, parts: Sequence[tuple[Edit | None, ...]], clock: Clock
    ) -> list[tuple[Edit | None, float, bool]]:
        """Return what came of changes; a part that a worker leaves off, or dies of, goes on."""
        tried: list[tuple[Edit | None, float, bool]] = []
        while parts and clock.left > 0:
            orders = [(run, Order(What.TRY, part, self._each, AT_ONCE)) for part in parts]
            left: list[tuple[Edit | None, ...]] = []
            for (_, order), reply in self._asked(orders, clock):
                errors = reply.found.errors if reply.found else ()
                rest = order.edits[len(errors) :]
                tried += [(edit, *of) for edit, of in zip(order.edits, errors, strict=False)]
                if errors:
                    left += [rest] if rest else []
                elif len(rest) > 1:  # one of them ends the process
                    left += [(edit,) for edit in rest]
                else:
                    tried += [(edit, np.inf, True) for edit in rest]
            parts = left
        return tried

    def _mended(self, first: Run, chosen: Chosen, level: float) -> list[Run]:
        """Return the failing runs with a change, if it mends the subject.

        Those that are not answered in time count as not right; those that pass must not be spoiled,
        and what failed has to fail again without the change.

        Parameters
        ----------
        level : by chance as many come right less often than this.
        """
        edit = first.edit
        assert edit is not None
        runs = [first, *self._runs([(edit, run) for run in chosen.failing[1:]])]
        fails = [run for run in runs if not collapsed(run)]
        asked = len(chosen.failing) - (len(runs) - len(fails))
        if right(fails) < max(MENDS * asked, min(FEWEST, len(chosen.failing))):
            return []
        # The first is how the change was found.
        usual = {question(run) for run in runs if collapsed(run)}
        others = [run for run in chosen.failing[1:] if question(run) not in usual]
        if chosen.chance(others, right(fails[1:])) > level:
            return []
        as_it_is = [(None, run) for run in chosen.failing[:AS_IT_IS]]
        more = self._runs([*as_it_is, *((edit, run) for run in chosen.passing)])
        changed = [run for run in more if run.edit is not None]
        self._keeps |= right([run for run in more if run.edit is None]) > 0
        spoiled = [run for run in changed if not right([run]) and not collapsed(run)]
        whole = len(more) == len(as_it_is) + len(chosen.passing)
        return runs if whole and not spoiled and not self._keeps else []

    def _runs(self, asked: Sequence[tuple[Edit | None, Run]]) -> list[Run]:
        """Return runs with a change each, judged; those are missing for which there was no time."""
        orders = [(run, Order(What.RUN, (edit,), self._whole)) for edit, run in asked]
        made = {id(order): (order, reply) for (_, order), reply in self._asked(orders, self._clock)}
        return [
            _judged(answered_by(run, made[id(order)][1]), edit)
            for (edit, run), (_, order) in zip(asked, orders, strict=True)
            if id(order) in made
        ]

    def _asked(
        self, orders: Sequence[tuple[Run, Order]], clock: Clock
    ) -> Iterator[tuple[tuple[Run, Order], Reply]]:
        """Put orders to the subject while there is time, and return what came of them."""
        due = deque((next(self._numbers), order) for order in orders)
        pending: dict[int, tuple[Run, Order]] = {}
        while (due or pending) and clock.left > 0:
            while due:
                number, (run, order) = due[0]
                request = replace(request_of(number, run), mending=order)
                if not self._executor.submit(request):
                    break
                pending[number] = due.popleft()[1]
            for reply in self._executor.replies(min(WAIT, clock.left)):
                if (asked := pending.pop(reply.number, None)) is not None:
                    yield asked, reply
        self._executor.forget(set(pending))


def batched(candidates: Sequence[Candidate], size: int) -> Iterator[Sequence[Candidate]]:
    """Return some at a time."""
    for begin in range(0, len(candidates), size):
        yield candidates[begin : begin + size]


def _judged(run: Run, edit: Edit | None) -> Run:
    stage = stage_of(run)
    return replace(run, edit=edit, outcome=Outcome.ERROR if stage is None else stage.outcome)


def _how_far(runs: Sequence[Run]) -> tuple[int, bool, int, Spot]:
    """Return how exact runs are with a change, in digits, and how plain the change is."""
    stages = [stage_of(run) for run in runs if not collapsed(run)]
    defects = [defect_of(stage.measures) for stage in stages if stage is not None]
    edit = runs[0].edit
    assert edit is not None
    digits = round(np.log10(max(float(np.median(defects)), EXACT)))
    return digits, edit.is_blunt, edit.rank, edit.begin


def suspects(followed: Experiment) -> set[str]:
    """Return the lines that stood out in runs that were followed."""
    found: set[str] = set()

    def walk(data: object) -> None:
        match data:
            case [int() as number, str()]:
                found.add(f"line {number}")
            case list() | tuple():
                for each in data:
                    walk(each)
            case dict():
                for each in data.values():
                    walk(each)
            case _:
                pass

    for run in followed.runs:
        if run.watched is not None:
            walk(run.watched.as_data())
    return found
