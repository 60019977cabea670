"""Runs a subject with one edit after the other, each for a moment, and sees how far it comes.

When the moment is over, W and H are looked for among the variables of whatever runs then, so that
edits can be compared long before their runs would end.
"""

from __future__ import annotations

import math
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from types import FrameType

import numpy as np

from ...judging.factors import UnusableError, as_factor
from ..problem import Problem, Subject, seed_global_states
from ..watching import entry
from ..watching.factors import Aim, Sizes, candidates
from ..watching.source import own_files
from .edit import Edit
from .swapping import UnfitError, swapped

Look = Callable[[FrameType | None], None]

Missed = tuple[float, bool]
"""How far W·H is from A, and whether that is where the run ended; infinite without an answer."""


OWN, PATIENCE = 0.5, 4
"""A time is up when so much of it was computing, or after it has passed so many times: a machine
that is busy with others shall not decide."""


DEEPEST = 10
"""So many calls of a subject's own functions within each other are looked at, the innermost."""


_warm: list[bool] = []
"""Holds something once a subject was run in this process as it is."""


class TimeUpError(BaseException):
    """Ends a run whose time is up; subjects catch exceptions of other kinds."""


@contextmanager
def limited(seconds: float, look: Look = lambda _: None) -> Iterator[None]:
    """Raise `TimeUpError` after so many seconds, where this is a process's main thread.

    Parameters
    ----------
    look : called before that, with what runs then.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    over, rings, begin = False, 0, time.process_time()

    def ring(_: int, frame: FrameType | None) -> None:
        nonlocal rings
        rings += 1
        waits = time.process_time() - begin < OWN * seconds and rings < PATIENCE
        if not (over or waits):
            look(frame)
            raise TimeUpError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)  # again, if the subject catches it
    try:
        yield
    finally:
        over = True
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def tried(
    subject: Subject,
    problem: Problem,
    seed: int,
    edits: Sequence[Edit | None],
    each: float,
    seconds: float,
) -> list[Missed]:
    """Return how far W·H is from A with each edit, as far as they were tried in the time.

    Parameters
    ----------
    edits : None stands for the subject as it is.
    each : seconds for one.
    seconds : after so many no other is begun.
    """
    code = entry(subject)
    if code is None:
        return []
    own, until = own_files(code), time.monotonic() + seconds
    aim = Aim.of(problem.A, problem.rank)
    m, n = problem.A.shape
    sizes = Sizes(m, n, problem.rank)
    errors: list[Missed] = []
    if not _warm:  # what is imported in a run is there then
        with suppress(TimeUpError), limited(each):
            _missed(subject, problem, seed, aim)
        _warm.append(True)
    for edit in edits:
        if time.monotonic() > until:
            break
        seen = [math.inf]

        def look(frame: FrameType | None, seen: list[float] = seen) -> None:
            looked_at = 0
            while frame is not None and looked_at < DEEPEST:
                if own(frame.f_code.co_filename):
                    looked_at += 1
                    Ws, Hs = candidates(frame.f_locals, sizes)
                    seen += [aim.missed(W, H) for W in Ws.values() for H in Hs.values()]
                frame = frame.f_back

        try:
            with nullcontext() if edit is None else swapped(edit), limited(each, look):
                errors.append((_missed(subject, problem, seed, aim), True))
        except TimeUpError:
            errors.append((min(seen), False))
        except UnfitError:
            errors.append((math.inf, True))
    return errors


def _missed(subject: Subject, problem: Problem, seed: int, aim: Aim) -> float:
    """Run a subject to its end."""
    own = problem.copied()
    seed_global_states(seed)
    (m, n), k = problem.A.shape, problem.rank
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            (answer,) = subject.solve([own], lambda _: None)
            if answer.error is not None:
                return math.inf
            W, H = as_factor("W", answer.W, (m, k)), as_factor("H", answer.H, (k, n))
            if min(W.min(), H.min()) < 0:
                return math.inf
            return aim.missed(W, H)
    except (Exception, SystemExit, UnusableError):
        return math.inf
