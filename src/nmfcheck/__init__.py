"""nmfcheck tells whether an NMF implementation really solves NMF.

It feeds the implementation matrices whose exact nonnegative factorizations are all known, judges
what comes back against the complete solution set, and repeats that over many seeds.
"""

__version__ = "0.1.0"  # before the rest, which asks for it

from . import reference, suites
from .cases import Case, bidiagonal
from .errors import InputError
from .exact import exact_factorization
from .judge import Judgement, Judgements, judge, judge_batch
from .nearest import NearestExact, nearest_exact
from .outcomes import Outcome
from .protocol import run_trial
from .subjects import Command
from .trials import Trial, TrialResult

__all__ = [
    "Case",
    "Command",
    "InputError",
    "Judgement",
    "Judgements",
    "NearestExact",
    "Outcome",
    "Trial",
    "TrialResult",
    "bidiagonal",
    "exact_factorization",
    "judge",
    "judge_batch",
    "nearest_exact",
    "reference",
    "run_trial",
    "suites",
]
