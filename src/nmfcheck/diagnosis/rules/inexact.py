"""Right, but not exact where exactness is asked."""

from __future__ import annotations

import numpy as np

from ...families import Question
from ...verdict.decision import Decision
from ..evidence import Evidence
from ..findings import Cause, Finding


def inexact(evidence: Evidence) -> Finding | None:
    """Say why a subject that passes the test is not exact."""
    question = evidence.verdict.exactness
    if question is None or question.decision is not Decision.FAIL:
        return None
    defects = evidence.inexact_defects()
    if not defects:
        return None
    asks = [ask.title for ask in evidence.part.asks if ask.question is Question.EXACTNESS]
    share = question.pool.share
    return Finding(
        Cause.INEXACT,
        f"At {', '.join(asks)}, {share.part} of {share.whole} runs that did not collapse are "
        f"exact; the median error of the others is {np.median(defects):.0e}. A run that converges "
        "and has not collapsed is exact there, so these have not converged: it is slow, it stops, "
        "or it ends where no stationary point is.",
    )
