"""Ending what a subject leaves running, even where it has left its process group.

Workers carry a mark in their environment, which every process that they start inherits.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

MARK = "NMFCHECK_WORKER"
FOLDER = "nmfcheck-"
"""What the names of workers' temporary folders begin with; the id of the run's process follows."""


def new_mark() -> str:
    """Return the mark of a new pool of workers; it names the process that the pool belongs to."""
    return f"{os.getpid()}-{secrets.token_hex(8)}"


def end_marked(mark: str) -> None:
    """Kill the processes whose mark begins so: those of a pool, or of one of its workers."""
    _end([process for process, its in _marked() if its.startswith(mark)])


def end_orphans() -> None:
    """Kill what runs that were killed have left behind."""
    _end([p for p, mark in _marked() if not psutil.pid_exists(int(mark.partition("-")[0]))])


def _marked() -> Iterator[tuple[psutil.Process, str]]:
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if match := re.fullmatch(r"\d+-[0-9a-f]{16}\.\d+\.", process.environ().get(MARK, "")):
                yield process, match[0]


def _end(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=2)


def remove_folders() -> None:
    """Remove the folders of runs that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER}*-*"):
        owner = folder.name.removeprefix(FOLDER).partition("-")[0]
        if owner.isdigit() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)
