"""Beyond the paper: how often runs collapse, against n."""

from __future__ import annotations

from ..families.bidiagonal.cases import LOGUNIFORM, ONES
from ..intervals import Share
from ..judging.outcomes import Outcome
from .drawing import panels, share_curve
from .larger import has_pattern
from .plan import ALGORITHMS, RANDOM_SIZES, SIZES, SMALL_EPS
from .rules import in_words, share
from .section import Drawing, Evidence, Section, Table


def section(evidence: Evidence) -> Section:
    """Return the collapse rates against n."""
    figure, axes = panels(2, sharey=True)
    rows, listed = [], []
    missing = Share(0, 0)
    for each, entries in zip(axes, (ONES, LOGUNIFORM), strict=True):
        sizes = SIZES if entries == ONES else RANDOM_SIZES
        for a in ALGORITHMS:
            shares = []
            for n in sizes:
                runs = evidence.runs(a, n, entries, SMALL_EPS)
                outcomes = runs.judged.outcome
                collapsed = share(outcomes == Outcome.COLLAPSED)
                shares.append(collapsed)
                missed = ~has_pattern(runs)
                missing += share(runs.judged.outcome[missed] == Outcome.COLLAPSED)
                rows.append((a, entries, n, collapsed.whole, collapsed.part, *collapsed.interval,
                             int((outcomes == Outcome.UNCONVERGED).sum())))  # fmt: skip
            share_curve(each, sizes, shares, a)
            listed.append(f"{a}, {entries}, n = {sizes[-1]}: {in_words(shares[-1])}")
        each.set(title=f"entries {entries}", xlabel="n", ylim=(0, 1.03))
    axes[0].set_ylabel("collapsed at ε = 1e-3")
    axes[0].legend(loc="upper left", fontsize=8)
    columns = ("algorithm", "entries", "n", "runs", "collapsed", "low", "high", "unconverged")
    return Section(
        "Collapse",
        f"Of the {missing.whole} runs that miss the pattern at ε = 1e-3, {missing.part} have "
        "collapsed: rows are not matched by components one to one, at or near a stationary point "
        f"(KKT residual ≤ 1e-3). {'; '.join(listed)}.",
        (),
        (Table("collapse", columns, rows),),
        (Drawing("collapse", figure, "Share of collapsed runs at ε = 1e-3, against n."),),
    )
