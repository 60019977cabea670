"""One worker process, as its parent sees it."""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from ..subjects import Subject, SubjectName
from ..subjects.problem import last_lines
from .forked import Forked
from .leftovers import FOLDER, MARK
from .messages import Channel, encode
from .protocol import About, Limits, Request

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

LARGEST_AHEAD = 1 << 15
"""A larger message is not sent before the worker is ready to read it."""

MOST_AHEAD = 8
"""So many problems a worker gets ahead whose subject answers at once."""

SEND_LIMIT = 5
"""Seconds that a message may take to be sent; a worker that does not read is stuck."""

MOST_OUTPUT, LAST_WORDS = 1 << 24, 1 << 14
_OWN_FILES = os.fsencode(Path(__file__).parent.parent)


class Worker:
    """One worker process, as its parent sees it."""

    def __init__(self, subject: SubjectName | Subject, limits: Limits, mark: str) -> None:
        self.limits, self.mark = limits, mark
        self.folder = Path(tempfile.mkdtemp(prefix=f"{FOLDER}{os.getpid()}-"))
        self.output = (self.folder / "output").open("ab+")
        self.waiting: deque[Request] = deque()
        self.about: About | None = None
        self.printed = 0
        self.retired = False
        self.quick = False
        self.trying = ""
        ours, theirs = socket.socketpair()
        temporary = self.folder / "tmp"
        temporary.mkdir()
        marked = {"TMPDIR": str(temporary), MARK: mark}
        if isinstance(subject, SubjectName):
            self.process: subprocess.Popen[bytes] | Forked = _spawned(theirs, self.output, marked)
        else:
            self.process = Forked(lambda: _serve(theirs, subject, self.output, marked))
        theirs.close()
        self.channel = Channel(ours, SEND_LIMIT)
        self.ended: int | None = None
        with contextlib.suppress(AttributeError, OSError):  # not every system has it
            self.ended = os.pidfd_open(self.process.pid)
        self.deadline = time.monotonic() + START_LIMIT
        with contextlib.suppress(OSError):  # it may have ended already, which shows later
            self.channel.send(encode(_setup(subject, limits)))

    def sources(self) -> list[int]:
        """Return the file descriptors that become readable when it has something to say."""
        return [self.channel.fileno(), *([] if self.ended is None else [self.ended])]

    def has_room(self, request: Request) -> bool:
        """Say whether it can be sent a request now."""
        small = 3 * request.problem.A.nbytes <= LARGEST_AHEAD
        ahead = (MOST_AHEAD if self.quick else 2) if small else 1
        return self.about is not None and len(self.waiting) < ahead

    def send(self, request: Request) -> None:
        """Send a request; the time limit of the first one begins."""
        if not self.waiting:
            self.deadline = time.monotonic() + self.limits.timeout
        self.waiting.append(request)
        with contextlib.suppress(OSError):  # it has ended, which shows in a moment
            self.channel.send(message_of(request))

    def last_words(self) -> str:
        """Return the last lines that it printed since the stage began; it has ended."""
        with contextlib.suppress(OSError, ValueError):
            size = os.fstat(self.output.fileno()).st_size
            begin = max(self.printed if self.printed <= size else 0, size - LAST_WORDS)
            text = os.pread(self.output.fileno(), LAST_WORDS, begin)
            return last_lines(b"\n".join(_of_the_subject(text.splitlines())))
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
        if self.process.poll() is None:  # just forked, it may have no group of its own yet
            os.kill(self.process.pid, signal.SIGKILL)
        code = self.process.wait()
        self.channel.close()
        if self.ended is not None:
            os.close(self.ended)
        return code

    def tidy(self) -> None:
        """Remove its files."""
        self.output.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _setup(subject: SubjectName | Subject, limits: Limits) -> dict[str, Any]:
    """Return what a worker has to know before it can load its subject."""
    setup: dict[str, Any] = {"memory": limits.memory}
    if isinstance(subject, SubjectName):
        path = ["", *(entry for entry in sys.path if entry)]
        setup |= {"name": subject.name, "options": dict(subject.options), "path": path}
    return setup


def _spawned(
    theirs: socket.socket, output: IO[bytes], marked: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Start a worker that loads its subject by name."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "nmfcheck.executors.worker", str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,  # Ctrl-C is not for it, and its children can be found
        env={**os.environ, **_environment(marked)},
    )


def _environment(marked: dict[str, str]) -> dict[str, str]:
    """Return what is set in the environment of a worker."""
    return {
        **dict.fromkeys(ONE_THREAD, "1"),
        "PYTHONUNBUFFERED": "1",
        "PYTHONHASHSEED": "0",  # the order of sets is not to differ between workers
        **marked,
    }


def _serve(
    theirs: socket.socket, subject: Subject, output: IO[bytes], marked: dict[str, str]
) -> None:
    """Be a worker, in a process that was forked with its subject."""
    from . import worker  # late: only forked workers need it in this process

    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as in any new process
    for stream in (1, 2):
        os.dup2(output.fileno(), stream)
    _cut_off({1, 2, theirs.fileno()})
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout, sys.stderr = (_unbuffered(stream) for stream in (1, 2))
    faulthandler.enable(2, all_threads=False)
    os.environ |= _environment(marked)
    tempfile.tempdir = None  # asked for again, of the environment
    worker.serve(theirs, subject)


def _cut_off(kept: set[int]) -> None:
    """Let the other files that were open at the fork be nothing, whatever is done to them here.

    They are the store's, and those of other workers. Their numbers stay taken, for there still are
    objects that would close them one day.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for file in [int(name) for name in os.listdir("/proc/self/fd")]:  # noqa: PTH208
        if file not in kept | {nothing}:
            os.dup2(nothing, file, inheritable=file == 0)


def _unbuffered(file: int) -> io.TextIOWrapper:
    """Return a stream of which nothing is lost when the process ends at once."""
    raw = open(file, "wb", buffering=0, closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(raw, "utf-8", "backslashreplace", write_through=True)


def message_of(request: Request) -> bytes:
    """Return what is sent of a request."""
    p = request.problem
    fields: dict[str, Any] = {
        "number": request.number,
        "rank": p.rank,
        "seed": p.seed,
        "objective": p.objective,
        "random": request.random,
        "order": request.order,
    }
    if request.watched:
        fields["watched"] = True
    if request.mending is not None:
        fields["mending"] = request.mending.as_data()
    if request.law:
        fields |= {"law": request.law, "example": request.example, "seconds": request.seconds}
    return encode(fields, A=p.A, W0=p.W0, H0=p.H0)


def _of_the_subject(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Return what is not about this program; of a crash's traceback, what is within it."""
    crashed = False
    for line in lines:
        crashed |= b"(most recent call first)" in line
        if not _is_ours(line):
            yield line
        elif crashed:
            return


def _is_ours(line: bytes) -> bool:
    """Say whether a line of a crash's traceback is about this program."""
    stripped = line.strip()
    frame = stripped.startswith(b"File ") and (
        _OWN_FILES in stripped or b"<frozen runpy>" in stripped
    )
    return frame or stripped.startswith(b"Extension modules:")
