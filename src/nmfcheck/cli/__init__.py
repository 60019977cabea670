"""The command line: a file for each group of commands."""

from __future__ import annotations

import io
import os
import signal
import sys
from concurrent.futures import BrokenExecutor
from importlib import import_module

import click

from .. import __version__
from ..errors import InputError, SubjectError
from .options import COMPLETED, UNRUNNABLE, USAGE, Interrupted, Terminated, exit_code

COMMANDS = {
    "run": ("run", "Run a suite on subjects, and give a verdict on each."),
    "report": ("report", "Show the verdicts in a store, and write the report's files again."),
    "compare": ("report", "Rank the subjects of several stores."),
    "merge": ("merge", "Join stores of the same suite and subjects into one."),
    "laws": ("laws", "List the laws, or try them on a subject."),
    "smoke": ("smoke", "Look at a subject before a long run is spent on it."),
    "replay": ("replay", "Run one trial, or a law's example, again, and show its matrices."),
    "list": ("lists", "List the subjects, the suites, the families, or a suite's cases."),
    "judge": ("judge", "Judge a factorization that lies in files."),
    "cases": ("exchange", "Write a suite's matrices and starting points into a folder."),
    "judge-dir": ("exchange", "Judge what somebody has laid beside them."),
    "paper": ("paper", "Run the paper's experiments again, claim by claim."),
    "baseline": ("baseline", "Make the baselines that verdicts compare with."),
}
"""The file of each command, and a line about it, so that `--help` need not load them all."""


class Commands(click.Group):
    """Commands that are loaded when they are asked for: some take long to import."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one."""
        if cmd_name not in COMMANDS:
            return None
        file, _ = COMMANDS[cmd_name]
        module = import_module(f".{file}", __name__)
        members = vars(module).values()
        return next(m for m in members if isinstance(m, click.Command) and m.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what they are for."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


def main() -> None:
    """Run the command line: errors are one line; bad input exits with 2."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # "?" for an ε that the terminal cannot show
    try:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _terminate)
        code = cli.main(prog_name="nmfcheck", standalone_mode=False)
    except SubjectError as error:
        _fail(str(error), UNRUNNABLE)
    except InputError as error:
        _fail(str(error))
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "nmfcheck"
        _fail(f"{error.format_message().rstrip('.')}; see '{command} --help'")
    except click.ClickException as error:
        interrupt = error.interrupt if isinstance(error, Interrupted) else None
        _fail(error.format_message(), exit_code(interrupt) if interrupt else USAGE)
    except (click.Abort, KeyboardInterrupt) as interrupt:
        print("nmfcheck: interrupted", file=sys.stderr)
        sys.exit(exit_code(interrupt.__cause__ or interrupt))
    except BrokenPipeError:  # whoever read our output has seen enough
        _give_up_output()
        sys.exit(COMPLETED)
    except BrokenExecutor:
        _fail("a worker process was killed, perhaps for want of memory; try --jobs 1")
    except OSError as error:  # a full disk, for example
        _give_up_output()
        _fail(f"cannot write: {error.strerror or error}")
    sys.exit(code if isinstance(code, int) else COMPLETED)


def _terminate(*_: object) -> None:
    raise Terminated


def _give_up_output() -> None:
    """Let what is still to be written to standard output go nowhere, without complaint."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int = USAGE) -> None:
    print(f"nmfcheck: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda context, _, asked: _show_version(context) if asked else None,
    help="Show the version, and the engine that the references run on.",
)
@click.pass_context
def cli(context: click.Context) -> None:
    """Tell whether an NMF implementation really solves NMF.

    It is given matrices whose right nonnegative factorizations are known, and judged by what it
    returns.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _show_version(context: click.Context) -> None:
    from ..reference.engine import description

    click.echo(f"nmfcheck {__version__}, engine: {description()}")
    context.exit()
