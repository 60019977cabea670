"""Subjects by their names on the command line.

A reference (``als``), a library's adapter (``sklearn-cd``), ``py:package.module:attribute``,
``py:file.py:attribute``, ``cmd:Rscript nmf.R``, or an entry point of the group `nmfcheck.subjects`.
Naming a subject imports nothing; `load` does.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..errors import InputError, SubjectError
from .command import Command
from .estimator import EstimatorSubject, is_estimator, objective_of_loss
from .function import FunctionSubject, check_options, is_factory, numbers_of
from .libraries import LIBRARIES
from .problem import Subject, raised
from .references import REFERENCES, ReferenceSubject

if TYPE_CHECKING:
    from importlib import metadata

ENTRY_POINTS = "nmfcheck.subjects"
PYTHON, COMMAND = "py:", "cmd:"


@dataclass(frozen=True)
class SubjectName:
    """A subject that is known by its name, with options; it can be sent to another process."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = (*REFERENCES, *LIBRARIES)
        if self.name.startswith(PYTHON):
            _parts(self.name)
        elif self.name.startswith(COMMAND):
            _arguments(self.name)
            if self.options:
                option = next(iter(self.options))
                raise InputError(f"{self.name} takes no option {option!r}; write it after the name")
        elif self.is_reference:
            reference_subject(self.name, self.options)
        elif self.name not in known and self.name not in entry_points():
            close = difflib.get_close_matches(self.name, [*known, *entry_points()], n=1)
            hint = f"did you mean {close[0]!r}?" if close else "'nmfcheck list' names them all"
            if self.name.endswith(".py"):
                hint = f"did you mean 'py:{self.name}:NAME'?"
            raise InputError(f"no subject {self.name!r}; {hint} (or py:module:attribute, cmd:…)")

    @property
    def objective(self) -> str | None:
        """The name of what it says that it minimises; None where it does not say."""
        if self.name in REFERENCES:
            return REFERENCES[self.name].objective
        if self.name in LIBRARIES:
            return LIBRARIES[self.name].objective
        return objective_of_loss(self.options.get("beta_loss"))

    @property
    def is_reference(self) -> bool:
        """Whether it is one of the reference algorithms, which run in batches, in this process."""
        return self.name in REFERENCES


def entry_points() -> dict[str, metadata.EntryPoint]:
    """Return the subjects that installed packages offer."""
    from importlib import metadata  # late: it takes long to import

    return {point.name: point for point in metadata.entry_points(group=ENTRY_POINTS)}


def found_anywhere(name: str) -> str:
    """Return a name whose files are found from other folders, too."""
    if name.startswith(PYTHON):
        source, attribute = _parts(name)
        return f"{PYTHON}{Path(source).absolute()}:{attribute}" if source.endswith(".py") else name
    if name.startswith(COMMAND):
        files = (Path(each) for each in _arguments(name))
        return COMMAND + shlex.join(str(f.absolute() if f.is_file() else f) for f in files)
    return name


def load(subject: SubjectName) -> Subject:
    """Import what a name stands for; raise `SubjectError` where that fails."""
    name, options = subject.name, dict(subject.options)
    if name in REFERENCES:
        return reference_subject(name, options)
    if name in LIBRARIES:
        library = LIBRARIES[name]
        return FunctionSubject(library.load(), name, options, library.model(options))
    if name.startswith(COMMAND):
        return Command(_arguments(name), name)
    try:
        thing = _imported(name) if name.startswith(PYTHON) else entry_points()[name].load()
    except SubjectError:
        raise
    except (Exception, SystemExit) as error:  # the user's module may raise anything
        raise SubjectError(f"{name} cannot be imported: {raised(error)}") from error
    return as_subject(thing, name, options)


def reference_subject(
    name: str,
    options: Mapping[str, Any] | None = None,
    *,
    at_most: int | None = None,
    engine: str = "auto",
    threads: int | None = None,
) -> ReferenceSubject:
    """Return a reference algorithm; its one option is `iterations`.

    Parameters
    ----------
    at_most : a limit to the number of iterations, where the option does not say it.
    engine, threads : as for the functions of `nmfcheck.reference`.
    """
    given = dict(options or {})
    iterations = given.pop("iterations", None)
    if given:
        raise InputError(f"{name} has no option {next(iter(given))!r}; it takes iterations")
    if iterations is None:
        own = REFERENCES[name].iterations
        iterations = own if at_most is None else min(own, at_most)
    elif isinstance(iterations, bool) or not isinstance(iterations, int) or iterations < 0:
        raise InputError(f"iterations must be a whole number of at least 0, not {iterations!r}")
    return ReferenceSubject(name, iterations, engine, threads)


def as_subject(
    thing: Any, name: str | None = None, options: Mapping[str, Any] | None = None
) -> Subject:
    """Return a function, an estimator class or instance, or a factory of these as a subject.

    A callable that need not be given anything is a factory. Options go to the factory, to the
    estimator's parameters, or as keywords to the function.
    """
    if isinstance(thing, str):
        return load(SubjectName(thing, dict(options or {})))
    if isinstance(thing, SubjectName):
        return load(thing)
    if isinstance(thing, Subject) and not isinstance(thing, type):
        if options:
            option = next(iter(options))
            raise InputError(f"{name or thing.name} is a subject already; no option {option!r}")
        return thing
    if is_estimator(thing):
        return EstimatorSubject(thing, name, options)
    if not callable(thing):
        kind = type(thing).__name__
        expected = "a function f(A, rank, …) -> (W, H), an estimator, or a factory of one"
        raise SubjectError(
            f"{name or repr(thing)} is not a subject but of type {kind}; expected {expected}"
        )
    if not is_factory(thing):
        return FunctionSubject(thing, name, options)
    return _made(thing, name, options)


def _made(
    factory: Callable[..., Any], name: str | None, options: Mapping[str, Any] | None
) -> Subject:
    called = name or str(getattr(factory, "__qualname__", "the factory"))
    check_options(called, factory, options or {}, reserved=())
    try:
        made = factory(**(options or {}))
    except (Exception, SystemExit) as error:
        raise SubjectError(f"{called} made no subject: it {raised(error)}") from error
    if callable(made) and not is_estimator(made) and not isinstance(made, Subject):
        if is_factory(made):
            raise SubjectError(f"{called} made another factory; expected f(A, rank, …) -> (W, H)")
        subject: Subject = FunctionSubject(made, name)
    else:
        subject = as_subject(made, name)
    if isinstance(subject, FunctionSubject | EstimatorSubject):
        subject.numbers = numbers_of(factory, options or {})  # options go to the factory
    return subject


def _parts(name: str) -> tuple[str, str]:
    place, colon, attribute = name.removeprefix(PYTHON).rpartition(":")
    if not (colon and place and attribute):
        raise InputError(f"{name!r} names no attribute; expected py:package.module:attribute")
    return place, attribute


def _arguments(name: str) -> list[str]:
    try:
        arguments = shlex.split(name.removeprefix(COMMAND))
    except ValueError as error:
        raise InputError(f"{name!r} cannot be cut into arguments: {error}") from None
    if not arguments:
        raise InputError("cmd: names no program; expected one such as 'cmd:Rscript nmf.R'")
    return arguments


def _imported(name: str) -> Any:
    place, attribute = _parts(name)
    thing: Any = _file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    for part in attribute.split("."):
        try:
            thing = getattr(thing, part)
        except AttributeError:
            names = [other for other in vars(thing) if not other.startswith("_")]
            close = difflib.get_close_matches(part, names, n=1, cutoff=0.7)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise SubjectError(f"{name}: {place} has no attribute {part!r}{hint}") from None
    return thing


def _file(path: Path) -> ModuleType:
    """Import a file as a module of its own; what lies beside it is importable, too."""
    if not path.is_file():
        raise SubjectError(f"there is no file {str(path)!r}")
    sys.path.insert(0, str(path.resolve().parent))
    taken = path.stem in sys.modules or path.stem in sys.stdlib_module_names
    name = f"{path.stem}_under_test" if taken else path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise SubjectError(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
