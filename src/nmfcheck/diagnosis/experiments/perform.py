"""Which experiments are made, with which runs, and for how long."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError
from ...executors.protocol import Executor
from ...judging.outcomes import short_of
from ...store import Results
from ...trials.stage import Stage
from ...trials.suites import Suite
from . import (
    alone,
    at_answer,
    choosing,
    continuing,
    less_work,
    mending,
    more_work,
    repeated,
    watching,
)
from .asking import NO_SOURCE, Asking, Clock
from .record import Experiment, Run, again, defect_of
from .tried import Tried

SECONDS = 5.0
"""All experiments together take at most so long."""

SHARE = 0.4
"""So much of the time its own answers have to be continued once, before anything else."""

WATCHED = 0.25
"""So much of the time is for following runs line by line."""

MENDING = 0.5
"""So much of it, and what others leave, is for changes of its source."""

WORKED = 0.6
"""So much of what is left is for more work instead, where continuing helps."""

OF_EACH, AT_MOST = 4, 14
"""So many failing runs of each family are looked at again, and so many at most."""

USUAL = 0.75
"""So large a part of the runs take no longer than what a run is said to take."""

Variant = Callable[[Mapping[str, Any]], AbstractContextManager[Executor]]
"""Gives an executor of the same subject with other options."""


@dataclass(frozen=True)
class Asked:
    """Who is asked.

    Attributes
    ----------
    executor : what the suite was run through; a process on this machine, if that was a cluster.
    parameters : the options that it has, with their values.
    variant : the same with other options; None where it has none.
    fresh : gives an executor of the same subject in a new process; None where it runs in this one.
    elsewhere : whether the suite was run on other machines. Then what is asked of new processes on
        this one means something only where this machine gives the same answers as those.
    mend : whether small changes of its source may be tried.
    """

    executor: Executor
    parameters: Mapping[str, Any]
    variant: Variant | None = None
    fresh: alone.Fresh | None = None
    elsewhere: bool = False
    mend: bool = True


def perform(
    subject: Asked,
    results: Results,
    suite: Suite,
    known: Collection[str],
    seconds: float = SECONDS,
) -> Iterator[Experiment]:
    """Make the experiments that were not made before.

    Parameters
    ----------
    known : the names of those that were.
    """
    takes = subject.executor.start().takes
    stages = failing(results, suite)
    seconds_each = [s.seconds for s in stages if not math.isnan(s.seconds)]
    usual = float(np.quantile(seconds_each, USUAL)) if seconds_each else 0.0
    typical = float(np.median(seconds_each)) if seconds_each else 0.0
    whole = clock = Clock(seconds)
    twice = repeated.asked_twice(results)
    if twice is not None and subject.fresh is not None and repeated.NAME not in known:
        asking = Asking(subject.executor, clock, usual) if subject.elsewhere else None
        yield from _repeated(subject.fresh, twice, clock, asking)
    asking = Asking(subject.executor, clock, usual)
    starts = {"W0", "H0"} <= set(takes)
    isolated, unknown = subject.fresh is not None, mending.NAME not in known
    mends = subject.mend and isolated and twice is None and unknown
    suspects: Collection[str] = ()
    if watching.NAME not in known and not typical > watching.LONGEST:
        followed = Asking(subject.executor, clock.part(WATCHED))
        seen = watching.watching(followed, results, suite, starts=starts)
        mends &= seen.left_out != NO_SOURCE
        suspects = mending.suspects(seen)
        yield seen
    if mends and typical <= mending.LONGEST:
        clock = Clock(max(0.0, clock.left - MENDING * seconds))
    yield from _others(subject, clock, whole, usual, suite.objective, stages, known)
    if mends:  # last, for nobody knows what it leaves behind
        chosen = choosing.chosen(results, suite)
        yield mending.Mending(subject.executor, whole, typical).experiment(chosen, suspects)


def _others(
    subject: Asked,
    clock: Clock,
    whole: Clock,
    usual: float,
    objective: str,
    stages: Sequence[Stage],
    known: Collection[str],
) -> Iterator[Experiment]:
    """Start elsewhere, and do more work, or less; and the same in new processes.

    Parameters
    ----------
    whole : what is left of all the time; where continuing helps, more work gets some of it.
    """
    starts = {"W0", "H0"} <= set(subject.executor.start().takes)
    asking = Asking(subject.executor, clock, usual)
    if not starts and at_answer.NAME not in known:
        yield at_answer.dense(asking, objective)
    if starts:
        for experiment in _from_elsewhere(subject.executor, clock, usual, objective, stages, known):
            if _helps(experiment):
                clock = whole.part(WORKED)
            yield experiment
    if not stages:
        return
    if more_work.NAME not in known:
        experiments = list(_more_work(subject, stages, clock, usual))
        yield from experiments
        if any(less_work.as_before(experiment.runs, stages) for experiment in experiments):
            yield from _less_work(subject, stages, clock, usual)
    far = float(np.median([defect_of(stage.measures) for stage in stages])) > alone.FAR
    if far and subject.fresh is not None and alone.NAME not in known:
        yield alone.alone(subject.fresh, asking, stages, clock, elsewhere=subject.elsewhere)


def _helps(experiment: Experiment) -> bool:
    """Say whether most runs are better when they are continued."""
    improved = [chain.improved for chain in Tried({experiment.name: experiment}).chains]
    return 2 * sum(improved) > len(improved)


def _from_elsewhere(
    executor: Executor,
    clock: Clock,
    usual: float,
    objective: str,
    stages: Sequence[Stage],
    known: Collection[str],
) -> Iterator[Experiment]:
    """Start at its own answers, at exact factorizations, and again at what came of the first.

    Who measures its progress by its start may not come to an end at an exact factorization.
    """
    asking = Asking(executor, clock, usual)
    continued = continuing.Continued(stages)
    continues = bool(stages) and continuing.NAME not in known
    if continues:
        continued.go_on(Asking(executor, clock.part(SHARE), usual), 1)
    if at_answer.NAME not in known:
        yield at_answer.at_answer(asking, objective)
    if continues:
        continued.go_on(asking, continuing.LINKS - 1)
        yield continued.experiment


def _repeated(
    fresh: alone.Fresh, stage: Stage, clock: Clock, here: Asking | None
) -> Iterator[Experiment]:
    try:
        yield repeated.repeated(fresh, stage, clock, here)
    except InputError as reason:
        yield Experiment(repeated.NAME, (), f"a new process could not be started: {reason}")


def _more_work(
    subject: Asked, stages: Sequence[Stage], clock: Clock, usual: float
) -> Iterator[Experiment]:
    options = more_work.more(subject.parameters)
    if not options or subject.variant is None:
        return
    if clock.left < more_work.TIMES * usual:
        yield Experiment(more_work.NAME, (), "the time was up")
        return
    try:
        with subject.variant(options) as executor:
            longer = Asking(executor, clock, more_work.TIMES * usual)
            yield more_work.more_work(longer, stages, options)
    except InputError as reason:
        yield Experiment(more_work.NAME, (), f"it cannot be run with {options}: {reason}")


def _less_work(
    subject: Asked, stages: Sequence[Stage], clock: Clock, usual: float
) -> Iterator[Experiment]:
    """Run with few iterations, where more gave the same answers, till few do as well."""
    asked = [s for s in stages if s.W is not None and s.H is not None][: less_work.RUNS]
    made: list[Run] = []
    for number in less_work.FEW:
        options = less_work.less(subject.parameters, number)
        if not options or subject.variant is None or not asked or clock.left < usual:
            break
        try:
            with subject.variant(options) as executor:
                made = Asking(executor, clock, usual).ask(again(asked, options))
        except InputError as reason:
            yield Experiment(less_work.NAME, (), f"it cannot be run with {options}: {reason}")
            return
        if less_work.as_before(made, asked):
            break
    if made:
        yield Experiment(less_work.NAME, made)


def failing(results: Results, suite: Suite) -> list[Stage]:
    """Return some stages of the test that ended short of what is needed, from all families.

    They have W and H, and are unconverged or have a lower grade.
    """
    stages: list[Stage] = []
    for part in suite.parts:
        names = {cell.name for cell in part.cells}
        wanted = {ask.name: short_of(ask.needs) for ask in part.test}
        ids = results.kept(part.family, wanted, names)
        places = np.linspace(0, len(ids) - 1, min(OF_EACH, len(ids))).astype(int)
        stages += results.stages([ids[place] for place in dict.fromkeys(places.tolist())])
    return _thinned(stages)


def _thinned(stages: Sequence[Stage]) -> list[Stage]:
    """Return some of each family, not more than there is time for."""
    by_family: dict[str, list[Stage]] = {}
    for stage in stages:
        by_family.setdefault(stage.trial.cell.family, []).append(stage)
    each = max(1, AT_MOST // max(1, len(by_family)))
    return [stage for some in by_family.values() for stage in some[:each]]
