"""Optima that are not 0: matrices that nothing fits, whose least residual is known.

docs/theory.md, 14. `cases.py` has the matrices and what is known of them, `judge.py` what a run is
worth and why, `family.py` the cells.
"""

from .family import FAMILY

__all__ = ["FAMILY"]
