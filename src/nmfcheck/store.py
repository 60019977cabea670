"""The store of a run: one SQLite file, a row a stage. Results are written as they arrive.

A store holds the results of one suite, for one subject or several. Running the same command again
goes on where the last one ended, however that did.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import math
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from . import __version__
from .arrays import Array
from .environment import environment
from .errors import InputError
from .outcomes import Flag, Outcome
from .records import Record
from .suites import Suite

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
COLUMNS = (
    "case_id", "n", "entries", "seed", "eps", "outcome", "grade", "form_defect", "product_defect",
    "kkt_residual", "word", "permutation", "permutation_changed", "seconds", "message", "flags",
    "output", "digest", "W", "H",
)  # fmt: skip


@dataclass(frozen=True)
class StoredSubject:
    """A subject in a store."""

    id: int
    fingerprint: str
    name: str
    settings: dict[str, Any]
    environment: dict[str, Any]


class Store:
    """An open store. `create_or_open` and `read` make one."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock

    @classmethod
    def create_or_open(cls, path: Path, suite: Suite, *, fresh: bool = False) -> Store:
        """Open a store for writing, and make it if there is none.

        Parameters
        ----------
        suite : what it must be of.
        fresh : whether what it holds may be of another suite; `begin_anew` throws it away.
        """
        if not path.exists():
            _create(path, suite)
        store = cls._opened(path, "write", None if fresh else suite)
        with _in_words(path):
            store._connection.execute("PRAGMA journal_mode = WAL")
            store._connection.execute("PRAGMA synchronous = NORMAL")
        return store

    def begin_anew(self, suite: Suite) -> None:
        """Throw away what the store holds."""
        with _in_words(self.path), self._transaction() as cursor:
            cursor.execute("DELETE FROM stages")
            cursor.execute("DELETE FROM subjects")
            cursor.execute(
                "UPDATE about SET value = ? WHERE key = 'suite'", (suite_as_text(suite),)
            )

    def remove_if_empty(self) -> None:
        """Remove the file if no subject was ever entered; to be called before `close`."""
        if not self.subjects():
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    @classmethod
    def read(cls, path: Path) -> Store:
        """Open a store for reading."""
        return cls._opened(path, "read", None)

    @classmethod
    def _opened(cls, path: Path, mode: Literal["read", "write"], suite: Suite | None) -> Store:
        if not path.is_file():
            raise InputError(f"there is no store {str(path)!r}")
        _check_header(path)
        lock = _locked(path) if mode == "write" else None
        connection: sqlite3.Connection | None = None
        try:
            with _in_words(path):
                uri = f"{path.absolute().as_uri()}?mode=rw"
                connection = sqlite3.connect(uri, uri=True, timeout=2, isolation_level=None)
                _check(path, connection, suite)
        except BaseException:
            if connection is not None:
                connection.close()
            if lock is not None:
                os.close(lock)
            raise
        return cls(path, connection, lock)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        if self._lock is not None:
            os.close(self._lock)  # after the connection: SQLite's own locks go with it
            self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def about(self) -> dict[str, Any]:
        """What the store says of itself: its suite, and who made it."""
        rows = self._connection.execute("SELECT key, value FROM about")
        return {key: json.loads(value) for key, value in rows}

    def subject(self, name: str, settings: Mapping[str, Any]) -> StoredSubject:
        """Return the subject of this name and settings, entered now if it is new."""
        text, fingerprint = _fingerprint(name, settings)
        with _in_words(self.path), self._transaction() as cursor:
            cursor.execute("SELECT coalesce(max(latest), 0) + 1 FROM subjects")
            (latest,) = cursor.fetchone()
            cursor.execute(
                "INSERT INTO subjects (fingerprint, name, settings, environment, latest) "
                "VALUES (?, ?, ?, ?, ?) ON CONFLICT (fingerprint) DO UPDATE SET latest = ?",
                (fingerprint, name, text, json.dumps(environment()), latest, latest),
            )
        return next(s for s in self.subjects(latest=False) if s.fingerprint == fingerprint)

    def find(self, name: str, settings: Mapping[str, Any]) -> StoredSubject | None:
        """Return the subject of this name and settings, if it is there."""
        _, fingerprint = _fingerprint(name, settings)
        there = (s for s in self.subjects(latest=False) if s.fingerprint == fingerprint)
        return next(there, None)

    def subjects(self, *, latest: bool = True) -> list[StoredSubject]:
        """Return the subjects, in the order in which they were run; of each name the latest."""
        rows = self._connection.execute(
            "SELECT id, fingerprint, name, settings, environment FROM subjects ORDER BY latest"
        ).fetchall()
        found = [
            StoredSubject(id_, fingerprint, name, json.loads(settings), json.loads(machine))
            for id_, fingerprint, name, settings, machine in rows
        ]
        return list({subject.name: subject for subject in found}.values()) if latest else found

    def write(self, subject: StoredSubject, records: Iterable[Record]) -> None:
        """Write records, all or none of them."""
        places = ", ".join("?" * (len(COLUMNS) + 1))
        with _in_words(self.path), self._transaction() as cursor:
            cursor.executemany(
                f"INSERT OR REPLACE INTO stages (subject, {', '.join(COLUMNS)}) VALUES ({places})",
                ((subject.id, *_row(record)) for record in records),
            )

    def records(self, subject: StoredSubject, *, matrices: bool = False) -> Iterator[Record]:
        """Return the records of a subject, trial by trial, W and H only where asked for."""
        wanted = COLUMNS if matrices else COLUMNS[:-2]
        with _in_words(self.path):
            rows = self._connection.execute(
                f"SELECT {', '.join(wanted)} FROM stages WHERE subject = ? "
                "ORDER BY n, entries = 'ones' DESC, seed, eps",
                (subject.id,),
            )
            for row in rows:
                try:
                    yield _record(dict(zip(wanted, row, strict=True)))
                except (ValueError, TypeError, AttributeError, zlib.error) as error:
                    raise InputError(f"{str(self.path)!r} is damaged: {error}") from None

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        cursor = self._connection.cursor()
        cursor.execute("BEGIN IMMEDIATE")
        try:
            yield cursor
        except BaseException:
            cursor.execute("ROLLBACK")
            raise
        cursor.execute("COMMIT")


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


def _fingerprint(name: str, settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return a subject's settings as text, and what tells it from others."""
    text = json.dumps(settings, sort_keys=True)
    return text, hashlib.sha256(json.dumps([name, text]).encode()).hexdigest()[:16]


def _create(path: Path, suite: Suite) -> None:
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


def _locked(path: Path) -> int:
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


def _check_header(path: Path) -> None:
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
def _in_words(path: Path) -> Iterator[None]:
    """Say in one line what SQLite has against a file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise InputError(f"the store {str(path)!r} cannot be used: {error}") from None
    except sqlite3.DatabaseError as error:
        raise InputError(f"{str(path)!r} is damaged, or no store: {error}") from None


def _check(path: Path, connection: sqlite3.Connection, suite: Suite | None) -> None:
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


def _row(record: Record) -> tuple[Any, ...]:
    return (
        record.case,
        record.n,
        record.entries,
        record.seed,
        record.eps,
        str(record.outcome),
        record.outcome.grade,
        *map(_number, (record.form_defect, record.product_defect, record.kkt_residual)),
        record.word,
        record.permutation,
        record.permutation_changed,
        _number(record.seconds),
        record.message,
        ",".join(record.flags),
        record.output,
        record.digest,
        _packed(record.W),
        _packed(record.H),
    )


def _record(row: dict[str, Any]) -> Record:
    n = row["n"]
    changed = row["permutation_changed"]
    return Record(
        case=row["case_id"],
        n=n,
        entries=row["entries"],
        seed=row["seed"],
        eps=row["eps"],
        outcome=Outcome(row["outcome"]),
        message=row["message"],
        form_defect=_float(row["form_defect"]),
        product_defect=_float(row["product_defect"]),
        kkt_residual=_float(row["kkt_residual"]),
        word=row["word"],
        permutation=row["permutation"],
        permutation_changed=None if changed is None else bool(changed),
        seconds=_float(row["seconds"]),
        flags=tuple(Flag(flag) for flag in row["flags"].split(",") if flag),
        output=row["output"],
        digest=row["digest"],
        W=_unpacked(row.get("W"), n),
        H=_unpacked(row.get("H"), n),
    )


def _number(x: float) -> float | None:
    return None if math.isnan(x) else x


def _float(x: float | None) -> float:
    return math.nan if x is None else x


def _packed(X: Array | None) -> bytes | None:
    return None if X is None else zlib.compress(np.ascontiguousarray(X, "<f8").tobytes(), 1)


def _unpacked(packed: bytes | None, n: int) -> Array | None:
    if packed is None:
        return None
    return np.frombuffer(zlib.decompress(packed), "<f8").reshape(n, n).astype(np.float64)
