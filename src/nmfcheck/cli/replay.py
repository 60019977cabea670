"""`nmfcheck replay`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace as with_
from itertools import count
from pathlib import Path

import click

from ..replay import replay as replay_trial
from ..replay import save
from ..report.terminal import console, show_replayed
from ..runner.workers import Request, Workers, request_all
from ..subjects import Answer, Problem, SubjectName, reference_subject
from ..trials import Trial, rung_of
from .options import (
    memory_option,
    option_option,
    parse_limits,
    parse_numbers,
    parse_options,
    timeout_option,
)


@click.command()
@click.argument("trial_id", metavar="TRIAL-ID")
@click.option("--subject", required=True, metavar="SUBJECT", help="As for `nmfcheck run`.")
@option_option
@click.option("--eps", metavar="ε,ε,…", help="The values of ε.  [default: 0,1e-3,0.25]")
@click.option("--save", "folder", type=click.Path(path_type=Path), metavar="DIR",
              help="Write the matrices there, as .csv.")  # fmt: skip
@timeout_option
@memory_option
def replay(
    *,
    trial_id: str,
    subject: str,
    options: tuple[str, ...],
    eps: str | None,
    folder: Path | None,
    timeout: float,
    memory_limit: str | None,
) -> None:
    """Run one trial again, and show A, W, H and what is to be said of them, stage by stage.

    Components are put into the order of the rows that they explain, where they explain them one to
    one; entries of no weight are dim.

    Example: nmfcheck replay bidiagonal/n=3/ones/seed=7 --subject als
    """
    trial = Trial.from_id(trial_id)
    if eps is not None:
        ladder = tuple(rung_of(x) for x in sorted(set(parse_numbers("--eps", eps))))
        trial = with_(trial, ladder=ladder)
    name = SubjectName(subject, parse_options(options))
    with ExitStack() as stack:
        if name.is_reference:
            solver = reference_subject(name.name, name.options)

            def ask(problem: Problem) -> Answer:
                return solver.solve([problem], lambda _: None)[0]
        else:
            workers = stack.enter_context(Workers(name, 1, parse_limits(timeout, memory_limit)))
            workers.start()
            numbers = count()

            def ask(problem: Problem) -> Answer:
                number = next(numbers)
                request = Request(number, problem, random=2 * trial.seed)
                return request_all(workers, [request])[number].answer

        replayed = replay_trial(trial, ask)
    if folder is not None:
        save(replayed, folder)
    show_replayed(console(), trial, subject, replayed)
