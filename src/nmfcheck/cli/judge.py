"""`nmfcheck judge`."""

from __future__ import annotations

from pathlib import Path

import click

from ..cases import Case, bidiagonal
from ..errors import InputError
from ..judge import judge as judge_factors
from ..matrices import read_matrix
from ..nearest import nearest_exact
from ..outcomes import Outcome
from ..report.plain import as_json, plain
from ..report.terminal import console, show_judgement
from .options import COMPLETED, FAILED, json_option


@click.command()
@click.argument("w_file", metavar="W", type=click.Path(path_type=Path))
@click.argument("h_file", metavar="H", type=click.Path(path_type=Path))
@click.option("--a0", metavar="X,X,…", help="The diagonal of A.")
@click.option("--a1", metavar="X,…", help="Its superdiagonal, before ε.  [default: ones]")
@click.option("--eps", metavar="ε", help="The size of the superdiagonal.  [default: 0]")
@click.option("--case", "case_id", metavar="ID", help="The case's id, instead of a0, a1 and ε.")
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
    """Judge a factorization of A = diag(a0) + ε·diag(a1, 1) that lies in two files.

    W and H are .csv (numbers between commas, one row a line), .npy or .mtx (Matrix Market) files.
    The exit code is 0 if a grade is reached (exact or first-order) and 1 if not. In JSON, null
    stands where there is no number.

    Example: nmfcheck judge --a0 1,1,1 --a1 1,1 --eps 1e-3 W.csv H.csv
    """
    case = _case(a0, a1, eps, case_id)
    W, H = read_matrix(w_file), read_matrix(h_file)
    for path, X in ((w_file, W), (h_file, H)):
        if X.shape != case.A.shape:
            expected = f"for n = {case.n} it must be {case.A.shape}"
            raise InputError(f"{path} has shape {X.shape}; {expected}")
    judgement = judge_factors(case, W, H)
    nearest = None if judgement.outcome is Outcome.INVALID else nearest_exact(case, W, H)
    if in_json:
        click.echo(as_json({"case": case.id, **plain(judgement), "nearest_exact": nearest}))
    else:
        show_judgement(console(), case, judgement, nearest)
    return FAILED if judgement.grade is None else COMPLETED


def _case(a0: str | None, a1: str | None, eps: str | None, case_id: str | None) -> Case:
    if case_id is not None:
        if (a0, a1, eps) != (None, None, None):
            raise InputError("--case says it all; leave out --a0, --a1 and --eps")
        return Case.from_id(case_id)
    if a0 is None:
        raise InputError("say which matrix was factorized: --a0 (with --a1 and --eps) or --case")
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
