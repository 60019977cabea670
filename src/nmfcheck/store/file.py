"""The file of a store: made whole, locked while it is written, and looked at before it is used."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from .. import __version__
from ..errors import InputError
from ..text import printable
from ..trials.suites import Suite

GROWING_SINCE = 4
"""Suites from this version on may be given more trials in the same store."""

SCHEMA = 2
OLDEST = 1
"""Stores from this schema on can be read."""

APPLICATION = 0x6E6D6663  # "nmfc", in the file's header

TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE subjects (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    settings TEXT NOT NULL,     -- JSON: options, limits, version, hash of the source, what it takes
    environment TEXT NOT NULL,  -- JSON: of the machine that first ran it
    latest INTEGER NOT NULL     -- the subject of this name with the largest number was run last
);
CREATE TABLE stages (
    subject INTEGER NOT NULL REFERENCES subjects (id),
    family TEXT NOT NULL,
    cell TEXT NOT NULL,         -- within the family
    draw INTEGER,               -- null where all trials of the cell have one matrix
    seed INTEGER NOT NULL,
    ask TEXT NOT NULL,
    m INTEGER NOT NULL,
    n INTEGER NOT NULL,
    k INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    measures TEXT NOT NULL,     -- JSON: named numbers
    labels TEXT NOT NULL,       -- JSON: named texts
    message TEXT NOT NULL,
    flags TEXT NOT NULL,
    output TEXT NOT NULL,
    seconds REAL,
    digest TEXT NOT NULL,
    W BLOB,                     -- of failing stages: float64, row by row, compressed by zlib
    H BLOB,
    PRIMARY KEY (subject, family, cell, seed, ask)
);
"""

LAWS = """
CREATE TABLE IF NOT EXISTS laws (
    subject INTEGER NOT NULL REFERENCES subjects (id),
    law TEXT NOT NULL,
    severity TEXT NOT NULL,
    state TEXT NOT NULL,
    sentence TEXT NOT NULL,
    example TEXT NOT NULL,
    tried INTEGER NOT NULL,
    deviation REAL,
    seconds REAL NOT NULL,
    PRIMARY KEY (subject, law)
);
"""
"""A table that came later, and is added to stores that do not have it: nothing else reads it."""
EXPERIMENTS = """
CREATE TABLE IF NOT EXISTS experiments (
    subject INTEGER NOT NULL REFERENCES subjects (id),
    name TEXT NOT NULL,
    record TEXT NOT NULL,       -- JSON: its runs, and what was not done
    PRIMARY KEY (subject, name)
);
"""
"""Stores that were made before there were experiments have no such table until they are written to.
"""


def lay_out(connection: sqlite3.Connection, suite: Suite) -> None:
    """Make the tables of an empty store."""
    connection.executescript(f"BEGIN; {TABLES} {LAWS} {EXPERIMENTS} COMMIT;")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
    connection.executemany(
        "INSERT INTO about VALUES (?, ?)",
        [("suite", suite.as_text()), ("nmfcheck", json.dumps(__version__))],
    )


def create(path: Path, suite: Suite) -> None:
    """Make an empty store, unless somebody else does; it appears whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        new.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as connection:
            lay_out(connection, suite)
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(new)
        new.unlink()
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"the store {str(path)!r} cannot be made: {error}") from None


def locked(path: Path) -> int:
    """Return an open file whose lock says that this process writes to the store."""
    try:
        file = os.open(path, os.O_RDWR)
    except OSError as error:
        raise InputError(f"the store {str(path)!r} cannot be written: {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        same = path.exists() and os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        same = False
    if not same:
        os.close(file)
        raise InputError(f"another run is writing to the store {str(path)!r}{_writer(path)}")
    return file


def write_name(connection: sqlite3.Connection) -> None:
    """Say in the store who writes to it, for those who are refused meanwhile."""
    name = f"process {os.getpid()} on {socket.gethostname()}"
    connection.execute("INSERT OR REPLACE INTO about VALUES ('writer', ?)", (json.dumps(name),))


def _writer(path: Path) -> str:
    """Return who writes to a store, if it says so."""
    with contextlib.suppress(sqlite3.Error, OSError, ValueError):
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=0.2)) as connection:
            row = connection.execute("SELECT value FROM about WHERE key = 'writer'").fetchone()
            return f": {printable(str(json.loads(row[0])))[:100]}" if row else ""
    return ""


def uri(path: Path, *, write: bool = False) -> str:
    """Return how SQLite is to open a store.

    Where nothing can be written beside it, SQLite could not make the files by which readers and
    writers know of each other. There it is told that nobody writes, if nobody does.
    """
    writable = write or os.access(path.absolute().parent, os.W_OK)
    mode = "mode=rw" if writable or _has_log(path) else "mode=ro&immutable=1"
    return f"{path.absolute().as_uri()}?{mode}"


def _has_log(path: Path) -> bool:
    """Say whether some of a store is in a file beside it."""
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def check_header(path: Path) -> int:
    """Return a store's schema, or say what is wrong; without SQLite, which might write to it."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"the store {str(path)!r} cannot be read: {error.strerror}") from None
    if size == 0:
        raise InputError(f"{str(path)!r} is empty, and not a store")
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        raise InputError(f"{str(path)!r} is not a store")
    page = int.from_bytes(header[16:18])
    pages, schema, application = (int.from_bytes(header[i : i + 4]) for i in (28, 60, 68))
    if application != APPLICATION:
        raise InputError(f"{str(path)!r} is a database, but not a store of nmfcheck")
    if not OLDEST <= schema <= SCHEMA:
        hint = "a newer nmfcheck made it" if schema > SCHEMA else "it cannot be read any more"
        raise InputError(f"the store {str(path)!r} has schema {schema}, not {SCHEMA}; {hint}")
    if not _has_log(path) and size != pages * (65536 if page == 1 else page):
        raise InputError(f"the store {str(path)!r} is damaged: it has {size} bytes")
    return schema


@contextlib.contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Say in one line what SQLite has against a file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "malformed JSON" in str(error):
            raise InputError(f"{str(path)!r} is damaged: {error}") from None
        raise InputError(f"the store {str(path)!r} cannot be used: {error}") from None
    except sqlite3.DatabaseError as error:
        raise InputError(f"{str(path)!r} is damaged, or no store: {error}") from None


def check(path: Path, connection: sqlite3.Connection, suite: Suite | None) -> Suite:
    """Return a store's suite, or say what is wrong before anything is written to it."""
    (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok":
        raise InputError(f"the store {str(path)!r} is damaged: {state}")
    row = connection.execute("SELECT value FROM about WHERE key = 'suite'").fetchone()
    try:
        own = Suite.from_text(row[0])
    except InputError as reason:
        raise InputError(f"the store {str(path)!r} cannot be read here: {reason}") from None
    except (TypeError, ValueError, KeyError, AttributeError):
        raise InputError(f"the store {str(path)!r} is damaged: it names no suite") from None
    if suite is not None and own != suite and not _grows(own, suite):
        raise InputError(
            f"the store {str(path)!r} is of another suite ({_in_full(own)}; not "
            f"{_in_full(suite)}); choose another with --store, or --fresh"
        )
    return own


def _grows(own: Suite, suite: Suite) -> bool:
    """Say whether trials can be added to a store, or are there already."""
    return own.version >= GROWING_SINCE and own.grown_to(suite) is not None


def _in_full(suite: Suite) -> str:
    """Say what a suite asks for, so that two that differ can be told apart."""
    parts = []
    for part in suite.parts:
        chosen = part.room.selection(part.cells, part.asks).items()
        parts.append(", ".join([part.scope, *(f"{option} {value}" for option, value in chosen)]))
    block = f"; seeds from {suite.first} on" if suite.first else ""
    return f"{suite.title}: {'; '.join(parts)}{block}"
