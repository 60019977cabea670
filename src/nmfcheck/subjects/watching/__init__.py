"""Watching a subject that is written in Python, line by line, on one problem.

`source.py` says which files are its own and what stands in them, `factors.py` which variables are W
and H, `returned.py` which come back, `tracer.py` follows a run, `reading.py` looks at what its
statements read, `seen.py` finds the statement that raised, that brought the first NaN, that spoiled
a factorization, or that made the error larger most often, `still.py` what hardly changes,
`memory.py` what changes under another name, `outdated.py` what is older than the factor that it was
made of, and `facts.py` writes that down.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from ..problem import Answer, Problem, Subject, seed_global_states
from .factors import Aim, Sizes
from .facts import Watched
from .memory import overwritten
from .outdated import outdated
from .reading import bound, stale
from .seen import Course, emptied, line_of, main_loop, negative, zeros
from .source import Line, code_of, is_ours, own_files, statements, unread
from .still import frozen, held, seldom
from .tracer import EnoughError, Looking, Looks, Totals, counting, traced

__all__ = ["Line", "Watched", "entry", "watch"]


def watch(subject: Subject, problem: Problem, seed: int) -> Watched | None:
    """Run a subject line by line; None where there is no Python source to be followed.

    Parameters
    ----------
    seed : of the global random states, which careless subjects use.
    """
    code = entry(subject)
    if code is None or not statements(code.co_filename):
        return None
    try:
        return _watch(subject, code, problem, seed)
    except (Exception, SystemExit):  # whatever variables do that are looked at
        return Watched(Path(code.co_filename).name, unread=unread(code))


def _watch(subject: Subject, code: CodeType, problem: Problem, seed: int) -> Watched:
    m, n = problem.A.shape
    sizes, aim = Sizes(m, n, problem.rank), Aim.of(problem.A, problem.rank)
    own, totals = own_files(code), Totals()
    file = Path(code.co_filename).name
    try:
        with traced(own, counting(sizes, totals), totals):
            answer = _answer(subject, problem, seed)
        given = problem.W0, problem.H0
        looking = Looking(aim, sizes, totals, given, nan=not _finite(answer))
        with traced(own, looking.begin, looking.looks):
            _answer(subject, problem, seed)
    except EnoughError:  # it takes too long, and only a part of it was seen
        return Watched(file, unread=unread(code))
    if totals.gave_up or looking.looks.gave_up:
        return Watched(file, unread=unread(code))
    return _facts(code, answer, looking.looks, totals, aim)


def _facts(code: CodeType, answer: Answer, looks: Looks, totals: Totals, aim: Aim) -> Watched:
    course = Course(looks, aim.least)
    nan = looks.first_nan
    error, places = totals.raised or (None, [])
    raised = places if type(error).__name__ in (answer.error or "") else []  # and was not caught
    loop = main_loop(course.moving())
    return Watched(
        Path(code.co_filename).name,
        raised=tuple(map(line_of, raised[:2])),
        first_nan=(line_of(nan[0]), nan[1]) if nan else None,
        negative=negative(looks),
        spoiled=course.spoiled(),
        rise=course.rise(loop.passes if loop else 0),
        emptied=emptied(looks),
        better=course.better(totals.of(code)),
        loop=loop,
        stale=stale(looks.reads),
        bound=bound(looks.reads),
        begun=course.begun(loop),
        leaves=course.leaves(),
        zeros=zeros(looks),
        frozen=frozen(looks, loop),
        seldom=seldom(looks, loop),
        held=held(looks, loop),
        leap=course.leap(loop),
        shared=looks.memories.shared,
        overwritten=overwritten(looks.memories),
        outdated=outdated(looks.moves),
        old_start=(line_of(looks.old_start[0]), looks.old_start[1]) if looks.old_start else None,
        unread=unread(code),
        lines=sorted(
            number
            for function in totals.functions.values()
            for number in function.counts
            if function.code.co_filename == code.co_filename
        ),
    )


def entry(subject: Subject) -> CodeType | None:
    """Return the code that a subject is; of an adapter, that of the class which it calls."""
    thing: Any = getattr(subject, "function", getattr(subject, "estimator", None))
    code = None if thing is None else code_of(thing)
    if code is None or not is_ours(code):
        return code
    model = getattr(subject, "model", None)
    return None if model is None else code_of(model().estimator)


def _answer(subject: Subject, problem: Problem, seed: int) -> Answer:
    own = problem.copied()
    seed_global_states(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they were told when it ran before
        (answer,) = subject.solve([own], lambda _: None)
    return answer


def _finite(answer: Answer) -> bool:
    """Say whether all entries are finite that came back."""

    def finite(X: Any) -> bool:
        try:
            return bool(np.isfinite(X).all())
        except Exception:  # an array of its own may refuse in any way
            return True

    return answer.error is not None or (finite(answer.W) and finite(answer.H))
