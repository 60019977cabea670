"""Functions that may do more than compute: they are never changed, nor are those that call them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from .swapping import Function, parts

NAMES = frozenset({
    "open", "exec", "eval", "system", "popen", "Popen", "remove", "unlink", "rmdir", "rmtree",
    "rename", "write", "write_text", "write_bytes", "save", "savez", "savetxt", "dump", "to_csv",
    "tofile", "mkdir", "makedirs", "kill", "socket", "connect", "urlopen", "request", "subprocess",
    "shutil", "memmap", "truncate", "symlink", "chmod", "exit", "_exit", "abort",
})  # fmt: skip
"""A function in which one of these names stands is left alone."""


def acting(own: Callable[[str], bool], ran: Iterable[str]) -> frozenset[str]:
    """Return the names that a function must not have in it, if it is to be changed.

    Those of `NAMES`, and of all functions of a subject's own files that have such a name in them:
    with another condition or another argument they may do what nobody asked for.

    Parameters
    ----------
    own : says which files are a subject's own.
    ran : files of which something ran; those of modules that are loaded are looked at as well.
    """
    loaded = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    files = {*ran, *(file for file in loaded if file and file.endswith(".py") and own(file))}
    names = {node: mentioned(node) for file in files for node in _functions(file)}
    found = set(NAMES)
    while True:
        more = {node.name for node, inside in names.items() if not inside.isdisjoint(found)}
        if more <= found:
            return frozenset(found)
        found |= more


@lru_cache(maxsize=1024)
def mentioned(node: ast.AST) -> frozenset[str]:
    """Return the names of variables, functions, attributes and methods that stand somewhere."""
    pieces = ast.walk(node)
    return frozenset(str(getattr(each, "attr", getattr(each, "id", ""))) for each in pieces)


def _functions(file: str) -> Iterator[Function]:
    try:
        tops = parts(file)
    except (SyntaxError, ValueError, RecursionError):
        return
    for top in tops:
        yield from (node for node in ast.walk(top.node) if isinstance(node, Function))
