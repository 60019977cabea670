"""The page: one self-contained HTML file, made of the report's sections."""

from __future__ import annotations

from typing import Any

from .. import __version__
from ..judging.outcomes import Outcome
from ..presenting.drawing import Sheet
from ..presenting.markup import template
from ..presenting.section import Section
from ..verdict.decision import MARGIN
from .commands import settings_in_words
from .contents import MOST_SHOWN, Contents, SubjectContents
from .sections import sections
from .sections.leaderboard import LeaderboardSection


def as_page(contents: Contents) -> str:
    """Return a report as a page of HTML; the same for the same contents, byte by byte."""
    shown = max(1, MOST_SHOWN // len(contents.subjects))
    several = len(contents.subjects) > 1
    with Sheet() as sheet:
        leaders = LeaderboardSection(contents).html(sheet) if several else ""
        subjects = [_subject(each, sheet, shown) for each in contents.subjects]
    rooms = {p.family: p.room for each in contents.subjects for p in each.suite.parts}
    return template("page.html.j2").render(
        contents=contents,
        leaders=leaders,
        subjects=subjects,
        families=list(rooms.values()),
        version=__version__,
        outcomes=list(Outcome),
        margin=f"{100 * MARGIN:g}",
    )


def _subject(subject: SubjectContents, sheet: Sheet, shown: int) -> dict[str, Any]:
    return {
        "name": subject.name,
        "suite": subject.suite,
        "about": settings_in_words(subject.subject),
        "sections": [
            (each.title, html, each.folded)
            for each in sections(subject, shown)
            if (html := _html(each, sheet))
        ],
    }


def _html(section: Section, sheet: Sheet) -> str:
    return str(section.html(sheet))
