"""What is wrong with answers that are not valid, in a sentence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from ..arrays import Array
from ..judging.outcomes import Outcome
from ..judging.tolerances import TOLERANCE
from ..store import Results
from ..text import in_list
from ..verdict.hard import HardFailure
from .findings import Cause, Finding
from .rules.silent import of_one_shape

FROM = {
    "NaN": "NaN usually comes from 0/0, or from numbers that overflow",
    "infinite": "infinities usually come from a division by 0, or from updates that diverge",
    "negative": "negative entries usually come from a start, step or solver without a bound at 0",
}

BEYOND = 1e100
"""Entries that are finite and larger than this are on their way to an overflow."""

LARGE, FEWEST = 1e4, 8
"""Where no entry of so many other failing answers is as large as this, nothing seems to grow."""


def invalid(
    results: Results, families: list[str], failure: HardFailure, *, differs: bool
) -> Finding:
    """Say in which factor which entries are not valid, and where such usually come from.

    Parameters
    ----------
    differs : whether the same question had two answers.
    """
    counts: Counter[tuple[str, str]] = Counter()
    others: Counter[str] = Counter()
    answers, grown = 0, 0
    for family in families:
        for stage in results.stages_with(Outcome.INVALID, family):
            if stage.W is None or stage.H is None:
                others[stage.message] += 1
                continue
            counts.update(("W", kind) for kind in _kinds(stage.W))
            counts.update(("H", kind) for kind in _kinds(stage.H.T))
            answers += 1
            grown += any(_largest(X) > BEYOND for X in (stage.W, stage.H))
    first = f"First in {failure.trial}."
    if others.total() >= answers or not counts:
        most = max(others, key=lambda message: others[message], default=failure.explanation)
        where = of_one_shape(results, (Outcome.INVALID,))
        return Finding(Cause.HARD, f"{most} {first}{where}")
    seen = [
        f"{name} has entries that are {kind} in {number} {'run' if number == 1 else 'runs'}"
        for (name, kind), number in counts.most_common()
    ]
    kept = ", or what an earlier call left may be used again" if differs else ""
    if grown:
        return Finding(
            Cause.HARD,
            f"{in_list(seen)}: probably numbers grow until they overflow, since in {grown} of "
            f"{answers} such answers other entries are beyond {BEYOND:.0e}. A step or its momentum "
            f"may be too large, an update wrong, or a denominator near 0{kept}. {first}",
            certain=False,
            evidence=f"{grown} of {answers} invalid answers have finite entries beyond "
            f"{BEYOND:.0e}",
        )
    kinds = {kind for _, kind in counts}
    if kinds == {"NaN"}:
        tops = [max(map(_largest, answer)) for answer in _failing(results, families)]
        if len(tops) >= FEWEST and max(tops) < LARGE:
            above = 10 ** math.ceil(math.log10(max(1.0, *tops)))
            return Finding(
                Cause.HARD,
                f"{in_list(seen)}, probably from 0/0 (a component that has become 0, say): NaN "
                f"usually comes from that or from an overflow, but no entry of its {len(tops)} "
                f"other failing answers is above {above}. {first}",
                certain=False,
                evidence=f"{len(tops)} failing answers without NaN were looked at",
            )
    why = "; ".join(FROM[kind] for kind in FROM if kind in kinds)
    return Finding(Cause.HARD, f"{in_list(seen)}: {why}. {first}")


def may_have_grown(finding: Finding) -> bool:
    """Say whether invalid answers are such that numbers without bound would explain them."""
    return "NaN" in finding.sentence or "infinite" in finding.sentence


def _failing(results: Results, families: list[str]) -> Iterator[tuple[Array, Array]]:
    """Return W and H of failing runs that are valid."""
    for family in families:
        for outcome in (Outcome.UNCONVERGED, Outcome.COLLAPSED):
            for stage in results.stages_with(outcome, family):
                if stage.W is not None and stage.H is not None:
                    yield stage.W, stage.H


def _kinds(X: Array) -> list[str]:
    """Return what entries of W, or of H transposed, are that they must not be."""
    with np.errstate(all="ignore"):
        sizes = abs(np.where(np.isfinite(X), X, 0.0)).max(axis=0, initial=0.0)
        negative = np.isfinite(X) & (-TOLERANCE.rounding * sizes > X)
    found = {"NaN": np.isnan(X), "infinite": np.isinf(X), "negative": negative}
    return [kind for kind, where in found.items() if where.any()]


def _largest(X: Array) -> float:
    return float(abs(X[np.isfinite(X)]).max(initial=0.0))
