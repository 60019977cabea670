"""The files of a reproduction: pages, figures as SVG and PNG, numbers as CSV, claims as JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG

from ..environment import environment
from ..report.figures import INK, Sheet
from ..report.files import replace_file
from .markdown import as_markdown
from .page import as_page
from .reproduce import Reproduction
from .section import Drawing, Table

FORMAT = 1
DARK = "#1c2128"
DOTS_PER_INCH = 110


def write_all(found: Reproduction, folder: Path) -> list[Path]:
    """Write all files into a folder; return their paths, the page first."""
    written = [_write(folder / "paper.html", as_page(found).encode())]
    written.append(_write(folder / "paper.md", as_markdown(found).encode()))
    written.append(_write(folder / "claims.json", as_json(found).encode()))
    for section in (*found.sections, *found.beyond):
        for table in section.tables:
            written.append(_write(folder / f"{table.name}.csv", as_csv(table).encode()))
        for drawing in section.drawings:
            for suffix, content in pictures(drawing):
                written.append(_write(folder / f"{drawing.name}.{suffix}", content))
    return written


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


def as_json(found: Reproduction) -> str:
    """Return the claims as JSON."""
    document = {
        "format": FORMAT,
        "scale": found.scale.name,
        "made_by": found.made_by,
        "machine": environment(),
        "claims": [
            {
                "id": claim.id,
                "where": claim.where,
                "claim": claim.said,
                "rule": claim.rule,
                "status": str(claim.status),
                "found": claim.found,
            }
            for claim in found.claims
        ],
        "misprints": [vars(each) for each in found.misprints],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def pictures(drawing: Drawing) -> Iterator[tuple[str, bytes]]:
    """Return a figure as SVG and as PNG, on white."""
    figure = drawing.figure
    with Sheet():
        vector, raster = io.BytesIO(), io.BytesIO()
        FigureCanvasSVG(figure).print_figure(
            vector,
            format="svg",
            facecolor="white",
            metadata={"Date": None, "Creator": None, "Title": drawing.caption},
        )
        FigureCanvasAgg(figure).print_figure(
            raster,
            format="png",
            facecolor="white",
            dpi=DOTS_PER_INCH,
            metadata={"Software": None, "Description": drawing.caption},
        )
    yield "svg", vector.getvalue().replace(INK.encode(), DARK.encode())
    yield "png", raster.getvalue()


def _write(path: Path, content: bytes) -> Path:
    replace_file(path, content)
    return path
