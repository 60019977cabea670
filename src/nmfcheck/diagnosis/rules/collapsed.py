"""Runs that collapse: zeros, as often as the references, or more often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Array
from ...intervals import Share
from ...judging.outcomes import Outcome
from ..evidence import Evidence
from ..experiments.lines import worse
from ..experiments.record import Begin
from ..findings import Cause, Finding, mostly

FEWEST = 5
MOSTLY = 0.9

FEW = 0.2
"""Fewer runs that collapse than this, beside the others that fail, are not what is the matter."""

ALIKE = 1e-9
"""What else than one direction is left of components, relative to it, where they are the same."""


THE_START = "probably they start alike, and updates that treat all of them alike never part them"
AN_UPDATE = "probably they start alike, or an update makes them so"
"""Why components may be alike: where a statement makes W·H worse, that may do it."""


def collapsed(evidence: Evidence) -> Finding | None:
    """Say whether its runs collapse more often than the references'."""
    if not evidence.ended[Outcome.COLLAPSED]:
        return None
    sample = evidence.sample(Outcome.COLLAPSED)
    zeros = [not s.W.any() or not s.H.any() for s in sample if s.W is not None and s.H is not None]
    if mostly(zeros) and evidence.ended[Outcome.COLLAPSED] > FEW * evidence.short:
        return Finding(Cause.ZEROS, f"{_zeros(evidence, zeros)}{_always(evidence)}")
    alike = [_all_alike(s.W, s.H) for s in sample if s.trial.cell.k > 1]
    others = (_all_alike(W, H) for _, W, H in evidence.unconverged.factors if W.shape[1] > 1)
    if len(alike) >= FEWEST and all(alike) and all(others):
        return Finding(
            Cause.COLLAPSES,
            f"All components are the same, up to their sizes, in all {len(alike)} runs that "
            f"collapse: {AN_UPDATE if worse(evidence.tried.followed) else THE_START}.",
            certain=False,
        )
    return _often(evidence)


def _zeros(evidence: Evidence, zeros: Sequence[bool]) -> str:
    """Say how many runs come back as zeros."""
    some = f"in {sum(zeros)} of {len(zeros)}"
    if number := evidence.short:
        collapsed = evidence.ended[Outcome.COLLAPSED]
        return (
            f"It returns zeros in some runs: {collapsed} of {collapsed + number} failing runs "
            f"collapse, and W·H is 0 {some} of these that were looked at."
        )
    where = "" if all(zeros) else f" {some} runs that collapse"
    return f"It returns zeros: W·H is 0{where}, and so explains nothing of A."


def _often(evidence: Evidence) -> Finding:
    """Say how often runs collapse, beside the references'."""
    own, usual = _rates(evidence)
    if not own.whole:
        return Finding(Cause.COLLAPSES, "Some runs collapse; the baseline has none like them.")
    low, high = (of(usual.values()) / own.whole for of in (min, max))
    rate = f"{_percent(own.value)} % of its trials end in a collapse"
    theirs = f"of the references' on these cells, {_percent(low)} to {_percent(high)} % do"
    if own.value <= high:
        return Finding(Cause.NORMAL, f"{rate}, which is normal: {theirs}.")
    if own.interval[0] <= high:
        return Finding(Cause.NORMAL, f"{rate}, which may be chance: {theirs}.")
    return Finding(
        Cause.COLLAPSES,
        f"{rate}; {theirs}. {_empty(evidence)}Components die or share a row: look at how it "
        "starts, at what sets entries to 0, and, if it makes several runs, at which of them it "
        "keeps.",
    )


def _empty(evidence: Evidence) -> str:
    """Say that whole components are 0 in runs that collapse, if they are in nearly all of them."""
    sample = [s for s in evidence.sample(Outcome.COLLAPSED) if s.trial.cell.k > 1]
    empty = [
        not (s.W.any(axis=0) & s.H.any(axis=1)).all()
        for s in sample
        if s.W is not None and s.H is not None
    ]
    if len(empty) < FEWEST or sum(empty) < MOSTLY * len(empty):
        return ""
    return (
        f"In {sum(empty)} of {len(empty)} such runs whole components are exactly 0: small ones may "
        "be taken for dead and be set to 0 (by a threshold, say), or they become 0 in an update "
        "and cannot come back. "
    )


def _all_alike(W: Array | None, H: Array | None) -> bool:
    """Say whether all columns of W are multiples of one, and so are all rows of H."""
    if W is None or H is None or not (W.any(axis=0).all() and H.any(axis=1).all()):
        return False
    return _of_rank_one(W) and _of_rank_one(H)


def _of_rank_one(X: Array) -> bool:
    sizes = np.linalg.svd(X, compute_uv=False)
    return bool(sizes[1] <= ALIKE * sizes[0])


def _always(evidence: Evidence) -> str:
    """Say that zeros come back from exact factorizations, too, if that was tried."""
    exact = [run for run in evidence.tried.dense if run.begin is Begin.EXACT]
    if not exact or any(run.product is None or run.product.any() for run in exact):
        return ""
    return (
        " So it is from exact factorizations: it may begin at 0, and not where it is told to, or "
        "an update may set everything to 0."
    )


def _percent(share: float) -> str:
    """Return so many per cent, with a digit more below one."""
    return f"{100 * share:.1f}" if 0 < share < 0.01 else f"{100 * share:.0f}"


def _rates(evidence: Evidence) -> tuple[Share, dict[str, float]]:
    """Return its own rate of collapse, and how many of its trials the references' would end."""
    test, baseline = evidence.part.test, evidence.baseline
    own, usual = Share(0, 0), dict.fromkeys(baseline.accepted, 0.0)
    if not {ask.name for ask in test} <= set(baseline.asks):
        return own, usual
    for cell in evidence.cells:
        theirs = {
            name: algorithm.cells[cell.cell.name].tally
            for name, algorithm in baseline.algorithms.items()
            if cell.cell.name in algorithm.cells
        }
        if set(theirs) >= set(baseline.accepted):
            own += cell.ended_by(Outcome.COLLAPSED, test)
            for name in baseline.accepted:
                share = theirs[name].ended_by(Outcome.COLLAPSED, test)
                usual[name] += share.value * len(cell.seeds)
    return own, usual
