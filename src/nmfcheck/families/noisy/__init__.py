"""Noisy matrices: nothing fits exactly, and still the best W and H are known.

A mixed matrix, and noise that is orthogonal to it (docs/theory.md, 11). `cases.py` has the
matrices, `family.py` the cells; the judge is that of the mixed family.
"""

from .family import FAMILY

__all__ = ["FAMILY"]
