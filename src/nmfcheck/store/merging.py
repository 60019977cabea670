"""Several stores as one: blocks of seeds that were run in different places, or parts of one suite.

What does not belong together is refused before anything is written. Merging the same stores again
changes nothing.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import InputError
from ..trials.suites import Part, Suite
from .file import create, in_words, locked, uri
from .rows import COLUMNS
from .store import Store

KEY = ("family", "cell", "seed", "ask")
MEASURED = tuple(name for name in COLUMNS if name not in (*KEY, "seconds"))
"""What has to be the same where two stores have the same stage."""


def merge(paths: Sequence[Path], into: Path) -> Suite:
    """Join stores of the same suite and the same subjects; return the suite of the whole.

    Parameters
    ----------
    into : the file that is written when all is well. If it is there, it is one of the stores.
    """
    others = [path for path in paths if path.absolute() != into.absolute()]
    given = [into, *others] if into.exists() else others
    if not given:
        raise InputError("there is nothing to merge")
    new = into.with_name(f"{into.name}.{os.getpid()}.merged")
    with contextlib.ExitStack() as stack:
        if into.exists():
            stack.callback(os.close, locked(into))  # nobody writes to it meanwhile
        stack.callback(new.unlink, missing_ok=True)
        suite = _written(given, new)
        if into.exists():
            _settle(into)
        new.replace(into)
        for suffix in ("-wal", "-shm"):  # in which nothing is left
            into.with_name(into.name + suffix).unlink(missing_ok=True)
    return suite


def _settle(path: Path) -> None:
    """Bring all of a store into its own file: a log beside it would be taken for the new one's."""
    given = uri(path, write=True)
    with (
        in_words(path),
        contextlib.closing(sqlite3.connect(given, uri=True, timeout=2)) as connection,
    ):
        (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise InputError(f"the store {str(path)!r} is being read by another process; try again")


def _written(given: Sequence[Path], new: Path) -> Suite:
    """Write all stores into a new one."""
    new.unlink(missing_ok=True)
    with contextlib.ExitStack() as stack:
        stores = [stack.enter_context(Store.read(path)) for path in given]
        suite = stores[0].suite
        for store in stores[1:]:
            suite = _joined(suite, store, stores[0])
            _check_subjects(stores[0], store)
        create(new, suite)
        with in_words(new), _opened(new) as connection:
            for store in stores:
                _take(connection, store)
            _keep_notes(connection, stores)
    return suite


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(
        sqlite3.connect(uri(path, write=True), uri=True, isolation_level=None)
    ) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        yield connection


def _joined(suite: Suite, store: Store, first: Store) -> Suite:
    """Return a suite with the trials of both, from the first seed to the last."""
    other = store.suite
    alike = _without_numbers(suite) == _without_numbers(other)
    if not alike:
        raise InputError(
            f"{str(store.path)!r} and {str(first.path)!r} do not belong together: they are of "
            f"{other.title} ({other.scope}) and of {suite.title} ({suite.scope})"
        )
    begin = min(suite.first, other.first)
    parts = []
    for mine, theirs in zip(suite.parts, other.parts, strict=True):
        cells = {
            cell: max(suite.first + number, other.first + theirs.cells[cell]) - begin
            for cell, number in mine.cells.items()
        }
        parts.append(replace(mine, cells=cells))
    return replace(suite, first=begin, parts=tuple(parts))


def _without_numbers(suite: Suite) -> Suite:
    def of(part: Part) -> Part:
        return replace(part, cells=dict.fromkeys(sorted(part.cells, key=lambda c: c.id), 0))

    return replace(suite, first=0, parts=tuple(map(of, suite.parts)))


def _check_subjects(one: Store, other: Store) -> None:
    """Raise `InputError` unless two stores have the same subjects."""
    known = {s.fingerprint: s for s in one.subjects(latest=False)}
    theirs = {s.fingerprint: s for s in other.subjects(latest=False)}
    for store, mine, others in ((one, known, theirs), (other, theirs, known)):
        for fingerprint, subject in mine.items():
            if fingerprint in others:
                continue
            same = next((s for s in others.values() if s.name == subject.name), None)
            where = f"{str(store.path)!r} has {subject.name}"
            elsewhere = str((other if store is one else one).path)
            if same is None:
                raise InputError(f"{where}, which is not in {elsewhere!r}; see 'nmfcheck compare'")
            differing = [
                f"{key} {subject.settings.get(key)} and {same.settings.get(key)}"
                for key in sorted({*subject.settings, *same.settings})
                if subject.settings.get(key) != same.settings.get(key)
            ]
            raise InputError(
                f"{where}, which is another one in {elsewhere!r}: {'; '.join(differing)}"
            )


def _take(connection: sqlite3.Connection, store: Store) -> None:
    """Take over what a store has, after a look at whether it contradicts what is there."""
    connection.execute("ATTACH ? AS other", (uri(store.file),))
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(
            "INSERT OR IGNORE INTO main.subjects (fingerprint, name, settings, environment, latest)"
            " SELECT fingerprint, name, settings, environment, latest FROM other.subjects"
            " ORDER BY latest"
        )
        of = (
            "JOIN other.subjects AS s ON s.id = theirs.subject "
            "JOIN main.subjects AS own ON own.fingerprint = s.fingerprint"
        )
        same = " AND ".join(f"mine.{name} = theirs.{name}" for name in KEY)
        differs = " OR ".join(f"mine.{name} IS NOT theirs.{name}" for name in MEASURED)
        conflict = connection.execute(
            f"SELECT theirs.family, theirs.cell, theirs.seed, theirs.ask "
            f"FROM other.stages AS theirs {of} "
            f"JOIN main.stages AS mine ON mine.subject = own.id AND {same} WHERE {differs} LIMIT 1"
        ).fetchone()
        if conflict is not None:
            family, cell, seed, ask = conflict
            raise InputError(
                f"{str(store.path)!r} contradicts the others: {family}/{cell}, seed {seed}, {ask} "
                "came out otherwise; the subject may not be deterministic"
            )
        names = ", ".join(COLUMNS)
        theirs = ", ".join(f"theirs.{name}" for name in COLUMNS)
        connection.execute(
            f"INSERT OR IGNORE INTO main.stages (subject, {names}) "
            f"SELECT own.id, {theirs} FROM other.stages AS theirs {of} ORDER BY theirs.rowid"
        )
        for table in ("laws", "experiments"):
            _take_table(connection, table, of)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    finally:
        connection.execute("DETACH other")


def _take_table(connection: sqlite3.Connection, table: str, of: str) -> None:
    """Take over what the store has of a table that earlier stores may not have."""
    entry = connection.execute(
        "SELECT 1 FROM other.sqlite_master WHERE type = 'table' AND name = ?", (table,)
    ).fetchone()
    if entry is None:
        return
    columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")][1:]
    theirs = ", ".join(f"theirs.{name}" for name in columns)
    connection.execute(
        f"INSERT OR IGNORE INTO main.{table} (subject, {', '.join(columns)}) "
        f"SELECT own.id, {theirs} FROM other.{table} AS theirs {of}"
    )


def _keep_notes(connection: sqlite3.Connection, stores: Sequence[Store]) -> None:
    """Keep what all stores note of a run; and how often trials were added, in any of them."""
    ids = dict(connection.execute("SELECT fingerprint, id FROM subjects"))
    notes = [store.notes() for store in stores]
    for (key, fingerprint), text in notes[0].items():
        if all(each.get((key, fingerprint)) == text for each in notes[1:]):
            connection.execute(
                "INSERT OR REPLACE INTO about VALUES (?, ?)", (f"{key} {ids[fingerprint]}", text)
            )
    if extensions := max(store.extensions for store in stores):
        connection.execute(
            "INSERT OR REPLACE INTO about VALUES ('extensions', ?)", (str(extensions),)
        )
