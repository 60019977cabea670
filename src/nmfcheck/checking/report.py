"""The report of a check, as a value: to look at, to write down, or to raise."""

from __future__ import annotations

import html
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..diagnosis import Finding
from ..errors import ConformanceError
from ..laws import LawResult
from ..presenting.console import PLAIN_WIDTH
from ..report.contents import Contents, SubjectContents
from ..report.files import replace_file
from ..trials.stage import Stage
from ..verdict.decision import Decision
from ..verdict.verdict import Verdict

MOST_RAISED = 5
"""So many failures are in the message of a `ConformanceError`."""


@dataclass(frozen=True)
class Failure:
    """A stage that did not pass.

    Attributes
    ----------
    stage : what came of it, with W and H where they were kept.
    replay : the command that shows it again; for a subject without a name, the line of Python.
    """

    stage: Stage
    replay: str

    def __str__(self) -> str:
        stage = self.stage
        head = f"{stage.case_id}, seed {stage.trial.seed}: {stage.outcome}: {stage.message}"
        return f"{head}\n  {self.replay}"


class Report:
    """What came of a check.

    `str(report)` is what the command line prints.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    @property
    def _subject(self) -> SubjectContents:
        return self._contents.subjects[0]

    @property
    def subject(self) -> str:
        """The name of what was checked."""
        return self._subject.name

    @property
    def verdict(self) -> Verdict:
        """The verdict, with every family, question and cell."""
        return self._subject.verdict

    @property
    def decision(self) -> Decision:
        """PASS, FAIL or INCONCLUSIVE."""
        return self.verdict.decision

    @property
    def passed(self) -> bool:
        """Whether the decision is PASS."""
        return self.decision is Decision.PASS

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the failures have in common, what matters most first."""
        return self._subject.findings

    @property
    def laws(self) -> tuple[LawResult, ...]:
        """What came of each law that was tried, in the order of `nmfcheck laws`."""
        return self.verdict.laws

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Some of the stages that did not pass, of each outcome one first."""
        subject = self._subject
        return tuple(Failure(stage, subject.replay_line(stage)) for stage in subject.shown)

    def table(self) -> str:
        """Return the tables alone, as text."""
        from ..report.sections.cells import CellsSection

        screen = _paper()
        for family in self._subject.families:
            CellsSection(self._subject, family).show(screen)
        return _written(screen)

    def __str__(self) -> str:
        from ..report.terminal import show_subject

        screen = _paper()
        show_subject(screen, self._subject, failures=3)
        return _written(screen)

    def __repr__(self) -> str:
        return f"<Report on {self.subject}: {self.decision}>"

    def to_html(self, path: str | Path) -> None:
        """Write the report as a page of HTML with figures."""
        from ..report.page import as_page

        replace_file(Path(path), as_page(self._contents).encode())

    def to_junit(self, path: str | Path) -> None:
        """Write the report as JUnit XML."""
        from ..report.junit import as_junit

        replace_file(Path(path), as_junit(self._contents).encode())

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the report as JSON, and write it to a file if one is named."""
        from ..report.document import as_document

        text = as_document(self._contents)
        if path is not None:
            replace_file(Path(path), text.encode())
        return text

    def raise_for_failure(self) -> None:
        """Raise `ConformanceError` if the decision is FAIL, with all that there is to say."""
        if self.decision is not Decision.FAIL:
            return
        lines = [f"{self.subject}: {self.decision}. {self.verdict.reason}"]
        lines += [f"- {finding.sentence}" for finding in self.findings]
        lines += [str(failure) for failure in self.failures[:MOST_RAISED]]
        raise ConformanceError("\n".join(lines))

    def _repr_html_(self) -> str:
        colours = {"PASS": "#2f9e6e", "FAIL": "#d1495b", "INCONCLUSIVE": "#e08a1e"}
        colour = colours[str(self.decision)]
        findings = "".join(f"<li>{html.escape(f.sentence)}</li>" for f in self.findings)
        return (
            f"<div><b style='color:{colour}'>{self.decision}</b> "
            f"<b>{html.escape(self.subject)}</b>: {html.escape(self.verdict.reason)}"
            f"<ul>{findings}</ul><pre>{html.escape(self.table())}</pre></div>"
        )


def _paper() -> Any:
    """Return a console that writes plain text to memory."""
    from rich.console import Console

    return Console(
        file=io.StringIO(), width=PLAIN_WIDTH, no_color=True, force_terminal=False,
        force_jupyter=False, highlight=False,
    )  # fmt: skip


def _written(screen: Any) -> str:
    text: str = screen.file.getvalue()
    return text.rstrip() + "\n"
