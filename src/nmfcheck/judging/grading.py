"""From a defect to a grade, where the answer is known up to permutation and scaling."""

from __future__ import annotations

from .outcomes import Outcome
from .tolerances import TOLERANCE


def graded(defect: float, identified: float = TOLERANCE.identified) -> Outcome | None:
    """Return the grade that a defect amounts to, if any.

    Parameters
    ----------
    identified : up to here the answer is found.
    """
    if defect <= TOLERANCE.exact:
        return Outcome.EXACT
    if defect <= TOLERANCE.single:
        return Outcome.SINGLE
    if defect <= identified:
        return Outcome.IDENTIFIED
    return None
