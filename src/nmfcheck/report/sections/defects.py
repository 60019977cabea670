"""The distribution of the defects, for each ask."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...judging.tolerances import TOLERANCE
from ...presenting.section import Section
from ..contents import FamilyContents

if TYPE_CHECKING:
    from markupsafe import Markup

    from ...presenting.drawing import Sheet

POINTS = 200
"""A curve has no more points than these."""


class DefectsSection(Section):
    """How far runs are off."""

    title = "Defects"

    def __init__(self, family: FamilyContents) -> None:
        self.family = family

    def html(self, sheet: Sheet) -> Markup | str:
        """Draw the share of runs within each defect, a curve for each ask."""
        import numpy as np

        from ...presenting.drawing import BLUE, GREEN, INK, ORANGE, PURPLE, RED, panels
        from ...presenting.markup import figure as with_caption

        figure, (axes,) = panels(height=3.2)
        medians = []
        for ask, colour in zip(self.family.asks, (GREEN, BLUE, ORANGE, RED, PURPLE), strict=False):
            defects = self.family.defects[ask.name]
            finite = [max(x, 1e-18) for x in defects if math.isfinite(x)]
            if not finite:
                continue
            places = np.unique(np.linspace(0, len(finite) - 1, POINTS).astype(int))
            axes.plot(np.array(finite)[places], (places + 1) / len(defects), color=colour,
                      drawstyle="steps-post", label=ask.title)  # fmt: skip
            medians.append(f"at {ask.title} the median is {np.median(finite):.0e}")
        most, exact = self._asked_for, self.family.tolerance
        for bound in (exact, *([most] if most else [])):
            axes.axvline(bound, color=INK, linewidth=0.8, linestyle=":")
            axes.annotate(f"{bound:.0e}", (bound, 1.02), fontsize=8, ha="center",
                          xycoords=("data", "axes fraction"))  # fmt: skip
        axes.set(xscale="log", xlabel="largest defect", ylim=(0, 1.01),
                 ylabel="share of runs", xlim=(1e-18, 10))  # fmt: skip
        if medians:
            axes.legend(loc="center", bbox_to_anchor=(0.42, 0.4))
        picture = sheet.draw(
            figure, f"Distribution of the defects: {'; '.join(medians) or 'none'}."
        )
        asked = f"{most:g} is asked for. " if most else ""
        return with_caption(picture, f"{asked}Exact is {exact:g} or less.")

    @property
    def _asked_for(self) -> float | None:
        """The defect up to which runs pass, where that is not what counts as exact."""
        part = self.family.part
        needed = {ask.needs for ask in part.test}
        if "exact-in-single" in needed:
            return max(TOLERANCE.single, self.family.tolerance)
        return part.room.defect_bound if "identified" in needed else None
