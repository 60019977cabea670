"""The figures of the page: matplotlib, as inline SVG that follows the page's light or dark theme.

Text and axes are drawn in the colour of the text around them (`currentColor`).
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ..arrays import Array
from ..baseline import ACCEPTED, PAPER, Baseline
from ..cases import KINDS_OF_ENTRIES, decimal
from ..decision import MARGIN
from ..intervals import Share
from ..outcomes import NOT_ASKED, Outcome
from ..perturbation import PARAMETERS, Slopes
from ..records import Record
from ..tally import CellTally
from ..tolerances import TOLERANCE
from ..trials import SMALL
from .contents import TEST, SubjectContents
from .tables import percent

INK = "#010203"
"""Stands for the colour of the text until the figure is done."""

BLUE, ORANGE, GREEN, RED, GREY, PURPLE = (
    "#3b82c4", "#e08a1e", "#2f9e6e", "#d1495b", "#8a8f98", "#8f6bb3",
)  # fmt: skip
"""Told apart on white and on black, and without red or green."""

OF_OUTCOME = {
    Outcome.EXACT: GREEN,
    Outcome.FIRST_ORDER: BLUE,
    Outcome.COLLAPSED: ORANGE,
    Outcome.UNCONVERGED: RED,
    Outcome.INVALID: PURPLE,
}
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

POINTS = 200
"""A curve has no more points than these."""


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

    def pass_rates(self, subject: SubjectContents, baseline: Baseline) -> list[Picture]:
        """Draw the share of trials passed against n, the references behind it."""
        pictures = []
        for kind in subject.suite.kinds:
            cells = [cell for cell in subject.verdict.paper.cells if cell.entries == kind]
            if not cells:
                continue
            figure, (axes,) = _figure()
            sizes = [cell.n for cell in cells]
            ends = {}
            for name in ACCEPTED:
                theirs = _reference_shares(baseline, name, kind, sizes)
                if theirs:
                    style = "-" if name in PAPER else ":"
                    axes.plot(*zip(*theirs, strict=True), style, color=GREY, linewidth=1)
                    ends[_short(name)] = theirs[-1][1]
            for name, y in _apart(ends, 0.06).items():
                axes.annotate(name, (sizes[-1], y), xytext=(7, 0), textcoords="offset points",
                              color=GREY, fontsize=8, va="center")  # fmt: skip
            required = [(cell.n, cell.bound) for cell in cells if not math.isnan(cell.required)]
            if required:
                axes.plot(*zip(*required, strict=True), color=INK, linewidth=1, linestyle="--",
                          label=f"required less {100 * MARGIN:g} points")  # fmt: skip
            shares = [cell.share.value for cell in cells]
            bounds = np.array([cell.share.interval for cell in cells]).T
            axes.errorbar(sizes, shares, np.abs(bounds - shares), fmt="o-", color=BLUE, capsize=3,
                          label="this subject, 95 % interval")  # fmt: skip
            axes.set(xlabel="n", ylabel="trials passed", ylim=(-0.02, 1.02), xticks=sizes)
            axes.legend(loc="lower left")
            told = ", ".join(f"n = {c.n}: {percent(c.share)}" for c in cells)
            pictures.append(
                self.draw(figure, f"Share of trials passed against n, entries {kind}: {told}.")
            )
        return pictures

    def defects(self, subject: SubjectContents) -> Picture:
        """Draw the distribution of the defects, for each ε."""
        figure, (axes,) = _figure(height=3.2)
        told = []
        for (eps, defects), colour in zip(
            subject.defects.items(), (GREEN, BLUE, ORANGE, RED, PURPLE), strict=False
        ):
            finite = [max(x, 1e-18) for x in defects if math.isfinite(x)]
            if not finite:
                continue
            places = np.unique(np.linspace(0, len(finite) - 1, POINTS).astype(int))
            axes.plot(np.array(finite)[places], (places + 1) / len(defects), color=colour,
                      drawstyle="steps-post", label=f"ε = {decimal(eps)}")  # fmt: skip
            told.append(f"at ε = {decimal(eps)} the median is {np.median(finite):.0e}")
        lines = [(TOLERANCE.exact, "1e-10")]
        lines += [(eps**2, f"ε² = {eps**2:.0e}") for eps in subject.defects if 0 < eps <= SMALL]
        for x, name in lines:
            axes.axvline(x, color=INK, linewidth=0.8, linestyle=":")
            axes.annotate(name, (x, 1.02), xycoords=("data", "axes fraction"), fontsize=8,
                          ha="center")  # fmt: skip
        axes.set(xscale="log", xlabel="larger of form and product defect", ylim=(0, 1.01),
                 ylabel="share of runs", xlim=(1e-18, 10))  # fmt: skip
        axes.legend(loc="center", bbox_to_anchor=(0.42, 0.4))
        return self.draw(figure, f"Distribution of the defects: {'; '.join(told) or 'none'}.")

    def outcomes(self, subject: SubjectContents) -> Picture:
        """Draw how often each outcome occurred, for each ε and size."""
        ladder = subject.suite.ladder
        figure, row = _figure(columns=len(ladder), height=2.6)
        sizes = sorted({cell.n for cell in subject.tallies})
        letters = {str(outcome): outcome.letter for outcome in OF_OUTCOME}
        letters["no answer"] = "".join(o.letter for o in Outcome if o not in OF_OUTCOME)
        letters["not asked"] = NOT_ASKED
        colours = dict(zip(letters, [*OF_OUTCOME.values(), INK, "none"], strict=True))
        there = []
        for axes, rung in zip(row, ladder, strict=True):
            base = np.zeros(len(sizes))
            for name, of in letters.items():
                share = _shares_of(subject.tallies, sizes, rung.eps, of)
                if share.any():
                    there.append(name)
                    axes.bar(
                        range(len(sizes)), share, bottom=base, width=0.85, **_fill(colours[name])
                    )
                base += share
            axes.set(title=f"ε = {decimal(rung.eps)}", xlabel="n", ylim=(0, 1))
            axes.set_xticks(range(len(sizes)), [str(n) for n in sizes])
        row[0].set_ylabel("share of trials")
        patches = {name: Patch(**_fill(colours[name])) for name in letters if name in there}
        if patches:
            figure.legend(patches.values(), patches.keys(), loc="outside lower center", ncols=3,
                          fontsize=9)  # fmt: skip
        total = [f"{name} {number}" for name, number in _totals(subject.tallies).items()]
        return self.draw(figure, f"Outcomes per size and ε. In all: {', '.join(total)}.")

    def words(self, subject: SubjectContents, baseline: Baseline) -> Picture | None:
        """Draw how often each word of n = 3 occurred, as in the paper's Figure 3."""
        eps = next((e for e in (1e-3, 0.25) if subject.words.get(e)), None)
        if eps is None:
            return None
        groups = {"this subject": subject.words[eps]}
        for name in ACCEPTED:
            algorithm = baseline.algorithms.get(name)
            counts: dict[str, int] = {}
            for kind in KINDS_OF_ENTRIES:
                if algorithm and (3, kind) in algorithm.cells and kind in subject.suite.kinds:
                    for word, number in algorithm.cells[3, kind].words.get(eps, {}).items():
                        counts[word] = counts.get(word, 0) + number
            if counts:
                groups[_short(name)] = counts
        names = sorted({word for counts in groups.values() for word in counts})
        figure, (axes,) = _figure(height=3.0)
        width = 0.8 / len(groups)
        colours = (BLUE, ORANGE, GREEN, RED, PURPLE, GREY)
        for i, ((name, counts), colour) in enumerate(zip(groups.items(), colours, strict=False)):
            total = sum(counts.values())
            heights = [counts.get(word, 0) / total for word in names]
            axes.bar(np.arange(len(names)) + (i + 0.5) * width - 0.4, heights, width, color=colour,
                     label=name)  # fmt: skip
        axes.set_xticks(range(len(names)), names)
        axes.set(xlabel="word", ylabel="share of runs with a form")
        axes.legend(ncols=2, fontsize=8)
        own = groups["this subject"]
        told = ", ".join(f"{w} {100 * c / sum(own.values()):.0f} %" for w, c in own.items())
        return self.draw(figure, f"Words of n = 3 at ε = {decimal(eps)}: {told}.")

    def slopes(self, slopes: Slopes) -> Picture:
        """Draw the mean slopes of the three parameters, as in the paper's Figure 1."""
        figure, (axes,) = _figure()
        slope_curves(axes, slopes)
        axes.set(xscale="log", xlabel="ε", ylabel="mean slope")
        axes.set_yscale("symlog", linthresh=2)
        axes.invert_xaxis()
        axes.legend(loc="lower left", fontsize=8)
        told = ", ".join(f"{each.parameter} {each.mean:.3g}" for each in slopes.linearity)
        smallest = decimal(slopes.eps[-1])
        return self.draw(figure, f"Mean slopes of the parameters; at ε = {smallest}: {told}.")

    def run(self, record: Record) -> Picture | None:
        """Draw W, H and |A − WH| of one stage, each entry a square."""
        if record.W is None or record.H is None:
            return None
        A = record.trial.case(record.eps).A
        with np.errstate(all="ignore"):
            parts = {"W": record.W, "H": record.H, "|A − WH|": np.abs(A - record.W @ record.H)}
        figure, row = _figure(columns=3, height=1.9)
        for axes, (name, X) in zip(row, parts.items(), strict=True):
            _heat(axes, name, X)
        return self.draw(figure, f"W, H and the absolute value of A − WH of {record.case}.")


def _figure(columns: int = 1, height: float = 3.0) -> tuple[Figure, Sequence[Axes]]:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def slope_curves(axes: Axes, slopes: Slopes) -> None:
    """Draw the mean slope of each parameter, with 95 % intervals."""
    mean, error = slopes.mean, slopes.error
    styles = zip(PARAMETERS, (BLUE, ORANGE, GREEN), "os^", strict=True)
    for k, (name, colour, marker) in enumerate(styles):
        axes.errorbar(slopes.eps, mean[:, k], 1.96 * error[:, k], fmt=f"{marker}-", capsize=2,
                      color=colour, markersize=4, linewidth=1, label=name)  # fmt: skip
    axes.axhline(0, color=INK, linewidth=0.5)


def _fill(colour: str) -> dict[str, Any]:
    return {"facecolor": colour, "edgecolor": GREY if colour == "none" else "none"}


def _heat(axes: Axes, name: str, X: Array) -> None:
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


def _reference_shares(
    baseline: Baseline, name: str, kind: str, sizes: Iterable[int]
) -> list[tuple[int, float]]:
    found = []
    for n in sizes:
        share = baseline.shares(n, kind, TEST, [name]).get(name, Share(0, 0))
        if share.whole:
            found.append((n, share.value))
    return found


def _shares_of(cells: Sequence[CellTally], sizes: Sequence[int], eps: float, letters: str) -> Array:
    found = []
    for n in sizes:
        text = "".join(cell.letters.get(eps, "") for cell in cells if cell.n == n)
        found.append(sum(map(text.count, letters)) / max(len(text), 1))
    return np.array(found)


def _totals(cells: Sequence[CellTally]) -> dict[str, int]:
    text = "".join(letters for cell in cells for letters in cell.letters.values())
    counts = {str(outcome): text.count(outcome.letter) for outcome in Outcome}
    return {name: number for name, number in counts.items() if number}


def _apart(places: dict[str, float], least: float) -> dict[str, float]:
    """Return places moved so that none is nearer to the next than so much."""
    moved: dict[str, float] = {}
    last = -math.inf
    for name in sorted(places, key=lambda name: places[name]):
        last = moved[name] = max(places[name], last + least)
    shift = max(0.0, last - 1.0)
    return {name: y - shift for name, y in moved.items()}


def _short(name: str) -> str:
    """Return a name that fits beside a curve."""
    return {"multiplicative-update": "MU", "gradient-descent": "gradient", "als": "ALS",
            "nenmf": "NeNMF", "coordinate-descent": "CD"}.get(name, name)  # fmt: skip
