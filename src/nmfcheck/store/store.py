"""The store of a run: one SQLite file, a row a stage. Results are written as they arrive.

A store holds the results of one suite, for one subject or several. Running the same command again
goes on where the last one ended, however that did.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..arrays import Array
from ..environment import environment
from ..errors import InputError
from ..records import Record
from ..suites import Suite
from .file import check, check_header, create, in_words, locked, suite_as_text, suite_from_text
from .rows import COLUMNS, packed, record_of, row_of, unpacked

Factors = tuple[Array, Array]

SLOPES = """
CREATE TABLE IF NOT EXISTS slopes (
    subject INTEGER NOT NULL REFERENCES subjects (id),
    seed INTEGER NOT NULL,
    eps REAL NOT NULL,
    W BLOB,
    H BLOB,
    PRIMARY KEY (subject, seed, eps)
)
"""
"""Made when the first slopes are: most stores have none."""

IN_ORDER = "ORDER BY n, entries = 'ones' DESC, seed, eps"
"""Trial by trial."""


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
            create(path, suite)
        store = cls._opened(path, "write", None if fresh else suite)
        with in_words(path):
            store._connection.execute("PRAGMA journal_mode = WAL")
            store._connection.execute("PRAGMA synchronous = NORMAL")
        return store

    def begin_anew(self, suite: Suite) -> None:
        """Throw away what the store holds."""
        with in_words(self.path), self._transaction() as cursor:
            cursor.execute("DELETE FROM stages")
            cursor.execute("DROP TABLE IF EXISTS slopes")
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
            what = "is a folder, and no store" if path.is_dir() else "is no file"
            raise InputError(f"there is no store {str(path)!r}: it {what}")
        check_header(path)
        lock = locked(path) if mode == "write" else None
        connection: sqlite3.Connection | None = None
        try:
            with in_words(path):
                uri = f"{path.absolute().as_uri()}?mode=rw"
                connection = sqlite3.connect(uri, uri=True, timeout=2, isolation_level=None)
                check(path, connection, suite)
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

    @property
    def suite(self) -> Suite:
        """The suite that it holds results of."""
        return suite_from_text(json.dumps(self.about["suite"]))

    def subject(self, name: str, settings: Mapping[str, Any]) -> StoredSubject:
        """Return the subject of this name and settings, entered now if it is new."""
        text, fingerprint = _fingerprint(name, settings)
        with in_words(self.path), self._transaction() as cursor:
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
        with in_words(self.path), self._transaction() as cursor:
            cursor.executemany(
                f"INSERT OR REPLACE INTO stages (subject, {', '.join(COLUMNS)}) VALUES ({places})",
                ((subject.id, *row_of(record)) for record in records),
            )

    def select(
        self,
        subject: StoredSubject,
        columns: str,
        where: str = "TRUE",
        *values: Any,
        in_order: bool = True,
    ) -> list[tuple[Any, ...]]:
        """Return some columns of a subject's stages: faster than records are.

        Parameters
        ----------
        in_order : whether they must lie trial by trial.
        """
        order = IN_ORDER if in_order else ""
        with in_words(self.path):
            return self._connection.execute(
                f"SELECT {columns} FROM stages WHERE subject = ? AND ({where}) {order}",
                (subject.id, *values),
            ).fetchall()

    def records(self, subject: StoredSubject, *, matrices: bool = False) -> Iterator[Record]:
        """Return the records of a subject, trial by trial, W and H only where asked for."""
        wanted = COLUMNS if matrices else COLUMNS[:-2]
        where = f"subject = ? {IN_ORDER}"
        yield from self._records(wanted, where, (subject.id,))

    def records_at(self, rows: Sequence[int]) -> Iterator[Record]:
        """Return the records of some rows, with W and H."""
        for row in rows:
            yield from self._records(COLUMNS, "rowid = ?", (row,))

    def _records(
        self, columns: Sequence[str], where: str, values: tuple[Any, ...]
    ) -> Iterator[Record]:
        with in_words(self.path):
            rows = self._connection.execute(
                f"SELECT {', '.join(columns)} FROM stages WHERE {where}", values
            )
            for row in rows:
                try:
                    yield record_of(dict(zip(columns, row, strict=True)))
                except (ValueError, TypeError, AttributeError, zlib.error) as error:
                    raise InputError(f"{str(self.path)!r} is damaged: {error}") from None

    def write_slopes(self, subject: StoredSubject, records: Iterable[Record]) -> None:
        """Write runs that slopes are measured from, all or none of them."""
        with in_words(self.path), self._transaction() as cursor:
            cursor.execute(SLOPES)
            cursor.executemany(
                "INSERT OR REPLACE INTO slopes VALUES (?, ?, ?, ?, ?)",
                ((subject.id, r.seed, r.eps, packed(r.W), packed(r.H)) for r in records),
            )

    def slopes(self, subject: StoredSubject) -> dict[int, dict[float, Factors | None]]:
        """Return W and H of the runs that slopes are measured from, by seed and ε."""
        found: dict[int, dict[float, Factors | None]] = {}
        with in_words(self.path):
            named = "SELECT 1 FROM sqlite_master WHERE name = 'slopes'"
            if self._connection.execute(named).fetchone() is None:
                return found
            rows = self._connection.execute(
                "SELECT seed, eps, W, H FROM slopes WHERE subject = ? ORDER BY seed, eps",
                (subject.id,),
            ).fetchall()
        for seed, eps, W, H in rows:
            try:
                both = unpacked(W, 2), unpacked(H, 2)
            except (ValueError, TypeError, zlib.error) as error:
                raise InputError(f"{str(self.path)!r} is damaged: {error}") from None
            kept = None if both[0] is None or both[1] is None else (both[0], both[1])
            found.setdefault(seed, {})[eps] = kept
        return found

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


def _fingerprint(name: str, settings: Mapping[str, Any]) -> tuple[str, str]:
    """Return a subject's settings as text, and what tells it from others."""
    text = json.dumps(settings, sort_keys=True)
    return text, hashlib.sha256(json.dumps([name, text]).encode()).hexdigest()[:16]
