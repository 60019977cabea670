"""The laws, in the order in which they are tried and shown."""

from __future__ import annotations

import difflib

from ..errors import InputError
from .best import BestAtRankOne
from .descent import Descent, ExactStart, FixedPoint, Monotone
from .iterations import (
    ConvergenceSaid,
    IterationCount,
    LimitUsed,
    SmallerTolerance,
    ToleranceUsed,
)
from .law import Law
from .penalty import Penalty, PenaltyForm
from .reported import ExactError, LossTrace, ReportedError
from .scale import Scale, Units
from .seed import GlobalState, OtherSeed, Seed
from .sparse import Sparse
from .start import EntryPoints, InitsGood, InitsValid, StartLeftAlone, StartUsed
from .symmetry import Permutation, RowsAlike, Transposition
from .transform import FixedFactor, Inverse, Transform
from .unchanged import Input, Parameters, Refit
from .valid import BadInput, Layouts, Valid
from .weights import Missing, Weights
from .zeros import ZeroRows

_ORDER: tuple[type[Law], ...] = (
    Valid, Layouts, BadInput, BestAtRankOne, ZeroRows, Scale, Units, Permutation, RowsAlike,
    Transposition, Sparse, StartUsed, StartLeftAlone, InitsValid, InitsGood, EntryPoints, Seed,
    OtherSeed, GlobalState, Input, Parameters, Refit, ReportedError, ExactError, LossTrace,
    IterationCount, LimitUsed, ToleranceUsed, SmallerTolerance, ConvergenceSaid, Transform, Inverse,
    FixedFactor, Descent, Monotone, FixedPoint, ExactStart, Penalty, PenaltyForm, Weights, Missing,
)  # fmt: skip

LAWS: dict[str, Law] = {law.name: law() for law in _ORDER}


def names() -> tuple[str, ...]:
    """Return the names of all laws, in order."""
    return tuple(LAWS)


def find(name: str) -> Law:
    """Return the law of this name."""
    if name in LAWS:
        return LAWS[name]
    close = difflib.get_close_matches(name, LAWS, n=1)
    hint = f"did you mean {close[0]!r}?" if close else "'nmfcheck laws' lists them"
    raise InputError(f"no law {name!r}; {hint}")
