"""How the two probabilities of an error are spent: while a run goes on, at its end, and later.

A verdict may be looked at while a suite runs, at its end, and again when trials are added. The
levels of all these looks together are 1 % for a FAIL of a subject at the bar everywhere, and 5 %
for a PASS of one below it (docs/verdict.md).
"""

from __future__ import annotations

from dataclasses import dataclass

FAIL_LEVEL = 0.01
"""The probability that a subject at the bar everywhere fails at all."""

PASS_LEVEL = 0.05
"""The probability that a family below its bar passes."""


@dataclass(frozen=True)
class Levels:
    """What is spent at the looks of one kind of verdict.

    Attributes
    ----------
    fail, passing : at the end of the suite.
    fail_early, pass_early : on all looks before it together.
    added : how often trials were added; None where all is spent at the end, whenever that is.
    """

    fail: float = FAIL_LEVEL
    passing: float = PASS_LEVEL
    fail_early: float = 0.0
    pass_early: float = 0.0
    added: int | None = None

    @property
    def of_more(self) -> Levels:
        """What is spent when trials are added once more."""
        return self if self.added is None else levels(self.added + 1)


EARLY_SINCE = 4
"""From this version of the suites on, runs may end as soon as their verdict is certain."""

WHOLE = Levels()
"""All at the end: of suites that are run as a whole."""

EARLY = 0.1
"""The part of each level that goes to looks while a suite runs."""

RESERVE = 0.05
"""The part that is kept for trials that are added later; each addition spends half of the rest."""


def levels(extensions: int = 0) -> Levels:
    """Return the levels of a run that may end early, after trials were added so many times."""
    end = 1 - EARLY - RESERVE if extensions == 0 else RESERVE / 2**extensions
    return Levels(
        FAIL_LEVEL * end,
        PASS_LEVEL * end,
        FAIL_LEVEL * EARLY if extensions == 0 else 0.0,
        PASS_LEVEL * EARLY if extensions == 0 else 0.0,
        extensions,
    )
