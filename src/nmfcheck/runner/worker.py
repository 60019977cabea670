"""A worker process: loads one subject, and answers one problem after the other.

Started by `workers.py` as ``python -m nmfcheck.runner.worker FD``, with a socket to talk over; its
standard output and error go to a file. What the subject does to the working directory, to the
random state or to this process costs its own stage alone.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import random
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..factors import UnusableError, as_factor
from ..outcomes import Flag
from ..subjects import Answer, Problem, Subject, SubjectName, load
from ..subjects.children import dying_with_parent
from ..subjects.identity import identity
from ..subjects.problem import KEYWORDS, printable, told
from .messages import Channel, Fields, encode

MOST_CHILDREN = 8
"""A worker whose subject has left more processes than this behind is replaced."""

BETWEEN_LOOKS = 0.1
"""Seconds between two looks at what it has left behind."""

LONGEST_TEXT = 2000


def main() -> None:
    """Serve until there is nobody left to serve."""
    dying_with_parent()()
    parent, me = os.getppid(), os.getpid()
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    try:
        setup, _ = channel.receive()
    except EOFError:
        return
    threading.Thread(target=_leave_with, args=(parent,), daemon=True).start()
    _limit_memory(setup["memory"])
    before = set(sys.modules)
    sys.path[:] = setup["path"]
    try:
        subject = load(SubjectName(setup["name"], setup["options"]))
        known = identity(subject, before)
    except InputError as error:
        channel.send(encode({"cannot": str(error)}))
        return
    except MemoryError:
        channel.send(encode({"cannot": "the memory limit is too low to load it"}))
        return
    takes = list(getattr(subject, "takes", KEYWORDS))
    channel.send(encode({"takes": takes, "identity": known}))
    directory, children, next_look = Path.cwd(), _children(), 0.0
    while True:
        try:
            fields, matrices = channel.receive()
        except EOFError:
            return
        _settle(directory, fields["random"])
        told_fields, factors = _answer(subject, fields, matrices)
        if os.getpid() != me:  # a subject that has forked comes back twice
            os._exit(0)
        if (now := time.monotonic()) >= next_look:
            next_look = now + BETWEEN_LOOKS
            if _children() - children > MOST_CHILDREN:
                told_fields["flags"].append(Flag.LEFT_PROCESSES)
                told_fields["retires"] = True
        told_fields["printed"] = _printed()
        channel.send(encode(told_fields, **factors))


def _answer(subject: Subject, asked: Fields, matrices: dict[str, Any]) -> tuple[Fields, Any]:
    A = np.asarray(matrices["A"], order=asked["order"])
    problem = Problem(A, asked["rank"], matrices["W0"], matrices["H0"], asked["seed"])
    begin = time.perf_counter()
    try:
        (answer,) = subject.solve([problem], lambda _: None)
    except BaseException as error:  # KeyboardInterrupt as well: nobody pressed a key here
        answer = Answer(error=told(error))
    fields: Fields = {
        "number": asked["number"],
        "seconds": time.perf_counter() - begin,
        "flags": list(answer.flags),
        "output": answer.output[-LONGEST_TEXT:],
    }
    if answer.error is not None:
        return fields | {"error": answer.error[:LONGEST_TEXT], "outcome": answer.outcome}, {}
    fields["returned"] = [_kind(answer.W), _kind(answer.H)]
    n, m = A.shape
    try:
        factors = {
            "W": as_factor("W", answer.W, (n, problem.rank)),
            "H": as_factor("H", answer.H, (problem.rank, m)),
        }
    except UnusableError as reason:
        return fields | {"unusable": str(reason)[:LONGEST_TEXT]}, {}
    except BaseException as error:
        return fields | {"error": told(error)[:LONGEST_TEXT], "outcome": "error"}, {}
    return fields, factors


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
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - the state that careless subjects use


def _printed() -> int:
    """Return how much output there is so far, all of it written out; drop it if it is much."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):  # it may be closed
            stream.flush()
    try:
        size = os.fstat(1).st_size
        if size > 1 << 16:
            os.ftruncate(1, 0)
            return 0
    except OSError:
        return 0
    return size


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
