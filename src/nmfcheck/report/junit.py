"""JUnit XML: a test case for each family, and for each cell and question."""

from __future__ import annotations

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from ..laws import LawResult, State
from ..text import printable
from ..verdict.decision import CellVerdict, Decision, QuestionVerdict, bar_in_words
from .contents import Contents, SubjectContents

TEST, EXACT = "does what is required", "is exact"


def as_junit(contents: Contents) -> str:
    """Return a report as JUnit XML.

    The first question passes, fails, or is skipped where it is inconclusive. The second does not
    decide, and so does not fail: it is skipped, with the reason, where it is not passed.
    """
    document = JUnitXml("nmfcheck")
    for subject in contents.subjects:
        document.add_testsuite(_suite(subject))
    document.update_statistics()  # type: ignore[no-untyped-call]
    text: bytes = document.tostring()  # type: ignore[no-untyped-call]
    return text.decode("utf-8")


def _suite(subject: SubjectContents) -> TestSuite:
    suite, verdict = TestSuite(printable(subject.name)), subject.verdict
    overall = _case(subject, f"all families: {TEST}", verdict.decision, verdict.reason)
    if verdict.unanswered_all:
        overall.result = [Error("it gave no answer at all: it could not be run")]
    suite.add_testcase(overall)
    for family in verdict.families:
        for question, name in ((family.test, TEST), (family.exactness, EXACT)):
            if question is None:
                continue
            suite.add_testcase(
                _answer(subject, f"{family.family}: {name}", question.decision, question.reason)
            )
            for cell in question.cells:
                assert cell.cell is not None
                decision = cell.decision or Decision.INCONCLUSIVE
                where = f"{cell.cell.id}: {name}"
                suite.add_testcase(_answer(subject, where, decision, _reason(cell, question)))
    for law in verdict.laws:
        suite.add_testcase(_law(subject, law))
    return suite


def _law(subject: SubjectContents, law: LawResult) -> TestCase:
    """Return a test case for a law; one that does not decide does not fail."""
    name = f"law {law.law}"
    if law.decides:
        return _case(subject, name, Decision.FAIL, f"{law.sentence} ({law.id})")
    if law.broken:
        return _case(subject, name, Decision.INCONCLUSIVE, f"does not decide: {law.sentence}")
    if law.state is State.HELD:
        return _case(subject, name, Decision.PASS, "")
    return _case(subject, name, Decision.INCONCLUSIVE, f"{law.state}: {law.sentence}")


def _answer(subject: SubjectContents, name: str, decision: Decision, reason: str) -> TestCase:
    """Return a test case; one about exactness does not fail."""
    if name.endswith(EXACT) and decision is not Decision.PASS:
        return _case(subject, name, Decision.INCONCLUSIVE, f"does not decide: {reason}")
    return _case(subject, name, decision, reason)


def _case(subject: SubjectContents, name: str, decision: Decision, reason: str) -> TestCase:
    case = TestCase(name, classname=printable(subject.name))
    if decision is Decision.FAIL:
        case.result = [Failure(printable(reason), "FAIL")]
    elif decision is Decision.INCONCLUSIVE:
        case.result = [Skipped(printable(reason))]
    return case


def _reason(cell: CellVerdict, question: QuestionVerdict) -> str:
    if cell.decision is None:
        return question.reason
    low, high = cell.share.interval
    counted = (
        f"{cell.share.part} of {cell.share.whole} passed, 95 % interval {low:.3f} to {high:.3f}"
    )
    left = f", {cell.unanswered} unanswered" if cell.unanswered else ""
    return f"{cell.decision}: {counted}{left}; {bar_in_words(cell)}"
