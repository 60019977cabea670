"""What the figures have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..intervals import Share
from ..presenting.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE
from .plan import ALS, CD, GD, MU, NENMF

COLOURS = {MU: BLUE, ALS: ORANGE, GD: GREEN, CD: PURPLE, NENMF: GREY}
NAMES = {
    MU: "1, multiplicative update",
    ALS: "2, ALS",
    GD: "3, gradient descent",
    CD: "coordinate descent",
    NENMF: "NeNMF",
}
"""With the paper's numbers."""

MARKERS = {MU: "o", ALS: "s", GD: "^", CD: "d", NENMF: "v"}
WIDTH = 7.0


def panels(
    columns: int = 1, height: float = 3.2, *, rows: int = 1, **options: Any
) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure with panels side by side, row by row."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False, **options).flat)


def share_curve(
    axes: Axes, x: Sequence[float], shares: Sequence[Share], algorithm: str, *, log: bool = False
) -> None:
    """Draw shares with their intervals, each algorithm's a little beside the others'."""
    beside = list(COLOURS).index(algorithm) - 1
    places = [each * 1.1**beside if log else each + 0.12 * beside for each in x]
    values = np.array([each.value for each in shares])
    bounds = np.array([each.interval for each in shares]).T
    axes.errorbar(
        places,
        values,
        np.abs(bounds - values),
        fmt=f"{MARKERS[algorithm]}-",
        color=COLOURS[algorithm],
        markersize=4,
        linewidth=1.2,
        capsize=2,
        label=NAMES[algorithm],
    )


def towards_zero(axes: Axes) -> None:
    """Let ε go to 0 on the right, as in the paper's Figure 1."""
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.set_xlabel("ε")
