"""`nmfcheck merge`."""

from __future__ import annotations

from pathlib import Path

import click

from ..store import Store
from ..store import merge as merged
from .options import COMPLETED


@click.command()
@click.argument("paths", metavar="STORE...", nargs=-1, required=True,
                type=click.Path(path_type=Path))  # fmt: skip
@click.option(
    "--into",
    required=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The store that they are joined into; what it has already stays.",
)
def merge(*, paths: tuple[Path, ...], into: Path) -> int:
    """Join STOREs of the same suite and the same subjects into one.

    They may hold blocks of seeds that were run in different places (`nmfcheck run --seeds`), or
    parts of one suite. What does not belong together is refused: another suite, another version of
    a subject, another outcome of the same trial. Merging the same stores again changes nothing.
    `nmfcheck report FILE` shows the verdict on all of it.

    Example: nmfcheck merge one.sqlite two.sqlite --into all.sqlite
    """
    suite = merged(paths, into)
    with Store.read(into) as store:
        stages = store.count()
    click.echo(f"{into}: {stages} stages of {suite.title}, {suite.scope}")
    return COMPLETED
