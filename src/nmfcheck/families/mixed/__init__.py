"""Mixed matrices: dense, tall or wide, of low rank, with one answer.

A diagonal core, and mixtures of its rows and columns (docs/theory.md, 10). `cases.py` has the
matrices, `judge.py` what a run is worth, `sentences.py` why, `family.py` the cells.
"""

from .family import FAMILY

__all__ = ["FAMILY"]
