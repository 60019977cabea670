"""The precision in which a subject says that it computes, and what that lets be asked of it.

A function, a class or an estimator says so by an attribute, ``nmfcheck_precision = "single"``, and
a program by ``"precision": "single"`` in its first answer. Who says nothing is asked for what the
paper asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ..errors import InputError
from ..judging.tolerances import TOLERANCE
from .command import Command
from .estimator import EstimatorSubject
from .function import FunctionSubject
from .problem import Subject

ATTRIBUTE = "nmfcheck_precision"
PRECISION = "precision"
TOLERANCES = {"double": TOLERANCE.exact, "single": TOLERANCE.single}


def declared(subject: Subject) -> dict[str, str]:
    """Return the precision that a subject says, as a part of its settings; {} where it does not."""
    if isinstance(subject, Command):
        return _known(subject.precision, f'{subject.name}: "{PRECISION}"')
    thing: Any = subject
    if isinstance(subject, FunctionSubject):
        thing = subject.function
    elif isinstance(subject, EstimatorSubject):
        thing = subject.estimator
    return declared_by(thing, subject.name)


def declared_by(thing: Any, name: str) -> dict[str, str]:
    """Return the precision that a function, a class or an estimator says."""
    while isinstance(thing, partial):
        thing = thing.func
    return _known(getattr(thing, ATTRIBUTE, None), f"{name}: {ATTRIBUTE}")


def own_tolerance(settings: Mapping[str, Any]) -> float:
    """Return what counts as exact for a subject, where the user does not say it."""
    return TOLERANCES[_known(settings.get(PRECISION, "double"), PRECISION)[PRECISION]]


def _known(said: Any, where: str) -> dict[str, str]:
    if said is None:
        return {}
    if not isinstance(said, str) or said not in TOLERANCES:
        expected = " or ".join(map(repr, TOLERANCES))
        raise InputError(f"{where} is {said!r:.60}; expected {expected}")
    return {PRECISION: said}
