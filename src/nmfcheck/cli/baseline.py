"""`nmfcheck baseline`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from ..baseline import ACCEPTED, ITERATIONS, SUITES, as_text, of_stores, store_of
from ..errors import InputError
from ..report.terminal import progress_bar
from ..runner import Campaign
from ..store import Store
from ..subjects import SubjectName
from .options import COMPLETED, Interrupted, engine_option, jobs_option


@click.command()
@click.argument("algorithms", metavar="[ALGORITHM]...", nargs=-1)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("runs") / "baseline",
    show_default=True,
    help="Where the results are kept, a store for each algorithm and range of sizes.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("baseline.json"),
    show_default=True,
    help="The file to write when all five algorithms are there.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    metavar="N",
    help="Trials per cell instead of 1000, and 200 for n > 8: for a first look.",
)
@jobs_option
@engine_option
def baseline(
    *,
    algorithms: tuple[str, ...],
    folder: Path,
    output: Path,
    trials: int | None,
    jobs: int | None,
    engine: str,
) -> int:
    """Make the baseline that verdicts compare with: the references, trial by trial.

    Runs the five accepted algorithms, or only the ones named, with the paper's numbers of
    iterations (ALS: a tenth) through n = 2..8 (1000 trials per size and kind of entries) and
    n = 10, 12, 16, 20 (200). That takes hours; the same command goes on where it was interrupted.
    Several algorithms can be run at the same time, or on other machines, into one folder. The file
    is written by a call for all five.

    Example: nmfcheck baseline --output src/nmfcheck/data/baseline.json
    """
    for name in algorithms:
        if name not in ACCEPTED:
            raise InputError(f"no algorithm {name!r}; there are {', '.join(ACCEPTED)}")
    suites = SUITES if trials is None else tuple(s.selected(trials=trials) for s in SUITES)
    for name in algorithms or ACCEPTED:
        for suite in suites:
            path = store_of(folder, name, suite)
            title = f"{name}, n = {suite.sizes[0]}..{suite.sizes[-1]}"
            with (
                Store.create_or_open(path, suite) as store,
                progress_bar(title, suite.stages) as progress,
            ):
                try:
                    Campaign(suite, jobs, engine=engine).run_reference(
                        SubjectName(name, _options(name)), store, progress
                    )
                except KeyboardInterrupt as interrupt:
                    told = f"the same command goes on from what is in {path}"
                    raise Interrupted(told, interrupt) from None
    if algorithms and set(algorithms) != set(ACCEPTED):
        click.echo(f"in {folder}: {', '.join(dict.fromkeys(algorithms))}; the file needs all five")
        return COMPLETED
    with ExitStack() as stack:
        paths = [store_of(folder, name, suite) for name in ACCEPTED for suite in suites]
        text = as_text(of_stores(stack.enter_context(Store.read(path)) for path in paths))
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    click.echo(f"written to {output}: {len(text) / 1e3:.0f} kB")
    return COMPLETED


def _options(algorithm: str) -> dict[str, int]:
    return {"iterations": ITERATIONS[algorithm]} if algorithm in ITERATIONS else {}
