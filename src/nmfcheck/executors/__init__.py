"""Executors: where a subject runs. `protocol.py` says what one is; inline and local are two."""

from .inline import InlineExecutor
from .local import LocalExecutor
from .protocol import About, Executor, Limits, Reply, Request

__all__ = [
    "About",
    "Executor",
    "InlineExecutor",
    "Limits",
    "LocalExecutor",
    "Reply",
    "Request",
]
