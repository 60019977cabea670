"""Options that several commands have, and what their values mean."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from .. import suites
from ..errors import InputError
from ..reference.engine import ENGINES
from ..runner import Limits
from ..suites import Suite
from ..values import option_from_text

COMPLETED, FAILED, USAGE, INCONCLUSIVE, UNRUNNABLE, INTERRUPTED, TERMINATED = (
    0,
    1,
    2,
    3,
    4,
    130,
    143,
)
LARGEST_SIZE = 200

Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "in_json", is_flag=True, help="Print JSON instead of text.")
suite_option = click.option(
    "--suite",
    "suite_name",
    default="quick",
    show_default=True,
    metavar="NAME",
    help="Which suite: quick, standard or full.",
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
timeout_option = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
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
engine_option = click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    show_default=True,
    help="What the references run on; auto is native where that was built.",
)


def report_options(command: Command) -> Command:
    """Add the options that say what is shown of verdicts, and which files are written."""
    for option in (
        click.option("--json", metavar="FILE",
                     help="Write the report as JSON; - is standard output, as for the other two."),
        click.option("--junit", metavar="FILE", help="Write the report as JUnit XML."),
        click.option("--report", "page", metavar="FILE",
                     help="Write the report as a page of HTML with figures."),
        click.option("--details", is_flag=True,
                     help="Show how often each outcome occurred, for each ε."),
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


def selection_options(command: Command) -> Command:
    """Add the options that select trials of a suite."""
    for option in (
        click.option("--entries", metavar="KINDS", help="ones, loguniform, or both by comma."),
        click.option(
            "--eps",
            metavar="ε,ε,…",
            help="The values of ε. Up to 0.01 they belong to the paper's test, which needs 0 and "
            "one more; above, exactness is asked for.",
        ),
        click.option("--sizes", metavar="SIZES", help="The sizes n, such as 2-5,8."),
        click.option(
            "--trials",
            type=click.IntRange(min=1),
            metavar="N",
            help="Trials for each size and kind of entries.",
        ),
        suite_option,
    ):
        command = option(command)
    return command


def selected_suite(
    suite_name: str, trials: int | None, sizes: str | None, eps: str | None, entries: str | None
) -> Suite:
    """Return the suite that these options ask for."""
    return suites.find(suite_name).selected(
        trials=trials,
        sizes=None if sizes is None else parse_sizes(sizes),
        eps=None if eps is None else parse_numbers("--eps", eps),
        kinds=None if entries is None else [kind.strip() for kind in entries.split(",")],
    )


def parse_sizes(text: str) -> list[int]:
    """Return the sizes of ``2-5,8``."""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= LARGEST_SIZE:
            expected = f"sizes from 1 to {LARGEST_SIZE} such as 2-5,8"
            raise InputError(f"--sizes is {text!r}; expected {expected}")
        found.extend(range(first, last + 1))
    return found


def parse_numbers(option: str, text: str) -> list[float]:
    """Return numbers between commas."""
    try:
        numbers = [float(part) for part in text.split(",")] if text.strip() else []
    except ValueError:
        expected = "numbers between commas"
        raise InputError(f"{option} is {text!r}; expected {expected}") from None
    if not numbers or not all(map(math.isfinite, numbers)):
        raise InputError(f"{option} is {text!r}; expected finite numbers between commas")
    return numbers


def parse_options(options: Sequence[str]) -> dict[str, Any]:
    """Return what ``key=value`` says: a number, true, false, null, JSON, or else a text."""
    parsed: dict[str, Any] = {}
    for option in options:
        key, equals, text = option.partition("=")
        if not (equals and key.strip().isidentifier()):
            raise InputError(f"--option {option!r}: expected KEY=VALUE, such as max_iter=5000")
        parsed[key.strip()] = option_from_text(text)
    return parsed


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
