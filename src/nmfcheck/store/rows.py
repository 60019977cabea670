"""A stage as a row of the store, and back."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..families import Ask, Cell, Trial
from ..judging.outcomes import Flag, Outcome
from ..trials.stage import Stage

COLUMNS = (
    "family", "cell", "draw", "seed", "ask", "m", "n", "k", "outcome", "measures", "labels",
    "message", "flags", "output", "seconds", "digest", "W", "H",
)  # fmt: skip


SMALL = 512
"""Matrices of so few bytes are stored as they are: compressing would take time, and save little."""


def row_of(stage: Stage) -> tuple[Any, ...]:
    """Return the values of a stage's columns."""
    trial, cell = stage.trial, stage.trial.cell
    return (
        cell.family,
        cell.name,
        trial.draw,
        trial.seed,
        stage.ask.name,
        cell.m,
        cell.n,
        cell.k,
        str(stage.outcome),
        numbers_as_text(stage.measures),
        json.dumps(stage.labels, ensure_ascii=False),
        stage.message,
        ",".join(stage.flags),
        stage.output,
        None if math.isnan(stage.seconds) else stage.seconds,
        stage.digest,
        packed(stage.W),
        packed(stage.H),
    )


def stage_of(row: Mapping[str, Any], cell: Cell, asks: tuple[Ask, ...], ask: Ask) -> Stage:
    """Return the stage of a row; without W and H where they were not read.

    Parameters
    ----------
    asks : those of the trial; `ask` is the one of this stage.
    """
    return Stage(
        Trial(cell, row["draw"], row["seed"], asks),
        ask,
        Outcome(row["outcome"]),
        row["message"],
        measures={name: float(x) for name, x in json.loads(row["measures"]).items()},
        labels=json.loads(row["labels"]),
        flags=tuple(Flag(flag) for flag in row["flags"].split(",") if flag),
        output=row["output"],
        seconds=math.nan if row["seconds"] is None else row["seconds"],
        digest=row["digest"],
        W=unpacked(row.get("W"), (cell.m, cell.k)),
        H=unpacked(row.get("H"), (cell.k, cell.n)),
    )


def numbers_as_text(numbers: Mapping[str, float]) -> str:
    """Write numbers as JSON, which has no NaN, and infinity as a number that is too large."""
    finite = {name: x for name, x in numbers.items() if not math.isnan(x)}
    return json.dumps(finite).replace("Infinity", "9e999")


def packed(X: Array | None) -> bytes | None:
    """Return a matrix as bytes."""
    if X is None:
        return None
    data = np.ascontiguousarray(X, "<f8").tobytes()
    return zlib.compress(data, 0 if len(data) <= SMALL else 1)


def unpacked(text: bytes | None, shape: tuple[int, int]) -> Array | None:
    """Return the matrix that `packed` made."""
    if text is None:
        return None
    return np.frombuffer(zlib.decompress(text), "<f8").reshape(shape).astype(np.float64)
