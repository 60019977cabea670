"""Laws: what holds of any right NMF on any matrix, and of everything that it reports.

A file for each; `law.py` says what a law is, `registry.py` lists them, `trying.py` tries one.
"""

from .law import Example, Law, Severity
from .registry import LAWS, find, names
from .trying import LawResult, State, try_law

__all__ = [
    "LAWS",
    "Example",
    "Law",
    "LawResult",
    "Severity",
    "State",
    "find",
    "names",
    "try_law",
]
