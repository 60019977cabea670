"""Bidiagonal matrices inflated: rows and columns scaled, repeated, shuffled and set to zero.

`A = P·B·Q` is m×n of rank k, tall or wide, and its exact factorizations are those of B, inflated
(docs/theory.md, 9). `cases.py` has the matrices, `judge.py` what a run is worth, `sentences.py`
why, `family.py` cells and options, `baseline.json` what the references did.
"""

from .family import FAMILY

__all__ = ["FAMILY"]
