"""Running an iteration to its end, or to the point from which its end is known.

An iteration is a deterministic map on doubles. If a state comes back bit for bit, p iterations
after it was first seen, every later state is known: the state after T iterations is the one after
`t + (T − t) mod p`. So a lane that closes its orbit runs those last few iterations and ends, with
exactly the bits that all T iterations would have given (docs/theory.md, 8).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..arrays import Array, Bools, Ints
from .lanes import keep, same_bits

State = tuple[Array, ...]
"""Arrays whose last axis is the batch; W and H come first."""
Step = Callable[[Array, State], State]
Progress = Callable[[int], None]

LONGEST_PERIOD = 32
"""Longest orbit that is looked for; cycles of last-digit flips are shorter."""
LONGEST_GAP = 256
"""Iterations between two looks, at most."""


def iterate(
    step: Step,
    A: Array,
    state: State,
    iterations: int,
    *,
    reads: Sequence[int],
    close_orbits: bool,
    progress: Progress,
) -> tuple[State, Ints]:
    """Apply `step` to every lane `iterations` times.

    Parameters
    ----------
    step : one iteration, `state = step(A, state)`, elementwise along the lanes.
    reads : the parts of the state that the next iteration depends on.
    close_orbits : end a lane early where its final state is known.
    progress : called now and then with the number of iterations × lanes that are newly settled.

    Returns
    -------
    The final state, and the number of iterations that each lane really ran.
    """
    batch = A.shape[-1]
    final = tuple(np.array(part) for part in state)
    ends = np.full(batch, iterations)  # where each lane ends; fixed once its orbit is closed
    if iterations == 0 or batch == 0:
        return final, ends
    running = np.arange(batch)  # which lane stands in which place of the arrays
    look = _Look(state, reads)
    unreported = 0
    for t in range(1, iterations + 1):
        state = step(A, state)
        unreported += len(running)
        if close_orbits and look.due(t):
            closed = look.returned(state) & (ends[running] == iterations)
            ends[running[closed]] = t + (iterations - t) % (t - look.since)
            look.renew(t, state)
        ending = ends[running] == t if t == ends[running].min() else None
        if ending is not None:
            for whole, part in zip(final, state, strict=True):
                whole[..., running[ending]] = part[..., ending]
            unreported += int(ending.sum()) * (iterations - t)
            going = ~ending
            A, state = keep(A, going), tuple(keep(part, going) for part in state)
            look.keep(going)
            running = running[going]
        if t % 64 == 0 or len(running) == 0:
            progress(unreported)
            unreported = 0
        if len(running) == 0:
            break
    return final, ends


class _Look:
    """Watches for a state that comes back, in windows that start ever less often."""

    def __init__(self, state: State, reads: Sequence[int]) -> None:
        self.reads = reads
        self.since = 0
        self.remembered = [state[i] for i in reads]

    @property
    def gap(self) -> int:
        return min(max(self.since, 4), LONGEST_GAP)

    def due(self, t: int) -> bool:
        """Say whether the state after t iterations is to be looked at."""
        return t - self.since <= LONGEST_PERIOD or t - self.since == self.gap

    def returned(self, state: State) -> Bools:
        """Say which lanes are back at the remembered state."""
        back = np.ones(state[0].shape[-1], dtype=bool)
        for i, old in zip(self.reads, self.remembered, strict=True):
            back &= same_bits(state[i], old)
        return back

    def renew(self, t: int, state: State) -> None:
        """Remember a newer state if this one has been watched for long enough."""
        if t - self.since >= self.gap:
            self.since = t
            self.remembered = [state[i] for i in self.reads]

    def keep(self, lanes: Bools) -> None:
        self.remembered = [keep(part, lanes) for part in self.remembered]
