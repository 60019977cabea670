"""What a subject is, exactly: its version and its source.

Results of another version are not taken for its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import shutil
import site
import sys
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import Any

from .. import __version__
from .command import Command
from .libraries import LIBRARIES
from .problem import Subject
from .references import REFERENCES

LARGEST_FILE = 1 << 26


def identity(name: str, subject: Subject, before: set[str]) -> dict[str, Any]:
    """Return what is known of the versions and the source of a subject.

    Parameters
    ----------
    name : what it was asked for by.
    before : the names of the modules that were loaded before it was.
    """
    known: dict[str, Any] = {"nmfcheck": __version__}
    if name in REFERENCES:
        return known
    if isinstance(subject, Command):
        program, *arguments = subject.arguments
        files = [Path(shutil.which(program) or program), *map(Path, arguments)]
        return known | {"source": _hash_of([path for path in files if path.is_file()])}
    if name in LIBRARIES:
        source = inspect.getsource(LIBRARIES[name].function).encode()
        known["source"] = hashlib.sha256(source).hexdigest()[:16]
        known["version"] = f"{LIBRARIES[name].package} {LIBRARIES[name].version()}"
    elif own := _own_files(before):
        known["source"] = _hash_of(own)
    versions, module = _versions(before), _module(subject)
    if "version" not in known and (module in versions or "source" not in known):
        known["version"] = versions.get(module) or _distribution(module)
    return known | {"with": sorted(versions.values())}


def _module(subject: Any) -> str:
    thing = getattr(subject, "function", getattr(subject, "estimator", subject))
    module = getattr(thing, "__module__", None) or type(thing).__module__
    return str(module).partition(".")[0]


def _versions(before: set[str]) -> dict[str, str]:
    """Return name and version of the top-level modules that were loaded with a subject.

    Most say their version themselves, or are called as what was installed.
    """
    versions: dict[str, str] = {}
    tops = {name.partition(".")[0] for name in sys.modules if name not in before}
    for top in tops - sys.stdlib_module_names - {"nmfcheck"}:
        version = vars(sys.modules[top]).get("__version__") if top in sys.modules else None
        with contextlib.suppress(metadata.PackageNotFoundError, ValueError):
            version = version if isinstance(version, str) else metadata.version(top)
            versions[top] = f"{top} {version}"
    return versions


def _distribution(top: str) -> str:
    """Return name and version of what brought a module, from all that is installed: that takes."""
    names = metadata.packages_distributions().get(top)
    return f"{names[0]} {metadata.version(names[0])}" if names else ""


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
        digest.update(os.fsencode(path.name) + b"\0")
        if path.stat().st_size <= LARGEST_FILE:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
