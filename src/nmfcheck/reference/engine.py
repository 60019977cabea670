"""The choice of engine: native code where it was built, NumPy otherwise."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import numpy as np

from ..arrays import Array, Ints
from ..errors import InputError
from .orbits import Progress

_missing = "the native engine was not built"
try:
    _native: Any = import_module("nmfcheck._native")
except ModuleNotFoundError:
    _native = None
except ImportError as error:  # built elsewhere, perhaps
    _native, _missing = None, f"the native engine cannot be loaded: {error}"

ENGINES = ("auto", "native", "numpy")

LARGEST_MATRIX = 2**22
"""Entries of a matrix, at most, that the native engine takes: it is made for small ones."""
MOST_ITERATIONS = 2**62
"""Iterations × problems, at most, that it can count."""


def fits(iterations: int, *stacks: Array) -> bool:
    """Say whether the native engine can take these problems."""
    largest = max(X.shape[-2] * X.shape[-1] for X in stacks)
    return largest <= LARGEST_MATRIX and iterations * len(stacks[0]) <= MOST_ITERATIONS


def chosen(engine: str) -> str:
    """Return which engine, ``native`` or ``numpy``, this choice means here."""
    if str(engine) not in ENGINES:
        raise InputError(f"no engine {engine!r}; expected one of {', '.join(ENGINES)}")
    if engine == "native" and _native is None:
        raise InputError(f"{_missing}; expected engine 'auto' or 'numpy'")
    if engine == "auto":
        return "numpy" if _native is None else "native"
    return engine


def cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def instruction_sets() -> list[str]:
    """Return the instruction sets that the native engine can use here, the best first."""
    return [] if _native is None else list(_native.instructions())


def instructions() -> str:
    """Return the instruction set that the native engine uses.

    The best that the machine has, or the one that NMFCHECK_INSTRUCTIONS names: for comparisons,
    and for the bits of a machine that has less.
    """
    available = instruction_sets()
    asked = os.environ.get("NMFCHECK_INSTRUCTIONS") or available[0]
    if asked not in available:
        raise InputError(
            f"NMFCHECK_INSTRUCTIONS is {asked!r}; this machine has {', '.join(available)}"
        )
    return asked


def description() -> str:
    """Say in a line which engine ``auto`` means here."""
    if chosen("auto") == "numpy":
        return f"NumPy ({_missing}), 1 thread"
    lanes = _native.lanes(instructions())
    threads = cores()
    return (
        f"native, {instructions()} ({lanes} problems at a time), "
        f"{threads} thread{'s' if threads > 1 else ''}"
    )


def run_native(
    algorithm: str,
    A: Array,
    W0: Array,
    H0: Array,
    iterations: int,
    *,
    close_orbits: bool,
    threads: int | None,
    progress: Progress,
) -> tuple[Array, Array, Ints]:
    """Run a stack of problems, shape (batch, …, …) each, on the native engine."""
    A, W0, H0 = (np.ascontiguousarray(X) for X in (A, W0, H0))
    W, H = np.empty_like(W0), np.empty_like(H0)
    ran: Ints = np.empty(len(A), dtype=np.int64)
    _native.run(
        instructions(),
        algorithm,
        A,
        W0,
        H0,
        W,
        H,
        ran,
        iterations,
        close_orbits,
        min(threads or cores(), 4 * cores(), len(A)),
        progress,
    )
    return W, H, ran
