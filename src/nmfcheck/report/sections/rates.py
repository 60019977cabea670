"""Trials passed, cell by cell, with the references behind them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...intervals import Share
from ...judging.objectives import FROBENIUS
from ...presenting.section import Section
from ...presenting.words import rate
from ...verdict.baseline import PAPER
from ...verdict.decision import CellVerdict
from ..contents import FamilyContents

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

    from ...presenting.drawing import Picture, Sheet


class RatesSection(Section):
    """The share of trials passed, drawn.

    Cells whose first column is a number are drawn against it, a figure for each kind; others side
    by side, in one figure.
    """

    title = "Trials passed"

    def __init__(self, family: FamilyContents) -> None:
        self.family = family

    def html(self, sheet: Sheet) -> Markup | str:
        """Draw the figures."""
        from markupsafe import Markup

        from ...presenting.markup import figure

        cells = self.family.verdict.test.cells
        against = all(_columns(cell)[0].isdigit() for cell in cells)
        groups: dict[str, list[CellVerdict]] = {}
        for cell in cells:
            kind = _columns(cell)[-1] if against and len(_columns(cell)) > 1 else ""
            groups.setdefault(kind, []).append(cell)
        baseline = self.family.baseline
        of_paper = ": solid or dots the paper’s three, dotted or rings the others"
        which = of_paper if baseline.objective == FROBENIUS.name else ""
        caption = f"In grey the references{which}." if baseline.algorithms else ""
        return Markup("").join(
            figure(self._figure(sheet, kind, group, against=against), caption)
            for kind, group in groups.items()
        )

    def _figure(
        self, sheet: Sheet, kind: str, cells: list[CellVerdict], *, against: bool
    ) -> Picture:
        import numpy as np

        from ...presenting.drawing import BLUE, INK, panels

        figure, (axes,) = panels()
        places = list(range(len(cells)))
        self._draw_references(axes, cells, against=against)
        bars = [(x, cells[x].bar) for x in places if not math.isnan(cells[x].required)]
        if bars:
            margin = f"required minus {100 * cells[0].margin:g} points"
            label = f"the bar: {margin if cells[0].margin else 'every trial'}"
            line, mark = ("--", "") if against else ("", "_")
            axes.plot(*zip(*bars, strict=True), color=INK, linewidth=1, linestyle=line, marker=mark,
                      markersize=18, label=label)  # fmt: skip
        shares = [cell.share.value for cell in cells]
        bounds = np.array([cell.share.interval for cell in cells]).T
        axes.errorbar(places, shares, np.abs(bounds - shares), fmt="o-" if against else "o",
                      color=BLUE, capsize=3, label="this subject, 95 % interval")  # fmt: skip
        headings = self.family.part.room.headings
        heading = headings[0] if against else ", ".join(headings)
        names = [_columns(c)[0] if against else "\n".join(_columns(c)) for c in cells]
        axes.set_xticks(places, names)
        axes.set(xlabel=heading, ylabel="trials passed", ylim=(-0.02, 1.02))
        if not against:
            axes.set_xlim(-0.5, len(cells) - 0.5)
        figure.legend(loc="outside lower center", ncols=2, fontsize=9)
        listed = ", ".join(f"{name.replace(chr(10), ' ')}: {rate(c.share)}"
                         for name, c in zip(names, cells, strict=True))  # fmt: skip
        of_kind = f", {headings[-1]} {kind}" if kind else ""
        return sheet.draw(figure, f"Share of trials passed against {heading}{of_kind}: {listed}.")

    def _draw_references(self, axes: Axes, cells: list[CellVerdict], *, against: bool) -> None:
        """Draw what the references reached, in grey: curves with names, or marks side by side."""
        from ...presenting.drawing import GREY, apart, short_name

        ends = {}
        for beside, name in enumerate(self.family.baseline.accepted):
            theirs = [(x, self._share(name, cell)) for x, cell in enumerate(cells)]
            shown = [(x, share.value) for x, share in theirs if share.whole]
            if not shown:
                continue
            if against:
                style = "-" if name in PAPER else ":"
                axes.plot(*zip(*shown, strict=True), style, color=GREY, linewidth=1)
                ends[short_name(name)] = shown[-1][1]
                continue
            fill = "full" if name in PAPER else "none"
            moved = [(x + 0.08 * (beside - 2) + 0.25, y) for x, y in shown]
            axes.plot(*zip(*moved, strict=True), "o", color=GREY, markersize=4, fillstyle=fill)
        for name, y in apart(ends, 0.06).items():
            axes.annotate(name, (len(cells) - 1, y), xytext=(7, 0), textcoords="offset points",
                          color=GREY, fontsize=8, va="center")  # fmt: skip

    def _share(self, name: str, cell: CellVerdict) -> Share:
        assert cell.cell is not None
        shares = self.family.baseline.shares(cell.cell.name, self.family.part.test, (name,))
        return shares.get(name, Share(0, 0))


def _columns(cell: CellVerdict) -> tuple[str, ...]:
    """Return what tables show of a cell."""
    assert cell.cell is not None
    return cell.cell.columns or (cell.cell.name,)
