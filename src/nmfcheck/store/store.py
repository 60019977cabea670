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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..errors import InputError
from ..laws import LawResult
from ..trials.stage import Stage
from ..trials.suites import Suite
from .environment import environment
from .file import (
    EXPERIMENTS,
    LAWS,
    SCHEMA,
    check,
    check_header,
    create,
    in_words,
    lay_out,
    locked,
    uri,
    write_name,
)
from .results import Results
from .rows import COLUMNS, row_of


@dataclass(frozen=True)
class StoredSubject:
    """A subject in a store."""

    id: int
    fingerprint: str
    name: str
    settings: dict[str, Any]
    environment: dict[str, Any]


class Store:
    """An open store. `create_or_open`, `in_memory` and `read` make one."""

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        suite: Suite,
        lock: int | None = None,
        copy: Path | None = None,
    ) -> None:
        self.path = path
        self.suite = suite
        self._connection = connection
        self._lock = lock
        self._copy = copy

    @classmethod
    def create_or_open(cls, path: Path, suite: Suite, *, fresh: bool = False) -> Store:
        """Open a store for writing, and make it if there is none.

        Parameters
        ----------
        suite : what it must be of. If it asks for more trials than the store's, the store grows; if
            for fewer, those of the store stay.
        fresh : whether what it holds may be of another suite; `begin_anew` throws it away.
        """
        if not path.exists():
            create(path, suite)
        store = cls._opened(path, "write", None if fresh else suite)
        grown = None if fresh else store.suite.grown_to(suite)
        if grown is not None and grown != store.suite:
            store.extend(grown)
        if not fresh:
            store.suite = replace(store.suite, extra=suite.extra)
        with in_words(path):
            store._connection.execute("PRAGMA journal_mode = WAL")
            store._connection.execute("PRAGMA synchronous = NORMAL")
            store._connection.execute(LAWS)
            store._connection.execute(EXPERIMENTS)
            write_name(store._connection)
        return store

    @classmethod
    def in_memory(cls, suite: Suite) -> Store:
        """Return a store without a file, which is gone when it is closed."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        lay_out(connection, suite)
        return cls(Path(":memory:"), connection, suite)

    @property
    def has_file(self) -> bool:
        """Whether what it holds is kept."""
        return self.path != Path(":memory:")

    def begin_anew(self, suite: Suite) -> None:
        """Throw away what the store holds."""
        with in_words(self.path), self._transaction() as cursor:
            cursor.execute("DELETE FROM stages")
            cursor.execute("DELETE FROM laws")
            cursor.execute("DELETE FROM experiments")
            cursor.execute("DELETE FROM subjects")
            cursor.execute("DELETE FROM about WHERE key LIKE '% %'")
            cursor.execute("UPDATE about SET value = ? WHERE key = 'suite'", (suite.as_text(),))
        self.suite = suite

    def remove_if_empty(self) -> None:
        """Remove the file if no subject was ever entered; to be called before `close`."""
        if self.has_file and not self.subjects():
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    @classmethod
    def read(cls, path: Path) -> Store:
        """Open a store for reading; one of an earlier schema through a copy of it."""
        return cls._opened(path, "read", None)

    @classmethod
    def _opened(cls, path: Path, mode: Literal["read", "write"], suite: Suite | None) -> Store:
        if not path.is_file():
            what = "is a folder, and not a store" if path.is_dir() else "is not a file"
            raise InputError(f"there is no store {str(path)!r}: it {what}")
        copy = None
        if check_header(path) != SCHEMA:
            if mode == "write":
                raise InputError(
                    f"the store {str(path)!r} was made by an earlier version, and is not written "
                    "to; choose another with --store ('nmfcheck report' shows this one)"
                )
            from .migration import migrated  # late: few need it

            copy = migrated(path)
        lock = locked(path) if mode == "write" else None
        connection: sqlite3.Connection | None = None
        try:
            with in_words(path):
                connection = sqlite3.connect(
                    uri(copy or path, write=mode == "write"),
                    uri=True,
                    timeout=2,
                    isolation_level=None,
                )
                own = check(path, connection, suite)
        except BaseException:
            if connection is not None:
                connection.close()
            if lock is not None:
                os.close(lock)
            if copy is not None:
                copy.unlink()
            raise
        return cls(path, connection, own, lock, copy)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        if self._lock is not None:
            os.close(self._lock)  # after the connection: SQLite's own locks go with it
            self._lock = None
        if self._copy is not None:
            self._copy.unlink(missing_ok=True)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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
        known = (s for s in self.subjects(latest=False) if s.fingerprint == fingerprint)
        return next(known, None)

    def subjects(self, *, latest: bool = True) -> list[StoredSubject]:
        """Return the subjects, in the order in which they were run; of each name the latest."""
        rows = self._connection.execute(
            "SELECT id, fingerprint, name, settings, environment FROM subjects ORDER BY latest"
        ).fetchall()
        subjects = [self._subject(*row) for row in rows]
        return (
            list({subject.name: subject for subject in subjects}.values()) if latest else subjects
        )

    def _subject(
        self, id_: int, fingerprint: str, name: str, settings: str, machine: str
    ) -> StoredSubject:
        try:
            parsed = json.loads(settings)
            parsed["options"].items()
            return StoredSubject(id_, fingerprint, name, parsed, json.loads(machine))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            reason = f"the settings of {name!r} cannot be read ({type(error).__name__} {error})"
            raise InputError(f"{str(self.path)!r} is damaged: {reason}") from None

    def write(self, subject: StoredSubject, stages: Iterable[Stage]) -> None:
        """Write stages, all or none of them."""
        places = ", ".join("?" * (len(COLUMNS) + 1))
        with in_words(self.path), self._transaction() as cursor:
            cursor.executemany(
                f"INSERT OR REPLACE INTO stages (subject, {', '.join(COLUMNS)}) VALUES ({places})",
                ((subject.id, *row_of(stage)) for stage in stages),
            )

    def write_law(self, subject: StoredSubject, result: LawResult) -> None:
        """Write what came of a law."""
        fields = result.as_fields()
        names, places = ", ".join(fields), ", ".join("?" * (len(fields) + 1))
        values = (str(x) if isinstance(x, str) else x for x in fields.values())
        with in_words(self.path), self._transaction() as cursor:
            cursor.execute(
                f"INSERT OR REPLACE INTO laws (subject, {names}) VALUES ({places})",
                (subject.id, *values),
            )

    def write_experiment(
        self, subject: StoredSubject, name: str, record: Mapping[str, Any]
    ) -> None:
        """Write what an experiment came to."""
        with in_words(self.path), self._transaction() as cursor:
            cursor.execute(
                "INSERT OR REPLACE INTO experiments VALUES (?, ?, ?)",
                (subject.id, name, json.dumps(record)),
            )

    def trim(self, subject: StoredSubject, trials: Mapping[str, int]) -> None:
        """Keep so many trials of each cell, from the first on, and drop those that came besides.

        Parameters
        ----------
        trials : by the cell's id.
        """
        with in_words(self.path), self._transaction() as cursor:
            cursor.executemany(
                "DELETE FROM stages WHERE subject = ? AND family || '/' || cell = ? AND seed >= ?",
                [(subject.id, cell.id, trials.get(cell.id, 0)) for cell in self.suite.cells],
            )

    @property
    def extensions(self) -> int:
        """How often trials have been added to the store's suite."""
        row = self._connection.execute(
            "SELECT value FROM about WHERE key = 'extensions'"
        ).fetchone()
        return 0 if row is None else int(row[0])

    def extend(self, suite: Suite) -> None:
        """Make the store one of the same suite with more trials; what is there stays."""
        with in_words(self.path), self._transaction() as cursor:
            cursor.execute("UPDATE about SET value = ? WHERE key = 'suite'", (suite.as_text(),))
            cursor.execute(
                "INSERT OR REPLACE INTO about VALUES ('extensions', ?)", (str(self.extensions + 1),)
            )
        self.suite = suite

    def note(self, subject: StoredSubject, key: str, text: str | None) -> None:
        """Keep a text about a subject's run, or forget it."""
        name = f"{key} {subject.id}"
        with in_words(self.path), self._transaction() as cursor:
            cursor.execute("DELETE FROM about WHERE key = ?", (name,))
            if text is not None:
                cursor.execute("INSERT INTO about VALUES (?, ?)", (name, text))

    def noted(self, subject: StoredSubject, key: str) -> str | None:
        """Return a text that was kept about a subject's run."""
        with in_words(self.path):
            row = self._connection.execute(
                "SELECT value FROM about WHERE key = ?", (f"{key} {subject.id}",)
            ).fetchone()
        return None if row is None else str(row[0])

    def notes(self) -> dict[tuple[str, str], str]:
        """Return all that was kept about runs, by key and the subject's fingerprint."""
        notes = {}
        for subject in self.subjects(latest=False):
            rows = self._connection.execute(
                "SELECT key, value FROM about WHERE key LIKE ?", (f"% {subject.id}",)
            )
            for key, text in rows:
                notes[key.rpartition(" ")[0], subject.fingerprint] = str(text)
        return notes

    @property
    def file(self) -> Path:
        """The file that is read: of an earlier schema, a copy."""
        return self._copy or self.path

    def results(self, subject: StoredSubject) -> Results:
        """Return what the store has of a subject."""
        return Results(self.path, self._connection, self.suite, subject.id)

    def count(self) -> int:
        """Return the number of stages in the store."""
        with in_words(self.path):
            (number,) = self._connection.execute("SELECT count(*) FROM stages").fetchone()
        return int(number)

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
