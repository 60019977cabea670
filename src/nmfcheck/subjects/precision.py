"""The precision in which a subject says that it computes, and what that lets be asked of it.

A function, a class or an estimator says so by an attribute, ``nmfcheck_precision = "single"``, and
a program by ``"precision": "single"`` in its first answer. Who says nothing is asked for what the
paper asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError
from ..judging.tolerances import TOLERANCE
from .command import Command
from .problem import Subject

ATTRIBUTE = "nmfcheck_precision"
PRECISION = "precision"
TOLERANCES = {"double": TOLERANCE.exact, "single": TOLERANCE.single}


def declared(subject: Subject) -> dict[str, str]:
    """Return the precision that a subject says, as a part of its settings; {} where it does not."""
    if isinstance(subject, Command):
        said, where = subject.precision, f'"{PRECISION}"'
    else:
        thing = getattr(subject, "function", getattr(subject, "estimator", subject))
        said, where = getattr(thing, ATTRIBUTE, None), ATTRIBUTE
    if said is None:
        return {}
    if said not in TOLERANCES:
        expected = " or ".join(map(repr, TOLERANCES))
        raise InputError(f"{subject.name}: {where} is {said!r:.60}; expected {expected}")
    return {PRECISION: str(said)}


def own_tolerance(settings: Mapping[str, Any]) -> float:
    """Return what counts as exact for a subject, where the user does not say it."""
    return TOLERANCES[settings.get(PRECISION, "double")]
