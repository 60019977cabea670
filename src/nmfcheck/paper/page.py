"""The page of a reproduction."""

from __future__ import annotations

from .. import __version__
from ..presenting.drawing import Picture, Sheet
from ..presenting.markup import template
from ..store.environment import environment
from .reproduce import Reproduction
from .section import Status

CLASSES = {
    Status.REPRODUCED: "PASS",
    Status.CORRECTED: "INCONCLUSIVE",
    Status.NOT_REPRODUCED: "FAIL",
    Status.UNDECIDED: "quiet",
}
"""The style of each status: that of the report's verdicts."""


def drawn(reproduction: Reproduction) -> dict[str, Picture]:
    """Return all figures, by their names."""
    with Sheet() as sheet:
        return {
            drawing.name: sheet.draw(drawing.figure, drawing.caption)
            for section in (*reproduction.sections, *reproduction.beyond)
            for drawing in section.drawings
        }


def as_page(reproduction: Reproduction, pictures: dict[str, Picture]) -> str:
    """Return all of it as one self-contained page of HTML."""
    parts = [
        [
            {
                "section": section,
                "pictures": [pictures[drawing.name] for drawing in section.drawings],
            }
            for section in sections
        ]
        for sections in (reproduction.sections, reproduction.beyond)
    ]
    counts = {
        str(status): number
        for status in Status
        if (number := sum(claim.status is status for claim in reproduction.claims))
    }
    return template("paper.html.j2").render(
        reproduction=reproduction,
        of_the_paper=parts[0],
        beyond=parts[1],
        counts=counts,
        classes=CLASSES,
        machine=environment(),
        version=__version__,
    )
