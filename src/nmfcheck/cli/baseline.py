"""`nmfcheck baseline`."""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..checking.campaign import Campaign
from ..checking.runnable import Runnable
from ..errors import InputError
from ..families import Cell, Family, find
from ..judging.objectives import FROBENIUS
from ..presenting.console import progress_bar
from ..report.files import replace_file
from ..store import Results, Store
from ..subjects import SubjectName
from ..subjects.references import accepted
from ..trials.suites import SUITES, Part, Suite
from ..verdict.baseline import as_text, empty, of_results, shipped, trials_of
from .options import (
    COMPLETED,
    Cluster,
    Interrupted,
    cluster_options,
    engine_option,
    jobs_option,
    objective_option,
)

if TYPE_CHECKING:
    from distributed import Client


@click.command()
@click.argument("family_name", metavar="FAMILY")
@click.argument("algorithms", metavar="[ALGORITHM]...", nargs=-1)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs") / "baseline",
    show_default=True,
    help="Where the results are kept, a store for each algorithm and cell.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The file to write when all algorithms are there.  [default: FAMILY.json]",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    metavar="N",
    help="Trials of each cell, instead of the family's own number: for a first look.",
)
@objective_option
@click.option("--anew", is_flag=True, help="Make all cells, those that are shipped as well.")
@jobs_option
@engine_option
@cluster_options
def baseline(
    *,
    family_name: str,
    algorithms: tuple[str, ...],
    folder: Path,
    output: Path | None,
    trials: int | None,
    objective: str | None,
    anew: bool,
    jobs: int | None,
    engine: str,
    cluster: Cluster | None,
) -> int:
    """Make the baseline of a FAMILY that verdicts compare with: the references, trial by trial.

    Runs the algorithms accepted for an objective, or only the ones named, through the cells of the
    family that its shipped baseline does not have. That may take hours; the same command goes on
    where it was interrupted. Several algorithms can be run at the same time, or on other machines,
    into one folder. The file is written by a call for all that are missing.

    Example: nmfcheck baseline inflated --output src/nmfcheck/families/inflated/baseline.json
    """
    room = find(family_name, FROBENIUS.name if objective is None else objective)
    everyone = accepted(room.objective)
    if room.required is not None and room.baseline is None:
        share = f"a fixed share of {100 * room.required:g} %"
        raise InputError(f"{room.name} needs no baseline: it requires {share}")
    for name in algorithms:
        if name not in everyone:
            raise InputError(f"no algorithm {name!r}; there are {', '.join(everyone)}")
    known, new = shipped(room.name, room.objective), empty(room)
    if anew or (known.version, known.asks) != (new.version, new.asks):
        known = new
    asked = {cell: trials or room.baseline_trials(cell) for cell in _cells(room)}
    missing = [
        (name, cell, number)
        for name in everyone
        for cell, number in asked.items()
        if trials_of(known, name, cell) < number
    ]
    with nullcontext() if cluster is None else cluster.connected() as client:
        for name, cell, number in missing:
            if name in (algorithms or everyone):
                _run(room, name, cell, number, folder, jobs, engine, client)
    if algorithms and not {name for name, *_ in missing} <= set(algorithms):
        listed = ", ".join(dict.fromkeys(algorithms))
        needed = ", ".join(dict.fromkeys(name for name, *_ in missing))
        click.echo(f"in {folder}: {listed}; the file needs all of {needed}")
        return COMPLETED
    with ExitStack() as stack:
        runs = [_results(stack, room, *each, folder) for each in missing]
        text = as_text(of_results(known, runs))
    path = output or Path(f"{room.name}.json")
    replace_file(path, text.encode())
    click.echo(f"written to {path}: {len(text) / 1e3:.0f} kB")
    return COMPLETED


def _cells(room: Family) -> list[Cell]:
    """Return the cells of all suites."""
    return list(dict.fromkeys(cell for suite in SUITES for cell in room.cells(suite)))


def _suite(room: Family, cell: Cell, trials: int) -> Suite:
    part = Part(room.name, room.version, {cell: trials}, room.asks, room.objective)
    return Suite("baseline", room.version, (part,), objective=room.objective)


def _store(room: Family, algorithm: str, cell: Cell, folder: Path) -> Path:
    return folder / room.name / f"{algorithm}-{cell.name.replace('/', '-')}.sqlite"


def _run(
    room: Family,
    algorithm: str,
    cell: Cell,
    trials: int,
    folder: Path,
    jobs: int | None,
    engine: str,
    client: Client | None,
) -> None:
    suite = _suite(room, cell, trials)
    path = _store(room, algorithm, cell, folder)
    iterations = room.baseline_iterations.get(algorithm)
    options: dict[str, Any] = {} if iterations is None else {"iterations": iterations}
    with (
        Store.create_or_open(path, suite) as store,
        progress_bar(f"{algorithm}, {cell.id}", suite.stages) as progress,
    ):
        try:
            campaign = Campaign(suite, jobs, engine=engine, cluster=client)
            campaign.run(Runnable(SubjectName(algorithm, options)), store, progress)
        except KeyboardInterrupt as interrupt:
            hint = f"the same command goes on from what is in {path}"
            raise Interrupted(hint, interrupt) from None


def _results(
    stack: ExitStack, room: Family, algorithm: str, cell: Cell, trials: int, folder: Path
) -> tuple[str, dict[str, Any], Results, Suite]:
    path = _store(room, algorithm, cell, folder)
    store = stack.enter_context(Store.read(path))
    (subject,) = store.subjects()
    return algorithm, subject.settings, store.results(subject), _suite(room, cell, trials)
