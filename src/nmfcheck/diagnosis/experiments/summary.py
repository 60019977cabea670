"""Experiments in words: what was done, what showed, and a run of each that can be made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...text import option_as_text
from . import alone, at_answer, continuing, less_work, mending, more_work, repeated, watching
from .lines import leaves
from .reads import pointed_at
from .record import Begin, Run
from .tried import Tried, Worked

MENDING = 3
"""So many changes that mend a subject are shown."""


@dataclass(frozen=True)
class Summary:
    """An experiment in words.

    Attributes
    ----------
    name : what it is called.
    sentence : what was done, and what showed.
    runs : how many runs were made.
    left_out : what was not done; "" where all of it was.
    run : one of them, to be made again; None where there is none.
    """

    name: str
    sentence: str
    runs: int
    left_out: str
    run: Run | None


def summaries(tried: Tried) -> list[Summary]:
    """Return all experiments that were made, in words."""
    sentences = {
        at_answer.NAME: _at_answer(tried),
        continuing.NAME: _continued(tried),
        more_work.NAME: _worked(tried.worked, "more work"),
        less_work.NAME: _worked(tried.hurried, "few iterations"),
        alone.NAME: _alone(tried),
        repeated.NAME: _repeated(tried),
        watching.NAME: _watched(tried),
        mending.NAME: _mended(tried),
    }
    summed_up = []
    for name, experiment in tried.experiments.items():
        runs = experiment.runs
        telling = [run for run in runs if run.begin is not Begin.GIVEN] or runs
        telling = runs if name == watching.NAME else telling  # one that fails is its first
        run = telling[0] if telling and name != mending.NAME else None  # it is as it was
        sentence = sentences.get(name, "")
        summed_up.append(Summary(name, sentence, len(runs), experiment.left_out, run))
    return summed_up


def _at_answer(tried: Tried) -> str:
    runs = tried.runs(at_answer.NAME)
    exact = [run for run in runs if run.begin is Begin.EXACT]
    if not runs:
        return "Nothing was asked."
    if not exact:
        return f"Asked for {len(runs)} dense matrices, it ends {_off(tried.dense)} away from A."
    silent = sum(run.W is None for run in exact)
    but = f" ({silent} of {len(exact)} runs gave no usable answer)" if silent else ""
    if silent < len(exact) and not tried.uses_start:
        return f"It does not use its start: it ends at the same place from another one{but}."
    if not tried.exact:
        return f"Started at exact factorizations, it gave no usable answer{but}."
    return f"Started at exact factorizations, {tried.how_left}{but}."


def _continued(tried: Tried) -> str:
    chains = tried.chains
    if not chains:
        return "Started again at its own answers, it gave nothing that could be compared."
    before, after = (_median([each.points[i].defect for each in chains]) for i in (0, -1))
    return (
        f"Started again at {len(chains)} of its own failing answers, the median error "
        f"is {before:.0e} before, and {after:.0e} after."
    )


def _worked(worked: Sequence[Worked], how: str) -> str:
    if not worked:
        return f"With {how} there was nothing that could be compared."
    options = " and ".join(
        f"{name}={option_as_text(value)}" for name, value in worked[0].run.options.items()
    )
    before, after = (_median([getattr(each, of) for each in worked]) for of in ("before", "after"))
    return (
        f"With {options}, {len(worked)} failing {'run has' if len(worked) == 1 else 'runs have'} a "
        f"median error of {after:.0e}, which was {before:.0e} before."
    )


def _alone(tried: Tried) -> str:
    runs = tried.alone
    if not runs:
        return "In a new process there was nothing that could be compared."
    before, after = (_median([getattr(each, of) for each in runs]) for of in ("before", "after"))
    trials = len({each.run.trial.id for each in runs})
    return (
        f"Asked first in a new process, failing runs have a median error of {after:.0e} "
        f"(runs: {len(runs)}, trials: {trials}), which was {before:.0e} before."
    )


def _repeated(tried: Tried) -> str:
    if tried.one_answer is None:
        return "What had two answers was not answered often enough in new processes."
    answers = "one answer" if tried.one_answer else "different answers"
    other = ", and another one with another random state" if tried.by_random_state else ""
    other = ", and one answer with another seed than 0" if tried.only_seed_0 else other
    return f"What had two answers has {answers} in {repeated.TIMES} new processes{other}."


def _watched(tried: Tried) -> str:
    runs = tried.followed
    if not runs:
        return "No run was followed."
    said = f"{pointed_at(runs)} {leaves(tried.followed_from_answers)}".strip()
    return said or "Nothing stands out."


def _mended(tried: Tried) -> str:
    if not tried.mended:
        made = tried.experiments.get(mending.NAME)
        if made is not None and made.left_out in mending.NOTHING:
            return "No change of its source was tried."
        if made is not None and made.left_out == mending.KEEPS:
            return "Changes of its source were tried."
        return "No change of its source that was tried makes it right."
    said = [runs[0].edit.said for runs in tried.mended[:MENDING] if runs[0].edit is not None]
    return f"Failing runs come out right with {'; or with '.join(said)}."


def _off(runs: Sequence[Run]) -> str:
    missed = [
        abs(run.product - run.A).max() / run.A.max() for run in runs if run.product is not None
    ]
    return f"{_median(missed):.0e}"


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if len(values) else float("nan")
