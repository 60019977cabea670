"""Beyond the paper: how long it takes to leave Type IV, which is no solution."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..presenting.drawing import INK
from .drawing import COLOURS, MARKERS, NAMES, panels
from .plan import ALGORITHMS, CD, ESCAPE_EPS, NENMF
from .section import Drawing, Evidence, Section, Table


def law(t: Array) -> Array:
    """Return `w1 = h1 = ε/√(1 + 2ε²t)`, and so `(WH)(1,3) = ε²/(1 + 2ε²t)`."""
    corner: Array = ESCAPE_EPS**2 / (1 + 2 * ESCAPE_EPS**2 * t)
    return corner


def section(evidence: Evidence) -> Section:
    """Follow (WH)(1,3), which should be 0, from the symmetric Type IV."""
    figure, (axes,) = panels(height=3.2)
    rows, last = [], {}
    for a in (*ALGORITHMS, CD, NENMF):
        batches = evidence.scale.escape(a)
        times = np.array([batch.iterations for batch in batches], float)
        corner = np.array([(r.W @ r.H)[0, 0, 2] for r in evidence.listed(batches)])
        axes.plot(times, np.maximum(corner, 1e-18), color=COLOURS[a], marker=MARKERS[a],
                  markersize=4, linewidth=1, label=NAMES[a], alpha=0.8)  # fmt: skip
        rows += [
            (a, int(t), c, theory) for t, c, theory in zip(times, corner, law(times), strict=True)
        ]
        last[a] = (times, corner)
    times, corner = last[CD]
    grid = np.geomspace(1, times[-1], 100)
    axes.plot(grid, law(grid), "--", color=INK, linewidth=1, label="ε²/(1 + 2ε²t)")
    axes.set(xscale="log", yscale="log", xlabel="iterations or sweeps t", ylabel="(WH)(1,3)")
    axes.legend(fontsize=8, ncols=2)
    off = float(np.abs(corner / law(times) - 1).max())
    stuck = [a for a in ALGORITHMS if np.ptp(last[a][1]) < 1e-6 * ESCAPE_EPS**2]
    seen = (
        f"Coordinate descent follows ε²/(1 + 2ε²t) to within {100 * off:.1g} % over "
        f"{times[-1]:.0e} sweeps. Of the paper's algorithms, {', '.join(stuck) or 'none'} "
        "never left."
    )
    return Section(
        "The way out of Type IV",
        f"Started at the balanced, symmetric wh with ε = {ESCAPE_EPS:g}, whose product is ε² "
        "where A is 0. By Theorem 2 it is not a stationary point, but the pull out of it is weak. "
        f"{seen} For multiplicative update an entry that is 0 stays 0, and for clipped ALS such "
        "a mixture is a fixed point.",
        (),
        (Table("escape", ("algorithm", "iterations", "(WH)(1,3)", "law"), rows),),
        (Drawing("escape", figure, f"(WH)(1,3) of runs started in Type IV. {seen}"),),
    )
