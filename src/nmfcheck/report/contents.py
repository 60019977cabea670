"""What a report says, read from stores alone: the same for the page, JUnit, JSON and terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..diagnosis import Finding, diagnose
from ..errors import InputError
from ..families import Ask, Cell
from ..judging.tolerances import TOLERANCE
from ..store import Results, Row, Store, StoredSubject
from ..subjects.precision import own_tolerance
from ..subjects.problem import KEYWORDS
from ..text import printable
from ..trials.stage import Stage
from ..trials.suites import Part, Suite
from ..verdict.baseline import Baseline, Baselines, shipped_for
from ..verdict.counts import CellCount, count
from ..verdict.decision import Decision
from ..verdict.of_store import verdict_of
from ..verdict.regrading import Graded, depends_on_tolerance
from ..verdict.stopping import STOPPED, Stopped
from ..verdict.tally import CellTally, tally
from ..verdict.verdict import FamilyVerdict, Verdict
from .commands import replay_options, run_command
from .experimented import Experimented, experimented
from .failing import failing_stages

MOST_SHOWN = 10
"""So many failing runs are shown with their matrices."""

NO_START = "It takes no start, so the cells that start near the answer were not asked."

BEST_FIRST = (Decision.PASS, Decision.INCONCLUSIVE, Decision.FAIL)


@dataclass(frozen=True)
class FamilyContents:
    """What a report says of one subject on one family.

    Attributes
    ----------
    part : what was asked.
    verdict : on its two questions.
    counts : the outcomes, counted.
    tallies : the outcomes, trial by trial.
    defects : for each ask, the largest defect of each judged stage, sorted.
    tolerance : what counts as exact, in the counts and tallies as well.
    """

    part: Part
    verdict: FamilyVerdict
    counts: tuple[CellCount, ...]
    tallies: tuple[CellTally, ...]
    defects: dict[str, list[float]]
    baseline: Baseline
    extra: Mapping[Cell, Sequence[Stage]]
    labels: Mapping[str, Mapping[tuple[str, str], Mapping[str, int]]]
    tolerance: float

    @property
    def family(self) -> str:
        """The name of the family."""
        return self.part.family

    @property
    def cells(self) -> Sequence[Cell]:
        """The cells of the family that were run."""
        return [each.cell for each in self.tallies]

    @property
    def asks(self) -> Sequence[Ask]:
        """What was asked in each."""
        return self.part.asks

    def texts(self, label: str) -> Mapping[tuple[str, str], Mapping[str, int]]:
        """Return how often each text of a label occurred, by the names of cell and ask."""
        return self.labels.get(label, {})

    def reference_texts(
        self, label: str
    ) -> Mapping[str, Mapping[tuple[str, str], Mapping[str, int]]]:
        """Return the same for each reference algorithm of the family's baseline."""
        return {
            name: {
                (cell, ask): texts
                for cell, each in algorithm.cells.items()
                for ask, texts in each.labels.get(label, {}).items()
            }
            for name, algorithm in self.baseline.algorithms.items()
        }

    def stages(self, cell: Cell) -> Sequence[Stage]:
        """Return the stages of a cell that was only measured, with W and H."""
        return self.extra.get(cell, ())


@dataclass(frozen=True)
class SubjectContents:
    """All that a report says of one subject.

    Attributes
    ----------
    name : as shown; with its store's name where two stores have a subject of one name.
    subject, store, path, suite : what it is, and the file that its results are in.
    verdict, findings : on it.
    families : what came of each family.
    shown : some of the stages that failed, with W and H.
    experiments : what was tried to find out why, each with the line that tries it again.
    unlike : trials that it fails and all three algorithms of the paper, or all references for
        another objective, pass from the same start;
        none for a subject that cannot be told where to start.
    command : what runs it again; "" for one that has no name.
    replay : the options that `nmfcheck replay` needs for it.
    """

    name: str
    subject: StoredSubject
    store: str
    path: Path
    suite: Suite
    verdict: Verdict
    findings: tuple[Finding, ...]
    families: tuple[FamilyContents, ...]
    shown: tuple[Stage, ...]
    experiments: tuple[Experimented, ...]
    unlike: tuple[str, ...]
    command: str
    replay: str

    @property
    def counts(self) -> list[CellCount]:
        """The outcomes of all families, counted."""
        return [each for family in self.families for each in family.counts]

    @property
    def failing(self) -> int:
        """The number of stages that were run and not passed."""
        return sum(stage.ran - stage.passed for cell in self.counts for stage in cell.stages)

    def replay_line(self, stage: Stage) -> str:
        """Return what shows a stage's trial again: a command, or a line of Python.

        Only a subject that has a name can be given to the command.
        """
        if self.replay:
            return f"nmfcheck replay {stage.trial.id} {self.replay}"
        return f'nmfcheck.run_trial(subject, nmfcheck.Trial.from_id("{stage.trial.id}"))'


@dataclass(frozen=True)
class Contents:
    """All that a report says."""

    subjects: tuple[SubjectContents, ...]

    @property
    def suite(self) -> Suite | None:
        """The suite that all subjects ran through; None if they did not run through one."""
        texts = {each.suite.as_text(): each.suite for each in self.subjects}
        return next(iter(texts.values())) if len(texts) == 1 else None

    @property
    def ranked(self) -> list[SubjectContents]:
        """The subjects, the best first."""
        return sorted(
            self.subjects,
            key=lambda each: (
                BEST_FIRST.index(each.verdict.decision),
                each.verdict.fails_at_every_tolerance,
                -(each.verdict.digits or 0),
                -each.verdict.share.value if each.verdict.share.whole else 0.0,
            ),
        )


def contents(
    stores: Sequence[Store],
    baselines: Baselines | None = None,
    *,
    only: Sequence[StoredSubject] | None = None,
    shown: int = MOST_SHOWN,
    tolerance: float | None = None,
) -> Contents:
    """Read stores.

    Parameters
    ----------
    stores : of the same version of suites.
    only : some of the subjects of a single store, if not all.
    shown : how many failing stages of each subject are to be read with W and H.
    tolerance : what counts as exact; None for what the precision that subjects say allows.
    """
    versions = {store.suite.version: store for store in stores}
    if len(versions) > 1:
        listed = " and ".join(f"{str(s.path)!r} of {v}" for v, s in sorted(versions.items()))
        raise InputError(f"stores of different suite versions cannot be compared: {listed}")
    subjects = [
        _subject(store, subject, baselines or shipped_for(store.suite), shown, tolerance)
        for store in stores
        for subject in (store.subjects() if only is None else only)
    ]
    if not subjects:
        raise InputError(f"there are no results in {', '.join(str(s.path) for s in stores)}")
    paths = {store.path.name: str(store.path) for store in stores}
    if len(paths) < len(stores):  # folders tell them apart
        subjects = [
            replace(each, store=str(store.path))
            for store in stores
            for each in subjects
            if each.path == store.path
        ]
    often = Counter(each.name for each in subjects)
    named = [
        replace(each, name=f"{each.name} ({each.store})") if often[each.name] > 1 else each
        for each in subjects
    ]
    return Contents(tuple(named))


def _subject(
    store: Store, subject: StoredSubject, baselines: Baselines, shown: int, tolerance: float | None
) -> SubjectContents:
    suite, results = store.suite, store.results(subject)
    rows = results.rows()
    besides = _besides(store, rows)
    takes = subject.settings.get("takes", KEYWORDS)
    warm = {cell.id for cell in suite.cells if cell.warm}
    asked = suite if any(row.cell in warm for row in rows) else suite.asked_of(takes)
    tallies = tally(results, asked)
    tolerance = own_tolerance(subject.settings) if tolerance is None else tolerance
    verdict = verdict_of(
        results, asked, baselines, tallies, tolerance=tolerance,
        stopped=_stopped(store, subject), extensions=store.extensions,
    )  # fmt: skip
    starts_where_told = {"W0", "H0"} <= set(takes)
    graded = _at(tolerance, results, asked, tallies)
    failed = failing_stages(rows, suite, () if graded is tallies else graded, shown)
    families = _families(results, asked, verdict, baselines, graded, besides)
    return SubjectContents(
        name=printable(subject.name),
        subject=subject,
        store=store.path.name,
        path=store.path,
        suite=suite,
        verdict=verdict if asked is suite else replace(verdict, notes=(*verdict.notes, NO_START)),
        findings=tuple(diagnose(results, asked, verdict, baselines, tallies)),
        families=families,
        shown=tuple(results.stages(failed)),
        experiments=tuple(experimented(results, subject, suite)),
        unlike=tuple(unlike_references(families)) if starts_where_told else (),
        command=run_command(subject, suite, besides),
        replay=replay_options(subject, suite),
    )


def _stopped(store: Store, subject: StoredSubject) -> Stopped | None:
    """Return that the run of a subject ended early, if it did."""
    text = store.noted(subject, STOPPED)
    try:
        return None if text is None else Stopped.from_text(text)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{str(store.path)!r} is damaged: why it ended, {error}") from None


def _families(
    results: Results,
    suite: Suite,
    verdict: Verdict,
    baselines: Baselines,
    tallies: Sequence[CellTally],
    besides: Sequence[Cell],
) -> tuple[FamilyContents, ...]:
    counts = count(results, suite, tallies)
    defects = _defects(results, suite)
    labels = {
        label: results.texts(label) for part in suite.parts for label in part.room.counted_labels
    }
    extra = {cell: list(results.stages_of(cell, matrices=True)) for cell in besides}
    return tuple(
        FamilyContents(
            part,
            verdict.of(part.family),
            tuple(each for each in counts if each.family == part.family),
            tuple(each for each in tallies if each.cell.family == part.family),
            {ask.name: defects[part.family, ask.name] for ask in part.asks},
            baselines[part.family],
            {cell: stages for cell, stages in extra.items() if cell.family == part.family},
            {
                label: {
                    (cell.partition("/")[2], ask): counted
                    for (cell, ask), counted in texts.items()
                    if cell.partition("/")[0] == part.family
                }
                for label, texts in labels.items()
            },
            verdict.tolerance,
        )
        for part in suite.parts
    )


def _at(
    tolerance: float, results: Results, suite: Suite, tallies: Sequence[CellTally]
) -> Sequence[CellTally]:
    """Return the outcomes, where what is within the tolerance is exact."""
    if tolerance == TOLERANCE.exact:
        return tallies
    graded = Graded.read(results, suite)
    asks = {part.family: [a for a in part.asks if depends_on_tolerance(a)] for part in suite.parts}
    return [graded.at(tolerance, each, asks[each.cell.family]) for each in tallies]


def _besides(store: Store, rows: Sequence[Row]) -> list[Cell]:
    """Return the cells that are not the suite's, but were measured besides.

    A cell or an ask that does not exist is a sign of damage.
    """
    asked: dict[str, set[str]] = {}
    for row in rows:
        asked.setdefault(row.cell, set()).add(row.ask)
    besides = []
    for id, names in asked.items():
        family, _, name = id.partition("/")
        try:
            part = store.suite.part(family)
            cell = part.room.cell(name)
        except InputError as reason:
            raise InputError(f"{str(store.path)!r} is damaged: {reason}") from None
        own = cell in part.cells
        known = {ask.name for ask in (part.asks if own else part.room.asks_of(cell))}
        if strange := names - known:
            raise InputError(f"{str(store.path)!r} is damaged: no ask {min(strange)!r} of {id}")
        if not own:
            besides.append(cell)
    return besides


def _defects(results: Results, suite: Suite) -> dict[tuple[str, str], list[float]]:
    """Return the largest defect of each judged stage, sorted, for each family and ask."""
    by_ask: dict[tuple[str, str], list[float]] = {
        (part.family, ask.name): [] for part in suite.parts for ask in part.asks
    }
    for cell, ask, _, defect in results.largest_defects():
        family = cell.partition("/")[0]
        if (family, ask) in by_ask:
            by_ask[family, ask].append(defect)
    return {key: sorted(defects) for key, defects in by_ask.items()}


def unlike_references(families: Sequence[FamilyContents]) -> list[str]:
    """Return the trials that fail their test where all that it is compared with pass it."""
    ids = []
    for family in families:
        test, compared = family.part.test, family.baseline.compared
        if not {ask.name for ask in test} <= set(family.baseline.asks):
            continue
        for each in family.tallies:
            theirs = [
                family.baseline.algorithms[name].cells.get(each.cell.name)
                for name in compared
                if name in family.baseline.algorithms
            ]
            if len(theirs) < len(compared) or None in theirs:
                continue
            passes = [cell.tally.climbed(test) for cell in theirs if cell is not None]
            for place, passed in enumerate(each.climbed(test)):
                seed = each.seeds[place]
                if passed is False and all(seed < len(p) and p[seed] for p in passes):
                    ids.append(each.trial(place).id)
    return ids
