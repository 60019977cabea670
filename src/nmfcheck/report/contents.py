"""What a report says, read from stores alone: the same for the page, JUnit, JSON and terminal."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import suites
from ..baseline import PAPER, Baseline, shipped
from ..cases import decimal
from ..decision import Decision
from ..diagnosis import diagnose
from ..errors import InputError
from ..findings import Finding
from ..outcomes import Outcome, reaches
from ..perturbation import Slopes, slopes_of
from ..records import Record
from ..runner import Limits
from ..store import Store, StoredSubject, suite_as_text
from ..subjects.problem import printable
from ..suites import Suite
from ..summary import CellCount, count_stored
from ..tally import CellTally, tally
from ..trials import LADDER, rung_of
from ..values import option_as_text
from ..verdict import Verdict, verdict_of

TEST = [rung for rung in LADDER if rung.question == 1]

MOST_SHOWN = 10
"""So many failing runs are shown with their matrices."""

BEST_FIRST = (Decision.PASS, Decision.INCONCLUSIVE, Decision.FAIL)


@dataclass(frozen=True)
class SubjectContents:
    """All that a report says of one subject.

    Attributes
    ----------
    name : as shown; with its store's name where two stores have a subject of one name.
    subject, store, path, suite : what it is, and the file that its results are in.
    verdict, findings : on it.
    cells : the outcomes, counted.
    tallies : the outcomes, trial by trial.
    shown : some of the stages that failed, with W and H.
    unlike : trials that it fails and all three algorithms of the paper pass from the same start;
        none for a subject that cannot be told where to start.
    defects : for each ε, the larger of form and product defect of each judged stage, sorted;
        where there is no form, the product defect.
    words : for each ε, how often each word of n = 3 occurred.
    slopes : of the parameters in ε, where they were asked for.
    command : what runs it again.
    replay : the options that `nmfcheck replay` needs for it.
    """

    name: str
    subject: StoredSubject
    store: str
    path: Path
    suite: Suite
    verdict: Verdict
    findings: tuple[Finding, ...]
    cells: tuple[CellCount, ...]
    tallies: tuple[CellTally, ...]
    shown: tuple[Record, ...]
    unlike: tuple[str, ...]
    defects: dict[float, list[float]]
    words: dict[float, dict[str, int]]
    slopes: Slopes | None
    command: str
    replay: str

    @property
    def failing(self) -> int:
        """The number of stages that were run and not passed."""
        return sum(stage.ran - stage.passed for cell in self.cells for stage in cell.stages)

    def replay_line(self, record: Record) -> str:
        """Return the command that shows a stage's trial again."""
        return f"nmfcheck replay {record.trial.id} {self.replay}"


@dataclass(frozen=True)
class Contents:
    """All that a report says."""

    subjects: tuple[SubjectContents, ...]
    baseline: Baseline

    @property
    def suite(self) -> Suite | None:
        """The suite that all subjects ran through; None if they did not run through one."""
        suites = {suite_as_text(each.suite): each.suite for each in self.subjects}
        return next(iter(suites.values())) if len(suites) == 1 else None

    @property
    def ranked(self) -> list[SubjectContents]:
        """The subjects, the best first."""
        return sorted(
            self.subjects,
            key=lambda each: (
                BEST_FIRST.index(each.verdict.decision),
                -each.verdict.paper.pool.share.value
                if each.verdict.paper.pool.share.whole
                else 0.0,
            ),
        )


def contents(
    stores: Sequence[Store],
    baseline: Baseline | None = None,
    *,
    only: Sequence[StoredSubject] | None = None,
    shown: int = MOST_SHOWN,
) -> Contents:
    """Read stores.

    Parameters
    ----------
    stores : of the same version of suites.
    only : some of the subjects of a single store, if not all.
    shown : how many failing stages of each subject are to be read with W and H.
    """
    known = baseline or shipped()
    versions = {store.suite.version: store for store in stores}
    if len(versions) > 1:
        told = " and ".join(f"{str(s.path)!r} of {v}" for v, s in sorted(versions.items()))
        raise InputError(f"stores of different suite versions cannot be compared: {told}")
    found = []
    for store in stores:
        try:
            for subject in store.subjects() if only is None else only:
                found.append(_subject(store, subject, known, shown))
        except InputError:
            raise
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            told = f"{type(error).__name__} {error}"
            raise InputError(f"{str(store.path)!r} is damaged: {told}") from error
    if not found:
        raise InputError(f"there are no results in {', '.join(str(s.path) for s in stores)}")
    paths = {store.path.name: str(store.path) for store in stores}
    if len(paths) < len(stores):  # folders tell them apart
        found = [
            replace(each, store=str(store.path))
            for store in stores
            for each in found
            if each.path == store.path
        ]
    often = Counter(each.name for each in found)
    named = [
        replace(each, name=f"{each.name} ({each.store})") if often[each.name] > 1 else each
        for each in found
    ]
    return Contents(tuple(named), known)


def _subject(
    store: Store, subject: StoredSubject, baseline: Baseline, shown: int
) -> SubjectContents:
    tallies = tuple(tally(store, subject))
    verdict = verdict_of(store, subject, baseline, tallies)
    starts_where_told = {"W0", "H0"} <= set(subject.settings.get("takes", ("W0", "H0")))
    paired = starts_where_told and set(TEST) <= set(store.suite.ladder)
    slopes = _slopes(store, subject)
    return SubjectContents(
        name=printable(subject.name),
        subject=subject,
        store=store.path.name,
        path=store.path,
        suite=store.suite,
        verdict=verdict,
        findings=tuple(diagnose(store, subject, verdict, baseline, tallies)),
        cells=tuple(count_stored(store, subject, tallies)),
        tallies=tallies,
        shown=tuple(_shown(store, subject, shown)),
        unlike=tuple(unlike_references(tallies, baseline)) if paired else (),
        defects=_defects(store, subject),
        words=_words(store, subject),
        slopes=slopes,
        command=run_command(subject, store.suite, slopes=slopes is not None),
        replay=replay_options(subject, store.suite),
    )


def unlike_references(cells: Sequence[CellTally], baseline: Baseline) -> list[str]:
    """Return the trials that fail the paper's test where all three of its algorithms pass."""
    found = []
    for cell in cells:
        theirs = [
            baseline.algorithms[name].cells.get((cell.n, cell.entries))
            for name in PAPER
            if name in baseline.algorithms
        ]
        if len(theirs) < len(PAPER) or None in theirs:
            continue
        passes = [each.tally.climbed(TEST) for each in theirs if each is not None]
        for place, (seed, passed) in enumerate(zip(cell.seeds, cell.climbed(TEST), strict=True)):
            if passed is False and all(seed < len(p) and p[seed] for p in passes):
                found.append(cell.trial(place).id)
    return found


def _shown(store: Store, subject: StoredSubject, most: int) -> list[Record]:
    """Return some stages that failed, of each outcome one first, then from all sizes."""
    rows = store.select(
        subject,
        "rowid, outcome, n, entries, seed, eps",
        "outcome NOT IN (?, ?)",
        str(Outcome.EXACT),
        str(Outcome.NOT_RUN),
    )
    rows = [row for row in rows if not reaches(Outcome(row[1]).grade, rung_of(row[5]).needs)]
    chosen: dict[int, None] = {}
    for of in (lambda r: r[1], lambda r: (r[1], r[2]), lambda r: r[2:5], lambda r: r[0]):
        seen: set[Any] = set()
        for row in rows:
            if len(chosen) < most and of(row) not in seen:
                seen.add(of(row))
                chosen.setdefault(row[0])
    return list(store.records_at(list(chosen)))


def _defects(store: Store, subject: StoredSubject) -> dict[float, list[float]]:
    found: dict[float, list[float]] = {rung.eps: [] for rung in store.suite.ladder}
    rows = store.select(subject, "eps, product_defect, form_defect", "product_defect IS NOT NULL")
    for eps, product, form in rows:
        finite = form is not None and form < float("inf")
        found[eps].append(max(product, form) if finite else product)
    return {eps: sorted(defects) for eps, defects in found.items()}


def _words(store: Store, subject: StoredSubject) -> dict[float, dict[str, int]]:
    found: dict[float, Counter[str]] = {}
    for eps, word in store.select(subject, "eps, word", "n = 3 AND word != ''"):
        found.setdefault(eps, Counter())[word] += 1
    return {eps: dict(sorted(counter.items())) for eps, counter in sorted(found.items())}


def _slopes(store: Store, subject: StoredSubject) -> Slopes | None:
    """Return the slopes, if two runs or more were made for them."""
    found = store.slopes(subject)
    if len(found) < 2:
        return None
    ladder = sorted({eps for runs in found.values() for eps in runs})
    return slopes_of({eps: [runs.get(eps) for runs in found.values()] for eps in ladder})


def replay_options(subject: StoredSubject, suite: Suite) -> str:
    """Return what a `nmfcheck replay` needs to be of this subject and suite."""
    parts = ["--subject", subject.name, *_settings(subject)]
    if suite.ladder != LADDER:
        parts += ["--eps", ",".join(decimal(rung.eps) for rung in suite.ladder)]
    return shlex.join(parts)


def run_command(subject: StoredSubject, suite: Suite, *, slopes: bool = False) -> str:
    """Return the command that runs a subject through a suite."""
    parts = ["nmfcheck", "run", subject.name, "--suite", suite.name]
    whole = suites.SUITES.get(suite.name)
    if whole is None or suite.sizes != whole.sizes:
        parts += ["--sizes", ",".join(map(str, suite.sizes))]
    if whole is None or suite.trials != whole.trials:
        parts += ["--trials", str(suite.trials)]
    if whole is None or suite.kinds != whole.kinds:
        parts += ["--entries", ",".join(suite.kinds)]
    if suite.ladder != LADDER:
        parts += ["--eps", ",".join(decimal(rung.eps) for rung in suite.ladder)]
    if slopes:
        parts.append("--slopes")
    if subject.settings.get("engine") == "numpy":
        parts += ["--engine", "numpy"]
    return shlex.join([*parts, *_settings(subject)])


def _settings(subject: StoredSubject) -> list[str]:
    """Return a subject's options and limits, as the command line takes them."""
    parts = []
    for key, value in subject.settings["options"].items():
        parts += ["--option", f"{key}={option_as_text(value)}"]
    limits = subject.settings.get("limits", {})
    if limits.get("timeout", Limits().timeout) != Limits().timeout:
        parts += ["--timeout", repr(limits["timeout"])]
    if limits.get("memory"):
        parts += ["--memory-limit", f"{limits['memory'] >> 20}M"]
    return parts


def settings_in_words(subject: StoredSubject) -> list[str]:
    """Return a subject's options and version, each in a few words."""
    options = [
        f"{value:,} iterations" if key == "iterations" else f"{key} = {json.dumps(value)}"
        for key, value in subject.settings["options"].items()
    ]
    version = subject.settings.get("version")
    return [*([str(version)] if version else []), *options]
