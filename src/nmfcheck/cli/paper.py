"""`nmfcheck paper`: the paper's experiments again."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import click
from rich.text import Text

from ..errors import InputError
from ..presenting.console import console, progress_bar
from .options import Cluster, Interrupted, cluster_options, engine_option, jobs_option


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where everything goes.  [default: paper, or paper-quick]",
)
@click.option(
    "--quick",
    is_flag=True,
    help="A tenth of the seeds, and of the iterations where statements stay meaningful: a minute.",
)
@jobs_option
@engine_option
@cluster_options
def paper(
    *, out: Path | None, quick: bool, jobs: int | None, engine: str, cluster: Cluster | None
) -> None:
    """Run every experiment of the paper again, and say of each claim whether it is reproduced.

    Writes paper.html (self-contained) and paper.md, each figure as SVG and PNG, the numbers behind
    them as CSV, and claims.json. The rule that decides is beside each claim.

    The whole of it takes about half an hour on two cores. Runs are kept in FOLDER/runs; the same
    command goes on where the last one ended, and ends with the same numbers.

    Example: nmfcheck paper --quick
    """
    from ..paper.files import write_all
    from ..paper.plan import TENTH, WHOLE
    from ..paper.reproduce import reproduce
    from ..paper.runs import Folder, cost
    from ..paper.section import Evidence, Status

    styles = {
        Status.REPRODUCED: "bold green",
        Status.CORRECTED: "bold yellow",
        Status.NOT_REPRODUCED: "bold red",
        Status.UNDECIDED: "bold",
    }

    scale = TENTH if quick else WHOLE
    folder = out or Path("paper-quick" if quick else "paper")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out is {str(folder)!r}, which is a file; expected a folder")
    runs = Folder(folder / "runs", engine=engine, threads=jobs)
    batches = scale.batches()
    if runs.engine == "numpy":
        click.echo("nmfcheck: with the NumPy engine this takes hours, or days", err=True)
    try:
        with (
            nullcontext() if cluster is None else cluster.connected() as client,
            progress_bar(f"the paper, {scale.name} scale", sum(map(cost, batches))) as progress,
        ):
            runs.complete(
                batches, progress, client, lambda line: click.echo(f"nmfcheck: {line}", err=True)
            )
    except KeyboardInterrupt as interrupt:
        kept = sum(1 for _ in runs.path.glob("*.npz"))
        hint = f"{kept} batches of runs are in {runs.path}; the same command goes on from there"
        raise Interrupted(hint, interrupt) from None
    reproduction = reproduce(Evidence(scale, runs), runs.made_by)
    page, *_ = write_all(reproduction, folder)
    screen = console()
    for claim in reproduction.claims:
        status = Text(str(claim.status), style=styles[claim.status])
        screen.print(Text.assemble(status, f": {claim.where}. {claim.said}"))
        screen.print(Text(f"    {claim.evidence}\n"))
    click.echo(f"Written to {page}, with figures and numbers beside it", err=True)
