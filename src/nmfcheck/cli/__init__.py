"""The command line: a file for each group of commands."""

from __future__ import annotations

import io
import os
import signal
import sys
from concurrent.futures.process import BrokenProcessPool

import click

from .. import __version__
from ..errors import InputError, SubjectError
from ..reference.engine import description
from .baseline import baseline
from .exchange import cases, judge_dir
from .judge import judge
from .lists import list_
from .options import COMPLETED, UNRUNNABLE, USAGE, Interrupted, Terminated, exit_code
from .replay import replay
from .report import compare, report
from .run import run
from .smoke import smoke


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
    except BrokenProcessPool:
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

    It is given matrices whose exact nonnegative factorizations are all known, and judged by what
    it returns.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _show_version(context: click.Context) -> None:
    click.echo(f"nmfcheck {__version__}, engine: {description()}")
    context.exit()


for command in (run, report, compare, smoke, replay, list_, judge, cases, judge_dir, baseline):
    cli.add_command(command)
