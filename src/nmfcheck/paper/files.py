"""The files of a reproduction: pages, figures as SVG and PNG, numbers as CSV, claims as JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg

from ..presenting.drawing import Picture, Sheet
from ..report.files import replace_file
from ..store.environment import environment
from .markdown import as_markdown
from .page import as_page, drawn
from .reproduce import Reproduction
from .section import Drawing, Table

FORMAT = 1
DARK = "#1c2128"
DOTS_PER_INCH = 110


def write_all(reproduction: Reproduction, folder: Path) -> list[Path]:
    """Write all files into a folder; return their paths, the page first."""
    pictures = drawn(reproduction)
    contents = {
        "paper.html": as_page(reproduction, pictures).encode(),
        "paper.md": as_markdown(reproduction).encode(),
        "claims.json": as_json(reproduction).encode(),
    }
    for section in (*reproduction.sections, *reproduction.beyond):
        for table in section.tables:
            contents[f"{table.name}.csv"] = as_csv(table).encode()
        for drawing in section.drawings:
            contents[f"{drawing.name}.svg"] = _on_white(pictures[drawing.name]).encode()
            contents[f"{drawing.name}.png"] = _as_png(drawing)
    for name, content in contents.items():
        replace_file(folder / name, content)
    return [folder / name for name in contents]


def as_csv(table: Table) -> str:
    """Return a table as CSV, with numbers that read back to the same bits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows([_cell(value) for value in row] for row in table.rows)
    return out.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, float):  # NumPy's are, too
        return "" if math.isnan(value) else repr(float(value))
    return str(value)


def as_json(reproduction: Reproduction) -> str:
    """Return the claims as JSON."""
    document = {
        "format": FORMAT,
        "scale": reproduction.scale.name,
        "made_by": reproduction.made_by,
        "machine": environment(),
        "claims": [
            {
                "id": claim.id,
                "where": claim.where,
                "claim": claim.said,
                "rule": claim.rule,
                "status": str(claim.status),
                "found": claim.evidence,
            }
            for claim in reproduction.claims
        ],
        "misprints": [vars(each) for each in reproduction.misprints],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _on_white(picture: Picture) -> str:
    """Return a figure as an SVG file of its own."""
    svg = picture.svg.replace("currentColor", DARK)
    return svg.replace("<svg", '<svg style="background: white"', 1) + "\n"


def _as_png(drawing: Drawing) -> bytes:
    out = io.BytesIO()
    with Sheet():
        FigureCanvasAgg(drawing.figure).print_figure(
            out,
            format="png",
            facecolor="white",
            dpi=DOTS_PER_INCH,
            metadata={"Software": None, "Description": drawing.caption},
        )
    return out.getvalue()
