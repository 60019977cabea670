"""What is wrong with answers that are not valid, in a sentence."""

from __future__ import annotations

import re
from collections import Counter

from ..judging.outcomes import Outcome
from ..store import Results
from ..text import in_list
from ..verdict.hard import HardFailure
from .findings import Cause, Finding

ENTRY = re.compile(r"([WH]) is (nan|-?inf|-\S+) at ")
"""How the judges begin to speak of an entry (`judging.sentences`)."""

FROM = {
    "NaN": "NaN usually comes from 0/0",
    "infinite": "infinities usually come from a division by 0, or from updates that diverge",
    "negative": "negative entries usually come from a step or a solver without a bound at 0",
}


def invalid(results: Results, families: list[str], failure: HardFailure) -> Finding:
    """Say in which factor which entries are not valid, and where such usually come from."""
    counts: Counter[tuple[str, str]] = Counter()
    others: Counter[str] = Counter()
    for family in families:
        for message, number in results.messages([Outcome.INVALID], family).items():
            if match := ENTRY.match(message):
                counts[match[1], _kind(match[2])] += number
            else:
                others[message] += number
    first = f"First in {failure.trial}."
    if others.total() >= counts.total():
        most = max(others, key=lambda message: others[message], default=failure.explanation)
        return Finding(Cause.HARD, f"{most} {first}")
    seen = [
        f"{name} has entries that are {kind} in {number} {'run' if number == 1 else 'runs'}"
        for (name, kind), number in counts.most_common()
    ]
    why = "; ".join(FROM[kind] for kind in FROM if kind in {kind for _, kind in counts})
    return Finding(Cause.HARD, f"{in_list(seen)}: {why}. {first}")


def _kind(entry: str) -> str:
    if entry == "nan":
        return "NaN"
    return "infinite" if entry.endswith("inf") else "negative"
