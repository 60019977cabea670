"""Rank one: every descent finds the same product, so that every run must pass.

docs/theory.md, 13. `cases.py` has the matrices, `judge.py` what a run is worth and why,
`family.py` the cells.
"""

from .family import FAMILY

__all__ = ["FAMILY"]
