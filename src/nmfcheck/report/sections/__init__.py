"""The sections of a report, a file each: data, terminal form and HTML form together."""

from collections.abc import Iterator

from ...presenting.section import Section
from ..contents import SubjectContents
from .cells import CellsSection
from .defects import DefectsSection
from .diagnosis import DiagnosisSection
from .failures import FailuresSection
from .outcomes import OutcomesSection
from .rates import RatesSection
from .reproduce import ReproduceSection
from .verdict import VerdictSection


def sections(subject: SubjectContents, shown: int | None = None) -> Iterator[Section]:
    """Return the sections of a subject, in the order of the page.

    Parameters
    ----------
    shown : how many of the runs that failed are shown; all that were read if not given.
    """
    yield VerdictSection(subject)
    yield DiagnosisSection(subject)
    for family in subject.families:
        yield CellsSection(subject, family)
        yield RatesSection(family)
        yield DefectsSection(family)
        yield OutcomesSection(family)
        yield from family.part.room.sections(family)
    yield FailuresSection(subject, shown)
    yield ReproduceSection(subject)
