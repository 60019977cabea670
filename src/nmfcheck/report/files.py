"""The files of a report: page, JUnit, JSON."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import InputError
from .contents import Contents

STANDARD_OUTPUT = "-"


def write_files(
    contents: Contents, *, page: str | None, junit: str | None, json: str | None
) -> list[str]:
    """Write the files that are asked for; return the names of those that are no standard output."""
    written = []
    if page:
        from .page import as_page

        written.append(_write(page, as_page(contents)))
    if junit:
        from .junit import as_junit

        written.append(_write(junit, as_junit(contents)))
    if json:
        from .document import as_document

        written.append(_write(json, as_document(contents)))
    return [name for name in written if name != STANDARD_OUTPUT]


def check_apart(store: Path, *names: str | None) -> None:
    """Say so if a report would be written over the store that it is made from."""
    for name in names:
        if name is not None and Path(name).absolute() == store.absolute():
            raise InputError(f"{name!r} is the store; expected another file for the report")


def check_writable(*names: str | None) -> None:
    """Say so before a long run if a file cannot be written after it."""
    given = [name for name in names if name is not None]
    for name in given:
        if given.count(name) > 1:
            raise InputError(f"{name!r} is to be written twice; expected different files")
        if name == STANDARD_OUTPUT:
            continue
        path = Path(name)
        if not name or path.is_dir():
            raise InputError(
                f"{name!r} is {'a folder' if name else 'without a name'}; expected a file"
            )
        if path.is_file():
            with path.open("rb") as file:
                if file.read(15) == b"SQLite format 3":
                    raise InputError(f"{name!r} is a store, which is not written over")
        folder = next(folder for folder in path.absolute().parents if folder.exists())
        if not (folder.is_dir() and os.access(folder, os.W_OK)):
            raise InputError(
                f"{name!r} cannot be written: {str(folder)!r} is not a writable folder"
            )


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; a pipe or a device is written to."""
    path = path.resolve()  # the file itself, not a link to it, is replaced
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        new.write_bytes(content)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _write(name: str, text: str) -> str:
    """Write a file, or to standard output."""
    if name == STANDARD_OUTPUT:
        print(text, end="")
        return name
    try:
        replace_file(Path(name), text.encode())
    except OSError as error:
        reason = f"{name!r} cannot be written: {error.strerror or error}"
        raise InputError(f"{reason}; 'nmfcheck report' writes it again from the store") from None
    return name
