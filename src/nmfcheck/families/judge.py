"""Judging one factorization of any case, in whatever kind of array it comes."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..judging.factors import UnusableError, as_factor
from ..judging.judgement import Judgement
from ..judging.outcomes import Outcome
from .registry import room_of
from .trial import Case


def judge(case: Any, W: Any, H: Any) -> Judgement:
    """Judge one factorization W, H of `case`.

    W and H may be anything that holds an array: NumPy, `np.matrix`, SciPy sparse, lists, objects
    with `__array__`. What is not a nonnegative real matrix of the right shape is judged invalid.
    """
    if not isinstance(case, Case):
        kind = type(case).__name__
        raise InputError(f"expected a Case, such as bidiagonal([1, 1]), not {kind} ({case!r:.60})")
    try:
        factors = as_factor("W", W, (case.m, case.rank)), as_factor("H", H, (case.rank, case.n))
    except UnusableError as reason:
        return room_of(case).judgement(Outcome.INVALID, f"{reason}.")
    (judgement,) = room_of(case).judge([case], *(X[None] for X in factors))
    return judgement
