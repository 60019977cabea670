"""JUnit XML: a test case for each subject, size and question."""

from __future__ import annotations

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from ..decision import MARGIN, CellVerdict, Decision, QuestionVerdict
from ..subjects.problem import printable
from .contents import Contents, SubjectContents

PAPER, EXACT = "does what the published algorithms do", "is exact"


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
    overall = _case(subject, "all sizes", PAPER, verdict.paper.decision, verdict.paper.reason)
    if verdict.unanswered_all:
        overall.result = [Error("it gave no answer at all: it could not be run")]
    suite.add_testcase(overall)
    for question, name in ((verdict.paper, PAPER), (verdict.exactness, EXACT)):
        for size in question.sizes:
            decision = size.decision or Decision.INCONCLUSIVE
            if name == EXACT and decision is Decision.FAIL:
                decision = Decision.INCONCLUSIVE
            reason = _reason(size, question)
            if name == EXACT and decision is not Decision.PASS:
                reason = f"does not decide: {reason}"
            suite.add_testcase(_case(subject, f"n = {size.n}", name, decision, reason))
    return suite


def _case(
    subject: SubjectContents, where: str, question: str, decision: Decision, reason: str
) -> TestCase:
    case = TestCase(f"{where}: {question}", classname=printable(subject.name))
    if decision is Decision.FAIL:
        case.result = [Failure(printable(reason), "FAIL")]
    elif decision is Decision.INCONCLUSIVE:
        case.result = [Skipped(printable(reason))]
    return case


def _reason(size: CellVerdict, question: QuestionVerdict) -> str:
    if size.decision is None:
        return question.reason
    low, high = size.share.interval
    told = f"{size.share.part} of {size.share.whole} passed, 95 % interval {low:.3f} to {high:.3f}"
    left = f", {size.unanswered} unanswered" if size.unanswered else ""
    return f"{size.decision}: {told}{left}; required {size.required:.3f} less {MARGIN:g}"
