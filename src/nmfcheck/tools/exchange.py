"""Problems in files, for tools that cannot be driven: written out, answered by hand, read back.

With csv, npy and mtx, a folder a problem: ``A``, ``W0`` and ``H0`` lie in it, ``W`` and ``H`` are
to be laid beside them. With json, one file ``problems.jsonl``, as in the command protocol, and the
answers in ``answers.jsonl``. ``suite.json`` says what it is all about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterator, Set
from pathlib import Path

from ..errors import InputError
from ..executors.inline import usable
from ..executors.protocol import About, Reply, Request
from ..families import Ask, Trial
from ..judging.outcomes import Outcome
from ..store import Store
from ..subjects import Answer
from ..subjects.command import from_json
from ..trials.driver import Driver, Plan
from ..trials.suites import Suite
from .matrices import read_matrix, write_matrix

FORMATS = ("csv", "npy", "mtx", "json")
SUITE, PROBLEMS, ANSWERS = "suite.json", "problems.jsonl", "answers.jsonl"
MISSING = "there is no answer"
TOGETHER = 256
"""So many answers are read and judged together."""


def problem_name(trial: Trial, ask: Ask) -> str:
    """Return the name of a problem: ``bidiagonal-n3-loguniform7-seed7-eps0.25``."""
    return re.sub("[=#]", "", f"{trial.id}/{ask.name}").replace("/", "-")


def write_problems(folder: Path, suite: Suite, form: str) -> int:
    """Write a suite's problems into a new or empty folder; return how many there are."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{str(folder)!r} is there already and not an empty folder")
    number = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lines = []
        for trial, ask in _problems(suite):
            case, (W0, H0) = trial.case(ask), trial.start()
            name, matrices = problem_name(trial, ask), {"A": case.A, "W0": W0, "H0": H0}
            number += 1
            if form == "json":
                arrays = {key: X.tolist() for key, X in matrices.items()}
                about = {"rank": case.rank, "seed": trial.seed, "objective": case.objective}
                problem = {"id": name, **about, **arrays}
                lines.append(json.dumps(problem))
                continue
            (folder / name).mkdir()
            for key, X in matrices.items():
                write_matrix(folder / name / f"{key}.{form}", X)
        if form == "json":
            (folder / PROBLEMS).write_text("".join(line + "\n" for line in lines))
        about = {"format": form, "suite": json.loads(suite.as_text())}
        (folder / SUITE).write_text(json.dumps(about, indent=2) + "\n")
    except OSError as error:
        raise InputError(f"{str(folder)!r} cannot be written: {error.strerror or error}") from None
    return number


def judge_folder(folder: Path) -> Store:
    """Judge what lies beside the problems of a folder; return a store of it, in memory."""
    suite, form = _suite_of(folder)
    names = {problem_name(trial, ask) for trial, ask in _problems(suite)}
    answers = None if form != "json" else _json_answers(folder, names)

    def answer(request: Request) -> Answer:
        assert request.asked is not None
        name = problem_name(*request.asked)
        given = answers.get(name) if answers is not None else _answer(folder / name)
        return given or Answer(error=MISSING, outcome=Outcome.NOT_RUN)

    store = Store.in_memory(suite)
    subject = store.subject(str(folder), {"options": {}, "takes": [], "unnamed": True})
    plans = [Plan(suite.cell(cell), patience=suite.stages + 1) for cell in suite.cells]
    for stages in Driver(_Filed(answer), plans):
        store.write(subject, stages)
    return store


class _Filed:
    """An executor whose answers lie in files."""

    def __init__(self, answer: Callable[[Request], Answer]) -> None:
        self._answer = answer
        self._waiting: list[Request] = []

    def start(self) -> About:
        return About(())

    def submit(self, request: Request) -> bool:
        if len(self._waiting) >= TOGETHER:
            return False
        self._waiting.append(request)
        return True

    def replies(self, timeout: float) -> list[Reply]:  # noqa: ARG002 - nothing is waited for
        waiting, self._waiting = self._waiting, []
        return [Reply(r.number, usable(r.problem, self._answer(r))) for r in waiting]

    def forget(self, numbers: Container[int]) -> None:
        self._waiting = [request for request in self._waiting if request.number not in numbers]

    def close(self) -> None:
        self._waiting.clear()


def _problems(suite: Suite) -> Iterator[tuple[Trial, Ask]]:
    return ((trial, ask) for trial in suite for ask in trial.asks)


def _suite_of(folder: Path) -> tuple[Suite, str]:
    path = folder / SUITE
    try:
        about = json.loads(path.read_text())
        suite = Suite.from_text(json.dumps(about["suite"]))
        form = str(about["format"])
    except OSError as error:
        hint = f"'nmfcheck cases {folder}' makes such a folder"
        raise InputError(f"{path} cannot be read: {error.strerror}; {hint}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is not as 'nmfcheck cases' wrote it: {error!r}") from None
    for part in suite.parts:
        if part.version != part.room.version:
            version = f"version {part.version} of the {part.family} family"
            raise InputError(f"{path} is of {version}; this is {part.room.version}")
    if form not in FORMATS:
        raise InputError(f"{path}: no format {form!r}; there are {', '.join(FORMATS)}")
    return suite, form


def _answer(folder: Path) -> Answer | None:
    """Return the W and H in a folder, in whatever format they are."""
    factors = {}
    for key in ("W", "H"):
        paths = [path for form in FORMATS[:3] if (path := folder / f"{key}.{form}").is_file()]
        if len(paths) > 1:
            raise InputError(f"there are two of them: {paths[0]} and {paths[1]}; which counts?")
        if not paths:
            continue
        try:
            factors[key] = read_matrix(paths[0])
        except InputError as error:
            return Answer(error=str(error))
    if len(factors) == 1:
        (given,) = factors
        missing = "an H, but no W" if given == "H" else "a W, but no H"
        return Answer(error=f"there is {missing}")
    return Answer(factors["W"], factors["H"]) if factors else None


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
            answer_line = json.loads(line)
            name = str(answer_line["id"])
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{path}, line {number}: no JSON object with an id") from None
        if name not in known:
            raise InputError(f"{path}, line {number}: no problem has the id {name!r}")
        if name in answers:
            raise InputError(f"{path}, line {number}: {name!r} is answered twice")
        wrong = answer_line.get("error")
        if wrong is None and not {"W", "H"} <= answer_line.keys():
            wrong = "there are no W and H"
        if wrong is None:
            answers[name] = Answer(from_json(answer_line["W"]), from_json(answer_line["H"]))
        else:
            answers[name] = Answer(error=str(wrong))
    return answers
