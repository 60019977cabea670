"""`nmfcheck list`."""

from __future__ import annotations

import json
from typing import Any

import click

from ..judging.objectives import FROBENIUS
from ..presenting.console import console, show_rows
from ..report.plain import as_json
from ..subjects import LIBRARIES, REFERENCES, entry_points
from ..trials import suites
from .options import installed, json_option, objective_option, suite_option


@click.command("list")
@click.argument(
    "what", type=click.Choice(["all", "subjects", "suites", "families", "cases"]), default="all"
)
@suite_option
@objective_option
@json_option
def list_(what: str, suite_name: str, objective: str | None, in_json: bool) -> None:
    """List the subjects, the suites, the families, or the ids of a suite's cases."""
    suite = suites.find(suite_name, FROBENIUS.name if objective is None else objective)
    rooms = installed()
    cases = list(
        dict.fromkeys(trial.family.case_id(trial, ask) for trial in suite for ask in trial.asks)
    )
    if in_json:
        everything = {
            "subjects": _subject_rows(),
            "suites": [json.loads(each.as_text()) for each in suites.SUITES.values()],
            "families": [{"name": room.name, "summary": room.summary} for room in rooms],
            "cases": {"suite": suite.name, "ids": cases},
        }
        click.echo(as_json(everything if what == "all" else {what: everything[what]}))
        return
    if what == "cases":
        click.echo("\n".join(cases))
        return
    screen = console()
    if what in ("all", "subjects"):
        rows = [(row["name"], row["summary"]) for row in _subject_rows()]
        rows += [
            ("py:package.module:NAME", "your function, estimator or factory; also py:file.py:NAME"),
            ("cmd:PROGRAM ARGUMENTS", "your program, which answers one JSON object a line"),
        ]
        show_rows(screen, "subjects", rows)
    if what in ("all", "suites"):
        show_rows(screen, "suites", [(s.name, s.scope, s.summary) for s in suites.SUITES.values()])
    if what in ("all", "families"):
        show_rows(screen, "families", [(r.name, r.summary, r.example) for r in rooms])
    if what == "all":
        hint = f"nmfcheck list cases --suite {suite.name}"
        show_rows(screen, "cases", [(f"{len(cases)} in the {suite.name} suite", hint)])


def _subject_rows() -> list[dict[str, Any]]:
    return [
        *(
            {"name": name, "iterations": each.iterations, "summary": each.summary}
            for name, each in REFERENCES.items()
        ),
        *({"name": name, "summary": library.summary} for name, library in LIBRARIES.items()),
        *(
            {"name": name, "summary": f"entry point {point.value}"}
            for name, point in entry_points().items()
        ),
    ]
