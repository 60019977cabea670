"""Real bugs, rebuilt: each of them FAILs now, and docs/laws.md lists it."""

from pathlib import Path

import pytest

from census import CENSUS
from nmfcheck import check
from nmfcheck.verdict.decision import Decision

DOCS = Path(__file__).parent.parent / "docs" / "laws.md"

pytestmark = pytest.mark.filterwarnings("ignore:stopped at max_iter")  # in this process


def name_of(report):
    return f"{report.project} {report.thread}"


@pytest.mark.parametrize("report", CENSUS, ids=name_of)
def test_it_fails_now(report):
    known = {"objective": report.objective, "isolate": False}
    if report.family:
        found = check(report.subject, families=report.family, trials=20, **known)
        assert found.verdict.of(report.family).test.decision is Decision.FAIL
    else:
        found = check(report.subject, sizes=[3], trials=1, laws=[report.law], **known)
        assert [law.law for law in found.verdict.broken] == [report.law], found.laws
    assert found.decision is Decision.FAIL


def test_there_are_as_many_as_the_docs_say():
    text = " ".join(DOCS.read_text(encoding="utf-8").split())
    threads = {(report.project, report.thread) for report in CENSUS}
    assert len(threads) >= 30
    assert f"**{len(threads)} reports**" in text
    for project, thread in threads:
        assert f"{project} {thread}" in text, (project, thread)
