"""Laws alone: all of them on a subject, or one example again."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from ..errors import InputError
from ..executors.inline import InlineExecutor
from ..executors.lawful import answered, request_of, result_of, try_laws
from ..executors.local import LocalExecutor
from ..executors.protocol import Executor, Limits
from ..laws import Example, LawResult, find
from ..laws.trying import PREFIX
from ..subjects import SubjectName, reference_subject

MOST_ITERATIONS = 10**4
"""Of a reference, unless told otherwise."""


def opened(stack: ExitStack, name: SubjectName, limits: Limits) -> Executor:
    """Return an executor for a subject: here for a reference, a worker for anything else."""
    executor: Executor
    if name.is_reference:
        solver = reference_subject(name.name, name.options, at_most=MOST_ITERATIONS)
        executor = stack.enter_context(InlineExecutor(solver))
    else:
        executor = stack.enter_context(LocalExecutor(name, 1, limits))
    executor.start()
    return executor


def try_all(
    name: SubjectName, laws: Sequence[str], objective: str, limits: Limits, budget: float
) -> list[LawResult]:
    """Try laws on a subject."""
    with ExitStack() as stack:
        executor = opened(stack, name, limits)
        return list(try_laws(executor, laws, objective, budget))


def is_of_law(id_: str) -> bool:
    """Say whether an id is that of an example of a law."""
    return id_.startswith(PREFIX)


def try_again(
    id_: str, name: SubjectName, objective: str, limits: Limits
) -> tuple[LawResult, Sequence[dict[str, Any]]]:
    """Try one example of a law; return what came of it, and the calls that were made."""
    law, _, example = id_.removeprefix(PREFIX).partition("/")
    find(law)
    if not example:
        raise InputError(f"{id_!r} names no example; expected one such as law/scale/5x4/k=2#0")
    Example.from_id(example)
    with ExitStack() as stack:
        executor = opened(stack, name, limits)
        reply = answered(executor, request_of(0, law, objective, example))
    return result_of(find(law), reply), reply.calls
