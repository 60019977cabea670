"""While an edit is in place, a subject is to compute and read, and to do nothing else.

With another condition, number or argument a program may delete, write or start what nobody asked
for. So whatever Python audits that would leave a trace is refused meanwhile, nothing can be written
to a file, and memory is bounded. What Python does not audit is not seen: a
file that was opened before may be cut off, libraries may do what they like. `acting.py` therefore
says which functions are not changed to begin with.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MEMORY = 1 << 30
"""So many bytes more than it has a process may take."""

ACTING = (
    "os.", "shutil.", "subprocess.", "socket.", "tempfile.", "sqlite3.", "urllib.", "http.",
    "ftplib.", "smtplib.", "imaplib.", "poplib.", "telnetlib.", "webbrowser.", "pty.", "fcntl.",
    "msvcrt.", "winreg.", "syslog.", "signal.",
)  # fmt: skip
"""How events begin that stand for more than computing."""

HARMLESS = frozenset({"os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr",
                      "os.listxattr", "os.putenv", "os.unsetenv"})  # fmt: skip

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_running: list[list[str]] = []
"""What was refused to each run while only computing is allowed; hooks cannot be taken out again."""

_bound: list[int] = []
"""How much memory the process may have at most, once that is known."""

_hooked: list[bool] = []


class OnlyComputingError(PermissionError):
    """Something else than computing was tried with an edit in place."""


@contextmanager
def computing_only() -> Iterator[list[str]]:
    """Refuse all that leaves a trace, and bound the memory; give what was refused.

    Where a run leaves threads behind, it stays so for the rest of the process.
    """
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked.append(True)
    threads, environment = set(threading.enumerate()), dict(os.environ)
    refused: list[str] = []
    with _silent():
        _running.append(refused)
        try:
            with _bounded():
                yield refused
        finally:
            if set(threading.enumerate()) <= threads:
                _running.pop()
            if environment != dict(os.environ):
                os.environ.clear()
                os.environ.update(environment)


@contextmanager
def _silent() -> Iterator[None]:
    """Send what is printed nowhere: a file that it goes to could not be written."""
    kept = [os.dup(1), os.dup(2)]
    _flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        _flush()
        for fd, was in enumerate(kept, 1):
            os.dup2(was, fd)
            os.close(was)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.flush()


@contextmanager
def _bounded() -> Iterator[None]:
    """Bound the memory of the process, once and for all runs, and all files at no bytes."""
    if sys.platform != "linux":
        yield
        return
    import resource

    if not _bound:
        mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        _bound.append(mapped * resource.getpagesize() + MEMORY)
    before = {}
    for limit, most in ((resource.RLIMIT_AS, _bound[0]), (resource.RLIMIT_FSIZE, 0)):
        soft, hard = before[limit] = resource.getrlimit(limit)
        if soft == resource.RLIM_INFINITY or most < soft:
            resource.setrlimit(limit, (most, hard))
    try:
        yield
    finally:
        for limit, was in before.items():
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(limit, was)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _running and acts(event, args):
        _running[-1].append(event)
        raise OnlyComputingError(f"{event} is not allowed while a change is tried")


def acts(event: str, args: tuple[Any, ...]) -> bool:
    """Say whether what Python audits does more than compute, or read."""
    if event == "open":
        path, _, flags = args
        return bool(flags & WRITING) and path != os.devnull
    return event.startswith(ACTING) and event not in HARMLESS
