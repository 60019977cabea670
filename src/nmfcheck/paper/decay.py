"""Beyond the paper: entries off the pattern in multiplicative update decay like ε/t."""

from __future__ import annotations

import numpy as np
from scipy import stats

from ..presenting.drawing import BLUE, GREY
from .drawing import panels
from .plan import SMALL_EPS
from .section import Drawing, Evidence, Section, Table

FITTED = 100
"""The law is fitted to the last iterations: from the last one divided by this."""


def section(evidence: Evidence) -> Section:
    """Fit the slope of the decay on a log-log plot."""
    batches = evidence.scale.decay()
    after = evidence.listed(batches)
    times = np.array([batch.iterations for batch in batches], float)
    whole = after[-1].formed  # those that have the form at the end
    defects = np.array([runs.judged.form_defect[whole] for runs in after])
    defects[~np.isfinite(defects)] = np.nan
    quantiles = np.nanquantile(defects, [0.1, 0.5, 0.9], axis=1)
    late = times >= times[-1] / FITTED
    fit = stats.linregress(np.log10(times[late]), np.log10(quantiles[1][late]))
    constant = float(quantiles[1][-1] * times[-1] / SMALL_EPS)
    figure, (axes,) = panels(height=3.0)
    axes.plot(times, quantiles[1], "o-", color=BLUE, label="median of the runs")
    axes.fill_between(times, quantiles[0], quantiles[2], color=BLUE, alpha=0.2, linewidth=0,
                      label="10 % to 90 %")  # fmt: skip
    axes.plot(times, SMALL_EPS / times, "--", color=GREY, label="ε/t")
    axes.axhline(1e-10, linewidth=0.8, linestyle=":", color=GREY)
    axes.set(
        xscale="log", yscale="log", xlabel="iterations t", ylabel="largest entry off the pattern"
    )
    axes.legend(fontsize=8)
    slope = (
        f"slope {fit.slope:.3f} from {times[-1] / FITTED:.0e} on;"
        f" the median after {times[-1]:.0e} iterations is {constant:.2f}·ε/t"
    )
    rows = [(int(t), int(whole.sum()), *quantiles[:, i]) for i, t in enumerate(times)]
    return Section(
        "The ε/t law",
        "n = 3, a ≡ 1, ε = 1e-3, multiplicative update. Its entries off the pattern decay like "
        f"ε/t: {slope}. At this rate 1e-10, the paper's threshold, is reached after about "
        f"{constant * SMALL_EPS / 1e-10:.0e} iterations.",
        (),
        (Table("decay", ("iterations", "runs", "quantile 0.1", "median", "quantile 0.9"), rows),),
        (
            Drawing(
                "decay", figure, f"Largest entry off the pattern against the iteration: {slope}."
            ),
        ),
    )
