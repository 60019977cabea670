"""Another product of W and H, or of their transposes, is A."""

from __future__ import annotations

from ...judging.turned import TURNED
from ..evidence import Evidence
from ..findings import Cause, Finding


def turned(evidence: Evidence) -> Finding | None:
    """Say which product is A, if W·H is not."""
    runs = evidence.unconverged
    A, of_A = ("A", "Aᵀ") if evidence.aims_at_A else ("the best product", "the best one of Aᵀ")
    for name, turn in TURNED.items():
        if runs.product_is(lambda _, W, H, turn=turn: turn(W, H)):  # type: ignore[misc]
            return Finding(
                Cause.TURNED,
                f"W·H is not {A}, but {name} is: a factor is transposed, or they are swapped.",
                about_matrix=evidence.aims_at_A,
            )
    if runs.product_is(lambda _, W, H: (W @ H).T):
        return Finding(
            Cause.TURNED,
            f"W·H is {of_A}: A was read as its transpose, or Hᵀ and Wᵀ were returned for W and H.",
            about_matrix=evidence.aims_at_A,
        )
    return None
