"""A pool of worker processes that a subject runs in, whatever it does to them.

Each worker has a socket and an output file of its own, so that nothing one of them does reaches
another. It holds the problem that it works on and one or a few that wait. The time limit counts
from when the one before was answered. A worker that ends, hangs or writes nonsense is killed with
all that it started, and replaced; that costs the problem it was working on.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError, SubjectError
from ..outcomes import Flag, Outcome
from ..subjects import Answer, Problem, SubjectName
from ..subjects.command import how_it_ended
from ..subjects.problem import last_lines, printable
from .leftovers import FOLDER, MARK, end_marked, end_orphans, new_mark, remove_folders
from .messages import Channel, encode

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
START_LIMIT = 120.0
"""Seconds that a worker has for loading its subject: some take long to import."""

MOST_FAILED_STARTS = 3
"""So many workers in a row that do not come up end the run."""

LARGEST_AHEAD = 1 << 15
"""A larger message is not sent before the worker is ready to read it."""

QUICK, MOST_AHEAD = 2e-3, 8
"""A worker whose subject answers within so many seconds gets so many problems ahead."""

SEND_LIMIT = 5
"""Seconds that a message may take to be sent; a worker that does not read is stuck."""

MOST_OUTPUT = 1 << 24
_OWN_FILES = os.fsencode(Path(__file__).parent.parent)


@dataclass(frozen=True)
class Limits:
    """What a subject may use: seconds for a stage, bytes of address space for a worker."""

    timeout: float = 30.0
    memory: int | None = None


@dataclass(frozen=True)
class Request:
    """A problem for a worker, and what the random state is seeded with before it."""

    number: int
    problem: Problem
    random: int = 0
    order: str = "C"

    def message(self) -> bytes:
        """Return what is sent."""
        p = self.problem
        fields = {
            "number": self.number, "rank": p.rank, "seed": p.seed,
            "random": self.random, "order": self.order,
        }  # fmt: skip
        return encode(fields, A=p.A, W0=p.W0, H0=p.H0)


@dataclass(frozen=True)
class Reply:
    """The answer to a request, and what kinds of things were returned."""

    number: int
    answer: Answer
    returned: tuple[str, ...] = ()


@dataclass(frozen=True)
class About:
    """What a worker says of the subject it has loaded."""

    takes: tuple[str, ...]
    identity: dict[str, str]


class _Worker:
    """One worker process, as its parent sees it."""

    def __init__(self, subject: SubjectName, limits: Limits, mark: str) -> None:
        self.limits, self.mark = limits, mark
        self.folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))
        self.output = (self.folder / "output").open("ab+")
        self.waiting: deque[Request] = deque()
        self.about: About | None = None
        self.printed = 0
        self.retired = False
        self.quick = False
        ours, theirs = socket.socketpair()
        temporary = self.folder / "tmp"
        temporary.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "nmfcheck.runner.worker", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.output,
            start_new_session=True,  # Ctrl-C is not for it, and its children can be found
            env={
                **os.environ,
                **dict.fromkeys(ONE_THREAD, "1"),
                "PYTHONUNBUFFERED": "1",
                "PYTHONHASHSEED": "0",  # the order of sets is not to differ between workers
                "TMPDIR": str(temporary),
                MARK: mark,
            },
        )
        theirs.close()
        self.channel = Channel(ours, SEND_LIMIT)
        self.ended: int | None = None
        with contextlib.suppress(AttributeError, OSError):  # not every system has it
            self.ended = os.pidfd_open(self.process.pid)
        self.deadline = time.monotonic() + START_LIMIT
        with contextlib.suppress(OSError):  # it may have ended already, which shows later
            self.channel.send(
                encode(
                    {
                        "name": subject.name,
                        "options": dict(subject.options),
                        "memory": limits.memory,
                        "path": ["", *(entry for entry in sys.path if entry)],
                    }
                )
            )

    def sources(self) -> list[int]:
        """Return the file descriptors that become readable when it has something to say."""
        return [self.channel.fileno(), *([] if self.ended is None else [self.ended])]

    def has_room(self, request: Request) -> bool:
        """Say whether it can be sent a request now."""
        small = 3 * request.problem.A.nbytes <= LARGEST_AHEAD
        ahead = (MOST_AHEAD if self.quick else 2) if small else 1
        return self.about is not None and len(self.waiting) < ahead

    def send(self, request: Request) -> None:
        if not self.waiting:
            self.deadline = time.monotonic() + self.limits.timeout
        self.waiting.append(request)
        with contextlib.suppress(OSError):  # it has ended, which shows in a moment
            self.channel.send(request.message())

    def last_words(self) -> str:
        """Return the last lines that it printed since the stage began; it has ended."""
        with contextlib.suppress(OSError, ValueError):
            size = os.fstat(self.output.fileno()).st_size
            begin = max(self.printed if self.printed <= size else 0, size - 4000)
            text = os.pread(self.output.fileno(), 4000, begin)
            theirs = [line for line in text.splitlines() if not _is_ours(line)]
            return last_lines(b"\n".join(theirs))
        return ""

    def keep_output_small(self) -> None:
        """Forget what it printed where that is so much that the disk might fill up."""
        with contextlib.suppress(OSError):
            if os.fstat(self.output.fileno()).st_size > MOST_OUTPUT:
                os.ftruncate(self.output.fileno(), 0)

    def end(self) -> int:
        """Kill it and its process group; return how it ended."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        code = self.process.wait()
        self.channel.close()
        if self.ended is not None:
            os.close(self.ended)
        return code

    def tidy(self) -> None:
        self.output.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Workers:
    """Workers for one subject.

    Parameters
    ----------
    count : how many.
    limits : what each may use.
    """

    def __init__(self, subject: SubjectName, count: int, limits: Limits | None = None) -> None:
        self.subject = subject
        self.count = count
        self.limits = limits or Limits()
        self.mark = new_mark()
        self._started = 0
        self._workers: list[_Worker] = []
        self._again: deque[Request] = deque()
        self._failed_starts = 0
        self._next_look = 0.0
        self._selector = selectors.DefaultSelector()
        self.about: About | None = None
        end_orphans()
        remove_folders()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> About:
        """Load the subject in a first worker; raise `SubjectError` where it cannot be."""
        if not self._workers:
            self._start_one()
        while self.about is None:
            for _ in self._events(None):
                raise AssertionError("an answer before a question")
        return self.about

    def start_all(self) -> None:
        """Start all workers, and wait until each has loaded the subject."""
        self.start()
        while len(self._workers) < self.count:
            self._start_one()
        while any(worker.about is None for worker in self._workers):
            self.replies(0.1)

    def submit(self, request: Request) -> bool:
        """Hand over a request, if there is room for it."""
        self._send_again()
        return not self._again and self._send(request)

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._again or any(worker.waiting for worker in self._workers))

    def forget(self, numbers: Container[int]) -> None:
        """Drop requests that no worker has."""
        self._again = deque(request for request in self._again if request.number not in numbers)

    def replies(self, timeout: float) -> list[Reply]:
        """Return what was answered, after waiting for so many seconds at most if nothing was."""
        return list(self._events(timeout))

    def close(self) -> None:
        """End all workers, and whatever they started."""
        ended = list(self._workers)
        for worker in ended:
            self._end_one(worker)
        end_marked(self.mark)
        for worker in ended:
            worker.tidy()
        self._selector.close()

    def _start_one(self) -> None:
        self._started += 1
        worker = _Worker(self.subject, self.limits, f"{self.mark}.{self._started}.")
        self._workers.append(worker)
        for source in worker.sources():
            self._selector.register(source, selectors.EVENT_READ, worker)

    def _end_one(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        for source in worker.sources():
            self._selector.unregister(source)
        worker.end()

    def _send(self, request: Request) -> bool:
        """Send a request to the worker that has least to do; start one more if all are busy."""
        room = [worker for worker in self._workers if worker.has_room(request)]
        worker = min(room, key=lambda worker: len(worker.waiting), default=None)
        if len(self._workers) < self.count and (worker is None or worker.waiting):
            self._start_one()
        if worker is None:
            return False
        worker.send(request)
        return True

    def _send_again(self) -> None:
        while self._again and self._send(self._again[0]):
            self._again.popleft()

    def _events(self, timeout: float | None) -> Iterator[Reply]:
        self._send_again()
        now = time.monotonic()
        until = now + (0.5 if timeout is None else min(timeout, 0.5))
        until = min([until, *(w.deadline for w in self._workers if w.waiting or not w.about)])
        ready = self._selector.select(max(0.0, until - now))
        for worker in dict.fromkeys(key.data for key, _ in ready):
            yield from self._read(worker)
        now = time.monotonic()
        for worker in list(self._workers):
            if now >= worker.deadline and (worker.waiting or not worker.about):
                yield from self._timed_out(worker)
            elif worker.ended is None and worker.process.poll() is not None:
                yield from self._gone(worker)
        if now >= self._next_look:
            self._next_look = now + 0.2
            for worker in self._workers:
                worker.keep_output_small()

    def _read(self, worker: _Worker, *, last: bool = False) -> Iterator[Reply]:
        try:
            for fields, matrices in worker.channel.received():
                if worker.about is None:
                    self._loaded(worker, fields)
                else:
                    yield self._reply(worker, fields, matrices)
        except InputError:
            raise
        except (EOFError, OSError, ValueError, KeyError, TypeError, OverflowError):
            yield from self._gone(worker)
            return
        if worker.retired or last:
            yield from self._gone(worker)
        elif worker.process.poll() is not None:
            yield from self._read(worker, last=True)  # what it sent before it ended

    def _loaded(self, worker: _Worker, fields: dict[str, Any]) -> None:
        if "cannot" in fields:
            kind = InputError if fields["usage"] else SubjectError
            raise kind(fields["cannot"])
        worker.about = About(tuple(fields["takes"]), fields["identity"])
        self.about = self.about or worker.about
        if worker.about != self.about:
            raise SubjectError(f"{self.subject.name} has changed during the run; run it again")
        self._failed_starts = 0
        worker.deadline = time.monotonic() + self.limits.timeout

    def _reply(self, worker: _Worker, fields: dict[str, Any], matrices: dict[str, Any]) -> Reply:
        number = fields["number"]
        if not worker.waiting or worker.waiting[0].number != number:
            raise ValueError("an answer to no question")
        flags = tuple(Flag(flag) for flag in fields["flags"])
        seconds, output = float(fields["seconds"]), str(fields["output"])
        if "error" in fields or "unusable" in fields:
            unusable = "unusable" in fields
            error = printable(f"{fields['unusable']}." if unusable else fields["error"])
            outcome = Outcome.INVALID if unusable else Outcome(fields["outcome"])
            answer = Answer(None, None, error, outcome, output, seconds, flags)
        else:
            answer = Answer(matrices["W"], matrices["H"], seconds=seconds, flags=flags)
        worker.quick = seconds < QUICK
        worker.printed = int(fields["printed"])
        worker.retired = bool(fields["retires"])
        returned = tuple(map(str, fields.get("returned", ())))
        worker.waiting.popleft()
        worker.deadline = time.monotonic() + self.limits.timeout
        return Reply(number, answer, returned)

    def _timed_out(self, worker: _Worker) -> Iterator[Reply]:
        reason = f"did not answer within {self.limits.timeout:g} s"
        if worker.about is None:
            reason = f"was not ready within {START_LIMIT:g} s"
        yield from self._lost(worker, reason, Outcome.TIMEOUT)

    def _gone(self, worker: _Worker) -> Iterator[Reply]:
        """Deal with a worker that has ended by itself, or makes no sense."""
        if worker not in self._workers:
            return
        code = worker.process.poll()
        if code is None and not worker.retired:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = worker.process.wait(1)
        how = "closed its connection" if code is None else how_it_ended(code)
        yield from self._lost(worker, f"its process {how}", Outcome.CRASHED)

    def _lost(self, worker: _Worker, reason: str, outcome: Outcome) -> Iterator[Reply]:
        """Replace a worker, and answer for it; what only waited is asked again."""
        self._end_one(worker)
        end_marked(worker.mark)
        output = worker.last_words()
        worker.tidy()
        waiting = worker.waiting
        self._failed_starts += worker.about is None
        if self.about is None or self._failed_starts >= MOST_FAILED_STARTS:
            told = f"; it printed: {output}" if output else ""
            raise SubjectError(f"{self.subject.name} could not be loaded: {reason}{told}")
        if waiting and not worker.retired:
            culprit = waiting.popleft()
            seconds = self.limits.timeout if outcome is Outcome.TIMEOUT else float("nan")
            yield Reply(
                culprit.number,
                Answer(error=reason, outcome=outcome, output=output, seconds=seconds),
            )
        self._again = deque(sorted([*self._again, *waiting], key=lambda request: request.number))


def _is_ours(line: bytes) -> bool:
    """Say whether a line of a crash's traceback is about this program."""
    told = line.strip()
    frame = told.startswith(b"File ") and (_OWN_FILES in told or b"<frozen runpy>" in told)
    return frame or told.startswith(b"Extension modules:")


def request_all(workers: Workers, requests: Sequence[Request]) -> dict[int, Reply]:
    """Have all requests answered."""
    due, replies = deque(requests), dict[int, Reply]()
    while due or workers.busy:
        while due and workers.submit(due[0]):
            due.popleft()
        for reply in workers.replies(1.0):
            replies[reply.number] = reply
    return replies
