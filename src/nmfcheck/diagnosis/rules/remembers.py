"""It remembers: an answer depends on what was asked before."""

from __future__ import annotations

import numpy as np

from ..evidence import Evidence
from ..experiments import alone
from ..findings import Cause, Finding

TIMES = 100
"""So much smaller an error is alone."""


def remembers(evidence: Evidence) -> Finding | None:
    """Say so if answers are others, or far better ones, where a process is asked for nothing else.

    In two new processes they have to be the same: otherwise they are random.
    """
    runs = evidence.tried.alone
    families = {each.run.trial.cell.family for each in runs}
    if len(runs) < alone.RUNS * alone.TIMES or evidence.part.family not in families:
        return None
    first = {each.run.trial.id: each.run for each in reversed(runs)}
    if not all(alone.same_answer(each.run, first[each.run.trial.id]) for each in runs):
        return None
    if evidence.tried.experiments[alone.NAME].left_out == alone.CHANGES:
        problems = len(first)
        return Finding(
            Cause.REMEMBERS,
            "Its answers depend on what it was asked before: asked for the same problem once more, "
            f"it gives another answer, while new processes give the same one ({problems} problems, "
            f"each in {alone.TIMES} processes). Something is kept from one call to the next: a "
            "cache, sums, factors, a random state, or a default that is changed.",
            evidence=f"alone: so in all {len(runs)} runs",
        )
    better = (each.after <= min(each.before / TIMES, alone.FAR) for each in runs)
    if not all(better):
        return None
    before, after = (float(np.median([getattr(x, of) for x in runs])) for of in ("before", "after"))
    return Finding(
        Cause.REMEMBERS,
        "Its answers depend on what it was asked before: the same problem, as the first one that a "
        f"new process is given, ends {after:.0e} from A instead of {before:.0e}, while where it "
        "was asked first it has the same answer again. Something is kept from one call to the "
        "next: a cache, sums, factors, or a default that is changed.",
        evidence=f"alone: so in all {len(runs)} runs, and in each process alike",
    )
