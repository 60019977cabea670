"""The rank is capped: of a component that was asked for, nothing comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...families import Cell
from ...judging.outcomes import Outcome
from ..evidence import Evidence
from ..experiments.tried import Tried
from ..findings import Cause, Finding

FEWEST = 8
"""So many runs must show it, and as many others must not."""

NEARLY_ALL, HARDLY_ANY = 0.9, 0.1
"""So many have as many components as the cap leaves; in so few others a component has died."""


class Answer(NamedTuple):
    """What was asked, and how many components came back as 0; of those that pass, none."""

    m: int
    n: int
    k: int
    dead: int


CAPS: dict[str, Callable[[Answer], int]] = {
    "min(m, n) − 1": lambda a: min(a.m, a.n) - 1,
    "n − 1": lambda a: a.n - 1,
    "m − 1": lambda a: a.m - 1,
} | {str(c): lambda _, c=c: c for c in range(1, 5)}


def capped(evidence: Evidence) -> Finding | None:
    """Say so if all runs with a rank above some cap have 0 in place of what is above it."""
    own = [*evidence.sample(Outcome.COLLAPSED), *evidence.short_sample()]
    most = max((stage.trial.cell.k for stage in own), default=0)
    if not own or not all(_dead(s.W, s.H) for s in own if s.trial.cell.k == most):
        return None  # as nearly always
    answers = _answers(evidence)
    for called, cap in CAPS.items():
        above = [a for a in answers if a.k > cap(a)]
        others = [a for a in answers if a.k <= cap(a)]
        exactly = [a.dead == a.k - cap(a) for a in above]
        if len(above) < FEWEST or np.mean(exactly) < NEARLY_ALL:
            continue
        if any(a.dead < a.k - cap(a) or a.dead == a.k for a in above):
            continue
        if not all(_fits(cap, run) for run in _exact(evidence.tried)):
            continue
        if not others:
            return _always(above)
        lost = sum(a.dead > 0 for a in others)
        if len(others) < FEWEST or lost > HARDLY_ANY * len(others):
            continue
        if not any(s.trial.cell.k > cap(_asked(s.trial.cell)) for s in own):
            continue
        return Finding(
            Cause.PRUNED,
            f"Whole components come back as 0: a column of W and a row of H are, in all "
            f"{len(above)} answers of which more than {called} components were asked, and in "
            f"{lost or 'none'} of {len(others)} others. Probably the rank is capped at {called}, "
            "and the rest stays 0.",
            certain=False,
            evidence=f"{len(answers)} answers were looked at",
        )
    return None


def _always(above: Sequence[Answer]) -> Finding:
    return Finding(
        Cause.PRUNED,
        f"Whole components come back as 0: a column of W and a row of H are, in all {len(above)} "
        "answers. Probably the rank is capped below what was asked for, or a loop or a slice "
        "leaves components out.",
        certain=False,
        evidence=f"{len(above)} answers were looked at",
    )


def _answers(evidence: Evidence) -> list[Answer]:
    """Return all answers of the suite that are right, or whose W and H are there."""
    right, others = [], []
    for id_, m, n, k, outcome, kept in evidence.results.asked():
        if Outcome(outcome).grade is not None:
            right.append(Answer(m, n, k, 0))
        elif kept and outcome != Outcome.INVALID:
            others.append(id_)
    looked_at = evidence.results.stages(others)
    return right + [_asked(stage.trial.cell, _dead(stage.W, stage.H)) for stage in looked_at]


def _exact(tried: Tried) -> list[Answer]:
    """Return the same of what was started at exact factorizations."""
    return [_asked(run.trial.cell, _dead(run.W, run.H)) for run in tried.exact]


def _fits(cap: Callable[[Answer], int], answer: Answer) -> bool:
    return answer.dead == max(0, answer.k - cap(answer))


def _asked(cell: Cell, dead: int = 0) -> Answer:
    return Answer(cell.m, cell.n, cell.k, dead)


def _dead(W: Array | None, H: Array | None) -> int:
    """Count the components of which nothing is left in W and in H."""
    if W is None or H is None:
        return 0
    return int((~(W != 0).any(axis=0) & ~(H != 0).any(axis=1)).sum())
