"""Functions that may do more than compute: they are never changed, nor are those that call them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from .swapping import Function, parts

NAMES = frozenset({
    "open", "exec", "eval", "system", "popen", "Popen", "remove", "unlink", "rmdir", "rmtree",
    "rename", "write", "write_text", "write_bytes", "save", "savez", "savetxt", "dump", "to_csv",
    "tofile", "mkdir", "makedirs", "kill", "socket", "connect", "urlopen", "request", "subprocess",
    "shutil", "memmap", "truncate", "symlink", "chmod", "exit", "_exit", "abort", "execute",
    "executemany", "executescript", "commit", "writelines", "flush", "sendfile", "check_call",
    "check_output", "multiprocessing", "Process", "Pool", "ProcessPoolExecutor", "Thread", "Timer",
    "ThreadPoolExecutor", "start_new_thread", "fork", "FileHandler", "ctypes",
})  # fmt: skip
"""A function in which one of these names stands is left alone."""


MAKING = ("__init__", "__new__", "__post_init__", "__enter__")
"""Methods that are called by the name of their class as well."""


@dataclass(frozen=True)
class Acting:
    """What must not be changed.

    Attributes
    ----------
    names : a function that has one of these in it is left alone.
    read : names that stand in such functions: constants that are called so are left alone.
    """

    names: frozenset[str]
    read: frozenset[str]


def acting(own: Callable[[str], bool], ran: Iterable[str]) -> Acting:
    """Return what acts in a subject's own files: what has a name of `NAMES` in it, or calls that.

    With another condition, number or argument it may do what nobody asked for.

    Parameters
    ----------
    own : says which files are a subject's own.
    ran : files of which something ran; those of modules that are loaded are looked at as well.
    """
    loaded = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    files = {*ran, *(file for file in loaded if file and file.endswith(".py") and own(file))}
    functions = [(called, mentioned(node)) for file in files for node, called in _functions(file)]
    found = set(NAMES)
    while True:
        acts = [(called, inside) for called, inside in functions if inside & found]
        more = {name for called, _ in acts for name in called}
        if more <= found:
            read = frozenset(name for _, inside in acts for name in inside)
            return Acting(frozenset(found), read)
        found |= more


@lru_cache(maxsize=1024)
def mentioned(node: ast.AST) -> frozenset[str]:
    """Return the names of variables, functions, attributes and methods that stand somewhere."""
    pieces = ast.walk(node)
    return frozenset(str(getattr(each, "attr", getattr(each, "id", ""))) for each in pieces)


def _functions(file: str) -> Iterator[tuple[Function, set[str]]]:
    """Return the functions of a file, and by what they are called: `__init__` by its class, too."""
    try:
        tops = parts(file)
    except (SyntaxError, ValueError, RecursionError):
        return
    for top in tops:
        pieces = list(ast.walk(top.node))
        makers = {
            inner: piece.name
            for piece in pieces
            if isinstance(piece, ast.ClassDef)
            for inner in piece.body
            if isinstance(inner, Function) and inner.name in MAKING
        }
        for piece in pieces:
            if isinstance(piece, Function):
                yield piece, {piece.name, makers.get(piece, piece.name)}
