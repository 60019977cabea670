"""The paper's family: `A = diag(a0) + ε·diag(a1, 1)`, square and of full rank.

`cases.py` has the matrices, `exact.py` the complete solution set, `nearest.py` its nearest point to
a run; `form.py` what can be measured, `judge.py` what it is worth, `sentences.py` why; `slopes.py`
the parameters' slopes in ε; `family.py` cells, asks and options; `sections.py` what it adds to a
report; `baseline.json` what the references did.
"""

from .family import FAMILY

__all__ = ["FAMILY"]
