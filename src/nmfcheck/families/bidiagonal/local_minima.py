"""Local minima of the Kullback–Leibler divergence that have the form of an exact factorization.

With n ≥ 5 there are stationary points of the right form that are not exact: a component that takes
part in the superdiagonal on both of its sides, between one with W's part before it and one with H's
part after it, as in the word ``wwhh`` (docs/theory.md, 15). Right algorithms end there, too.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ...judging.judgement import Judgement
from ...judging.outcomes import Outcome
from ...judging.tolerances import TOLERANCE
from ..trial import Ask, Cell, Question

LOCAL_MINIMUM = "local_minimum"
"""The label of such a run: its word."""

PATTERN = re.compile("[wb][wb][hb][hb]")


SMALL = 0.01
"""Up to this ε such a point is within first order of an exact one, and not told from it."""


def marked(judgement: Judgement, eps: float) -> Judgement:
    """Label a run that ended at such a point, and say so; it has collapsed if it has no grade."""
    word = judgement.labels.get("word", "")
    if (
        eps <= SMALL
        or judgement.outcome is Outcome.EXACT
        or not PATTERN.search(word)
        or not judgement.kkt_residual <= TOLERANCE.stationary
    ):
        return judgement
    graded = judgement.grade is not None
    sentence = (
        f"{judgement.explanation.rstrip('.')}; with the word {word} this is a stationary point of "
        "the Kullback–Leibler divergence that is not exact."
    )
    return replace(
        judgement,
        outcome=judgement.outcome if graded else Outcome.COLLAPSED,
        explanation=sentence,
        labels={**judgement.labels, LOCAL_MINIMUM: word},
    )


def exactness_up_to(largest: int, cell: Cell, asks: tuple[Ask, ...]) -> tuple[Ask, ...]:
    """Return asks that are only measured where exactness cannot be asked for."""
    if cell.k <= largest:
        return asks
    return tuple(
        replace(ask, question=Question.NONE) if ask.question is Question.EXACTNESS else ask
        for ask in asks
    )
