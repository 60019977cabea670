"""What is asked of a subject that is to be mended, and what comes back; both as JSON holds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..problem import Problem, Subject
from .edit import Edit
from .proposing import proposed
from .trying import Missed, tried


class What(StrEnum):
    """What is to be done."""

    PROPOSE = "propose"
    """Say which edits may mend it."""
    TRY = "try"
    """Run it with each edit for a moment."""
    RUN = "run"
    """Run it with the edit, and answer as ever."""


@dataclass(frozen=True)
class Order:
    """What is asked.

    Attributes
    ----------
    edits : which; None stands for the subject as it is.
    each : seconds that a run may take.
    seconds : after so many no other is begun.
    """

    what: What
    edits: tuple[Edit | None, ...] = ()
    each: float = 1.0
    seconds: float = 1.0

    def as_data(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        edits = [edit and edit.as_data() for edit in self.edits]
        return {"what": self.what, "edits": edits, "each": self.each, "seconds": self.seconds}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Order:
        """Return the order that `as_data` wrote down."""
        edits = tuple(edit and Edit.from_data(edit) for edit in data["edits"])
        return cls(What(data["what"]), edits, float(data["each"]), float(data["seconds"]))


@dataclass(frozen=True)
class Found:
    """What comes back of what is not a whole run.

    Attributes
    ----------
    edits : that were proposed.
    errors : how far W·H is from A with each edit that was tried, and whether the run ended there.
    """

    edits: tuple[Edit, ...] = ()
    errors: tuple[Missed, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {"edits": [edit.as_data() for edit in self.edits], "errors": list(self.errors)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Found:
        """Return what `as_data` wrote down."""
        errors = tuple((float(error), bool(ended)) for error, ended in data["errors"])
        return cls(tuple(map(Edit.from_data, data["edits"])), errors)


def found(subject: Subject, problem: Problem, seed: int, order: Order) -> Found:
    """Carry out an order that is not a whole run.

    Parameters
    ----------
    seed : of the global random states, which careless subjects use.
    """
    if order.what is What.PROPOSE:
        return Found(edits=tuple(proposed(subject, problem, seed, order.each)))
    errors = tried(subject, problem, seed, order.edits, order.each, order.seconds)
    return Found(errors=tuple(errors))
