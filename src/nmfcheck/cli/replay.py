"""`nmfcheck replay`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ..checking.runnable import Runnable, objective_of
from ..diagnosis.experiments import Begin
from ..errors import InputError
from ..executors.inline import InlineExecutor
from ..executors.local import LocalExecutor
from ..executors.protocol import Executor
from ..families import Ask, Trial
from ..judging.tolerances import TOLERANCE
from ..presenting.console import console
from ..subjects import SubjectName, reference_subject
from ..subjects.precision import own_tolerance
from ..text import decimal
from ..tools.lawful import is_of_law, try_again
from ..tools.replay import replay_from, save
from ..tools.showing import show_replayed
from ..tools.showing_laws import show_example
from .options import (
    ask_options,
    memory_option,
    objective_option,
    option_option,
    parse_limits,
    parse_options,
    timeout_option,
)


@click.command()
@click.argument("trial_id", metavar="TRIAL-ID")
@objective_option
@click.option("--subject", required=True, metavar="SUBJECT", help="As for `nmfcheck run`.")
@option_option
@ask_options
@click.option(
    "--from",
    "begin",
    type=click.Choice([str(each) for each in Begin]),
    default=str(Begin.GIVEN),
    help="Start as given by the trial, at the subject's own answer to it, or at an exact "
    "factorization, as the experiments of the diagnosis do.",
)
@click.option("--save", "folder", type=click.Path(path_type=Path), metavar="DIR",
              help="Write the matrices there, as .csv.")  # fmt: skip
@timeout_option
@memory_option
def replay(
    *,
    trial_id: str,
    subject: str,
    objective: str | None,
    options: tuple[str, ...],
    chosen: dict[str, Any],
    begin: str,
    folder: Path | None,
    timeout: float,
    memory_limit: str | None,
) -> None:
    """Run one trial again, and show A, W, H and what is to be said of them, stage by stage.

    Components are put into the order of the rows that they explain, where they explain them one to
    one; entries of no weight are dim. Options of the trial's family, such as --eps, change what is
    asked. Of a law, one example is tried again, and every call that it takes is shown.

    Example: nmfcheck replay bidiagonal/n=3/ones/seed=7 --subject als
    """
    if is_of_law(trial_id):
        name = SubjectName(subject, parse_options(options))
        minimised = objective_of([Runnable(name)], objective)
        limits = parse_limits(timeout, memory_limit)
        show_example(console(), subject, *try_again(trial_id, name, minimised, limits))
        return
    trial = Trial.from_id(trial_id)
    given = {name: value for name, value in chosen.items() if value}
    trial = replace(trial, asks=_asks(trial, given))
    name = SubjectName(subject, parse_options(options))
    with ExitStack() as stack:
        executor: Executor
        if name.is_reference:
            solver = reference_subject(name.name, name.options)
            executor = stack.enter_context(InlineExecutor(solver))
        else:
            limits = parse_limits(timeout, memory_limit)
            executor = stack.enter_context(LocalExecutor(name, 1, limits))
        replayed = replay_from(trial, executor, Begin(begin))
        tolerance = own_tolerance(executor.start().identity)
    if folder is not None:
        save(replayed, folder)
    show_replayed(console(), trial, subject, replayed)
    if tolerance != TOLERANCE.exact:
        click.echo(f"\nIt says that it computes in single precision: in a verdict, "
                   f"what is within {decimal(tolerance)} counts as exact.")  # fmt: skip


def _asks(trial: Trial, given: Mapping[str, Any]) -> tuple[Ask, ...]:
    """Return what options of the trial's family ask for."""
    room = trial.family
    for option in given:
        if option not in {each.name for each in room.options}:
            raise InputError(f"--{option} is not an option of the {room.name} family")
    return room.select({trial.cell: 1}, trial.asks, given)[1]
