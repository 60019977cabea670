"""The file of a store: made whole, locked while it is written, and looked at before it is used."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from .. import __version__
from ..errors import InputError
from ..suites import SUITES, Suite
from ..trials import rung_of

SCHEMA = 1
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
    case_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    entries TEXT NOT NULL,
    seed INTEGER NOT NULL,
    eps REAL NOT NULL,
    outcome TEXT NOT NULL,
    grade TEXT,
    form_defect REAL,
    product_defect REAL,
    kkt_residual REAL,
    word TEXT,
    permutation TEXT,
    permutation_changed INTEGER,
    seconds REAL,
    message TEXT NOT NULL,
    flags TEXT NOT NULL,
    output TEXT NOT NULL,
    digest TEXT NOT NULL,
    W BLOB,                     -- of failing stages: float64, row by row, compressed by zlib
    H BLOB,
    PRIMARY KEY (subject, case_id, seed)
);
"""


def suite_as_text(suite: Suite) -> str:
    """Return what makes a suite this one and no other."""
    parts = {
        "name": suite.name,
        "version": suite.version,
        "sizes": suite.sizes,
        "kinds": suite.kinds,
        "trials": suite.trials,
        "eps": [rung.eps for rung in suite.ladder],
        "reference_iterations": suite.reference_iterations,
    }
    return json.dumps(parts)


def suite_from_text(text: str) -> Suite:
    """Return the suite that `suite_as_text` wrote down."""
    parts = json.loads(text)
    known = SUITES.get(parts["name"])
    return Suite(
        name=parts["name"],
        sizes=tuple(parts["sizes"]),
        trials=parts["trials"],
        reference_iterations=parts["reference_iterations"],
        summary=known.summary if known else "",
        kinds=tuple(parts["kinds"]),
        ladder=tuple(map(rung_of, parts["eps"])),
        version=parts["version"],
    )


def create(path: Path, suite: Suite) -> None:
    """Make an empty store, unless somebody else does; it appears whole or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f"{path.name}.{os.getpid()}.new")
        new.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as connection:
            connection.executescript(f"BEGIN; {TABLES} COMMIT;")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
            connection.executemany(
                "INSERT INTO about VALUES (?, ?)",
                [("suite", suite_as_text(suite)), ("nmfcheck", json.dumps(__version__))],
            )
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
        there = path.exists() and os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        there = False
    if not there:
        os.close(file)
        raise InputError(f"another run is writing to the store {str(path)!r}")
    return file


def check_header(path: Path) -> None:
    """Say what is wrong with a file, without SQLite, which might write to it."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
        size = path.stat().st_size
    except OSError as error:
        raise InputError(f"the store {str(path)!r} cannot be read: {error.strerror}") from None
    if size == 0:
        raise InputError(f"{str(path)!r} is empty, and no store")
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0"):
        raise InputError(f"{str(path)!r} is no store")
    page = int.from_bytes(header[16:18])
    pages, schema, application = (int.from_bytes(header[i : i + 4]) for i in (28, 60, 68))
    if application != APPLICATION:
        raise InputError(f"{str(path)!r} is a database, but no store of nmfcheck")
    if schema != SCHEMA:
        hint = "a newer nmfcheck made it" if schema > SCHEMA else "it cannot be read any more"
        raise InputError(f"the store {str(path)!r} has schema {schema}, not {SCHEMA}; {hint}")
    log = path.with_name(f"{path.name}-wal")
    unwritten = log.exists() and log.stat().st_size > 0
    if not unwritten and size != pages * (65536 if page == 1 else page):
        raise InputError(f"the store {str(path)!r} is damaged: it has {size} bytes")


@contextlib.contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Say in one line what SQLite has against a file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise InputError(f"the store {str(path)!r} cannot be used: {error}") from None
    except sqlite3.DatabaseError as error:
        raise InputError(f"{str(path)!r} is damaged, or no store: {error}") from None


def check(path: Path, connection: sqlite3.Connection, suite: Suite | None) -> None:
    """Say what is wrong with a store, before anything is written to it."""
    (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if state != "ok":
        raise InputError(f"the store {str(path)!r} is damaged: {state}")
    row = connection.execute("SELECT value FROM about WHERE key = 'suite'").fetchone()
    try:
        there = _told(row[0])
    except (TypeError, ValueError, KeyError):
        raise InputError(f"the store {str(path)!r} is damaged: it names no suite") from None
    if suite is not None and row[0] != suite_as_text(suite):
        raise InputError(
            f"the store {str(path)!r} is of another suite ({there}, not "
            f"{_told(suite_as_text(suite))}); choose another with --store, or --fresh"
        )


def _told(suite: str) -> str:
    parts = json.loads(suite)
    sizes, eps = (",".join(f"{x:g}" for x in parts[key]) for key in ("sizes", "eps"))
    return (
        f"{parts['name']} version {parts['version']}: n = {sizes}; {'+'.join(parts['kinds'])}; "
        f"{parts['trials']} trials; ε = {eps}"
    )
