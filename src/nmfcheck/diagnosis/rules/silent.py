"""No answer: an exception, a crash, a time limit."""

from __future__ import annotations

from ...judging.outcomes import Outcome
from ..evidence import Evidence
from ..findings import Cause, Finding

OUTCOMES = (Outcome.ERROR, Outcome.CRASHED, Outcome.TIMEOUT)


def silent(evidence: Evidence) -> Finding | None:
    """Say what the most frequent message is, where trials ended without an answer."""
    if not any(evidence.ended[outcome] for outcome in OUTCOMES):
        return None
    messages = evidence.results.messages(OUTCOMES, evidence.part.family)
    (message, number), *rest = messages.most_common()
    often = f"{number} of {messages.total()} times" if rest else f"{number} times"
    return Finding(Cause.SILENT, f"It gave no answer; {often}: {message.rstrip('.')}.")
