"""What is in a store, for comparisons."""

import contextlib
import sqlite3


def dump(path):
    """Return all stages, without how long they took; the store must be whole."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        columns = [c[1] for c in connection.execute("PRAGMA table_info(stages)")]
        kept = ", ".join(c for c in columns if c not in ("seconds", "subject"))
        return connection.execute(
            f"SELECT {kept} FROM stages ORDER BY family, cell, seed, ask"
        ).fetchall()
