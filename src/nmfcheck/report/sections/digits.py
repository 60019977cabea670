"""Correct digits: the share of trials that pass, against the tolerance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...presenting.section import Section
from ...verdict.regrading import MOST_DIGITS, tolerance_of
from ..contents import SubjectContents

if TYPE_CHECKING:
    from markupsafe import Markup

    from ...presenting.drawing import Sheet

CAPTION = (
    "The share of trials that pass if runs within the tolerance count as exact. A filled mark is a "
    "PASS at that tolerance. Collapse does not depend on the tolerance: a collapsed run passes at "
    "none."
)


class DigitsSection(Section):
    """How exact the answers of each family are."""

    title = "Correct digits"

    def __init__(self, subject: SubjectContents) -> None:
        self.families = [each for each in subject.verdict.families if each.digits is not None]

    def html(self, sheet: Sheet) -> Markup | str:
        """Draw a curve for each family."""
        if not self.families:
            return ""
        from ...presenting.drawing import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, panels
        from ...presenting.markup import figure as with_caption
        from ...verdict.decision import Decision

        figure, (axes,) = panels(height=3.4)
        tolerances = [tolerance_of(d) for d in range(1, MOST_DIGITS + 1)]
        listed = []
        colours = (BLUE, ORANGE, GREEN, PURPLE, RED, INK, GREY)
        for place, family in enumerate(self.families):
            assert family.digits is not None
            colour = colours[place % len(colours)]
            shares = [share.value for share, _ in family.digits.curve]
            passing = [
                (x, y)
                for x, y, (_, decision) in zip(tolerances, shares, family.digits.curve, strict=True)
                if decision is Decision.PASS
            ]
            axes.plot(tolerances, shares, color=colour, marker="o", markersize=4,
                      fillstyle="none", linewidth=1.2, label=family.family)  # fmt: skip
            if passing:
                axes.plot(*zip(*passing, strict=True), "o", color=colour, markersize=5)
            listed.append(f"{family.family} {family.digits.in_words}")
        axes.set(xscale="log", xlabel="tolerance", ylabel="trials passed", ylim=(-0.02, 1.02))
        axes.invert_xaxis()
        figure.legend(loc="outside lower center", ncols=4, fontsize=9)
        return with_caption(sheet.draw(figure, f"Correct digits: {', '.join(listed)}."), CAPTION)
