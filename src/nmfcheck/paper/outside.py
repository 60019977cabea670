"""Entries that are not of comparable magnitude: of order ε and 1/ε."""

from __future__ import annotations

import numpy as np

from ..families.bidiagonal.cases import ONES
from ..intervals import holm
from ..judging.outcomes import Outcome
from ..presenting.drawing import OF_OUTCOME
from .drawing import NAMES, panels
from .plan import ALGORITHMS, OUTSIDE, SMALL_EPS
from .rules import in_words, more_often, share
from .section import LEVEL, Claim, Drawing, Evidence, Section, Table, graded

LABELS = {
    ONES: "ones",
    "small a0": "a0(2) = ε",
    "large a0": "a0(2) = 1/ε",
    "small a1": "a1(1) = ε",
    "large a1": "a1(1) = 1/ε",
}


def section(evidence: Evidence) -> Section:
    """Return what becomes of runs outside the paper's assumption."""
    batches = {
        (a, k): evidence.runs(a, 3, k, SMALL_EPS) for a in ALGORITHMS for k in (ONES, *OUTSIDE)
    }
    within = {key: share(runs.within(2 * SMALL_EPS**2)) for key, runs in batches.items()}
    outcomes = {
        key: {o: int((runs.judged.outcome == o).sum()) for o in OF_OUTCOME}
        for key, runs in batches.items()
    }
    rows = [
        (a, LABELS[kind], counted.whole, counted.part, *counted.interval,
         *outcomes[a, kind].values())
        for (a, kind), counted in within.items()
    ]  # fmt: skip
    keys = [(a, kind) for a in ALGORITHMS for kind in OUTSIDE]
    misses = {key: ~runs.within(2 * SMALL_EPS**2) for key, runs in batches.items()}
    p = [more_often(misses[a, kind], misses[a, ONES]) for a, kind in keys]
    worse = dict(zip(keys, holm(p, LEVEL), strict=True))
    listed = "; ".join(
        f"{LABELS[kind]}: {', '.join(f'{a} {in_words(within[a, kind])}' for a in ALGORITHMS)}"
        for kind in OUTSIDE
    )
    claim = Claim(
        "outside",
        "Sections II and III",
        "As long as all entries are of order 1, as opposed to ε or 1/ε, the algorithms behave "
        "similarly.",
        "The paper does not say what happens otherwise. Reproduced, as a limit, if each of the "
        "four kinds of entries makes every algorithm miss the form (12), to within 2ε² of the "
        "largest of a0, more often than ones do (McNemar's exact test, one-sided, Holm's "
        "method, 1 %); with a correction if some of them do in some algorithm.",
        graded(whole=all(worse.values()), part=any(worse.values())),
        f"Of the form: {listed}.",
    )
    figure, axes = panels(len(ALGORITHMS), height=3.0, sharey=True)
    for each, a in zip(axes, ALGORITHMS, strict=True):
        base = np.zeros(len(LABELS))
        for outcome, colour in OF_OUTCOME.items():
            part = np.array([outcomes[a, k][outcome] / within[a, k].whole for k in LABELS])
            if outcome != Outcome.INVALID or part.any():
                each.barh(range(len(LABELS)), part, left=base, color=colour, label=str(outcome))
            base += part
        each.set(xlim=(0, 1), xlabel="share of runs")
        each.set_title(NAMES[a], fontsize=9)
        each.set_yticks(range(len(LABELS)), list(LABELS.values()))
        each.invert_yaxis()
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize=8)
    columns = ("algorithm", "entry", "runs", "of the form", "low", "high",
               *(str(outcome) for outcome in OF_OUTCOME))  # fmt: skip
    return Section(
        "Outside the assumption",
        "n = 3, ε = 1e-3, all entries 1 but one of order ε or 1/ε. The exact solutions are the "
        "same chain (Theorem 1 needs positive entries, no more); what changes is how hard they "
        "are to reach. There is no first-order grade for a0(2) = ε and for a1(1) = 1/ε, for "
        "A's entries are not small there.",
        (claim,),
        (Table("outside", columns, rows),),
        (Drawing("outside", figure, "Outcomes with one entry of order ε or 1/ε."),),
    )
