"""What a subject is, exactly: its version and its source.

Results of another version are not taken for its own.
"""

from __future__ import annotations

import hashlib
import inspect
import shutil
import site
import sys
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import Any

from .command import Command
from .libraries import LIBRARIES
from .problem import Subject
from .references import REFERENCES

LARGEST_FILE = 1 << 26


def identity(subject: Subject, before: set[str]) -> dict[str, str]:
    """Return the version of the subject's distribution and a hash of its source, where known.

    Parameters
    ----------
    before : the names of the modules that were loaded before it was.
    """
    if subject.name in REFERENCES:
        return {"version": metadata.version("nmfcheck")}
    if isinstance(subject, Command):
        program, *arguments = subject.arguments
        files = [Path(shutil.which(program) or program), *map(Path, arguments)]
        return {"source": _hash_of([path for path in files if path.is_file()])}
    if subject.name in LIBRARIES:
        library = LIBRARIES[subject.name]
        source = inspect.getsource(library.function).encode()
        return {"version": library.version(), "source": hashlib.sha256(source).hexdigest()[:16]}
    found = {}
    if version := _version(_module(subject)):
        found["version"] = version
    if own := _own_files(before):
        found["source"] = _hash_of(own)
    return found


def _module(subject: Any) -> str:
    thing = getattr(subject, "function", getattr(subject, "estimator", subject))
    module = getattr(thing, "__module__", None) or type(thing).__module__
    return str(module).partition(".")[0]


def _version(top: str) -> str | None:
    """Return the distribution and version that a top-level module comes from, if any."""
    names = metadata.packages_distributions().get(top)
    return f"{names[0]} {metadata.version(names[0])}" if names else None


def _own_files(before: set[str]) -> list[Path]:
    """Return the files of newly loaded modules that no installer put where they are."""
    installed = [
        Path(folder).resolve()
        for folder in (
            *(sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")),
            *site.getsitepackages(),
            site.getusersitepackages(),
            str(Path(__file__).parent.parent),
        )
    ]
    files = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name in before or not isinstance(file, str):
            continue
        path = Path(file).resolve()
        if path.is_file() and not any(path.is_relative_to(folder) for folder in installed):
            files.add(path)
    return sorted(files)


def _hash_of(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.name.encode() + b"\0")
        if path.stat().st_size <= LARGEST_FILE:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
