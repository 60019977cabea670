"""The slopes of any subject's parameters in ε: the paper's Figure 1.

from nmfcheck.perturbation import slopes
slopes(my_nmf).linearity
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..arrays import whole_number
from ..families.bidiagonal.cases import ONES, case_of
from ..families.bidiagonal.family import starting_point
from ..families.bidiagonal.slopes import EPS, SEEDS, N, Slopes, checked_eps, slopes_of
from ..subjects import Problem, Subject, as_subject


def slopes(
    subject: Subject | Callable[..., object], seeds: int = SEEDS, eps: Sequence[float] = EPS
) -> Slopes:
    """Run a subject at ε = 0 and at each ε from the same starts, and measure its slopes.

    Parameters
    ----------
    subject : a function `f(A, rank, *, W0, H0, seed)` that returns W and H and takes any of these
        keywords, or one of `nmfcheck.subjects`.
    seeds : the number of starts.
    eps : two values at least, all above 0.
    """
    seeds = whole_number("seeds", seeds, 2)
    ladder = checked_eps(eps)
    solver = as_subject(subject)
    starts = [starting_point(N, seed) for seed in range(seeds)]
    factors = {}
    for each in (0.0, *ladder):
        case = case_of(N, ONES, each)
        answers = solver.solve(
            [Problem(case.A.copy(), N, W0.copy(), H0.copy(), seed)
             for seed, (W0, H0) in enumerate(starts)],
            lambda _: None,
        )  # fmt: skip
        factors[each] = [
            (answer.W, answer.H) if answer.error is None else None for answer in answers
        ]
    return slopes_of(factors)
