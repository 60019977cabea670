"""Some cells fail, and the others are in order."""

from __future__ import annotations

from ...verdict.decision import CellVerdict, Decision
from ..evidence import Evidence
from ..findings import Cause, Finding

FEWEST = 10
"""Fewer trials of a cell do not show that it is in order."""


def some_cells(evidence: Evidence) -> Finding | None:
    """Say so if all failing cells are of a few sizes, and most sizes are in order."""
    cells = [cell for cell in evidence.verdict.test.cells if cell.decision is not None]
    failing = [_size(cell) for cell in cells if cell.decision is Decision.FAIL]
    others = [cell for cell in cells if _size(cell) not in failing]
    if not failing or any(cell.share.value < cell.bar for cell in others):
        return None
    if any(cell.share.whole < FEWEST for cell in others):
        return None
    if 2 * len(set(failing)) > len({_size(cell) for cell in cells}):
        return None
    heading = evidence.part.room.headings[0]
    sizes = ", ".join(dict.fromkeys(failing))
    return Finding(Cause.SOME_CELLS, f"Only {heading} = {sizes} fails; the others are in order.")


def _size(cell: CellVerdict) -> str:
    """Return the first column of a cell, which is its size or shape."""
    return cell.cell.columns[0] if cell.cell is not None and cell.cell.columns else ""
