"""nmfcheck tells whether an NMF implementation really solves NMF.

It feeds the implementation matrices whose exact nonnegative factorizations are all known, judges
what comes back against the complete solution set, and repeats that over many seeds.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"  # before the rest, which asks for it

from . import reference
from .errors import ConformanceError, InputError
from .families import Case, Family, Trial
from .families.bidiagonal.cases import bidiagonal
from .families.bidiagonal.exact import exact_factorization
from .families.bidiagonal.judge import Judgements, judge_batch
from .families.bidiagonal.nearest import NearestExact, nearest_exact
from .families.judge import judge
from .judging.judgement import Judgement
from .judging.outcomes import Outcome
from .subjects import Command
from .trials import suites
from .trials.driver import run_trial
from .trials.stage import Stage, TrialResult

if TYPE_CHECKING:
    from .checking.check import check
    from .checking.report import Report

__all__ = [
    "Case",
    "Command",
    "ConformanceError",
    "Family",
    "InputError",
    "Judgement",
    "Judgements",
    "NearestExact",
    "Outcome",
    "Report",
    "Stage",
    "Trial",
    "TrialResult",
    "bidiagonal",
    "check",
    "exact_factorization",
    "judge",
    "judge_batch",
    "nearest_exact",
    "reference",
    "run_trial",
    "suites",
]

_LATE = {"check": "checking.check", "Report": "checking.report", "perturbation": "perturbation"}
"""What takes longer to import, and where it is."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f".{_LATE[name]}", __name__)
    return module if name == "perturbation" else getattr(module, name)
