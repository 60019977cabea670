"""Broken laws in words: how each is broken, and what that usually means."""

from __future__ import annotations

from collections.abc import Sequence

from ..laws import LAWS, LawResult
from ..text import in_list
from .findings import Cause, Finding


def broken_laws(
    laws: Sequence[LawResult], cause: Cause, *, silent_elsewhere: bool
) -> list[Finding]:
    """Say how laws are broken; that no valid answer came back is said once.

    Parameters
    ----------
    silent_elsewhere : whether no valid answer came back in some trials of the suite, either: then
        it is not what a law usually means.
    """
    silent = [law for law in laws if law.unanswered and (silent_elsewhere or not _of_answers(law))]
    findings = []
    for law in laws:
        if law not in silent:
            findings.append(Finding(cause, of_law(law)))
        elif law is silent[0]:
            findings.append(Finding(cause, of_law(law, usually=False) + _others(silent[1:])))
    return findings


def of_law(result: LawResult, *, usually: bool = True) -> str:
    """Say that a law is broken, and what that usually means."""
    weight = "" if result.decides else " (which does not decide)"
    law = LAWS.get(result.law)
    means = f" Usually: {law.usually}." if usually and law and law.usually else ""
    return f"The law '{result.law}'{weight} is broken: {result.sentence}.{means}"


def _of_answers(result: LawResult) -> bool:
    law = LAWS.get(result.law)
    return law is not None and law.of_answers


def _others(laws: Sequence[LawResult]) -> str:
    names = [f"'{law.law}'" for law in laws]
    if not names:
        return ""
    which = f"is the law {names[0]}" if len(names) == 1 else f"are the laws {in_list(names)}"
    return f" So {which}, where no valid answer came back either."
