"""The source of a subject: which files are its own, and which statement a line belongs to."""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

LONGEST = 90
"""So much of a statement is shown."""

OURS = Path(__file__).resolve().parents[2]
"""Nothing in here is a subject's own."""


@dataclass(frozen=True)
class Line:
    """A statement: the number of its first line, and what stands there."""

    number: int
    text: str

    def as_data(self) -> list[Any]:
        """Return what JSON can hold."""
        return [self.number, self.text]

    @classmethod
    def from_data(cls, data: Any) -> Line:
        """Return the line that `as_data` wrote down."""
        number, text = data
        return cls(int(number), str(text))


def code_of(thing: Any) -> CodeType | None:
    """Return the code of what a subject calls: of a function, or of an estimator's `fit`."""
    for name in ("fit_transform", "fit"):
        method = getattr(thing, name, None)
        if method is not None:
            return getattr(inspect.unwrap(method), "__code__", None)
    called: Any = thing
    if not (inspect.isfunction(thing) or inspect.ismethod(thing)) and not isinstance(thing, type):
        called = getattr(thing, "func", None) or type(thing).__call__
    try:
        return getattr(inspect.unwrap(called), "__code__", None)
    except ValueError:
        return None


def is_ours(code: CodeType) -> bool:
    """Say whether code is this program's, such as an adapter's."""
    return OURS in Path(code.co_filename).parents


def own_files(code: CodeType) -> Callable[[str], bool]:
    """Say which files are watched: those in the folder of a library's module, or one file."""
    file = Path(code.co_filename)
    whole = (file.parent / "__init__.py").exists()

    @cache
    def own(name: str) -> bool:
        return name == code.co_filename or (whole and Path(name).parent == file.parent)

    return own


@lru_cache(maxsize=64)
def _tree(file: str) -> ast.Module:
    """Return what stands in a file; nothing where that is no Python."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


@lru_cache(maxsize=64)
def statements(file: str) -> dict[int, Line]:
    """Return, for each line of a file, the statement that it belongs to; nothing without source."""
    lines = linecache.getlines(file)
    found: dict[int, Line] = {}
    conditions = {
        id(inner): node
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.If)
        for inner in node.body
        if isinstance(inner, ast.Break | ast.Return | ast.Continue | ast.Raise)
    }
    for node in ast.walk(_tree(file)):  # the innermost come last
        if isinstance(node, ast.stmt | ast.ExceptHandler):
            last = node.end_lineno or node.lineno
            body = getattr(node, "body", None)
            if isinstance(body, list) and body:  # of what has a body, the head
                last = max(node.lineno, min(last, body[0].lineno - 1))
            head = conditions.get(id(node))
            begin = node.lineno if head is None else head.lineno  # why it is left, as well
            text = " ".join(" ".join(lines[begin - 1 : last]).split())
            line = Line(node.lineno, text if len(text) <= LONGEST else text[: LONGEST - 1] + "…")
            found |= dict.fromkeys(range(node.lineno, last + 1), line)
    return found


@dataclass(frozen=True)
class Touched:
    """The variables that a statement reads, and those that it sets or changes, `out=` as well.

    Attributes
    ----------
    given : those that it gives to a call whose result it does not use, which may change them.
    again : whether it changes what it sets, as `+=` does.
    """

    read: frozenset[str]
    set: frozenset[str]
    given: frozenset[str] = frozenset()
    again: bool = False


@lru_cache(maxsize=64)
def touched(file: str) -> dict[int, Touched]:
    """Return what the statements of a file without a body read and set, by their first lines."""
    found: dict[int, Touched] = {}
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Return):
            targets = (
                node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            )
            changed = {
                name.id
                for target in targets
                if target is not None
                for name in ast.walk(target)
                if isinstance(name, ast.Name)
            }
            value = node.value
            inside = list(ast.walk(value)) if value is not None else []
            out = {
                id(x.value): x.value
                for x in inside
                if isinstance(x, ast.keyword) and x.arg == "out"
            }
            given = [name for target in out.values() for name in ast.walk(target)]
            outs = {id(name) for name in given}
            changed |= {name.id for name in given if isinstance(name, ast.Name)}
            read = {x.id for x in inside if isinstance(x, ast.Name) and id(x) not in outs}
            given_to = read if isinstance(node, ast.Expr) else ()
            again = isinstance(node, ast.AugAssign)
            found[node.lineno] = Touched(
                frozenset(read), frozenset(changed), frozenset(given_to), again
            )
    return found


@lru_cache(maxsize=64)
def returns(file: str) -> frozenset[int]:
    """Return the first lines of the statements of a file that return something."""
    return frozenset(node.lineno for node in ast.walk(_tree(file)) if isinstance(node, ast.Return))


@lru_cache(maxsize=64)
def loops(file: str) -> list[tuple[int, int]]:
    """Return the first and the last line of each loop of a file."""
    nodes = (node for node in ast.walk(_tree(file)) if isinstance(node, ast.For | ast.While))
    return [(node.lineno, node.end_lineno or node.lineno) for node in nodes]


def parameters(code: CodeType) -> tuple[str, ...]:
    """Return the names of a function's parameters."""
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def unread(code: CodeType) -> tuple[str, ...]:
    """Return the parameters of a function that nothing in it reads."""
    read = set(_read(code))
    return tuple(name for name in parameters(code) if name not in read)


def _read(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        name, names = instruction.opname, instruction.argval
        if name.startswith(("LOAD", "DELETE")):
            yield from [names] if isinstance(names, str) else map(str, _several(names))
        elif name == "STORE_FAST_LOAD_FAST":  # of Python 3.13
            yield from map(str, list(_several(names))[1:])
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _read(inner)


def _several(names: Any) -> Iterator[Any]:
    return iter(names) if isinstance(names, tuple) else iter(())
