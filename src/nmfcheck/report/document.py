"""A report as JSON: documented in docs/report.md, with a schema in data/report.schema.json."""

from __future__ import annotations

import json
from typing import Any

from .. import __version__
from .contents import Contents, FamilyContents, SubjectContents
from .experimented import Experimented
from .plain import as_json
from .sections.failures import FailuresSection
from .sections.laws import LawsSection
from .sections.verdict import VerdictSection

FORMAT = 2


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


def _subject(subject: SubjectContents) -> dict[str, Any]:
    verdict = subject.verdict
    questions, stopped = VerdictSection(subject).data(), verdict.stopped
    return {
        "name": subject.name,
        "suite": json.loads(subject.suite.as_text()),
        "store": subject.store,
        "settings": subject.subject.settings,
        "environment": subject.subject.environment,
        "command": subject.command or None,
        "verdict": verdict.decision,
        "reason": verdict.reason,
        "tolerance": verdict.tolerance,
        "digits": verdict.digits,
        "headline": verdict.headline or None,
        "stopped": stopped
        and {"why": stopped.why, "stages": stopped.stages, "reason": stopped.why.explanation},
        "could_be_run": not verdict.unanswered_all,
        "families": [
            question | _family(family)
            for question, family in zip(questions, subject.families, strict=True)
        ],
        "hard_failures": verdict.hard,
        "laws": LawsSection(subject).data(),
        "notes": verdict.notes,
        "findings": subject.findings,
        "experiments": [_experiment(each) for each in subject.experiments],
        "fails_where_references_pass": subject.unlike,
        "failures": FailuresSection(subject).data(),
    }


def _experiment(tried: Experimented) -> dict[str, Any]:
    """Return an experiment, in words."""
    return {**vars(tried), "replay": tried.replay or None}


def _family(family: FamilyContents) -> dict[str, Any]:
    """Return the outcomes of a family, counted, and what it adds by itself."""
    return {
        "counts": [
            {
                "cell": cell.cell,
                "trials": cell.trials,
                "passed": cell.passed,
                "asks": [
                    {
                        "ask": stage.ask.name,
                        "ran": stage.ran,
                        "exact": stage.exact,
                        "first_order": stage.reaching("first-order"),
                        "passed": stage.passed,
                        "median_defect": stage.median_defect,
                        "outcomes": stage.outcomes,
                        "flags": stage.flags,
                    }
                    for stage in cell.stages
                ],
            }
            for cell in family.counts
        ],
        "sections": {
            section.key: section.data()
            for section in family.part.room.sections(family)
            if section.key
        },
    }
