"""A worker process: loads one subject, and answers one problem after the other.

Started by `process.py` as ``python -m nmfcheck.executors.worker FD``, with a socket to talk over;
its standard output and error go to a file. What the subject does to the working directory, to the
random state or to this process costs its own stage alone.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, SubjectError
from ..judging.factors import UnusableError, as_factor
from ..judging.outcomes import Flag
from ..subjects import Answer, Command, Problem, Subject, SubjectName, load
from ..subjects.children import dying_with_parent
from ..subjects.identity import identity
from ..subjects.mending import (
    Order,
    TimeUpError,
    UnfitError,
    What,
    found,
    limited,
    swapped,
)
from ..subjects.precision import declared
from ..subjects.problem import KEYWORDS, last_lines, raised, seed_global_states
from ..subjects.watching import watch
from ..text import printable
from .lawful import carried_out
from .messages import Channel, Fields, encode

MOST_CHILDREN = 8
"""A worker whose subject has left more processes than this behind is replaced."""

BETWEEN_LOOKS = 0.1
"""Seconds between two looks at what it has left behind."""

MOST_OUTPUT = 1 << 16

LONGEST_TEXT = 2000


def main() -> None:
    """Load the subject that is named, and serve until there is nobody left to serve."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # as in any new process
    serve(socket.socket(fileno=int(sys.argv[1])))


def serve(over: socket.socket, subject: Subject | None = None) -> None:
    """Answer what comes over a socket, until there is nobody left at its other end.

    Parameters
    ----------
    subject : what answers; if not given, what the first message names.
    """
    dying_with_parent()()
    parent, me = os.getppid(), os.getpid()
    channel = Channel(over)
    try:
        setup, _ = channel.receive()
    except EOFError:
        return
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    _limit_memory(setup["memory"])
    known: Fields = {}
    try:
        if subject is None:
            before = set(sys.modules)
            sys.path[:] = setup["path"]
            name = SubjectName(setup["name"], setup["options"])
            subject = load(name)
            known = identity(name.name, subject, before)
        if isinstance(subject, Command):
            subject.start()
        known |= declared(subject)
    except InputError as error:
        channel.send(encode({"cannot": str(error), "usage": not isinstance(error, SubjectError)}))
        return
    except MemoryError:
        channel.send(encode({"cannot": "the memory limit is too low to load it", "usage": True}))
        return
    takes = list(getattr(subject, "takes", KEYWORDS))
    parameters = dict(getattr(subject, "numbers", {}))
    channel.send(encode({"takes": takes, "identity": known, "parameters": parameters}))
    directory, children, next_look = Path.cwd(), _children(), 0.0
    while True:
        try:
            fields, matrices = channel.receive()
        except EOFError:
            return
        _settle(directory, fields["random"])
        begin = _size_of_output()
        answered, factors = _answer(subject, fields, matrices, channel)
        if os.getpid() != me:  # a subject that has forked comes back twice
            os._exit(0)
        retires = isinstance(subject, Command) and not subject.is_running
        if (now := time.monotonic()) >= next_look:
            next_look = now + BETWEEN_LOOKS
            retires |= _children() - children > MOST_CHILDREN
        failed = "error" in answered or "unusable" in answered
        if failed and not answered["output"]:
            answered["output"] = _printed_since(begin)
        answered |= {"retires": retires, "printed": _size_of_output(most=MOST_OUTPUT)}
        channel.send(encode(answered, **factors))
        if retires:
            return


def _answer(
    subject: Subject, asked: Fields, matrices: dict[str, Any], channel: Channel
) -> tuple[Fields, Any]:
    if "law" in asked:
        return _tried(subject, asked, channel), {}
    A = np.asarray(matrices["A"], order=asked["order"])
    problem = Problem(
        A, asked["rank"], matrices["W0"], matrices["H0"], asked["seed"], asked["objective"]
    )
    if "watched" in asked:
        return _watched(subject, problem, asked), {}
    if "mending" in asked:
        order = Order.from_data(asked["mending"])
        if order.what is not What.RUN:
            return _of_edits(subject, problem, asked, order), {}
        return _edited(subject, problem, asked, order)
    return _solved(subject, problem, asked["number"])


def _solved(subject: Subject, problem: Problem, number: int) -> tuple[Fields, Any]:
    """Solve one problem."""
    A, begin = problem.A, time.perf_counter()
    before = A.tobytes()
    try:
        (answer,) = subject.solve([problem], lambda _: None)
        answer.error  # noqa: B018 - a subject of one's own might give anything
    except BaseException as error:  # KeyboardInterrupt as well: nobody pressed a key here
        answer = Answer(error=raised(error))
    changed = A.tobytes() != before
    fields: Fields = {
        "number": number,
        "seconds": time.perf_counter() - begin,
        "flags": [Flag.CHANGED_A] if changed else [],
        "output": answer.output[-LONGEST_TEXT:],
    }
    if answer.error is not None:
        return fields | {"error": answer.error[:LONGEST_TEXT], "outcome": answer.outcome}, {}
    fields["returned"] = [_kind(answer.W), _kind(answer.H)]
    m, n = A.shape
    try:
        factors = {
            "W": as_factor("W", answer.W, (m, problem.rank)),
            "H": as_factor("H", answer.H, (problem.rank, n)),
        }
    except UnusableError as reason:
        return fields | {"unusable": str(reason)[:LONGEST_TEXT]}, {}
    except BaseException as error:
        return fields | {"error": raised(error)[:LONGEST_TEXT], "outcome": "error"}, {}
    return fields, factors


def _tried(subject: Subject, asked: Fields, channel: Channel) -> Fields:
    """Try a law; say before each example which one it is."""
    begin, number = time.perf_counter(), asked["number"]

    def tell(example: str) -> None:
        channel.send(encode({"number": number, "trying": example}))

    result, calls = carried_out(subject, asked, tell)
    return {
        "number": number,
        "seconds": time.perf_counter() - begin,
        "flags": [],
        "output": "",
        "found": result.as_fields(),
        "calls": calls,
    }


def _watched(subject: Subject, problem: Problem, asked: Fields) -> Fields:
    """Follow a subject line by line; what it answers is not looked at."""
    begin = time.perf_counter()
    seen = watch(subject, problem, asked["random"])
    return {
        "number": asked["number"],
        "seconds": time.perf_counter() - begin,
        "flags": [],
        "output": "",
        "watched": seen and seen.as_data(),
    }


def _of_edits(subject: Subject, problem: Problem, asked: Fields, order: Order) -> Fields:
    """Say which edits may mend a subject, or how far it comes with some of them."""
    begin = time.perf_counter()
    seen = found(subject, problem, asked["random"], order)
    return {
        "number": asked["number"],
        "seconds": time.perf_counter() - begin,
        "flags": [],
        "output": "",
        "edits": seen.as_data(),
    }


def _edited(subject: Subject, problem: Problem, asked: Fields, order: Order) -> tuple[Fields, Any]:
    """Solve one problem with an edit of the subject's source, in the time that it may take."""
    begin, number = time.perf_counter(), asked["number"]
    try:
        with contextlib.ExitStack() as stack:
            if (edit := order.edits[0]) is not None:
                stack.enter_context(swapped(edit))
            stack.enter_context(limited(order.each))
            return _solved(subject, problem, number)
    except (TimeUpError, UnfitError) as error:
        about = {"number": number, "flags": [], "output": "", "outcome": "error"}
        return about | {"seconds": time.perf_counter() - begin, "error": raised(error)}, {}


def _kind(value: Any) -> str:
    """Say what a subject returned: ``numpy.ndarray of float64, 3×3``."""
    try:
        module = type(value).__module__.partition(".")[0]
        name = type(value).__qualname__
        kind = name if module == "builtins" else f"{module}.{name}"
        dtype = f" of {value.dtype}" if hasattr(value, "dtype") else ""
        shape = ", " + "×".join(map(str, value.shape)) if hasattr(value, "shape") else ""
        return printable(f"{kind}{dtype}{shape}"[:100])
    except Exception:
        return "something that cannot be described"


def _settle(directory: Path, seed: int) -> None:
    """Undo what an earlier stage may have done to the working directory and the random state."""
    os.chdir(directory)
    seed_global_states(seed)


def _size_of_output(most: int | None = None) -> int:
    """Return how much was printed so far, all of it written out; drop it if it is too much."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):  # it may be closed
            stream.flush()
    with contextlib.suppress(OSError):
        size = os.fstat(1).st_size
        if most is None or size <= most:
            return size
        os.ftruncate(1, 0)
    return 0


def _printed_since(begin: int) -> str:
    """Return the last lines that the stage printed."""
    with contextlib.suppress(OSError):
        end = _size_of_output()
        text = os.pread(1, 4000, max(begin if begin <= end else 0, end - 4000))
        return last_lines(text)
    return ""


def _children() -> int:
    """Return how many processes this one has started that are still there, where that is cheap."""
    try:
        listed = Path(f"/proc/self/task/{os.getpid()}/children").read_bytes()
    except OSError:
        return 0
    return len(listed.split())


def _limit_memory(size: int | None) -> None:
    if size is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def _leave_with(parent: int) -> None:
    """End this process when its parent is gone: for where the kernel does not."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


if __name__ == "__main__":
    faulthandler.enable(all_threads=False)  # says where it was when it crashed
    main()
