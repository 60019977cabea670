"""Another product of W and H, or of their transposes, is A."""

from __future__ import annotations

from ...judging.turned import TURNED
from ..evidence import Evidence
from ..findings import Cause, Finding


def turned(evidence: Evidence) -> Finding | None:
    """Say which product is A, if W·H is not."""
    runs = evidence.unconverged
    for name, turn in TURNED.items():
        if runs.product_is(lambda _, W, H, turn=turn: turn(W, H)):  # type: ignore[misc]
            sentence = f"W·H is not A, but {name} is: a factor is transposed, or they are swapped."
            return Finding(Cause.TURNED, sentence)
    if runs.product_is(lambda _, W, H: (W @ H).T):
        sentence = "W·H is Aᵀ: A was read as its transpose, or Hᵀ and Wᵀ were returned for W and H."
        return Finding(Cause.TURNED, sentence)
    return None
