"""A report on the terminal: tables first, then the verdict and what speaks for it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ..intervals import Share
from ..judging.outcomes import Flag, Outcome
from ..presenting.words import rate, table
from ..verdict.counts import CellCount, StageCount
from .contents import Contents, FamilyContents, SubjectContents
from .sections import sections
from .sections.cells import CellsSection
from .sections.failures import FailuresSection
from .sections.laws import LawsSection
from .sections.leaderboard import LeaderboardSection


def show(screen: Console, contents: Contents, *, failures: int, details: bool, brief: bool) -> None:
    """Print a report.

    Parameters
    ----------
    failures : how many of the stages that did not pass are shown of each subject.
    details : whether the outcomes of each ask are shown, too.
    brief : whether only the leaderboard is shown.
    """
    for subject in () if brief else contents.subjects:
        if details:
            for family in subject.families:
                show_counts(screen, f"{subject.name}, stage by stage", family)
        show_subject(screen, subject, failures)
    if len(contents.subjects) > 1:
        LeaderboardSection(contents).show(screen)


def show_subject(screen: Console, subject: SubjectContents, failures: int) -> None:
    """Print the tables of a subject, then everything else, the failures last."""
    listed = list(sections(subject, failures))
    for section in listed:
        if isinstance(section, CellsSection):
            section.show(screen)
            screen.print()
    for section in listed:
        if isinstance(section, LawsSection):
            section.show(screen)
    for section in listed:
        if not isinstance(section, CellsSection | FailuresSection | LawsSection):
            section.show(screen)
    screen.print()
    for section in listed:
        if isinstance(section, FailuresSection):
            section.show(screen)


def show_counts(screen: Console, title: str, family: FamilyContents) -> None:
    """Print the outcomes of a family: for each cell, a line for each ask."""
    cells = family.counts
    failures = [
        outcome
        for outcome in Outcome
        if outcome.grade is None
        and any(outcome in stage.outcomes for cell in cells for stage in cell.stages)
    ]
    shown = table(title)
    headings = family.part.room.headings
    grades = [g for g in Outcome if g.grade and g is not Outcome.EXACT and _occurs(g, cells)]
    fixed = ("trials", "ask", "exact", *(f"{grade}\nor better" for grade in grades))
    for heading in (*headings, *fixed, *failures):
        left = heading in headings[1:]
        shown.add_column(heading, justify="left" if left else "right")
    shown.add_column("median\ndefect", justify="right")
    last = None
    for cell in cells:
        columns = cell.columns or (cell.cell,)
        if last is not None and columns[0] != last:
            shown.add_section()  # a blank line
        last = columns[0]
        for i, stage in enumerate(cell.stages):
            head = (*columns, str(cell.trials)) if i == 0 else ("",) * (len(columns) + 1)
            shown.add_row(*head, *_stage_row(cell, stage, grades, failures))
    screen.print(shown)
    for flag, number in _flags(cells).items():
        screen.print(Text(f"{flag} ({number}): {Flag(flag).explanation}", style="bold red"))
    trials, passed = sum(cell.trials for cell in cells), sum(cell.passed for cell in cells)
    whole = family.part.whole_test
    needed = ", then ".join(f"{ask.title} {ask.needs}" for ask in whole)
    sentence = (
        f"Passed the test ({needed}): {passed} of {trials} trials, {_share(passed, trials)}.\n"
        if family.part.test == whole
        else f"The test was not run: it is {needed}.\n"
    )
    screen.print(Text(sentence), soft_wrap=True)


def _flags(cells: Sequence[CellCount]) -> Counter[str]:
    return sum((Counter(stage.flags) for cell in cells for stage in cell.stages), Counter())


def _occurs(grade: Outcome, cells: Sequence[CellCount]) -> bool:
    """Say whether a grade is asked for, or occurred."""
    stages = [stage for cell in cells for stage in cell.stages]
    return any(grade.grade == s.ask.needs or grade in s.outcomes for s in stages)


def _stage_row(
    cell: CellCount, stage: StageCount, grades: Sequence[Outcome], failures: Sequence[Outcome]
) -> list[str]:
    """Return shares of all trials of the cell, counts of failures, and the median defect."""

    def reaching(grade: Outcome) -> str:
        if grade.grade is None or not (grade.grade == stage.ask.needs or grade in stage.outcomes):
            return "–"
        return _share(stage.reaching(grade.grade), cell.trials)

    return [
        stage.ask.title,
        _share(stage.exact, cell.trials),
        *map(reaching, grades),
        *(str(stage.outcomes.get(outcome, "")) for outcome in failures),
        "–" if math.isnan(stage.median_defect) else f"{stage.median_defect:.0e}",
    ]


def _share(part: int, whole: int) -> str:
    return rate(Share(part, whole))
