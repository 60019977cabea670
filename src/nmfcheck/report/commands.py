"""The commands that run a subject again, or show one of its trials."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..diagnosis.experiments import Begin, Run
from ..executors.protocol import Limits
from ..families import Cell
from ..judging.objectives import FROBENIUS
from ..store import StoredSubject
from ..text import option_as_text
from ..trials import suites
from ..trials.suites import Part, Suite


def replay_options(subject: StoredSubject, suite: Suite) -> str:
    """Return what a `nmfcheck replay` needs to be of this subject and suite; "" without a name."""
    if subject.settings.get("unnamed"):
        return ""
    words = ["--subject", subject.name, *_settings(subject)]
    for part in suite.parts:
        own = part.room.selection(part.cells, part.asks)
        words += _differing(own, part.room.selection(part.cells, part.room.asks))
    return shlex.join(words)


def experiment_line(run: Run, subject: StoredSubject, suite: Suite) -> str:
    """Return the command that makes a run of an experiment again; "" without a name."""
    options = {**subject.settings["options"], **run.options}
    changed = replace(subject, settings={**subject.settings, "options": options})
    replay = replay_options(changed, suite)
    begin = "" if run.begin is Begin.GIVEN else f" --from {run.begin}"
    return f"nmfcheck replay {run.trial.id} {replay}{begin}" if replay else ""


def run_command(subject: StoredSubject, suite: Suite, extra: Sequence[Cell] = ()) -> str:
    """Return the command that runs a subject through a suite; "" where one has no name for it.

    Parameters
    ----------
    extra : cells that were measured besides.
    """
    if subject.settings.get("unnamed") or suite.name not in suites.SUITES:
        return ""
    newest = suite.version == suites.NEWEST
    name = suite.name if newest else f"{suite.name}@{suite.version}"
    words = ["nmfcheck", "run", subject.name, "--suite", name]
    if suite.objective != FROBENIUS.name:
        words += ["--objective", suite.objective]
    whole = {
        part.family: suites.part_of(part.family, suite.name, suite.version, suite.objective)
        for part in suite.parts
    }
    usual_parts = suites.of_version(suite.name, suite.version, suite.objective).parts
    if list(whole) != [part.family for part in usual_parts]:
        words += ["--family", ",".join(whole)]
    words += _trials(suite, whole)
    cells: list[str] = []
    for part in suite.parts:
        usual = whole[part.family]
        others = [cell for cell in extra if cell.family == part.family]
        cells += _differing(
            part.room.selection(part.cells, part.asks, others),
            part.room.selection(usual.cells, usual.asks),
        )
    restricted = bool(cells) or "--family" in words
    words += [*cells, *_laws(suite, restricted=restricted)]
    if subject.settings.get("engine") == "numpy":
        words += ["--engine", "numpy"]
    return shlex.join([*words, *_settings(subject)])


def _laws(suite: Suite, *, restricted: bool) -> list[str]:
    """Return the laws as options, where they are not those of the whole suite.

    Parameters
    ----------
    restricted : whether families or cells are chosen: then there are none, unless told.
    """
    usual = () if restricted else suites.of_version(suite.name, suite.version).laws
    if suite.laws == usual:
        return []
    skipped = [name for name in usual if name not in suite.laws]
    if len(skipped) < len(suite.laws) or not suite.laws:
        return [word for name in skipped for word in ("--skip-law", name)]
    return [word for name in suite.laws for word in ("--law", name)]


def _trials(suite: Suite, whole: Mapping[str, Part]) -> list[str]:
    """Return the number of trials as an option, where it is not the suite's own."""
    usual = all(
        trials == (own := whole[part.family].cells).get(cell, next(iter(own.values())))
        for part in suite.parts
        for cell, trials in part.cells.items()
    )
    numbers = set(suite.cells.values())
    return ["--trials", str(numbers.pop())] if len(numbers) == 1 and not usual else []


def _differing(own: Mapping[str, str], usual: Mapping[str, str]) -> list[str]:
    """Return the options that are not as usual, as the command line takes them."""
    return [
        word
        for option, value in own.items()
        if usual.get(option) != value
        for word in ([f"--{option}", value] if value else [f"--{option}"])
    ]


def _settings(subject: StoredSubject) -> list[str]:
    """Return a subject's options and limits, as the command line takes them."""
    words = []
    for key, value in subject.settings["options"].items():
        words += ["--option", f"{key}={option_as_text(value)}"]
    limits = subject.settings.get("limits", {})
    if limits.get("timeout", Limits().timeout) != Limits().timeout:
        words += ["--timeout", repr(limits["timeout"])]
    if limits.get("memory"):
        words += ["--memory-limit", f"{limits['memory'] >> 20}M"]
    return words


def settings_in_words(subject: StoredSubject) -> list[str]:
    """Return a subject's options and version, each in a few words."""
    options = [
        f"{value:,} iterations" if key == "iterations" else f"{key} = {json.dumps(value)}"
        for key, value in subject.settings["options"].items()
    ]
    version = subject.settings.get("version")
    return [*([str(version)] if version else []), *options]
