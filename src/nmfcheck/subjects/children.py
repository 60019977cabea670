"""Child processes that do not outlive their parent."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def dying_with_parent() -> Callable[[], object]:
    """Return a function for a child process to call.

    It has the kernel end the process when its parent ends, however that does (Linux only).
    """
    if sys.platform != "linux":
        return lambda: None
    import ctypes  # late: few need it

    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
