"""Stores of schema 1, which knew the bidiagonal family alone, as stores of today's."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..families import find
from ..families.bidiagonal.family import SLOPES, ask_of
from ..subjects import Answer
from ..text import decimal
from ..trials.climb import Climb, judged
from ..trials.suites import Part, Suite
from .file import in_words, lay_out
from .rows import COLUMNS, numbers_as_text, row_of, unpacked

BIDIAGONAL = "bidiagonal"


def migrated(path: Path) -> Path:
    """Return a copy of a store in today's schema; the file itself is left as it is."""
    handle, name = tempfile.mkstemp(prefix="nmfcheck-store-", suffix=".sqlite")
    os.close(handle)
    copy = Path(name)
    try:
        with (
            in_words(path),
            contextlib.closing(_opened(path)) as old,
            contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as new,
        ):
            (state,) = old.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise ValueError(state)
            (text,) = old.execute("SELECT value FROM about WHERE key = 'suite'").fetchone()
            lay_out(new, _suite(json.loads(text)))
            new.execute("BEGIN")
            subjects = old.execute("SELECT * FROM subjects").fetchall()
            new.executemany("INSERT INTO subjects VALUES (?, ?, ?, ?, ?, ?)", subjects)
            names = ", ".join(COLUMNS)
            places = ", ".join("?" * (len(COLUMNS) + 1))
            new.executemany(
                f"INSERT INTO stages (subject, {names}) VALUES ({places})", _stages(old)
            )
            new.execute("COMMIT")
    except (TypeError, ValueError, LookupError, AttributeError, zlib.error) as error:
        copy.unlink()
        raise InputError(f"the store {str(path)!r} is damaged: {error}") from None
    except BaseException:
        copy.unlink()
        raise
    return copy


def _opened(path: Path) -> sqlite3.Connection:
    """Open a store so that SQLite lays no files beside it, unless it has a log of its own."""
    log = path.with_name(f"{path.name}-wal")
    alone = "" if log.exists() and log.stat().st_size > 0 else "&immutable=1"
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{alone}", uri=True)
    connection.row_factory = sqlite3.Row
    return connection


def _suite(written: dict[str, Any]) -> Suite:
    """Return the suite that schema 1 wrote down as sizes, kinds of entries and values of ε."""
    asks = tuple(map(ask_of, written["eps"]))
    whole = Part(BIDIAGONAL, 1, {}, asks)
    cells, _ = whole.room.select({}, asks, {"sizes": written["sizes"], "entries": written["kinds"]})
    part = Part(BIDIAGONAL, 1, dict.fromkeys(cells, written["trials"]), asks)
    return Suite(written["name"], written["version"], (part,), written["reference_iterations"])


def _stages(old: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    for row in old.execute("SELECT * FROM stages ORDER BY rowid"):
        kind, _, draw = row["entries"].partition("#")
        measured = ("form_defect", "product_defect", "kkt_residual", "permutation_changed")
        measures = {name: float(row[name]) for name in measured if row[name] is not None}
        labels = {name: row[name] for name in ("word", "permutation") if row[name]}
        n = row["n"]
        yield (
            row["subject"], BIDIAGONAL, f"n={n}/{kind}", int(draw) if draw else None, row["seed"],
            f"eps={decimal(row['eps'])}", n, n, n, row["outcome"], numbers_as_text(measures),
            json.dumps(labels), row["message"], row["flags"], row["output"], row["seconds"],
            row["digest"], row["W"], row["H"],
        )  # fmt: skip
    if old.execute("SELECT 1 FROM sqlite_master WHERE name = 'slopes'").fetchone():
        yield from _slopes(old)


def _slopes(old: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    """Return the runs for slopes, of which schema 1 kept W and H alone: judged again."""
    room = find(BIDIAGONAL)
    cell = room.cell(SLOPES)
    climbs: dict[tuple[int, int], Climb] = {}
    asked, answers = [], []
    for row in old.execute("SELECT * FROM slopes ORDER BY subject, seed"):
        trial = room.trial(cell, row["seed"])
        climbs.setdefault((row["subject"], trial.seed), Climb(trial))
        W, H = (unpacked(row[name], (cell.m, cell.k)) for name in ("W", "H"))
        missing = None if W is not None and H is not None else "there was no answer"
        answers.append(Answer(W, H, missing))
        asked.append((row["subject"], trial, trial.ask(f"{SLOPES}:eps={decimal(row['eps'])}")))
    judgements = judged(
        [trial for _, trial, _ in asked], [trial.case(ask) for _, trial, ask in asked], answers
    )
    for (subject, trial, ask), answer, judgement in zip(asked, answers, judgements, strict=True):
        climbs[subject, trial.seed].take(ask, answer, judgement)
    for (subject, _), climb in climbs.items():
        for stage in climb.result().stages:
            yield (subject, *row_of(stage))
