"""Options that several commands have, and what their values mean."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from ..errors import InputError
from ..executors.cluster.connection import Tls, check_address, connected
from ..executors.protocol import Limits
from ..families import Family, Option, find, house, names
from ..reference.engine import ENGINES
from ..text import option_from_text
from ..trials import suites
from ..trials.suites import Suite
from ..verdict.regrading import checked_tolerance

if TYPE_CHECKING:
    from distributed import Client

COMPLETED, FAILED, USAGE, INCONCLUSIVE, UNRUNNABLE, INTERRUPTED, TERMINATED = (
    0,
    1,
    2,
    3,
    4,
    130,
    143,
)

Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "in_json", is_flag=True, help="Print JSON instead of text.")
suite_option = click.option(
    "--suite",
    "suite_name",
    default="quick",
    show_default=True,
    metavar="NAME",
    help="Which suite: quick, standard or full; quick@1 is an earlier version.",
)
option_option = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="For the subject, such as max_iter=5000; can be given again.",
)
failures_option = click.option(
    "--failures",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    metavar="N",
    help="How many of the stages that did not pass to show.",
)


class Seconds(click.FloatRange):
    """A time above 0, and a number."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse what is not a number, which no bound excludes."""
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value!r} is not a number of seconds", param, ctx)
        return seconds


timeout_option = click.option(
    "--timeout",
    type=Seconds(),
    default=Limits().timeout,
    show_default=True,
    metavar="SECONDS",
    help="For each stage of a subject that is not a reference.",
)
memory_option = click.option(
    "--memory-limit",
    metavar="SIZE",
    help="Address space of a worker, such as 2G or 500M.  [default: none]",
)


jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of cores to use.  [default: all]",
)
objective_option = click.option(
    "--objective",
    metavar="NAME",
    help="What is minimised: frobenius, kl, itakura-saito, or beta=0.5 and its like.  [default: "
    "what the subject says, or frobenius]",
)
engine_option = click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    show_default=True,
    help="What the references run on; auto is native where that was built.",
)


def cluster_options(command: Command) -> Command:
    """Add the options that name a cluster; they go to the keyword `cluster`."""

    @wraps(command)
    def with_cluster(**given: Any) -> Any:
        where = given.pop("cluster")
        tls = Tls(*(given.pop(f"tls_{name}") for name in ("ca", "cert", "key")))
        if where is None and tls != Tls():
            raise InputError("--tls-ca, --tls-cert and --tls-key are for --cluster")
        if where is not None:
            check_address(where, tls)
        return command(**given, cluster=None if where is None else Cluster(where, tls))

    decorated: Any = with_cluster
    file = click.Path(path_type=Path)
    for name, what in (
        ("key", "Its key."),
        ("cert", "This client's certificate."),
        (
            "ca",
            "Whom to trust on a cluster that uses TLS, as a PEM file. [default: as Dask is set]",
        ),
    ):
        decorated = click.option(f"--tls-{name}", type=file, metavar="FILE", help=what)(decorated)
    decorated = click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Run on a Dask cluster: its scheduler, such as tcp://host:8786, or local:4 for four "
        "workers on this machine.",
    )(decorated)
    return cast(Command, decorated)


@dataclass(frozen=True)
class Cluster:
    """A cluster that was asked for."""

    where: str
    tls: Tls

    def connected(self) -> AbstractContextManager[Client]:
        """Connect to it."""
        return connected(self.where, self.tls)


def law_options(command: Command) -> Command:
    """Add the options that choose laws."""
    for option in (
        click.option("--skip-law", "skipped_laws", multiple=True, metavar="NAME",
                     help="All laws but this one; can be given again."),
        click.option("--law", "law_names", multiple=True, metavar="NAME",
                     help="This law alone; can be given again. `nmfcheck laws` lists them."),
    ):  # fmt: skip
        command = option(command)
    return command


def report_options(command: Command) -> Command:
    """Add the options that say what is shown of verdicts, and which files are written."""
    for option in (
        click.option("--json", metavar="FILE",
                     help="Write the report as JSON; - is standard output, as for the other two."),
        click.option("--junit", metavar="FILE", help="Write the report as JUnit XML."),
        click.option("--report", "page", metavar="FILE",
                     help="Write the report as a page of HTML with figures."),
        click.option("--tolerance", type=float, metavar="X",
                     callback=lambda _c, _p, x: None if x is None else checked_tolerance(x),
                     help="What counts as exact, from 1e-10 to 0.1. The default is the paper's "
                     "1e-10, and 1e-5 for subjects that say they compute in single precision."),
        click.option("--details", is_flag=True,
                     help="Show how often each outcome occurred, for each cell and ask."),
    ):  # fmt: skip
        command = option(command)
    return command


class Terminated(KeyboardInterrupt):
    """SIGTERM: as Ctrl-C, so that workers are ended and the store is closed."""


class Interrupted(click.ClickException):
    """Ctrl-C or SIGTERM, with a word about what is to be done next."""

    def __init__(self, message: str, interrupt: KeyboardInterrupt) -> None:
        super().__init__(f"{_WORD[type(interrupt)]}; {message}")
        self.interrupt = interrupt


def exit_code(interrupt: BaseException | None) -> int:
    """Return the exit code after Ctrl-C or SIGTERM."""
    return TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED


_WORD = {KeyboardInterrupt: "interrupted", Terminated: "terminated"}


def installed() -> list[Family]:
    """Return the families that can be loaded; of the others a line on standard error says why."""
    rooms = []
    for name in names():
        try:
            rooms.append(find(name))
        except InputError as error:
            click.echo(f"nmfcheck: {error}", err=True)
    return rooms


def family_options(command: Command) -> Command:
    """Add the options of all families; they go to the keyword `chosen`, as a dictionary."""
    return _with_options(command, [option for room in installed() for option in room.options])


def ask_options(command: Command) -> Command:
    """Add those options of families that say what a trial asks."""
    listed = [option for room in installed() for option in room.options if option.of_asks]
    return _with_options(command, listed)


def case_options(command: Command) -> Command:
    """Add the options of families that give a case by other means than its id."""
    return _with_options(command, [option for room in house() for option in room.case_options])


def _with_options(command: Command, options: Sequence[Option]) -> Command:
    own = {option.name: option for option in options}

    @wraps(command)
    def with_chosen(**given: Any) -> Any:
        chosen = {name: given.pop(name) for name in own}
        return command(**given, chosen=chosen)

    decorated: Any = with_chosen
    for option in reversed(own.values()):
        if option.metavar:
            add = click.option(f"--{option.name}", metavar=option.metavar, help=option.help)
        else:
            add = click.option(f"--{option.name}", is_flag=True, help=option.help)
        decorated = add(decorated)
    return cast(Command, decorated)


def selection_options(command: Command) -> Command:
    """Add the options that select families, cells and trials of a suite."""
    decorated = family_options(command)
    for add in (
        click.option(
            "--trials", type=click.IntRange(min=1), metavar="N", help="Trials of each cell."
        ),
        click.option(
            "--family", "family_names", metavar="NAMES", multiple=True,
            callback=lambda _context, _parameter, given: ",".join(given) if given else None,
            help=f"Some families only, by comma: {', '.join(names())}. An option of a family, such "
            "as --sizes, restricts the run to it as well.",
        ),
        objective_option,
        suite_option,
    ):  # fmt: skip
        decorated = add(decorated)
    return decorated


def selected_suite(
    suite_name: str,
    trials: int | None,
    family_names: str | None,
    objective: str,
    chosen: Mapping[str, Any],
) -> Suite:
    """Return the suite that these options ask for."""
    named = None if family_names is None else [n.strip() for n in family_names.split(",")]
    return suites.find(suite_name, objective).selected(families=named, trials=trials, **chosen)


def parse_options(options: Sequence[str]) -> dict[str, Any]:
    """Return what ``key=value`` says: a number, true, false, null, JSON, or else a text."""
    parsed: dict[str, Any] = {}
    for option in options:
        key, equals, text = option.partition("=")
        if not (equals and key.strip().isidentifier()):
            raise InputError(f"--option {option!r}: expected KEY=VALUE, such as max_iter=5000")
        parsed[key.strip()] = option_from_text(text)
    return parsed


def parse_seeds(text: str) -> tuple[int, int]:
    """Return the first and the last seed of a block such as ``1000-1999``."""
    match = re.fullmatch(r"\s*(\d{1,15})\s*-\s*(\d{1,15})\s*", text)
    if match is None or int(match[1]) > int(match[2]):
        raise InputError(f"--seeds is {text!r}; expected the first and the last, such as 0-99999")
    return int(match[1]), int(match[2])


def parse_limits(timeout: float, memory: str | None) -> Limits:
    """Return the limits of a worker."""
    if not math.isfinite(timeout):
        raise InputError(f"--timeout is {timeout}; expected a number of seconds")
    if memory is None:
        return Limits(timeout)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kKmMgGtT]?)(?:i?[bB])?\s*", memory)
    size = (
        0
        if match is None
        else int(float(match[1]) * 1024 ** " kmgt".index(match[2].lower() or " "))
    )
    if not 1 << 26 <= size < 1 << 60:
        raise InputError(f"--memory-limit is {memory!r}; expected 64M or more, such as 2G")
    return Limits(timeout, size)
