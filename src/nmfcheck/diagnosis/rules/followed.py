"""Guesses from runs that were followed line by line: a fact about them, and what it probably is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..evidence import Evidence
from ..experiments.lines import Followed
from ..findings import Cause, Finding

FOLLOWED = "followed line by line"

Guess = tuple[Callable[[Sequence[Followed]], str], Cause, str]
"""What says the fact, of what it may be a sign, and that in a sentence with "probably"."""


def first_guess(evidence: Evidence, guesses: Iterable[Guess]) -> Finding | None:
    """Return what the first of some facts that shows is probably a sign of."""
    runs = evidence.tried.followed
    for fact, cause, why in guesses:
        if said := fact(runs):
            return Finding(cause, f"{said} {why}", certain=False, evidence=how_many(runs))
    return None


def how_many(runs: Sequence[Followed]) -> str:
    """Say how many failing runs were followed."""
    number = sum(run.fails for run in runs)
    return f"{number} failing {'run was' if number == 1 else 'runs were'} {FOLLOWED}"


def is_followed(finding: Finding) -> bool:
    """Say whether a finding is about runs that were followed."""
    return finding.evidence.endswith(FOLLOWED)
