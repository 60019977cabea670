"""It moves away from its own answers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..evidence import Evidence
from ..experiments.tried import LEFT
from ..findings import Cause, Finding, mostly


def jumping(evidence: Evidence) -> Finding | None:
    """Say so if the objective rises on the way when runs are continued, and falls again.

    Who leaves exact factorizations does something else.
    """
    chains = evidence.chains
    if (
        evidence.tried.left > LEFT
        or not mostly(each.jumps for each in chains)
        or mostly(each.worsened for each in chains)
    ):
        return None
    values = [[point.value for point in each.points] for each in chains if each.jumps]
    high = float(np.median([max(b / a for a, b in pairwise(x) if a > 0) for x in values]))
    return Finding(
        Cause.UNSTABLE,
        "It is unstable: started again at its own answers, it jumps to and fro, and the objective "
        f"rises to {high:.2g} times what it was. Probably components are updated from values that "
        "are old (all at once, or with a sum that is never made again), or a step or its momentum "
        "is too large.",
        certain=False,
        evidence=f"continue: {len(values)} of {len(chains)} runs jumped",
    )


def unstable(evidence: Evidence) -> Finding | None:
    """Say so if runs get worse when they are continued, or move without getting better."""
    chains = evidence.chains
    if not chains:
        return None
    first, last = (float(np.median([x.points[i].value for x in chains])) for i in (0, -1))
    if mostly(each.worsened for each in chains):
        return Finding(
            Cause.UNSTABLE,
            "It moves away: started again at its own answers, it makes them worse (the median "
            f"objective rises from {first:.2g} to {last:.2g}). An update may have the wrong sign "
            "or formula or use something old, a step may be too large, or something be done to A, "
            "W or H besides.",
            evidence=f"continue: {sum(c.worsened for c in chains)} of {len(chains)} runs got worse",
        )
    if evidence.tried.left > LEFT:  # which says more, and is certain
        return None
    moved = float(np.median([each.moved for each in chains]))
    typical = evidence.unconverged.typical
    if mostly(each.wanders for each in chains) and moved > typical / 10:
        return Finding(
            Cause.UNSTABLE,
            "It does not come to rest: started again at its own answers, W·H moves by "
            f"{moved:.0e}, and gets no better. Probably steps are too large, its "
            "updates work against each other, or something is done to W or H after each.",
            certain=False,
            evidence=f"continue: the median objective is {first:.2g} before and {last:.2g} after",
        )
    return None
