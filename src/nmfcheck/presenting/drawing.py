"""Figures: matplotlib, as inline SVG that follows the page's light or dark theme.

Text and axes are drawn in the colour of the text around them (`currentColor`).
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from ..arrays import Array
from ..judging.outcomes import Outcome

INK = "#010203"
"""Stands for the colour of the text until the figure is done."""

BLUE, ORANGE, GREEN, RED, GREY, PURPLE, TEAL, YELLOW = (
    "#3b82c4", "#e08a1e", "#2f9e6e", "#d1495b", "#8a8f98", "#8f6bb3", "#7cc7b2", "#d9c84a",
)  # fmt: skip
"""Told apart on white and on black, and without red or green."""

OF_OUTCOME = {
    Outcome.EXACT: GREEN,
    Outcome.SINGLE: TEAL,
    Outcome.FIRST_ORDER: BLUE,
    Outcome.IDENTIFIED: YELLOW,
    Outcome.COLLAPSED: ORANGE,
    Outcome.UNCONVERGED: RED,
    Outcome.INVALID: PURPLE,
}
"""The outcomes that have a colour of their own."""

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "nmfcheck",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "legend.frameon": False,
}
WIDTH = 5.2
"""Inches: letters are as large on a phone as those of the text."""


@dataclass(frozen=True)
class Picture:
    """An SVG, and what it shows, in words."""

    svg: str
    alt: str


class Sheet:
    """Draws the figures of one page, within a `with`; every id on it is made unique."""

    def __init__(self) -> None:
        self._number = 0
        self._style = mpl.rc_context({**mpl.rcParamsDefault, **STYLE})

    def __enter__(self) -> Sheet:
        self._style.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._style.__exit__(None, None, None)

    def draw(self, figure: Figure, alt: str) -> Picture:
        """Return a figure as SVG."""
        self._number += 1
        out = io.StringIO()
        canvas = FigureCanvasSVG(figure)
        canvas.print_svg(out, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
        svg = out.getvalue()
        svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
        svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
        mark = f"f{self._number}-"
        svg = re.sub(r'\bid="', f'id="{mark}', svg)
        svg = re.sub(r"url\(#", f"url(#{mark}", svg)
        svg = re.sub(r'(xlink:href|href)="#', rf'\1="#{mark}', svg)
        return Picture(svg.strip(), alt)


def panels(columns: int = 1, height: float = 3.0) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure with panels side by side."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def heat(axes: Axes, name: str, X: Array) -> None:
    """Draw a matrix, each entry a square, its colour logarithmic over twelve decades."""
    shown = np.where(np.isfinite(X), np.abs(X), np.nan)
    top = float(np.nanmax(shown, initial=0.0))
    scale = LogNorm(max(top, 1e-300) * 1e-12, max(top, 1e-300))
    floor = np.maximum(shown, scale.vmin or 0)
    axes.pcolormesh(floor, norm=scale, cmap="viridis", edgecolors="none")
    for i, j in zip(*np.nonzero(~np.isfinite(X) | (X < 0)), strict=True):
        axes.text(j + 0.5, i + 0.5, "!", ha="center", va="center", color=RED, weight="bold")
    axes.invert_yaxis()
    axes.set_aspect("equal")
    axes.set(xticks=(), yticks=())
    axes.set_title(f"{name}, max {top:.2g}", fontsize=9)


def short_name(name: str) -> str:
    """Return a name that fits beside a curve."""
    return {"multiplicative-update": "MU", "gradient-descent": "gradient", "als": "ALS",
            "nenmf": "NeNMF", "coordinate-descent": "CD",
            "anls": "ANLS"}.get(name, name)  # fmt: skip


def apart(places: dict[str, float], least: float) -> dict[str, float]:
    """Return places moved so that none is nearer to the next than so much."""
    moved: dict[str, float] = {}
    last = -math.inf
    for name in sorted(places, key=lambda name: places[name]):
        last = moved[name] = max(places[name], last + least)
    shift = max(0.0, last - 1.0)
    return {name: y - shift for name, y in moved.items()}
