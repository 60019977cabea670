"""It depends on the units of A."""

from __future__ import annotations

from collections.abc import Iterable

from ...intervals import Share
from ...text import percent
from ...verdict.tally import CellTally
from ..evidence import Evidence
from ..findings import Cause, Finding

FALL = 0.5
"""Where the share of trials that pass falls by so much, that is not chance."""


def units(evidence: Evidence) -> Finding | None:
    """Say so if trials pass where the entries of A are near 1, and not where they are tiny."""
    test = evidence.part.test

    def passed(cells: Iterable[CellTally]) -> Share:
        return sum((cell.share(test) for cell in cells), Share(0, 0))

    other = [cell for cell in evidence.cells if cell.cell.unit != 1]
    usual, scaled = passed(c for c in evidence.cells if c.cell.unit == 1), passed(other)
    if not (scaled.whole and usual.whole) or usual.value - scaled.value < FALL:
        return None
    return Finding(
        Cause.UNITS,
        f"It depends on the units of A: where A's entries are near {other[0].cell.unit:.0e}, "
        f"{percent(scaled.value)} of its trials pass, elsewhere {percent(usual.value)}. A constant "
        "that does not grow and shrink with A is in the way: a floor under W, H or W·H, something "
        "added to a denominator, an absolute tolerance.",
    )
