"""What an executor is: it takes problems, and gives answers in whatever order they come.

Which executor a trial went through does not show in its stages.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..families import Ask, Trial
from ..laws import LawResult
from ..records import maker
from ..subjects import Answer, Problem
from ..subjects.mending import Found, Order
from ..subjects.watching import Watched


@dataclass(frozen=True)
class Limits:
    """What a subject may use: seconds for a stage, bytes of address space for a worker."""

    timeout: float = 30.0
    memory: int | None = None


@dataclass(slots=True)
class Request:
    """A problem, and what the random state is seeded with before it; or a law to be tried.

    Attributes
    ----------
    number : what the reply will carry.
    problem : with the arrays of its case and its start; a subject gets copies of its own.
    order : the memory order of A, C or F.
    asked : the trial and the ask that it belongs to.
    law : the name of a law; the problem then only says what is minimised.
    example : one example of the law, by its id; "" for all.
    seconds : after so many no further example is begun.
    watched : whether the subject is to be followed line by line.
    mending : what is asked of it with edits of its source, if that is asked.
    """

    number: int
    problem: Problem
    random: int = 0
    order: str = "C"
    asked: tuple[Trial, Ask] | None = None
    law: str = ""
    example: str = ""
    seconds: float = 0.0
    watched: bool = False
    mending: Order | None = None


@dataclass(slots=True)
class Reply:
    """The answer to a request, and what kinds of things were returned.

    Where the answer has no error, its W and H are float64 matrices of the right shapes.

    Attributes
    ----------
    law_result : what came of a law, if one was to be tried.
    calls : the calls that were made for it, where one example was asked for.
    trying : the example that was being tried when the process ended.
    watched : what a subject did line by line, if it was to be followed and could be.
    found : what was found of edits of its source, if that was asked.
    """

    number: int
    answer: Answer
    returned: tuple[str, ...] = ()
    law_result: LawResult | None = None
    calls: tuple[dict[str, Any], ...] = ()
    trying: str = ""
    watched: Watched | None = None
    found: Found | None = None


made_reply = maker(Reply)


@dataclass(frozen=True)
class About:
    """What is known of a subject that has been loaded.

    Attributes
    ----------
    takes : those of W0, H0 and seed that it uses.
    identity : versions and source.
    parameters : its options that are numbers, with their values.
    """

    takes: tuple[str, ...]
    identity: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)


class Executor(Protocol):
    """Runs one subject."""

    def start(self) -> About:
        """Load the subject, if it is not loaded yet; raise `SubjectError` where it cannot be."""
        ...

    def submit(self, request: Request) -> bool:
        """Hand over a request; return whether there was room for it."""
        ...

    def replies(self, timeout: float) -> list[Reply]:
        """Return what was answered, after waiting for so many seconds at most if nothing was."""
        ...

    def forget(self, numbers: Container[int]) -> None:
        """Drop requests whose answers nobody waits for any more."""
        ...

    def close(self) -> None:
        """End it, and whatever it started."""
        ...
