"""More work: the failing runs again, with ten times the iterations and a far smaller tolerance.

Which options these are is read off their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...trials.stage import Stage
from .asking import Asking
from .record import Experiment, again

NAME = "more work"

ITERATIONS = (
    "max_iter", "n_iter", "iterations", "maxiter", "max_iterations", "n_iter_max", "n_iterations",
    "num_iter", "num_iterations", "niter", "n_iters", "iters", "iter", "maxIter", "max_iters",
    "n_steps", "num_steps", "steps", "max_steps", "epochs", "n_epochs", "max_epochs", "sweeps",
    "n_sweeps",
)  # fmt: skip
TOLERANCES = (
    "tol", "tolerance", "rtol", "atol", "ftol", "rel_tol", "abs_tol", "stop_tol", "stopping_tol",
    "conv_tol", "convergence_tol", "tol_rel", "threshold_stop", "min_change", "min_improvement",
)  # fmt: skip
"""What options are called that say how long a subject works."""

TIMES, SMALLER = 10, 1e-6
"""So many times the iterations, and so much of the tolerance."""

FOR_NONE = 1000
"""So many iterations where 0 is the number, which may stand for "no limit"."""

LONGEST = 10**7


def more(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that make a subject work longer, from its parameters and their values."""
    changed: dict[str, Any] = {}
    for name, value in parameters.items():
        number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
        if not number:
            continue
        if name in ITERATIONS and value == 0:
            changed[name] = FOR_NONE
        elif name in ITERATIONS and value <= LONGEST and value == int(value):
            changed[name] = TIMES * int(value)
        elif name in TOLERANCES and 0 < value < 1:
            changed[name] = float(f"{value * SMALLER:.6g}")
    return changed


def more_work(asking: Asking, stages: Sequence[Stage], options: Mapping[str, Any]) -> Experiment:
    """Run the trials of some stages again, with these options."""
    runs = again(stages, options)
    made = asking.ask(runs)
    short = f"{len(runs) - len(made)} of {len(runs)} runs were not made: the time was up"
    return Experiment(NAME, made, short if len(made) < len(runs) else "")
