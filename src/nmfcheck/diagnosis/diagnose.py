"""From evidence to findings: which rules are asked, and in which order findings are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..judging.outcomes import Flag, Outcome
from ..store import Results
from ..text import in_list
from ..trials.suites import Suite
from ..verdict.baseline import Baselines
from ..verdict.decision import Decision
from ..verdict.hard import HardFailure
from ..verdict.tally import CellTally
from ..verdict.verdict import Verdict
from .broken_laws import broken_laws
from .evidence import Evidence
from .experiments import Tried
from .findings import Cause, Finding
from .invalid import invalid, may_have_grown
from .mended import with_change
from .order import Named, in_order, with_laws, with_symptoms
from .pointing import with_lines
from .rules import (
    ABOUT_A,
    WHY_COLLAPSED,
    WHY_UNCONVERGED,
    collapsed,
    inexact,
    silent,
    some_cells,
    units,
)
from .rules.followed import is_followed
from .rules.unmoved import WHOLE

FEW = 0.02
"""Fewer trials that ended short of what is needed than these are not worth a word."""

SOME = 2
"""Nor is a single run."""

OF_A_FAMILY = (Cause.COLLAPSES, Cause.NORMAL, Cause.SOME_CELLS, Cause.INEXACT)
"""What is told of each family; anything else that two families show is one fault, told once."""

SHOWN = (Cause.RANDOM, Cause.THRESHOLD, Cause.CHANGED_A, Cause.RESCALED, Cause.UNMOVED)
"""What explains a collapse as well, and is told before it."""

OF_ANSWERS = (
    Cause.CHANGED_A, Cause.RESCALED, Cause.SCALED, Cause.TURNED, Cause.PERMUTED, Cause.MISSING,
    Cause.ROUNDED, Cause.UNMOVED,
)  # fmt: skip
GUESSED = (
    Cause.EARLY, Cause.UNRELATED, Cause.UNKNOWN, Cause.UNSTABLE, Cause.AT_ONCE, Cause.CEILING,
    Cause.BIASED,
)  # fmt: skip
"""Where one family shows the first for certain, guesses from others add nothing."""

OF_UPDATES = (Cause.UNSTABLE, Cause.LEAVES, Cause.FIXED_POINT)
"""Nor does what experiments say of updates: it is what was done to A, W or H that they show."""

OF_CONSTRAINTS = (Cause.WEIGHTED, Cause.HALF, Cause.CEILING)
"""What answers look like whose rows or columns are held to sums or norms of 1."""

WHY_TWO = {
    True: "In new processes, each asked for nothing else, it has one answer: something is kept "
    "from one call to the next (a cache, sums, factors, a random state, or a changed default).",
    False: "In new processes, each asked for nothing else, it does not give the same digits, "
    "either: it is random in a way that the seed does not decide, or depends on time or threads.",
    None: "Something may be kept from one call to the next, be random in a way that the seed does "
    "not decide, or depend on time, on threads or on the machine.",
}
"""Why a question may have two answers, by whether new processes give one; None: not known."""

BY_SEED_0 = (
    "In new processes, each asked for nothing else, it gives different digits with seed 0, and the "
    "same with seed 1: 0 is probably taken for no seed (`if seed`, or `seed or …`, say)."
)

BY_STATE = (
    "In new processes, each asked for nothing else, it has one answer, and another one where the "
    "global random states of NumPy and Python are seeded otherwise: it draws from one of them, "
    "whatever its own seed is."
)

SILENT = (Outcome.INVALID, Outcome.ERROR, Outcome.CRASHED, Outcome.TIMEOUT)
"""No valid answer."""

Rule = Callable[[Evidence], Finding | None]

GROWING = "descent"
TELLING = ("refit", GROWING, "start-used")
"""Laws whose breach says more than that runs leave the answer, or collapse; the first that says so
may be why others are broken."""


def diagnose(
    results: Results,
    suite: Suite,
    verdict: Verdict,
    baselines: Baselines,
    cells: Sequence[CellTally],
) -> list[Finding]:
    """Return what a subject's failures are a sign of, what matters most first."""
    families = [part.family for part in suite.parts]
    tried = Tried.of(results)
    hard = _hard(results, families, verdict.hard, tried)
    symptoms, differs = (
        [hard.pop(kind)] if kind in hard else [] for kind in (Outcome.INVALID, Flag.DIFFERS)
    )
    failing = [e.family for e in verdict.families if e.test.decision is Decision.FAIL]
    shown: list[Named] = []
    aims: dict[str, bool] = {}
    for part in sorted(suite.parts, key=lambda part: part.family not in failing):
        evidence = Evidence(
            results,
            part,
            [cell for cell in cells if cell.cell.family == part.family],
            verdict.of(part.family),
            verdict.decision,
            baselines[part.family],
            tried,
        )
        aims[part.family] = evidence.aims_at_A
        for finding in findings(evidence, hard=bool(verdict.hard or verdict.broken)):
            _add(shown, part.family, finding, aims)
    silent_elsewhere = any(results.messages(SILENT, family) for family in families)
    of_laws = partial(broken_laws, silent_elsewhere=silent_elsewhere)
    aside = [law for law in verdict.laws if law.broken != law.decides]
    keeps = bool(differs) and tried.one_answer is True and not tried.by_random_state
    told_once = _without_repetition(shown, keeps=keeps)
    named = _named(in_order(told_once, failing), shown, aims, tried)
    zeros = any(finding.cause is Cause.ZEROS for _, finding in shown)
    told_early = [GROWING] if zeros else TELLING
    telling = sorted(
        (law for law in verdict.broken if law.law in told_early and not law.unanswered),
        key=lambda law: TELLING.index(law.law),
    )
    laws = [law for law in verdict.broken if law not in telling]
    tells, grows = (
        of_laws(some, Cause.LAW) for some in (telling, [x for x in telling if x.law == GROWING])
    )
    told = with_symptoms(
        with_laws(named, of_laws(laws, Cause.LAW), tells, alone=not failing),
        symptoms,
        grows if any(map(may_have_grown, symptoms)) else (),
        differs,
    )
    all_of_it = [*hard.values(), *told, *of_laws(aside, Cause.LAW_ASIDE)]
    return with_change(with_lines(all_of_it, tried), tried)


def _hard(
    results: Results, families: list[str], failures: Sequence[HardFailure], tried: Tried
) -> dict[str, Finding]:
    """Say what each hard failure is, by its kind."""
    kinds = [failure.kind for failure in failures]
    hard = {}
    for failure in failures:
        said = f"{failure.explanation} First in {failure.trial}."
        if failure.kind == Outcome.INVALID:
            finding = invalid(results, families, failure, differs=Flag.DIFFERS in kinds)
        elif failure.kind == Flag.DIFFERS:
            why = BY_STATE if tried.by_random_state else WHY_TWO[tried.one_answer]
            why = BY_SEED_0 if tried.only_seed_0 else why
            finding = Finding(Cause.HARD, f"{said} {why}")
        else:
            finding = Finding(Cause.HARD, said)
        hard[failure.kind] = finding
    return hard


def _named(
    ordered: Sequence[Named], shown: Sequence[Named], aims: Mapping[str, bool], tried: Tried
) -> list[Finding]:
    """Say with each finding which families show it.

    Parameters
    ----------
    aims : of all families of the suite, whether W·H should be A in them.
    """
    shown_elsewhere = any(
        finding.certain and finding.cause in OF_ANSWERS and any(aims[name] for name in names)
        for names, finding in shown
    )
    named = []
    for names, finding in ordered:
        shows = tried.followed_families if is_followed(finding) else names
        told_of = [name for name in shows if aims[name] or not finding.about_matrix]
        sentence = finding.sentence
        if not told_of and shown_elsewhere:
            continue
        if not told_of:
            asked = in_list(dict.fromkeys(run.trial.cell.family for run in tried.telling))
            sentence = f"experiments with {asked} matrices: {sentence}"
        elif len(aims) > 1:
            sentence = _of_families(told_of, sentence)
        named.append(replace(finding, sentence=sentence))
    return named


def _add(shown: list[Named], family: str, finding: Finding, aims: Mapping[str, bool]) -> None:
    """Add what a family shows; where others show the same, it is told once, the certain one.

    What it shows of A is told of families in which W·H should be A.
    """
    for i, (names, known) in enumerate(shown):
        if known.cause is finding.cause and finding.cause not in OF_A_FAMILY:
            of_A = known.about_matrix and not aims[names[0]] and aims[family]
            part = known.sentence.startswith(WHOLE) and not finding.sentence.startswith(WHOLE)
            if (finding.certain and not known.certain) or of_A or part:
                shown[i] = ([family, *names], finding)
            else:
                names.append(family)
            return
    shown.append(([family], finding))


def _without_repetition(shown: Sequence[Named], *, keeps: bool = False) -> list[Named]:
    """Leave out what adds nothing to what is certain, or is another sign of it.

    Parameters
    ----------
    keeps : whether something is known to be kept from one call to the next.
    """
    if keeps or any(finding.cause is Cause.REMEMBERS for _, finding in shown):
        # Whatever else its answers show is of problems that it was asked before.
        kept = (Cause.REMEMBERS, *OF_A_FAMILY)
        return [(names, finding) for names, finding in shown if finding.cause in kept]
    left_out: set[Cause] = set()
    guesses: set[Cause] = set()
    if any(finding.cause is Cause.OTHER_LOSS for _, finding in shown):
        left_out.add(Cause.EARLY)  # its runs end where that loss is stationary, and not early
    if any(finding.cause is Cause.CONSTRAINED for _, finding in shown):
        left_out.update(OF_CONSTRAINTS)
    if any(finding.certain and finding.cause in OF_ANSWERS for _, finding in shown):
        left_out.update(OF_UPDATES)
        guesses.update(GUESSED)
    return [
        (names, finding)
        for names, finding in shown
        if finding.cause not in left_out and (finding.certain or finding.cause not in guesses)
    ]


def _of_families(names: Sequence[str], sentence: str) -> str:
    """Say which family shows something, and which others do: its numbers are the first's."""
    first, *others = names
    also = f" The same shows in {in_list(others)}." if others else ""
    return f"{first}: {sentence}{also}"


def findings(evidence: Evidence, *, hard: bool = False) -> list[Finding]:
    """Return what the evidence of one family shows.

    Parameters
    ----------
    hard : whether something is known to be wrong already.
    """
    signs = []
    if silence := silent(evidence):
        signs.append(silence)
    collapse = collapsed(evidence)
    if collapse:
        signs.append(collapse)
    short = evidence.short
    fine = evidence.part.room.required is not None and evidence.passes
    if short >= max(SOME, FEW * evidence.trials) and not fine:
        more = short > evidence.ended[Outcome.COLLAPSED]
        before = collapse is not None and (collapse.cause is Cause.NORMAL or more)
        why = why_unconverged(evidence)
        before |= collapse is not None and why.cause in SHOWN
        if why.certain or not evidence.passes:  # what is allowed is nothing to guess about
            signs.insert(len(signs) - before, why)
    elif collapse is not None and collapse.cause is Cause.COLLAPSES:
        why_collapsed = next(filter(None, (_asked(rule, evidence) for rule in WHY_COLLAPSED)), None)
        if why_collapsed is not None:
            signs.insert(len(signs) - 1, why_collapsed)
    if some := some_cells(evidence):
        signs.append(some)
    if dependent := units(evidence):
        signs.append(dependent)
    clean = not hard and (not signs or signs[0].cause is Cause.NORMAL)
    if (clean or evidence.decision is Decision.PASS) and (slow := inexact(evidence)):
        signs.append(slow)
    return signs


def why_unconverged(evidence: Evidence) -> Finding:
    """Say why runs did not converge: the first rule that fits."""
    for rule in WHY_UNCONVERGED:
        finding = _asked(rule, evidence)
        if finding is not None:
            seen = f"{len(evidence.unconverged.factors)} failing runs were looked at"
            about_matrix = finding.about_matrix or rule in ABOUT_A
            return replace(finding, evidence=finding.evidence or seen, about_matrix=about_matrix)
    raise AssertionError("the last rule always fits")


def _asked(rule: Rule, evidence: Evidence) -> Finding | None:
    """Return what a rule finds; nothing where numbers are too large for its linear algebra."""
    with np.errstate(all="ignore"):  # a run may have diverged to 1e200
        try:
            return rule(evidence)
        except np.linalg.LinAlgError:
            return None
