"""Alone: some failing runs again, each as the first thing that a new process is asked.

If that is better by far, an answer depends on what was asked before it; unless it comes out
otherwise where it was made, too. So there each is made once more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack

from ...errors import InputError
from ...executors.protocol import Executor
from ...judging.measures import same_factors
from ...trials.stage import Stage
from .asking import Asking, Clock, in_each
from .record import Experiment, Run, again

NAME = "alone"

RUNS = 2
"""So many runs are made again, of different families where there are such."""

TIMES = 2
"""So often each is, in as many processes: who answers at random gives different answers there."""

CONTROLS = 4
"""So often each is put to where it was made: workers may remember different things."""

FAR = 1e-3
"""Only who is farther than this from the right answer is asked: a process takes long to start."""

CHANGES = "a comparison with its answers before, since it does not give the same ones again"
"""Then only whether new processes agree with each other can be seen."""
OTHERS_HERE = "asked on the client, it does not give the answers that it gave on the cluster"
CHANGES_SOMETIMES = "asked once more, it does not always give the same answers"

Fresh = Callable[[], AbstractContextManager[Executor]]
"""Gives an executor of the same subject in a new process."""


def alone(
    fresh: Fresh,
    asking: Asking,
    stages: Sequence[Stage],
    clock: Clock,
    *,
    elsewhere: bool = False,
) -> Experiment:
    """Ask for each of some failing runs in processes of its own.

    Parameters
    ----------
    asking : asks where the stages come from, or on this machine.
    elsewhere : whether they come from other machines; then other answers may be the machine's.
    """
    runs = again(_chosen(stages))
    if len(runs) < RUNS:
        return Experiment(NAME, (), "too few runs fail")
    stored = {(stage.trial.id, stage.ask.name): stage for stage in stages}
    controls = asking.ask([run for run in runs for _ in range(CONTROLS)])
    reason = _not_as_before([(run, stored[run.trial.id, run.ask.name]) for run in controls])
    if elsewhere and reason in (CHANGES, CHANGES_SOMETIMES):
        reason = OTHERS_HERE
    if reason not in ("", CHANGES):
        return Experiment(NAME, (), reason)
    made: list[Run] = []
    begin, longest = clock.left, 0.0
    for run in runs:
        if clock.left <= longest:
            break
        try:
            with ExitStack() as stack:
                made += in_each(
                    [stack.enter_context(fresh()) for _ in range(TIMES)], [run] * TIMES, clock
                )
        except InputError as reason:
            return Experiment(NAME, made, f"a new process could not be started: {reason}")
        begin, longest = clock.left, max(longest, begin - clock.left)
    asked = len(runs) * TIMES
    short = f"{asked - len(made)} of {asked} runs were not made: the time was up"
    return Experiment(NAME, made, reason or (short if len(made) < asked else ""))


def _not_as_before(controls: Sequence[tuple[Run, Stage]]) -> str:
    """Say why answers cannot be compared with what was there before; "" where they can.

    Parameters
    ----------
    controls : what was asked once more and answered in time, and what had come of it before.
    """
    each: dict[str, list[tuple[Run, Stage]]] = {}
    for run, stage in controls:
        each.setdefault(f"{run.trial.id}/{run.ask.name}", []).append((run, stage))
    as_before = [any(same_answer(run, stage) for run, stage in some) for some in each.values()]
    if sum(as_before) >= RUNS:
        return ""
    if any(stage.W is None or stage.H is None for _, stage in controls):
        return "no answers were kept that could be compared with"
    others = [some for some, same in zip(each.values(), as_before, strict=True) if not same]
    answered = [any(run.W is not None and run.H is not None for run, _ in some) for some in others]
    if any(answered):
        return CHANGES if sum(answered) >= RUNS else CHANGES_SOMETIMES
    if others:
        return "asked once more, it gives no usable answer"
    return "the time was up"


def _chosen(stages: Sequence[Stage]) -> list[Stage]:
    """Return the last stage of each family, those first where right ones hardly ever fail."""
    last = {stage.trial.cell.family: stage for stage in stages}
    each = sorted(last.values(), key=lambda stage: stage.trial.family.required is None)
    return [*each, *(s for s in reversed(stages) if s not in each)][:RUNS]


def same_answer(run: Run, other: Run | Stage) -> bool:
    """Say whether two answers to one problem are there, and the same."""
    if run.W is None or run.H is None or other.W is None or other.H is None:
        return False
    return same_factors((run.W, run.H), (other.W, other.H), float(run.A.max()))
