"""Trials passed, cell by cell, with the references behind them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...intervals import Share
from ...presenting.section import Section
from ...presenting.words import percent
from ...verdict.baseline import ACCEPTED, PAPER
from ...verdict.decision import MARGIN, CellVerdict
from ..contents import FamilyContents

if TYPE_CHECKING:
    from markupsafe import Markup

    from ...presenting.drawing import Picture, Sheet


class RatesSection(Section):
    """The share of trials passed, in a figure for each kind of cell."""

    title = "Trials passed"

    def __init__(self, family: FamilyContents) -> None:
        self.family = family

    def html(self, sheet: Sheet) -> Markup | str:
        """Draw a figure for each kind of entries, the cells of that kind side by side."""
        from markupsafe import Markup

        from ...presenting.markup import figure

        kinds: dict[str, list[CellVerdict]] = {}
        for cell in self.family.verdict.test.cells:
            assert cell.cell is not None
            kinds.setdefault(cell.cell.columns[-1] if cell.cell.columns else "", []).append(cell)
        caption = "In grey the references: solid the paper’s three, dotted the other two."
        if self.family.part.room.required is not None:
            caption = ""
        return Markup("").join(
            figure(self._figure(sheet, kind, cells), caption) for kind, cells in kinds.items()
        )

    def _figure(self, sheet: Sheet, kind: str, cells: list[CellVerdict]) -> Picture:
        import numpy as np

        from ...presenting.drawing import BLUE, GREY, INK, apart, panels, short_name

        figure, (axes,) = panels()
        places = list(range(len(cells)))
        ends = {}
        for name in ACCEPTED:
            theirs = [(x, s.value) for x in places if (s := self._share(name, cells[x])).whole]
            if theirs:
                style = "o-" if name in PAPER else "o:"
                axes.plot(*zip(*theirs, strict=True), style, color=GREY, linewidth=1, markersize=2)
                ends[short_name(name)] = theirs[-1][1]
        for name, y in apart(ends, 0.06).items():
            axes.annotate(name, (places[-1], y), xytext=(7, 0), textcoords="offset points",
                          color=GREY, fontsize=8, va="center")  # fmt: skip
        bars = [(x, cells[x].bar) for x in places if not math.isnan(cells[x].required)]
        if bars:
            label = f"the bar: required minus {100 * MARGIN:g} points"
            axes.plot(*zip(*bars, strict=True), color=INK, linewidth=1, linestyle="--", label=label)
        shares = [cell.share.value for cell in cells]
        bounds = np.array([cell.share.interval for cell in cells]).T
        axes.errorbar(places, shares, np.abs(bounds - shares), fmt="o-", color=BLUE, capsize=3,
                      label="this subject, 95 % interval")  # fmt: skip
        headings = self.family.part.room.headings
        named = [_label(cell) for cell in cells]
        axes.set_xticks(places, named, rotation=0 if max(map(len, named)) < 4 else 20)
        axes.set(xlabel=", ".join(headings[:-1]) or headings[0], ylabel="trials passed",
                 ylim=(-0.02, 1.02))  # fmt: skip
        axes.legend(loc="lower left")
        heading = ", ".join(headings[:-1]) or headings[0]
        told = ", ".join(f"{_label(c)}: {percent(c.share)}" for c in cells)
        of_kind = f", {headings[-1]} {kind}" if len(headings) > 1 else ""
        return sheet.draw(figure, f"Share of trials passed against {heading}{of_kind}: {told}.")

    def _share(self, name: str, cell: CellVerdict) -> Share:
        assert cell.cell is not None
        found = self.family.baseline.shares(cell.cell.name, self.family.part.test, (name,))
        return found.get(name, Share(0, 0))


def _label(cell: CellVerdict) -> str:
    """Return what is written under a cell: all its columns but the kind."""
    assert cell.cell is not None
    columns = cell.cell.columns or (cell.cell.name,)
    return ", ".join(columns[:-1] or columns)
