"""What a change of the source that mends a subject says of its fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from .experiments import Run, Tried
from .experiments.choosing import collapsed, right
from .findings import Cause, Finding
from .order import GENERAL, NO_FAULT, SEEN

SAYS_LITTLE = (*NO_FAULT, *GENERAL, *SEEN)
"""What is certain, and may have many causes."""

SHOWN = 3
"""So many changes are told, each of which would do."""


def with_change(findings: Sequence[Finding], tried: Tried) -> list[Finding]:
    """Tell first which change mends a subject, where one was found.

    Behind what is certain and names one cause, and behind answers that are not valid, or else
    before all. Guesses from answers are left out then: it is known what to change.
    """
    if not tried.mended:
        return list(findings)
    change = mended(tried.mended)
    certain = [finding for finding in findings if finding.certain]
    first = findings[0]
    says = first.cause is Cause.HARD or (first.certain and first.cause not in SAYS_LITTLE)
    if not says:
        return [change, *certain]
    others = [finding for finding in certain if finding is not first]
    seen = "; ".join(filter(None, (first.evidence, change.evidence)))
    return [replace(first, sentence=f"{first.sentence} {change.sentence}", evidence=seen), *others]


def mended(changes: Sequence[Sequence[Run]]) -> Finding:
    """Say which change mends a subject, and where.

    Parameters
    ----------
    changes : the runs with each change that does.
    """
    edits = [edit for runs in changes if (edit := runs[0].edit) is not None]
    file = Path(edits[0].file).name
    others = [edit.said for edit in edits[1:SHOWN] if Path(edit.file).name == file]
    also = f" The same with {', or '.join(others)}." if others else ""
    sentence = (
        f"In {file}, with {edits[0].said}, {how_many(changes[0])}.{also} What is wrong is probably "
        "there, or shows there, or the change makes up for it."
    )
    seen = f"{len(changes)} {'change' if len(changes) == 1 else 'changes'} of its source"
    return Finding(Cause.MENDED, sentence, certain=False, evidence=f"{seen} made it right")


def how_many(runs: Sequence[Run]) -> str:
    """Say how many failing runs come out right with a change."""
    fine = right(runs)
    usual = sum(map(collapsed, runs))
    which = f"all {fine}" if fine == len(runs) else f"{fine} of {len(runs)}"
    but = f" ({usual} collapse, as right ones do at times)" if usual else ""
    return f"{which} failing runs that were made again come out right{but}"
