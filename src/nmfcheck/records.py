"""Records, of which every stage makes some: how often Python looks through them for garbage.

They are dataclasses with slots, and nobody changes one that was handed on; but they are not frozen,
for a frozen one takes twice as long to make.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

NEW_OBJECTS = 10_000
"""After so many new objects, and not after 700, Python's collector looks through them."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Let Python's collector run less often: records pile up, and none of them is garbage.

    It is not switched off, nor are the records frozen: a subject that runs in this process may
    leave cycles of its own, which are found as ever, only later.
    """
    before = gc.get_threshold()
    if 0 < before[0] < NEW_OBJECTS:  # 0: somebody has switched it off
        gc.set_threshold(NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
