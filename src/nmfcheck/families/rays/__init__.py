"""Rays: one answer, although no row or column of A is pure, so that none can be picked.

docs/theory.md, 12. `cases.py` has the matrices, `judge.py` what a run is worth and why,
`family.py` the cells.
"""

from .family import FAMILY

__all__ = ["FAMILY"]
