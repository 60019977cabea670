"""Records, of which every stage makes some: made quickly, and seldom looked through for garbage.

They are dataclasses with slots, and nobody changes one that was handed on; but they are not frozen,
for a frozen one takes twice as long to make.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, TypeVar

Record = TypeVar("Record")

NEW_OBJECTS = 10_000
"""After so many new objects, and not after 700, Python's collector looks through them."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Let Python's collector run less often: records pile up, and none of them is garbage.

    It is not switched off: a subject that runs in this process may
    leave cycles of its own, which are found as ever, only later.
    """
    before = gc.get_threshold()
    if 0 < before[0] < NEW_OBJECTS:  # 0: somebody has switched it off
        gc.set_threshold(NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def maker(record: type[Record]) -> Callable[..., Record]:
    """Return a function that makes a dataclass with slots from all its fields, in order.

    It takes half the time of calling the class, which packs and unpacks the arguments: for what is
    made of every stage.
    """
    names = [field.name for field in fields(record)]  # type: ignore[arg-type]
    lines = "".join(f"    record.{name} = {name}\n" for name in names)
    known: dict[str, Any] = {"new": object.__new__, "class_": record}
    text = f"def made({', '.join(names)}):\n    record = new(class_)\n{lines}    return record\n"
    exec(text, known)  # as dataclasses do
    made: Callable[..., Record] = known["made"]
    return made
