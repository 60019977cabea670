"""How often each outcome occurred, for each ask and cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...judging.outcomes import NOT_ASKED, Outcome
from ...presenting.section import Section
from ...verdict.tally import CellTally
from ..contents import FamilyContents

if TYPE_CHECKING:
    from markupsafe import Markup

    from ...presenting.drawing import Sheet


class OutcomesSection(Section):
    """Outcomes, as bars."""

    title = "Outcomes"

    def __init__(self, family: FamilyContents) -> None:
        self.family = family

    def html(self, sheet: Sheet) -> Markup | str:
        """Draw a panel for each ask, a bar for each size."""
        import numpy as np
        from matplotlib.patches import Patch

        from ...presenting.drawing import INK, OF_OUTCOME, panels
        from ...presenting.markup import figure as with_caption

        asks, tallies = self.family.asks, self.family.tallies
        figure, row = panels(columns=max(len(asks), 1), height=2.6)
        sizes = list(dict.fromkeys(_size(each) for each in tallies))
        letters = {str(outcome): outcome.letter for outcome in OF_OUTCOME}
        letters["no answer"] = "".join(o.letter for o in Outcome if o not in OF_OUTCOME)
        letters["not asked"] = NOT_ASKED
        fills = (*OF_OUTCOME.values(), INK, "none")
        colours = dict(zip(letters, fills, strict=True))
        occurred = []
        for axes, ask in zip(row, asks, strict=False):
            base = np.zeros(len(sizes))
            for name, of in letters.items():
                share = np.array([_share(tallies, size, ask.name, of) for size in sizes])
                if share.any():
                    occurred.append(name)
                    axes.bar(
                        range(len(sizes)), share, bottom=base, width=0.85, **_fill(colours[name])
                    )
                base += share
            axes.set(title=ask.title, xlabel=self.family.part.room.headings[0], ylim=(0, 1))
            turned, size = 90 * (sum(map(len, sizes)) > 12), 10 if len(sizes) < 9 else 7
            axes.set_xticks(range(len(sizes)), sizes, rotation=turned, fontsize=size)
        row[0].set_ylabel("share of trials")
        patches = {name: Patch(**_fill(colours[name])) for name in letters if name in occurred}
        if patches:
            figure.legend(patches.values(), patches.keys(), loc="outside lower center", ncols=3,
                          fontsize=9)  # fmt: skip
        total = ", ".join(f"{name} {number}" for name, number in _totals(tallies).items())
        heading = self.family.part.room.headings[0]
        return with_caption(sheet.draw(figure, f"Outcomes by {heading} and ask. In all: {total}."))


def _size(tally: CellTally) -> str:
    """Return what a bar stands for: a size or shape, and how trials start if not anywhere."""
    first = tally.cell.columns[0] if tally.cell.columns else tally.cell.name
    return f"{first}, {tally.cell.columns[-1]}" if tally.cell.warm else first


def _share(tallies: Sequence[CellTally], size: str, ask: str, letters: str) -> float:
    text = "".join(each.letters.get(ask, "") for each in tallies if _size(each) == size)
    return sum(map(text.count, letters)) / max(len(text), 1)


def _fill(colour: str) -> dict[str, Any]:
    from ...presenting.drawing import GREY

    return {"facecolor": colour, "edgecolor": GREY if colour == "none" else "none"}


def _totals(tallies: Sequence[CellTally]) -> dict[str, int]:
    text = "".join(letters for each in tallies for letters in each.letters.values())
    counts = {str(outcome): text.count(outcome.letter) for outcome in Outcome}
    return {name: number for name, number in counts.items() if number}
