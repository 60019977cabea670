"""What a user gives as a subject, and where it can run.

A name, a function or an estimator that can be imported by name travels to worker processes by that
name. What cannot be imported (a lambda, a closure, a notebook's function) runs in workers that are
forked from this process, where the system allows that, and in this process otherwise.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import shlex
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from ..errors import InputError
from ..executors.inline import InlineExecutor
from ..executors.local import LocalExecutor
from ..executors.protocol import Limits
from ..judging.objectives import FROBENIUS
from ..judging.objectives import find as find_objective
from ..subjects import Command, Subject, SubjectName, as_subject
from ..subjects.estimator import RANK, EstimatorSubject, is_estimator, objective_of_loss
from ..subjects.function import FunctionSubject
from ..subjects.libraries import LIBRARIES
from ..subjects.names import COMMAND, PYTHON
from ..subjects.precision import declared_by


@dataclass(frozen=True)
class Runnable:
    """A subject that is known how to run.

    Attributes
    ----------
    subject : by name, or itself where it has none.
    identity : what tells one that has no name from others, and what it says of itself.
    """

    subject: SubjectName | Subject
    identity: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.subject.name

    @property
    def named(self) -> SubjectName | None:
        """Its name, if it can be found by one."""
        return self.subject if isinstance(self.subject, SubjectName) else None

    @property
    def objective(self) -> str | None:
        """The name of what it says that it minimises; None where it does not say."""
        if self.named is not None:
            return self.named.objective
        estimator = getattr(self.subject, "estimator", None)
        return objective_of_loss(getattr(estimator, "beta_loss", None))

    @property
    def is_reference(self) -> bool:
        """Whether it is one of the reference algorithms."""
        return self.named is not None and self.named.is_reference

    def local(self, jobs: int, limits: Limits) -> LocalExecutor:
        """Return workers for it, which are not started yet."""
        return LocalExecutor(self.subject, jobs, limits)

    def inline(self) -> InlineExecutor:
        """Return an executor in this process."""
        return InlineExecutor(as_subject(self.subject))

    def with_options(self, more: Mapping[str, Any]) -> Runnable | None:
        """Return the same with other options; None where it takes none."""
        if self.named is not None:
            return replace(
                self, subject=replace(self.named, options={**self.named.options, **more})
            )
        if isinstance(self.subject, FunctionSubject):
            given = {**self.subject.options, **more}
            changed = FunctionSubject(self.subject.function, self.name, given)
            return replace(self, subject=changed)
        if isinstance(self.subject, EstimatorSubject):
            given = {**self.subject.options, **more}
            return replace(self, subject=EstimatorSubject(self.subject.estimator, self.name, given))
        return None

    def settings(self, takes: tuple[str, ...], identity: Mapping[str, Any]) -> dict[str, Any]:
        """Return what makes it this subject and no other."""
        if self.named is not None:
            return {
                "options": dict(self.named.options), "takes": takes, **identity, **self.identity,
            }  # fmt: skip
        return {"options": {}, "takes": takes, "unnamed": True, **identity, **self.identity}


def runnable(subject: Any, options: Mapping[str, Any] | None = None) -> Runnable:
    """Return how to run a name, a function, an estimator, a `Command` or a subject."""
    given = dict(options or {})
    if isinstance(subject, SubjectName):
        return Runnable(subject)
    if isinstance(subject, str):
        return Runnable(SubjectName(subject, given))
    if isinstance(subject, Command):
        if given:
            raise InputError(f"{subject.name} takes no option {next(iter(given))!r}")
        return Runnable(SubjectName(COMMAND + shlex.join(subject.arguments)))
    if (name := importable(subject)) is not None:
        return Runnable(SubjectName(name, given), declared_by(subject, name))
    if is_estimator(subject) and not isinstance(subject, type):
        parameters = _parameters(subject)
        kind = importable(type(subject))
        if kind is not None and parameters is not None:
            named = SubjectName(kind, {**parameters, **given})
            return Runnable(named, declared_by(subject, kind))
    return Runnable(as_subject(subject, options=given), _identity(subject))


def objective_of(subjects: Sequence[Runnable], asked: str | None) -> str:
    """Return the name of what subjects are to minimise: as asked for, or as they say themselves.

    References and adapters of libraries minimise what they say, and nothing else is asked of them.
    """
    asked = None if asked is None else find_objective(asked).name
    said = {subject.name: subject.objective for subject in subjects}
    for subject in subjects:
        known = said[subject.name]
        fixed = subject.is_reference or subject.name in LIBRARIES
        if asked is not None and fixed and known not in (None, asked):
            raise InputError(f"{subject.name} minimises {known}, not {asked}")
    if asked is not None:
        return asked
    said_by = {objective or FROBENIUS.name: name for name, objective in said.items()}
    if len(said_by) > 1:
        (one, name), (other, second), *_ = said_by.items()
        raise InputError(f"{name} minimises {one} and {second} {other}; run them one by one")
    return next(iter(said_by), FROBENIUS.name)


def importable(thing: Any) -> str | None:
    """Return the name by which another process can import this very thing, if there is one."""
    module, path = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not module or not path or module == "__main__" or "<" in path:
        return None
    try:
        imported: Any = sys.modules.get(module) or import_module(module)
        if getattr(getattr(imported, "__spec__", None), "origin", None) is None:
            return None  # made in memory: no other process would find it
        for part in path.split("."):
            imported = getattr(imported, part)
    except (ImportError, AttributeError):
        return None
    return f"{PYTHON}{module}:{path}" if imported is thing else None


def _parameters(estimator: Any) -> dict[str, Any] | None:
    """Return the parameters of an estimator that were set, if they can be written down.

    The rank is the case's, and what has its default value is left to the class: so the start and
    the seed of each trial are set, unless the user has set them.
    """
    ask = getattr(estimator, "get_params", None)
    if ask is None:
        return None
    try:
        usual = {p.name: p.default for p in inspect.signature(type(estimator)).parameters.values()}
        given = {k: v for k, v in ask(deep=False).items() if k not in RANK}
        chosen = {k: v for k, v in given.items() if k not in usual or usual[k] != v}
        return chosen if json.loads(json.dumps(chosen)) == chosen else None
    except (TypeError, ValueError):
        return None


def _identity(subject: Any) -> dict[str, Any]:
    """Return what is known of something without a name.

    What it has captured cannot be known, so that every call is taken for a new subject.
    """
    identity: dict[str, Any] = {"call": uuid.uuid4().hex}
    try:
        source = inspect.getsource(subject if callable(subject) else type(subject))
        identity["source"] = hashlib.sha256(source.encode()).hexdigest()[:16]
    except (OSError, TypeError):
        pass
    return identity
