"""Puts an edit into the running subject: functions get the code that they would have with it."""

from __future__ import annotations

import ast
import gc
import linecache
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from .edit import Edit
from .guard import computing_only

Key = tuple[str, int]
"""A function by its qualified name, and by the how manieth of that name it is."""


class UnfitError(Exception):
    """An edit that cannot be put in: it is no Python, or what it changes is not there."""


@dataclass(frozen=True)
class Part:
    """What stands at the top level of a file: a function, a class or a constant."""

    node: ast.stmt
    first: int
    last: int


@lru_cache(maxsize=64)
def lines_of(file: str) -> list[bytes]:
    """Return the lines of a file."""
    return [line.encode() for line in linecache.getlines(file)]


@lru_cache(maxsize=64)
def parts(file: str) -> list[Part]:
    """Return what stands at the top level of a file."""
    tree = ast.parse(_decoded(lines_of(file)))
    return [
        Part(node, min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]),
             node.end_lineno or node.lineno)
        for node in tree.body
    ]  # fmt: skip


def _decoded(lines: Sequence[bytes]) -> str:
    """Return the text of lines, whatever encoding the file itself is in."""
    return b"".join(lines).decode()


@lru_cache(maxsize=16)
def _functions(file: str) -> list[FunctionType]:
    """Return the functions of a file that there are; it takes long to look for them."""
    return [
        thing
        for thing in gc.get_objects()
        if type(thing) is FunctionType and thing.__code__.co_filename == file
    ]


def forget() -> None:
    """Look for functions anew: where a subject is loaded again in one process."""
    _functions.cache_clear()


@contextmanager
def swapped(edit: Edit) -> Iterator[None]:
    """Run a subject with an edit in place; raise `UnfitError` where that cannot be.

    Meanwhile it is to compute, and to do nothing else.
    """
    undo: Undo = []
    try:
        try:
            _put(edit, undo)
        except (SyntaxError, ValueError, TypeError, RecursionError) as error:
            raise UnfitError(str(error)) from None
        if not undo:
            raise UnfitError("nothing that runs is changed")
        with computing_only():
            yield
    finally:
        for thing, name, value in undo:
            if isinstance(thing, dict):
                thing[name] = value
            else:
                setattr(thing, name, value)


Undo = list[tuple[Any, str, Any]]
"""Attributes of functions and constants of modules, with what they were."""


def _put(edit: Edit, undo: Undo) -> None:
    """Change functions or a constant, and note what they were.

    Only where the file is still what was loaded: compiled again, it has the functions that run.
    """
    part = next((p for p in parts(edit.file) if p.first <= edit.begin[0] <= p.last), None)
    if part is None:
        raise UnfitError("it is nowhere in the file")
    lines = lines_of(edit.file)
    added = len(edit.applied(lines)) - len(lines)
    text = edit.applied(lines)[part.first - 1 : part.last + added]
    tree = ast.parse("\n" * (part.first - 1) + _decoded(text))
    alive = _functions(edit.file)
    if isinstance(part.node, ast.Assign):
        _constant(part.node, tree.body[0], alive, undo)
        return
    flags = alive[0].__code__.co_flags & _FUTURE if alive else 0
    old = _by_key(_compiled(part.node, edit.file, flags))
    new = _by_key(_compiled(tree.body[0], edit.file, flags))
    defaults = _defaults(part.node, tree.body[0])
    for function in alive:
        code = function.__code__
        key = next((key for key, of in old.items() if _same(of, code)), None)
        if key not in new or key is None:
            continue
        if code not in _as_it_stands(edit.file):
            raise UnfitError("its file has changed since it was loaded")
        # A closure that lives cannot have other free variables; what makes it makes new ones.
        if new[key] != old[key] and len(new[key].co_freevars) == len(code.co_freevars):
            undo.append((function, "__code__", code))
            function.__code__ = new[key]
        if given := defaults.get(code.co_firstlineno):
            undo += _with_defaults(function, given)


_FUTURE = 0x1FE0000
"""The flags of code that say which `__future__` it was compiled with."""


def _compiled(node: ast.stmt, file: str, flags: int) -> CodeType:
    module = ast.Module([node], [])
    code: CodeType = compile(module, file, "exec", flags=flags, dont_inherit=True)
    return code


@lru_cache(maxsize=16)
def _as_it_stands(file: str) -> frozenset[CodeType]:
    """Return the code of all functions of a file as a whole: what it imports makes a difference."""
    whole = compile(_decoded(lines_of(file)), file, "exec", dont_inherit=True)
    return frozenset(_by_key(whole).values())


def _same(one: CodeType, other: CodeType) -> bool:
    """Say whether two pieces of code stand in one place."""
    first = one.co_firstlineno == other.co_firstlineno
    return first and one.co_qualname == other.co_qualname


def _by_key(code: CodeType) -> dict[Key, CodeType]:
    """Return the functions within some code, outer ones first."""
    found: dict[Key, CodeType] = {}

    def walk(outer: CodeType) -> None:
        for inner in outer.co_consts:
            if isinstance(inner, CodeType):
                nth = sum(name == inner.co_qualname for name, _ in found)
                found[inner.co_qualname, nth] = inner
                walk(inner)

    walk(code)
    return found


def _constant(old: ast.Assign, new: ast.stmt, alive: Sequence[FunctionType], undo: Undo) -> None:
    """Change a constant of a module, where it still is what the file says."""
    (target,) = old.targets
    if not (isinstance(target, ast.Name) and isinstance(new, ast.Assign)):
        raise UnfitError("that is no constant")
    before, value = ast.literal_eval(old.value), ast.literal_eval(new.value)
    name = target.id
    for names in {id(each.__globals__): each.__globals__ for each in alive}.values():
        if name in names and names[name] == before:
            undo.append((names, name, names[name]))
            names[name] = value


Function = ast.FunctionDef | ast.AsyncFunctionDef


def _defaults(old: ast.stmt, new: ast.stmt) -> dict[int, list[tuple[str, Any]]]:
    """Return the defaults that an edit changes, by the first line of the function."""
    changed: dict[int, list[tuple[str, Any]]] = {}
    functions = [[n for n in ast.walk(tree) if isinstance(n, Function)] for tree in (old, new)]
    for one, other in zip(*functions, strict=False):
        pairs = zip(defaults_of(one), defaults_of(other), strict=True)
        given = [
            (name, ast.literal_eval(after))
            for (name, before), (_, after) in pairs
            if ast.dump(before) != ast.dump(after)
        ]
        if given:
            first = min([one.lineno, *(d.lineno for d in one.decorator_list)])
            changed[first] = given
    return changed


def defaults_of(node: Function) -> list[tuple[str, ast.expr]]:
    """Return the parameters of a function that have a default, with it."""
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    pairs = list(
        zip(positional[len(positional) - len(spec.defaults) :], spec.defaults, strict=True)
    )
    pairs += [(a, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d]
    return [(a.arg, d) for a, d in pairs]


def _with_defaults(function: FunctionType, given: Sequence[tuple[str, Any]]) -> Undo:
    """Give a function other defaults."""
    undo: Undo = [
        (function, "__defaults__", function.__defaults__),
        (function, "__kwdefaults__", function.__kwdefaults__),
    ]
    code = function.__code__
    positional = list(function.__defaults__ or ())
    names = code.co_varnames[: code.co_argcount][code.co_argcount - len(positional) :]
    named = dict(function.__kwdefaults__ or {})
    for name, value in given:
        if name in names:
            positional[names.index(name)] = value
        elif name in named:
            named[name] = value
    function.__defaults__ = tuple(positional) or None
    function.__kwdefaults__ = named or None
    return undo
