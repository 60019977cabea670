"""It leaves an exact factorization."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..evidence import Evidence
from ..experiments.tried import LEFT
from ..findings import Cause, Finding, mostly

FAR = 0.1
"""A penalty, or a constant in a denominator, does not shrink W·H by more than this."""


def leaves(evidence: Evidence) -> Finding | None:
    """Say how far it goes from exact factorizations, and whether it shrinks them."""
    finding = _left(evidence)
    return None if finding is None else replace(finding, about_matrix=True)


def _left(evidence: Evidence) -> Finding | None:
    runs = [run for run in evidence.tried.exact if run.product is not None]
    off = [float(abs(run.product - run.A).max() / run.A.max()) for run in runs]  # type: ignore[operator]
    if not mostly(x > LEFT for x in off):
        return None
    far = float(np.median(off))
    stays = not mostly(each.improved for each in evidence.chains)
    not_early = "; it does not fail because it stops early" if stays else ""
    evidence_text = f"start at the answer: {sum(x > LEFT for x in off)} of {len(off)} runs left it"
    less = [bool((run.product <= run.A * (1 + 1e-12)).mean() > 0.9) for run in runs]  # type: ignore[operator]
    parts = [float(run.product.sum() / run.A.sum()) for run in runs]  # type: ignore[union-attr]
    if far < FAR and all(part < 1 - far / 10 for part in parts) and mostly(less):
        return Finding(
            Cause.BIASED,
            f"It is biased: started at an exact factorization, it makes W·H smaller, by about "
            f"{far:.0e} of A's largest entry. Probably a penalty on W or H is left on, a constant "
            "is in a denominator, or A is cut off before.",
            certain=False,
            evidence=evidence_text,
        )
    if evidence.tried.same_product:
        return Finding(
            Cause.LEAVES,
            f"It leaves the right answer: started at an exact factorization, it goes {far:.0e} "
            f"away from A, and from elsewhere it ends at the same W·H{not_early}. It may factorize "
            "another matrix than A, minimise something else, or change W and H in the same way "
            "each time.",
            evidence=evidence_text,
        )
    return Finding(
        Cause.LEAVES,
        f"It leaves the right answer: started at an exact factorization, where nothing is left to "
        f"do, it goes {far:.0e} away from A{not_early}. A may be changed before the updates, or W "
        "and H after them, an update may be wrong, or something be dropped or changed on the way.",
        evidence=evidence_text,
    )
