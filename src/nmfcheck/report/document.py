"""A report as JSON: documented in docs/report.md, with a schema in data/report.schema.json."""

from __future__ import annotations

import math
from typing import Any

from .. import __version__
from ..decision import CellVerdict, QuestionVerdict
from ..perturbation import Slopes
from .contents import Contents, SubjectContents
from .plain import as_json

FORMAT = 1


def as_document(contents: Contents) -> str:
    """Return a report as JSON."""
    return (
        as_json(
            {
                "format": FORMAT,
                "nmfcheck": __version__,
                "subjects": [_subject(subject) for subject in contents.subjects],
            }
        )
        + "\n"
    )


def _subject(each: SubjectContents) -> dict[str, Any]:
    verdict = each.verdict
    return {
        "name": each.name,
        "suite": {
            "name": each.suite.name,
            "version": each.suite.version,
            "sizes": each.suite.sizes,
            "entries": each.suite.kinds,
            "trials": each.suite.trials,
            "eps": [rung.eps for rung in each.suite.ladder],
        },
        "store": each.store,
        "settings": each.subject.settings,
        "environment": each.subject.environment,
        "command": each.command,
        "verdict": verdict.decision,
        "could_be_run": not verdict.unanswered_all,
        "paper": _question(verdict.paper),
        "exactness": _question(verdict.exactness),
        "hard_failures": verdict.hard,
        "notes": verdict.notes,
        "diagnosis": each.findings,
        "fails_where_references_pass": each.unlike,
        "slopes": _slopes(each.slopes) if each.slopes else None,
        "cells": each.cells,
        "failures": [
            {
                "trial": record.trial.id,
                "eps": record.eps,
                "outcome": record.outcome,
                "message": record.message,
                "output": record.output,
                "replay": each.replay_line(record),
            }
            for record in each.shown
        ],
    }


def _slopes(slopes: Slopes) -> dict[str, Any]:
    mean, error = slopes.mean, slopes.error
    return {
        "starts": len(slopes.of_W),
        "of_W": int(slopes.of_W.sum()),
        "eps": slopes.eps,
        "counted": slopes.counted,
        "parameters": [
            {
                "name": each.parameter,
                "mean": [_finite(x) for x in mean[:, k]],
                "standard_error": [_finite(x) for x in error[:, k]],
                "linear_runs": each.runs.part,
                "runs": each.runs.whole,
                "linear": each.linear,
            }
            for k, each in enumerate(slopes.linearity)
        ],
    }


def _finite(x: float) -> float | None:
    return float(x) if math.isfinite(x) else None


def _question(question: QuestionVerdict) -> dict[str, Any]:
    return {
        "verdict": question.decision,
        "reason": question.reason,
        "further_trials": question.further,
        "pool": _cell(question.pool),
        "cells": [_cell(cell) for cell in question.cells],
    }


def _cell(cell: CellVerdict) -> dict[str, Any]:
    low, high = cell.share.interval
    return {
        "n": cell.n or None,
        "entries": cell.entries,
        "passed": cell.share.part,
        "trials": cell.share.whole,
        "unanswered": cell.unanswered,
        "interval": [low, high],
        "exactly": _exactly(cell),
        "required": cell.required,
        "required_of": cell.of or None,
        "p_value": cell.p_value,
        "verdict": cell.decision,
    }


def _exactly(cell: CellVerdict) -> dict[str, Any] | None:
    """Return how many trials were exact throughout, where that is another question."""
    if not cell.exactly.whole:
        return None
    return {"passed": cell.exactly.part, "interval": list(cell.exactly.interval)}
