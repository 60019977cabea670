"""`nmfcheck judge`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from ..errors import InputError
from ..families import Case, house, room_of
from ..families.judge import judge as judge_factors
from ..judging.outcomes import Outcome
from ..presenting.console import console
from ..report.plain import as_json, plain
from ..text import in_list
from ..tools.matrices import read_matrix
from ..tools.showing import show_judgement
from .options import COMPLETED, FAILED, case_options, json_option


@click.command()
@click.argument("w_file", metavar="W", type=click.Path(path_type=Path))
@click.argument("h_file", metavar="H", type=click.Path(path_type=Path))
@click.option("--case", "case_id", metavar="ID", help="The case's id, of any family.")
@case_options
@json_option
def judge(
    *,
    w_file: Path,
    h_file: Path,
    case_id: str | None,
    chosen: dict[str, str | None],
    in_json: bool,
) -> int:
    """Judge a factorization that lies in two files.

    The case is named by its id, as in 'nmfcheck list cases', or, for A = diag(a0) + ε·diag(a1, 1),
    by its entries. W and H are .csv (numbers between commas, one row a line), .npy or .mtx (Matrix
    Market) files. The exit code is 0 if a grade is reached (exact, exact-in-single, first-order
    or identified) and 1 if not. In JSON, null stands where there is no number.

    Example: nmfcheck judge --a0 1,1,1 --a1 1,1 --eps 1e-3 W.csv H.csv
    """
    given = {name: text for name, text in chosen.items() if text is not None}
    case = _case(case_id, given)
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


def _case(case_id: str | None, given: Mapping[str, str]) -> Case:
    rooms = [room for room in house() if room.case_options]
    if case_id is not None:
        if given:
            others = in_list(f"--{option.name}" for room in rooms for option in room.case_options)
            raise InputError(f"--case says it all; leave out {others}")
        return Case.from_id(case_id)
    named = (room for room in rooms if given.keys() <= {each.name for each in room.case_options})
    return next(named, rooms[0]).case_given(given)
