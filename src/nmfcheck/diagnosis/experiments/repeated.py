"""Repeated: a question that had two answers, as the first thing that some new processes are asked.

If all of them give one answer, to the last bit, it was what had been asked before that made the
difference, or the global random state, which a further process has seeded otherwise. If they do
not, it is random: whoever starts at random may come to one answer, but with other digits at its
end. Where the seed was 0, they are told another one as well: 0 is easily taken for none.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from ...judging.outcomes import Flag
from ...store import Results
from ...trials.stage import Stage
from .alone import Fresh, same_answer
from .asking import Asking, Clock, in_each
from .record import Experiment, again

NAME = "repeated"

TIMES = 2
"""In so many processes it is asked, and in one more with another random state."""

OTHER = 1
"""The seed that is told besides 0."""

CONTROLS = 4
"""So often it is asked twice on this machine, where others have given two answers."""

ONE_HERE = "asked again on the client, it does not give two answers, as it did on the cluster"


def asked_twice(results: Results) -> Stage | None:
    """Return a stage whose question had two answers; None where there is none.

    The first, of those with seed 0 if there are any: with it, another seed is tried as well.
    """
    rows = [row for row, flags in results.flagged() if Flag.DIFFERS in flags]
    ids = [row.id for row in sorted(rows, key=lambda row: row.seed != 0)]
    return next(iter(results.stages(ids[:1])), None)


def repeated(fresh: Fresh, stage: Stage, clock: Clock, here: Asking | None = None) -> Experiment:
    """Ask what had two answers in processes of its own.

    Parameters
    ----------
    here : asks on this machine, where others have given the two answers: if it has one here, they
        may be those of two machines.
    """
    (run,) = again([stage])
    if here is not None:
        answers = here.ask([run, replace(run, again=True)] * CONTROLS)
        if len(answers) < 2 * CONTROLS:
            return Experiment(NAME, (), "the time was up")
        if all(each.W is None or same_answer(each, answers[0]) for each in answers):
            return Experiment(NAME, (), ONE_HERE)
    runs = [*[run] * TIMES, replace(run, again=True)]
    with ExitStack() as stack:
        processes = [stack.enter_context(fresh()) for _ in runs]
        made = in_each(processes, runs, clock)
        if run.seed == 0 and len(made) == len(runs):
            made = [*made, *in_each(processes[:TIMES], [replace(run, seed=OTHER)] * TIMES, clock)]
    short = f"{len(runs) - len(made)} of {len(runs)} runs were not made: the time was up"
    return Experiment(NAME, made, short if len(made) < len(runs) else "")
