"""A record as a row of the store, and back."""

from __future__ import annotations

import math
import zlib
from typing import Any

import numpy as np

from ..arrays import Array
from ..outcomes import Flag, Outcome
from ..records import Record

COLUMNS = (
    "case_id", "n", "entries", "seed", "eps", "outcome", "grade", "form_defect", "product_defect",
    "kkt_residual", "word", "permutation", "permutation_changed", "seconds", "message", "flags",
    "output", "digest", "W", "H",
)  # fmt: skip


def row_of(record: Record) -> tuple[Any, ...]:
    """Return the values of a record's columns."""
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
        packed(record.W),
        packed(record.H),
    )


def record_of(row: dict[str, Any]) -> Record:
    """Return the record of a row; without W and H where they were not read."""
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
        W=unpacked(row.get("W"), n),
        H=unpacked(row.get("H"), n),
    )


def _number(x: float) -> float | None:
    return None if math.isnan(x) else x


def _float(x: float | None) -> float:
    return math.nan if x is None else x


def packed(X: Array | None) -> bytes | None:
    """Return a matrix as bytes."""
    return None if X is None else zlib.compress(np.ascontiguousarray(X, "<f8").tobytes(), 1)


def unpacked(text: bytes | None, n: int) -> Array | None:
    """Return the n×n matrix that `packed` made."""
    if text is None:
        return None
    return np.frombuffer(zlib.decompress(text), "<f8").reshape(n, n).astype(np.float64)
