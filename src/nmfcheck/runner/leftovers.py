"""Ending what a subject leaves running, even where it has left its process group.

Workers carry a mark in their environment, which every process that they start inherits.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import psutil

MARK = "NMFCHECK_WORKER"


def end_marked(mark: str, except_under: Iterable[int] = ()) -> int:
    """Kill the processes with this mark, but not these workers and their descendants."""
    spared, marked = set(except_under), []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark:
                marked.append(process)
    ended = [process for process in marked if not spared & _line(process)]
    for process in ended:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(ended, timeout=2)
    return len(ended)


def _line(process: psutil.Process) -> set[int]:
    """Return the ids of a process and of those that it descends from."""
    with contextlib.suppress(psutil.Error):
        return {process.pid, *(parent.pid for parent in process.parents())}
    return {process.pid}
