"""All experiments, one after the other, and what is said of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from ..presenting.drawing import Sheet
from . import (
    chain,
    collapse,
    decay,
    escape,
    larger,
    monomial,
    outside,
    proposed_test,
    slopes,
    splitting,
    three_by_three,
    two_by_two,
)
from .misprints import Misprint, misprints
from .plan import Scale
from .section import Claim, Evidence, Section

OF_THE_PAPER = (
    monomial, two_by_two, slopes, splitting, three_by_three, larger, proposed_test, outside,
)  # fmt: skip
BEYOND = (chain, collapse, decay, escape)


@dataclass(frozen=True)
class Reproduction:
    """The paper's experiments again.

    Attributes
    ----------
    made_by : version and engine.
    """

    scale: Scale
    made_by: dict[str, str]
    sections: Sequence[Section]
    beyond: Sequence[Section]
    misprints: Sequence[Misprint]

    @property
    def claims(self) -> list[Claim]:
        """All claims."""
        return [claim for section in self.sections for claim in section.claims]


def reproduce(evidence: Evidence, made_by: dict[str, str]) -> Reproduction:
    """Say what the runs say."""
    with Sheet():  # the style of the figures
        reproduction = Reproduction(
            evidence.scale,
            made_by,
            [part.section(evidence) for part in OF_THE_PAPER],
            [part.section(evidence) for part in BEYOND],
            misprints(evidence),
        )
        for section in (*reproduction.sections, *reproduction.beyond):
            for drawing in section.drawings:
                _lay_out(drawing.figure)
    return reproduction


def _lay_out(figure: Figure) -> None:
    """Lay out a figure once and for all: it is drawn several times."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
