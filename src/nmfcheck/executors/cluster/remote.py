"""What runs on a worker of the cluster: a subject in a process of its own, as on any machine.

A Dask worker keeps the executors of a run between its batches, one for each of its threads. They
are closed when the run says so, when nobody has asked for them for a while, and with the worker.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ... import __version__
from ...errors import InputError, SubjectError
from ...reference.engine import chosen, instructions
from ...subjects import SubjectName, reference_subject
from ..inline import InlineExecutor
from ..local import LocalExecutor
from ..protocol import Limits, Reply, Request
from .parcels import pack_refusal, pack_replies, unpack_requests

LONGEST = 5.0
"""After so many seconds a batch ends, answered or not; what is left is asked again."""

IDLE = 60.0
"""So many seconds nobody has to ask for an executor before it is closed."""

About = dict[str, Any]


@dataclass
class _Kept:
    """The executors of one run that no batch is using."""

    executors: list[LocalExecutor | InlineExecutor] = field(default_factory=list)
    used: float = 0.0


_runs: dict[str, _Kept] = {}
_ended: set[str] = set()
_lock = threading.Lock()
_tidying = threading.Event()


def look(order: str) -> str:
    """Load a subject here, and say what it is; or why it cannot be loaded."""
    asked = json.loads(order)
    try:
        executor = _taken(asked)
        about = executor.start()
    except InputError as error:
        usage = not isinstance(error, SubjectError)
        return json.dumps({"cannot": str(error), "usage": usage})
    _put_back(asked, executor)
    known = {"takes": about.takes, "identity": about.identity, "parameters": about.parameters}
    return json.dumps({"about": known | engine_of(asked), "pid": os.getpid()})


def engine_of(asked: About) -> About:
    """Return what the bits of a reference depend on; nothing for other subjects."""
    if not asked["reference"]:
        return {}
    engine = chosen(asked["engine"])
    detail = instructions() if engine == "native" else ""
    return {"engine": engine, "instructions": detail, "nmfcheck": __version__}


def answer(order: str, parcel: bytes) -> bytes:
    """Have a batch of requests answered, and return what came of it."""
    asked = json.loads(order)
    begin = time.monotonic()
    executor = _taken(asked)
    try:
        replies = _answered(executor, unpack_requests(parcel), begin + LONGEST, asked["run"])
    except InputError as error:
        executor.close()
        return pack_refusal(str(error))
    except BaseException:
        executor.close()
        raise
    _put_back(asked, executor)
    return pack_replies(replies, time.monotonic() - begin)


def close(run: str) -> None:
    """End what a run has started here; what is in use, by the batch that uses it, in a moment."""
    _ended.add(run)
    _drop(run)


def _drop(run: str) -> None:
    """Close the executors of a run that no batch is using."""
    with _lock:
        kept = _runs.pop(run, None)
    for executor in kept.executors if kept else ():
        executor.close()


def _answered(
    executor: LocalExecutor | InlineExecutor, requests: Sequence[Request], until: float, run: str
) -> list[Reply]:
    """Return the answers that there are in time; one that is begun is waited for, by its run."""
    due, waiting, replies = deque(requests), set[int](), list[Reply]()
    while (due or waiting) and run not in _ended:
        while due and time.monotonic() < until and executor.submit(due[0]):
            waiting.add(due.popleft().number)
        if not waiting and time.monotonic() >= until:
            break
        for reply in executor.replies(0.5):
            waiting.discard(reply.number)
            replies.append(reply)
    return replies


def _taken(asked: About) -> LocalExecutor | InlineExecutor:
    """Return an executor that no other batch uses, made now if there is none."""
    with _lock:
        kept = _runs.setdefault(asked["run"], _Kept())
        kept.used = time.monotonic()
        if kept.executors:
            return kept.executors.pop()
        if not _tidying.is_set():
            _tidying.set()
            threading.Thread(target=_tidy, daemon=True).start()
    subject = SubjectName(asked["name"], asked["options"])
    if asked["reference"]:
        limit, engine = asked["at_most"], asked["engine"]
        solver = reference_subject(
            subject.name, subject.options, at_most=limit, engine=engine, threads=1
        )
        return InlineExecutor(solver)
    sys.path.extend(each for each in asked["path"] if each not in sys.path)
    return LocalExecutor(subject, 1, Limits(asked["timeout"], asked["memory"]))


def _put_back(asked: About, executor: LocalExecutor | InlineExecutor) -> None:
    with _lock:
        if (kept := _runs.get(asked["run"])) is not None:
            kept.used = time.monotonic()
            kept.executors.append(executor)
            return
    executor.close()  # the run has ended


def _tidy() -> None:
    """Close what nobody asks for any more: the client may be gone."""
    while True:
        time.sleep(IDLE / 4)
        late = time.monotonic() - IDLE
        with _lock:
            over = [run for run, kept in _runs.items() if kept.used < late]
        for run in over:
            _drop(run)
        with _lock:
            if not _runs:
                _tidying.clear()
                return
