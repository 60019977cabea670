"""The diagnosis: what a subject's failures have in common, and what that is usually a sign of.

The verdict says that something is wrong; this says where to look. `evidence.py` has what the runs
left, and `rules/` a rule a file: evidence in, a finding or nothing out.
"""

from .diagnose import diagnose
from .findings import Cause, Finding

__all__ = ["Cause", "Finding", "diagnose"]
