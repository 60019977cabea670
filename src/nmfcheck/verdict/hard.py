"""Hard failures: what of once is enough."""

from __future__ import annotations

from dataclasses import dataclass

from ..families import Trial
from ..judging.outcomes import Flag, Outcome
from ..store import Results
from ..trials.suites import Suite


@dataclass(frozen=True)
class HardFailure:
    """Something of which once is enough: how often it happened, and the first trial."""

    kind: str
    explanation: str
    count: int
    trial: str

    @property
    def in_words(self) -> str:
        """What happened, and how often."""
        times = "once" if self.count == 1 else f"{self.count} times"
        return f"{self.explanation.rstrip('.')} ({times})"


def marks(results: Results, suite: Suite) -> list[HardFailure]:
    """Return what was invalid or flagged: how often, and where first. All but `varies` is hard.

    What was only measured besides the suite does not count.
    """
    kinds: dict[str, str] = {Outcome.INVALID: Outcome.INVALID.explanation}
    kinds |= {flag: flag.explanation for flag in Flag}
    own = {cell.id for cell in suite.cells}
    flagged = [(row, flags) for row, flags in results.flagged() if row.cell in own]
    failures = []
    for kind, explanation in kinds.items():
        marked = [row for row, flags in flagged if kind == row.outcome or kind in flags]
        if marked:
            first = marked[0]
            family, _, name = first.cell.partition("/")
            room = suite.part(family).room
            trial = Trial(room.cell(name), first.draw, first.seed, room.asks)
            failures.append(HardFailure(str(kind), explanation, len(marked), trial.id))
    return failures
