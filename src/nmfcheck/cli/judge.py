"""`nmfcheck judge`."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import InputError
from ..families import Case, room_of
from ..families.bidiagonal.cases import bidiagonal
from ..families.judge import judge as judge_factors
from ..judging.outcomes import Outcome
from ..presenting.console import console
from ..report.plain import as_json, plain
from ..tools.matrices import read_matrix
from ..tools.showing import show_judgement
from .options import COMPLETED, FAILED, json_option


@click.command()
@click.argument("w_file", metavar="W", type=click.Path(path_type=Path))
@click.argument("h_file", metavar="H", type=click.Path(path_type=Path))
@click.option("--case", "case_id", metavar="ID", help="The case's id, of any family.")
@click.option("--a0", metavar="X,X,…", help="Of a bidiagonal case, instead: the diagonal of A.")
@click.option("--a1", metavar="X,…", help="Its superdiagonal, before ε.  [default: ones]")
@click.option("--eps", metavar="ε", help="The size of the superdiagonal.  [default: 0]")
@json_option
def judge(
    *,
    w_file: Path,
    h_file: Path,
    a0: str | None,
    a1: str | None,
    eps: str | None,
    case_id: str | None,
    in_json: bool,
) -> int:
    """Judge a factorization that lies in two files.

    The case is named by its id, as in 'nmfcheck list cases', or, for A = diag(a0) + ε·diag(a1, 1),
    by its entries. W and H are .csv (numbers between commas, one row a line), .npy or .mtx (Matrix
    Market) files. The exit code is 0 if a grade is reached (exact, exact-in-single, first-order
    or identified) and 1 if not. In JSON, null stands where there is no number.

    Example: nmfcheck judge --a0 1,1,1 --a1 1,1 --eps 1e-3 W.csv H.csv
    """
    case = _case(a0, a1, eps, case_id)
    W, H = read_matrix(w_file), read_matrix(h_file)
    shapes = (case.m, case.rank), (case.rank, case.n)
    for path, X, shape in zip((w_file, h_file), (W, H), shapes, strict=True):
        if X.shape != shape:
            expected = f"for a {case.m}×{case.n} matrix of rank {case.rank} it must be {shape}"
            raise InputError(f"{path} has shape {X.shape}; {expected}")
    judgement = judge_factors(case, W, H)
    valid = judgement.outcome is not Outcome.INVALID
    nearest = room_of(case).nearest(case, W, H) if valid else None
    if in_json:
        document = {"case": case.id, "grade": judgement.grade, **plain(judgement)}
        click.echo(as_json({**document, "nearest_exact": nearest}))
    else:
        show_judgement(console(), case, judgement, nearest)
    return FAILED if judgement.grade is None else COMPLETED


def _case(a0: str | None, a1: str | None, eps: str | None, case_id: str | None) -> Case:
    if case_id is not None:
        if (a0, a1, eps) != (None, None, None):
            raise InputError("--case says it all; leave out --a0, --a1 and --eps")
        return Case.from_id(case_id)
    if a0 is None:
        raise InputError("say which matrix was factorized: --case, or --a0 (with --a1 and --eps)")
    size = [0.0] if eps is None else _numbers("--eps", eps)
    if len(size) != 1:
        raise InputError(f"--eps is {eps!r}; expected one number")
    return bidiagonal(_numbers("--a0", a0), None if a1 is None else _numbers("--a1", a1), size[0])


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")] if text.strip() else []
    except ValueError:
        expected = "a number" if option == "--eps" else "numbers between commas"
        raise InputError(f"{option} is {text!r}; expected {expected}") from None
