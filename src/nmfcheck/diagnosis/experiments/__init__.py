"""Experiments: a few more runs of a subject that fails, to find out why.

A file for each: `continuing.py` (from its own answers), `at_answer.py` (from exact factorizations),
`alone.py` and `repeated.py` (in new processes), `more_work.py` (more iterations, smaller
tolerances), `less_work.py` (few iterations), `watching.py` (line by line). `record.py` is what a
store keeps of them, `perform.py` says which are made, `tried.py` what they show, and `lines.py` and
`reads.py` which lines.
"""

from .perform import SECONDS, Asked, perform
from .record import Begin, Experiment, Run
from .summary import Summary, summaries
from .tried import Tried

__all__ = [
    "SECONDS",
    "Asked",
    "Begin",
    "Experiment",
    "Run",
    "Summary",
    "Tried",
    "perform",
    "summaries",
]
