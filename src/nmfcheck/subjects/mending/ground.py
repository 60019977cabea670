"""What edits start from: which statements of a subject ran, and of what kind its variables were."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ..watching.factors import variables

LOOKS = 64
"""After so many lines the clock is looked at."""

Kind = tuple[object, ...]
"""What a variable must have in common with another one that may stand for it: type and shape."""


class EnoughError(BaseException):
    """Ends a run that takes too long; subjects catch exceptions of other kinds."""


@dataclass
class Ground:
    """A function of a subject, as a run left it.

    Attributes
    ----------
    lines : those that ran.
    kinds : of its variables, and of the attributes of its object, such as ``self.tol``.
    """

    code: CodeType
    lines: set[int] = field(default_factory=set)
    kinds: dict[str, Kind] = field(default_factory=dict)


def kind_of(value: Any) -> Kind | None:
    """Return of what kind a value is; None where nothing else can stand for it."""
    if type(value) is np.ndarray:
        return "array", value.shape, value.dtype.kind
    if isinstance(value, bool | np.bool_):
        return ("bool",)
    if isinstance(value, int | np.integer):
        return ("int",)
    if isinstance(value, float | np.floating):
        return ("float",)
    return None


def kinds_of(found: Mapping[str, Any]) -> dict[str, Kind]:
    """Return the kinds of some variables."""
    kinds = ((name, kind_of(value)) for name, value in variables(found))
    return {name: kind for name, kind in kinds if kind is not None}


@contextmanager
def surveyed(
    own: Callable[[str], bool], grounds: dict[CodeType, Ground], seconds: float
) -> Iterator[None]:
    """Note what runs of some files, and what its variables are like when it returns.

    Parameters
    ----------
    seconds : a run that takes longer is ended.
    """
    before, until, count = sys.gettrace(), time.monotonic() + seconds, 0

    def called(frame: FrameType, event: str, _: Any) -> Any:
        if event != "call" or not own(frame.f_code.co_filename):
            return None
        ground = grounds.setdefault(frame.f_code, Ground(frame.f_code))

        def follow(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal count
            if event == "line":
                ground.lines.add(frame.f_lineno)
                count += 1
                if not count % LOOKS and time.monotonic() > until:
                    ground.kinds |= kinds_of(frame.f_locals)
                    raise EnoughError
            elif event == "return":
                ground.kinds |= kinds_of(frame.f_locals)
            return follow

        return follow

    sys.settrace(called)
    try:
        yield
    except EnoughError:
        pass
    finally:
        sys.settrace(before)
