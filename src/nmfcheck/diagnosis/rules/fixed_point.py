"""It comes to rest where nothing is stationary; or nothing is known."""

from __future__ import annotations

from ..evidence import Evidence
from ..findings import Cause, Finding, mostly

FEWEST = 3

STATIONARY = 1e-3
"""With a KKT residual below this, runs are nearly stationary."""


def fixed_point(evidence: Evidence) -> Finding | None:
    """Say so if runs stay where they are when they are continued."""
    chains = evidence.chains
    if not mostly(each.stayed for each in chains):
        return None
    runs = evidence.unconverged
    return Finding(
        Cause.FIXED_POINT,
        "It rests where nothing is stationary: started again at its own answers, it stays there, "
        f"but the median error is {runs.typical:.0e} and the median KKT residual {runs.kkt:.0e}. "
        "Its updates may have a wrong fixed point (that of another or a weighted loss, say), A, W "
        "or H may be changed besides, or it takes such a start for converged, whatever more "
        "iterations would do.",
        evidence=f"continue: {sum(c.stayed for c in chains)} of {len(chains)} runs stayed",
    )


def at_rest(evidence: Evidence) -> Finding | None:
    """Say so if more work changes no bit of it, and nothing is stationary there."""
    worked, runs = evidence.worked, evidence.unconverged
    same = [each.after == each.before for each in worked]
    if evidence.chains or len(same) < FEWEST or not all(same) or not runs.kkt > STATIONARY:
        return None
    options = " and ".join(f"{name}={value:g}" for name, value in worked[0].run.options.items())
    return Finding(
        Cause.FIXED_POINT,
        f"It rests where nothing is stationary: with {options} all {len(same)} runs that were "
        f"looked at end at the same error as before, to the last bit, but the median error is "
        f"{runs.typical:.0e} and the median KKT residual {runs.kkt:.0e}. Its steps may become 0, "
        "its updates have a wrong fixed point, a stopping rule end it whatever these options say, "
        "or A, W or H be changed besides.",
        evidence=f"more work: {len(same)} runs end as before",
    )


def unknown(evidence: Evidence) -> Finding:
    """Say what was seen, and that it is not known why."""
    runs, tried = evidence.unconverged, evidence.tried
    seen = []
    if tried.exact:
        seen.append(f"started at exact factorizations, {tried.how_left}")
    if tried.chains:
        better = sum(each.improved for each in tried.chains)
        seen.append(f"of {len(tried.chains)} answers that it was started at, {better} improved")
    if tried.worked:
        better = sum(each.improved for each in tried.worked)
        seen.append(f"with more work, {better} of {len(tried.worked)} runs improved")
    return Finding(
        Cause.UNKNOWN,
        "Runs end neither at a solution nor at another stationary point, and the cause is unknown: "
        f"the median error is {runs.typical:.0e}, the median KKT residual, which is 0 at a "
        f"stationary point, {runs.kkt:.0e}"
        f"{'; ' if seen else ''}{'; '.join(seen)}.",
        certain=False,
        evidence="; ".join(seen),
    )
