"""Problems in files, for tools that cannot be driven: written out, answered by hand, read back.

With csv, npy and mtx, a folder a problem: ``A``, ``W0`` and ``H0`` lie in it, ``W`` and ``H`` are
to be laid beside them. With json, one file ``problems.jsonl``, as in the command protocol, and the
answers in ``answers.jsonl``. ``suite.json`` says what it is all about.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from pathlib import Path

from . import suites
from .cases import decimal
from .errors import InputError
from .matrices import read_matrix, write_matrix
from .outcomes import Outcome
from .protocol import Climb, judged
from .records import Record, records_of
from .subjects import Answer
from .subjects.command import from_json
from .suites import Suite
from .trials import Rung, Trial

FORMATS = ("csv", "npy", "mtx", "json")
SUITE, PROBLEMS, ANSWERS = "suite.json", "problems.jsonl", "answers.jsonl"
MISSING = "there is no answer"


def problem_name(trial: Trial, rung: Rung) -> str:
    """Return the name of a problem: ``n3-loguniform7-seed7-eps0.25``."""
    entries = trial.entries.replace("#", "")
    return f"n{trial.n}-{entries}-seed{trial.seed}-eps{decimal(rung.eps)}"


def write_problems(folder: Path, suite: Suite, form: str) -> int:
    """Write a suite's problems into a new or empty folder; return how many there are."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{str(folder)!r} is there already and not an empty folder")
    number = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lines = []
        for trial, rung in _problems(suite):
            case, (W0, H0) = trial.case(rung.eps), trial.start()
            name, matrices = problem_name(trial, rung), {"A": case.A, "W0": W0, "H0": H0}
            number += 1
            if form == "json":
                told = {key: X.tolist() for key, X in matrices.items()}
                problem = {"id": name, "rank": case.rank, "seed": trial.seed, **told}
                lines.append(json.dumps(problem))
                continue
            (folder / name).mkdir()
            for key, X in matrices.items():
                write_matrix(folder / name / f"{key}.{form}", X)
        if form == "json":
            (folder / PROBLEMS).write_text("".join(line + "\n" for line in lines))
        about = {
            "suite": suite.name, "version": suite.version, "format": form, "sizes": suite.sizes,
            "trials": suite.trials, "kinds": suite.kinds, "eps": [r.eps for r in suite.ladder],
        }  # fmt: skip
        (folder / SUITE).write_text(json.dumps(about, indent=2) + "\n")
    except OSError as error:
        raise InputError(f"{str(folder)!r} cannot be written: {error.strerror or error}") from None
    return number


def judge_folder(folder: Path) -> tuple[Suite, list[Record]]:
    """Judge what lies beside the problems of a folder."""
    suite, form = _suite_of(folder)
    answers = None
    if form == "json":
        answers = _json_answers(folder, {problem_name(*problem) for problem in _problems(suite)})
    records: list[Record] = []
    for trial in suite:
        climb = Climb(trial)
        while due := climb.due():
            for rung in due:
                name = problem_name(trial, rung)
                found = answers.get(name) if answers is not None else _answer(folder / name)
                answer = found or Answer(error=MISSING, outcome=Outcome.NOT_RUN)
                (judgement,) = judged([climb.case(rung)], [answer])
                climb.take(rung, answer, judgement)
        records += records_of(climb.result())
    return suite, records


def _problems(suite: Suite) -> Iterator[tuple[Trial, Rung]]:
    return ((trial, rung) for trial in suite for rung in trial.ladder)


def _suite_of(folder: Path) -> tuple[Suite, str]:
    path = folder / SUITE
    try:
        about = json.loads(path.read_text())
        suite = suites.find(about["suite"]).selected(
            sizes=about["sizes"], trials=about["trials"], eps=about["eps"], kinds=about["kinds"]
        )
        form, version = str(about["format"]), about["version"]
    except OSError as error:
        hint = f"'nmfcheck cases {folder}' makes such a folder"
        raise InputError(f"{path} cannot be read: {error.strerror}; {hint}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is not as 'nmfcheck cases' wrote it: {error!r}") from None
    if version != suite.version:
        raise InputError(f"{path} is of version {version} of the suite; this is {suite.version}")
    if form not in FORMATS:
        raise InputError(f"{path}: no format {form!r}; there are {', '.join(FORMATS)}")
    return suite, form


def _answer(folder: Path) -> Answer | None:
    """Return the W and H in a folder, in whatever format they are."""
    found = {}
    for key in ("W", "H"):
        paths = [path for form in FORMATS[:3] if (path := folder / f"{key}.{form}").is_file()]
        if len(paths) > 1:
            raise InputError(f"there are two of them: {paths[0]} and {paths[1]}; which counts?")
        if not paths:
            continue
        try:
            found[key] = read_matrix(paths[0])
        except InputError as error:
            return Answer(error=str(error))
    if len(found) == 1:
        (there,) = found
        return Answer(error=f"there is a {there}, but no {'H' if there == 'W' else 'W'}")
    return Answer(found["W"], found["H"]) if found else None


def _json_answers(folder: Path, known: Set[str]) -> dict[str, Answer]:
    path = folder / ANSWERS
    answers: dict[str, Answer] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path} cannot be read: {reason}; the answers belong there") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            told = json.loads(line)
            name = str(told["id"])
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{path}, line {number}: no JSON object with an id") from None
        if name not in known:
            raise InputError(f"{path}, line {number}: no problem has the id {name!r}")
        if name in answers:
            raise InputError(f"{path}, line {number}: {name!r} is answered twice")
        wrong = told.get("error")
        if wrong is None and not {"W", "H"} <= told.keys():
            wrong = "there are no W and H"
        if wrong is None:
            answers[name] = Answer(from_json(told["W"]), from_json(told["H"]))
        else:
            answers[name] = Answer(error=str(wrong))
    return answers
