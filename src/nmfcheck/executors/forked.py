"""A process forked from this one, with what `subprocess.Popen` offers of it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable


class Forked:
    """A child process that calls a function and ends; nothing of this process runs in it after.

    Parameters
    ----------
    work : what it calls.
    """

    def __init__(self, work: Callable[[], None]) -> None:
        self.returncode: int | None = None
        # What waits there is not to be written twice.
        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
            with contextlib.suppress(AttributeError, ValueError, OSError):
                stream.flush()  # type: ignore[union-attr]
        with warnings.catch_warnings():
            # Newer Pythons warn of threads. Those of NumPy's libraries are made for a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                for number in signal.valid_signals():
                    if callable(signal.getsignal(number)):  # handlers of this process
                        signal.signal(number, signal.SIG_DFL)
                work()
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)

    def poll(self) -> int | None:
        """Return how it ended, or None while it runs."""
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # somebody else was told how: it has ended
                self.returncode = 0
            else:
                if pid == self.pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends; raise `subprocess.TimeoutExpired` after so many seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() >= deadline:
                raise subprocess.TimeoutExpired("forked worker", timeout or 0.0)
            time.sleep(0.002)
        return code
