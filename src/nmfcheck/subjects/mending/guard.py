"""While an edit is in place, a subject can compute and read, and do nothing else.

With another condition, number or argument a program may delete, write or start what nobody asked
for. So whatever Python audits that would leave a trace is refused meanwhile, and memory is bounded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MEMORY = 1 << 30
"""So many bytes more than it has a process may take."""

ACTING = (
    "os.", "shutil.", "subprocess.", "socket.", "tempfile.", "sqlite3.", "urllib.", "http.",
    "ftplib.", "smtplib.", "imaplib.", "poplib.", "telnetlib.", "webbrowser.", "pty.", "fcntl.",
    "msvcrt.", "winreg.", "syslog.", "signal.", "mmap.",
)  # fmt: skip
"""How events begin that stand for more than computing."""

HARMLESS = frozenset({"os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr",
                      "os.listxattr", "tempfile.gettempdir"})  # fmt: skip

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_refused: list[bool] = []
"""Holds something while only computing is allowed; hooks cannot be taken out again."""

_hooked: list[bool] = []


class RefusedError(PermissionError):
    """Something else than computing was tried with an edit in place."""


@contextmanager
def computing_only() -> Iterator[None]:
    """Refuse all that leaves a trace, and bound the memory."""
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked.append(True)
    _refused.append(True)
    try:
        with _bounded():
            yield
    finally:
        _refused.pop()


@contextmanager
def _bounded() -> Iterator[None]:
    """Bound the memory, where the system says how much there is."""
    if sys.platform != "linux":
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    bound = mapped * resource.getpagesize() + MEMORY
    if soft == resource.RLIM_INFINITY or bound < soft:
        resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _refused and acts(event, args):
        raise RefusedError(f"{event} is not allowed while a change is tried")


def acts(event: str, args: tuple[Any, ...]) -> bool:
    """Say whether what Python audits does more than compute, or read."""
    if event == "open":
        path, _, flags = args
        return bool(flags & WRITING) and path != os.devnull
    return event.startswith(ACTING) and event not in HARMLESS
