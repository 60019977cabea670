"""The page: one self-contained HTML file, made from a template and figures."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from .. import __version__
from ..baseline import PAPER
from ..cases import decimal
from ..decision import MARGIN, CellVerdict
from ..outcomes import Outcome
from ..verdict import EXACT_SHARE
from .contents import MOST_SHOWN, TEST, Contents, SubjectContents, settings_in_words
from .figures import Picture, Sheet
from .tables import interval, percent, slopes_in_words, unlike_in_words


def as_page(contents: Contents) -> str:
    """Return a report as a page of HTML; the same for the same contents, byte by byte."""
    shown = max(1, MOST_SHOWN // len(contents.subjects))
    with Sheet() as sheet:
        subjects = [_subject(each, contents, sheet, shown) for each in contents.subjects]
    return template("page.html.j2").render(
        contents=contents,
        subjects=subjects,
        version=__version__,
        outcomes=list(Outcome),
        margin=f"{100 * MARGIN:g}",
        exact_share=f"{100 * EXACT_SHARE:g}",
        baseline=contents.baseline,
    )


@lru_cache
def template(name: str) -> Template:
    """Return a template of a page."""
    environment = Environment(
        loader=PackageLoader("nmfcheck", "report/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = percent
    environment.filters["interval"] = interval
    environment.filters["decimal"] = decimal
    environment.filters["figure"] = _inline
    return environment.get_template(name)


def _inline(picture: Picture) -> Markup:
    """Return a figure as markup: the SVG is our own, its text escaped by matplotlib."""
    text = Markup('<svg role="img" aria-label="{}"').format(picture.alt)
    return Markup(picture.svg.replace("<svg", str(text), 1))


def _subject(each: SubjectContents, contents: Contents, sheet: Sheet, shown: int) -> dict[str, Any]:
    exact = {(cell.n, cell.entries): cell for cell in each.verdict.exactness.cells}
    return {
        "name": each.name,
        "contents": each,
        "verdict": each.verdict,
        "about": settings_in_words(each.subject),
        "rows": [
            (cell, exact.get((cell.n, cell.entries)), _paper_alone(cell, contents))
            for cell in each.verdict.paper.cells
        ],
        "unlike": unlike_in_words(each) if each.unlike else "",
        "rates": sheet.pass_rates(each, contents.baseline),
        "defects": sheet.defects(each),
        "outcomes": sheet.outcomes(each),
        "words": sheet.words(each, contents.baseline),
        "slopes": sheet.slopes(each.slopes) if each.slopes else None,
        "linear": slopes_in_words(each.slopes) if each.slopes else "",
        "runs": [
            {
                "record": record,
                "picture": sheet.run(record),
                "replay": each.replay_line(record),
            }
            for record in each.shown[:shown]
        ],
    }


def _paper_alone(cell: CellVerdict, contents: Contents) -> str:
    """Return the lowest share of the paper's three algorithms in a cell."""
    required = contents.baseline.required(cell.n, cell.entries, TEST, PAPER)
    return f"{100 * required.share:.0f} %" if required else "–"
