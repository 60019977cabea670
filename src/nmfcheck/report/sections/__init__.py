"""The sections of a report, a file each: data, terminal form and HTML form together."""

from collections.abc import Iterator

from ...presenting.section import Section
from ...verdict.decision import Decision
from ..contents import FamilyContents, SubjectContents
from .cells import CellsSection
from .defects import DefectsSection
from .diagnosis import DiagnosisSection
from .digits import DigitsSection
from .failures import FailuresSection
from .laws import LawsSection
from .outcomes import OutcomesSection
from .rates import RatesSection
from .reproduce import ReproduceSection
from .verdict import VerdictSection

FEW = 2
"""With more families than these, the figures of those that pass are folded."""


def _folded(subject: SubjectContents, family: FamilyContents) -> bool:
    return len(subject.families) > FEW and family.verdict.test.decision is Decision.PASS


def sections(subject: SubjectContents, shown: int | None = None) -> Iterator[Section]:
    """Return the sections of a subject, in the order of the page.

    Parameters
    ----------
    shown : how many of the runs that failed are shown; all that were read if not given.
    """
    yield VerdictSection(subject)
    yield DiagnosisSection(subject)
    yield DigitsSection(subject)
    if subject.verdict.laws:
        yield LawsSection(subject)
    for family in subject.families:
        yield CellsSection(subject, family)
        figures = (RatesSection(family), DefectsSection(family), OutcomesSection(family))
        for section in (*figures, *family.part.room.sections(family)):
            section.folded = _folded(subject, family)
            yield section
    yield FailuresSection(subject, shown)
    yield ReproduceSection(subject)
