"""No answer: an exception, a crash, a time limit."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import NamedTuple

from ...judging.outcomes import Outcome
from ...store import Results
from ..evidence import Evidence
from ..findings import Cause, Finding

WARNED = re.compile(r"overflow encountered[\w ]{0,40}")
"""What NumPy says of numbers that overflow, once for each line of a program."""

OUTCOMES = (Outcome.ERROR, Outcome.CRASHED, Outcome.TIMEOUT)


class Asked(NamedTuple):
    """A run: A is m×n, and whether it ended like that, without an answer, say."""

    m: int
    n: int
    k: int
    so: bool


SHAPES: dict[str, Callable[[Asked], bool]] = {
    "A has more rows than columns": lambda run: run.m > run.n,
    "A has more columns than rows": lambda run: run.m < run.n,
    "A is not square": lambda run: run.m != run.n,
    "A is square": lambda run: run.m == run.n,
    "the rank is 1": lambda run: run.k == 1,
    "the rank is less than the rows and the columns of A": lambda run: run.k < min(run.m, run.n),
}
"""What A and its rank may be like."""

FEWEST = 10
"""With fewer runs of such a shape, or of others, it may be chance."""


def silent(evidence: Evidence) -> Finding | None:
    """Say what the most frequent message is, where trials ended without an answer."""
    if not any(evidence.ended[outcome] for outcome in OUTCOMES):
        return None
    messages = evidence.results.messages(OUTCOMES, evidence.part.family)
    (message, number), *rest = messages.most_common()
    often = f"{number} of {messages.total()} times" if rest else f"{number} times"
    where = of_one_shape(evidence.results, OUTCOMES)
    said = f"It gave no answer; {often}: {message.rstrip('.')}.{where}"
    warned = [
        found[0] for text in evidence.results.printed(message) if (found := WARNED.search(text))
    ]
    if not warned:
        return Finding(Cause.SILENT, said)
    return Finding(
        Cause.SILENT,
        f"{said} {len(warned)} of such runs printed {warned[0]!r}, which NumPy does not say "
        "each time: probably its numbers grow until they overflow, and the exception comes "
        "of that. A step may be too large, or an update wrong.",
        certain=False,
        evidence=f"{warned[0]!r} is in what {len(warned)} of such runs printed",
    )


def of_one_shape(results: Results, outcomes: Collection[Outcome]) -> str:
    """Say which matrices end like that, if their shape tells it without an exception."""
    runs = [
        Asked(m, n, k, outcome in outcomes)
        for _, m, n, k, outcome, _ in results.asked()
        if outcome != Outcome.NOT_RUN
    ]
    for words, holds in SHAPES.items():
        there = [run.so for run in runs if holds(run)]
        elsewhere = [run.so for run in runs if not holds(run)]
        if min(len(there), len(elsewhere)) >= FEWEST and all(there) and not any(elsewhere):
            return (
                f" That is so in all {len(there)} runs in which {words}, and in none of the "
                f"{len(elsewhere)} others."
            )
    return ""
