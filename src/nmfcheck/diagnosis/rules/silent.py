"""No answer: an exception, a crash, a time limit."""

from __future__ import annotations

import re

from ...judging.outcomes import Outcome
from ..evidence import Evidence
from ..findings import Cause, Finding

WARNED = re.compile(r"overflow encountered[\w ]{0,40}")
"""What NumPy says of numbers that overflow, once for each line of a program."""

OUTCOMES = (Outcome.ERROR, Outcome.CRASHED, Outcome.TIMEOUT)


def silent(evidence: Evidence) -> Finding | None:
    """Say what the most frequent message is, where trials ended without an answer."""
    if not any(evidence.ended[outcome] for outcome in OUTCOMES):
        return None
    messages = evidence.results.messages(OUTCOMES, evidence.part.family)
    (message, number), *rest = messages.most_common()
    often = f"{number} of {messages.total()} times" if rest else f"{number} times"
    said = f"It gave no answer; {often}: {message.rstrip('.')}."
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
