"""The experiments that were made with a subject, in words, each with a line that makes it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..diagnosis.experiments import Tried, summaries
from ..store import Results, StoredSubject
from ..trials.suites import Suite
from .commands import experiment_line


@dataclass(frozen=True)
class Experimented:
    """An experiment, in words.

    Attributes
    ----------
    name, sentence : what was done, and what showed.
    runs : how many runs were made.
    left_out : what was not done, and why; "" where all of it was.
    replay : the line that makes one of its runs again; "" where there is none.
    """

    name: str
    sentence: str
    runs: int
    left_out: str
    replay: str


def experimented(results: Results, subject: StoredSubject, suite: Suite) -> Iterator[Experimented]:
    """Return all experiments that a store has of a subject."""
    for each in summaries(Tried.of(results)):
        line = "" if each.run is None else experiment_line(each.run, subject, suite)
        yield Experimented(each.name, each.sentence, each.runs, each.left_out, line)
