"""Matrices in files: .csv, .npy and .mtx."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError


def read_matrix(path: Path) -> Any:
    """Read a matrix, whatever its numbers are; the file's suffix says how."""
    readers = {".csv": _read_csv, ".npy": _read_npy, ".mtx": _read_mtx}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: no reader for {path.suffix!r}; expected .csv, .npy or .mtx")
    try:
        matrix = reader(path)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
    except Exception as error:  # NumPy and SciPy raise all kinds of things for a broken file
        reason = " ".join(str(error).split())
        raise InputError(f"{path} is not a {path.suffix} matrix: {reason}") from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(f"{path} holds an array of shape {matrix.shape}; expected a matrix")
    return matrix


def write_matrix(path: Path, X: Array) -> None:
    """Write a matrix so that it can be read back bit by bit; the file's suffix says how."""
    if path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".mtx":
        rows, columns = X.shape
        entries = "".join(f"{x!r}\n" for x in X.T.ravel().tolist())  # column by column
        path.write_text(f"%%MatrixMarket matrix array real general\n{rows} {columns}\n{entries}")
    else:
        path.write_text("".join(",".join(map(repr, row)) + "\n" for row in X.tolist()))


def _read_csv(path: Path) -> Any:
    """Read one row a line, numbers between commas; blank lines and `#` comments do not count."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        rows = [
            (reader.line_num, row)
            for row in reader
            if any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#")
        ]
    if not rows:
        raise InputError(f"{path} is empty; expected numbers between commas, one row a line")
    width = len(rows[0][1])
    for line, row in rows:
        if len(row) != width:
            raise InputError(
                f"{path} is ragged: line {line} has {len(row)} numbers, line {rows[0][0]} {width}"
            )
    return np.array([[_number(path, line, cell) for cell in row] for line, row in rows])


def _number(path: Path, line: int, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        expected = "expected numbers between commas"
        raise InputError(
            f"{path}, line {line}: {text.strip()!r} is not a number; {expected}"
        ) from None


def _read_npy(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except ValueError:  # NumPy's own message advises to load it unsafely
        raise InputError(f"{path} is not a .npy matrix of numbers") from None


def _read_mtx(path: Path) -> Any:
    from scipy.io import mmread  # late: SciPy takes long to import

    with warnings.catch_warnings():  # newer SciPy deprecates the kind of sparse matrix it returns
        warnings.simplefilter("ignore")
        matrix = mmread(path)
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix
