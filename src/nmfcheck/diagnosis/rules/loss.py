"""It minimises another loss."""

from __future__ import annotations

from collections import Counter

from ..evidence import Evidence
from ..findings import MOST, Cause, Finding


def other_loss(evidence: Evidence) -> Finding | None:
    """Say which loss its products are the best ones for, if it is not the one that was asked."""
    labels = [labels.get("best_for", "") for labels in evidence.unconverged.labels]
    (loss, number), *_ = Counter(labels).most_common() or [("", 0)]
    if not loss or number < MOST * len(labels):
        return None
    return Finding(
        Cause.OTHER_LOSS,
        f"It minimises another loss: where the best product is known, it finds the one for {loss}, "
        "not the one for the Frobenius norm.",
    )
